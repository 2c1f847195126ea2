"""Whether the measurement measures what it should."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What do you know of the measurement itself?", zh="关于测量本身，你知道什么？"),
    kinds=("benchmark",),
    when=("slow", "now-and-then", "works"),
    is_first=True,
    choices={
        "client-is-limit": Text(
            en="The load generator, one of its cores or its link is at its limit", zh="压测端（某个核心或链路）已到上限"
        ),
        "client-one-at-a-time": Text(
            en="The client sends one request and waits for its answer", zh="客户端发一个请求、等到回答再发下一个"
        ),
        "tools-disagree": Text(en="Another tool, or a second copy of it, shows more", zh="换工具或再开一份会得到更高的值"),
        "benchmark-not-joined": Text(
            en="Each node reports alone, as if the others were not there", zh="每个节点各自报告，仿佛其他节点不存在"
        ),
        "metric-confusion": Text(
            en="It is not clear which figure is meant: algbw or busbw, bits or bytes, link or lanes",
            zh="不清楚是哪个指标：algbw 或 busbw、比特或字节、链路或通道",
        ),
        "warm-up-counted": Text(en="The first, slow runs are counted in", zh="把开头较慢的几次也计入了"),
        "total-against-each": Text(
            en="A total over all users is compared with the rate of each", zh="把所有用户的合计与单个的速率相比"
        ),
        "loss-at-hop": Text(en="A trace shows loss at one hop in the middle", zh="路由跟踪显示中间某一跳丢包"),
        "pcie-generation-limit": Text(en="It is what this PCIe generation can do", zh="达到该代 PCIe 的上限"),
    },
)
