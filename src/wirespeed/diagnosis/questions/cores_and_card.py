"""What the processor and the network card do under load."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What do you see on the host under load?", zh="负载下在主机上看到什么？"),
    kinds=("training", "serving", "download", "benchmark"),
    when=("slow", "now-and-then", "stops"),
    choices={
        "one-core-full": Text(en="One core is full, the others idle", zh="一个核心跑满，其余空闲"),
        "interrupts-on-one-cpu": Text(en="All interrupts of the card go to one core", zh="网卡中断都落在一个核心"),
        "ring-overflow": Text(
            en="The card drops for want of buffers (rx_out_of_buffer, missed)", zh="网卡因缓冲不足丢包（rx_out_of_buffer、missed）"
        ),
        "receives-pause": Text(en="Pause frames arrive", zh="收到暂停帧"),
        "link-flaps": Text(en="The link goes down and up again", zh="链路断开又恢复"),
        "link-slower-than-thought": Text(en="The link runs slower than it should", zh="链路速率低于应有值"),
        "cpu-throttled": Text(en="The container is throttled by its CPU limit", zh="容器受 CPU 限额节流"),
        "same-cap-everywhere": Text(en="Whatever is tried, it stops at the same odd rate", zh="无论怎么试，都停在同一个奇怪的速率"),
    },
)
