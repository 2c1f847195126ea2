"""How a training job fails, if it does."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="Does it fail or hang? How?", zh="它会失败或挂起吗？如何表现？"),
    kinds=("training", "benchmark"),
    when=("does-not-start", "stops", "now-and-then", "works"),
    choices={
        "hang": Text(en="It hangs: no error, no progress", zh="挂起：不报错也不前进"),
        "process-gone": Text(en="One process dies or is killed, then the others fail", zh="某个进程退出或被杀，其他随之失败"),
        "watchdog-limit": Text(
            en="It ends with a timeout after the same time, such as 10 or 30 minutes",
            zh="总在同样时间（如 10 或 30 分钟）后超时结束",
        ),
        "legal-long-wait": Text(
            en="One rank does something long meanwhile (checkpoint, evaluation, compilation)",
            zh="期间某个进程在做耗时的事（检查点、评估、编译）",
        ),
        "ranks-disagree": Text(
            en="Ranks call different collectives, or with different sizes", zh="各进程调用的集合操作或大小不一致"
        ),
        "gpu-memory-full": Text(en="CUDA runs out of memory", zh="CUDA 显存不足"),
        "gpu-broken": Text(en="A GPU falls off the bus or reports an Xid", zh="有 GPU 掉卡或报 Xid"),
        "alarming-line": Text(en="It works, but a log line looks alarming", zh="能正常运行，但有一行日志令人担心"),
    },
)
