"""How the slowness of a training job is spread over hosts, ranks and time."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="Who is slow, and when?", zh="谁慢，何时慢？"),
    kinds=("training", "benchmark"),
    when=("slow", "now-and-then"),
    choices={
        "one-node-slow": Text(en="One node is always slower than the others", zh="某个节点总比其他慢"),
        "gpu-throttled": Text(en="A GPU runs at a lower clock (power or heat)", zh="有 GPU 降频（功耗或温度）"),
        "slower-as-it-heats": Text(en="It begins fast and slows down as the machines warm up", zh="开始快，机器变热后变慢"),
        "work-uneven": Text(
            en="Ranks have unequal work: sequence lengths, stages, shards", zh="各进程工作量不均：序列长度、流水段、分片"
        ),
        "late-for-other-reasons": Text(
            en="One rank is late: garbage collection, logging, saving", zh="某进程迟到：垃圾回收、写日志、保存"
        ),
        "varies-run-to-run": Text(en="The same job gives another rate each run", zh="同一任务每次速率不同"),
        "scales-badly": Text(en="Every added node makes it less efficient", zh="每增加节点效率就下降"),
        "time-of-day": Text(en="It depends on the time of day or on who else runs", zh="随一天中的时间或其他人的任务变化"),
        "others-share": Text(en="Other jobs share the link", zh="其他任务共用该链路"),
    },
)
