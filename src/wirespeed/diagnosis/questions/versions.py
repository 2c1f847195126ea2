"""What changed, and whether all machines run the same."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What about versions?", zh="版本方面如何？"),
    kinds=("training", "serving", "benchmark"),
    when=("does-not-start", "stops", "slow"),
    choices={
        "since-upgrade": Text(en="It began with an upgrade", zh="升级后开始出现"),
        "versions-differ": Text(en="Machines run different versions", zh="各机器版本不同"),
        "plugin-differs": Text(en="The network plugin of NCCL does not fit its version", zh="NCCL 网络插件与其版本不匹配"),
        "feature-off-helps": Text(en="Switching a new feature off helps", zh="关闭某个新功能后好转"),
    },
)
