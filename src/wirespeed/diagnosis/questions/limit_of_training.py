"""Is it the network at all: where the step of a training job goes."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(
        en="Is it the network at all? What do the GPUs do while it is slow?", zh="首先判断是否与网络有关：变慢时 GPU 在做什么？"
    ),
    kinds=("training",),
    when=("slow", "now-and-then", "works"),
    is_first=True,
    choices={
        "input-pipeline-waits": Text(en="They wait for data: loader, preprocessing, storage", zh="在等数据：加载、预处理或存储"),
        "compute-dominates": Text(en="They compute: a profile shows hardly any communication", zh="在计算：剖析显示几乎没有通信"),
        "communication-share-high": Text(
            en="They communicate: a profile shows much time in all-reduce, all-gather or send/receive",
            zh="在通信：剖析显示大量时间花在 all-reduce、all-gather 或收发",
        ),
        "synthetic-data-is-fast": Text(en="With synthetic data it is fast", zh="用合成数据就很快"),
        "layers-in-turn": Text(
            en="They take turns: the layers are split over machines that run one after the other",
            zh="轮流工作：层分布在多台机器上依次执行",
        ),
        "network-hardly-used": Text(en="Whatever they do, the network is hardly used", zh="无论如何，网络几乎没有流量"),
        "link-full": Text(en="A network link is full while it is slow", zh="变慢时有链路已跑满"),
    },
)
