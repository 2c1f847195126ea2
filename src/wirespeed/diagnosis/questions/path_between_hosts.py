"""What is known of the path between the hosts."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What do you know of the path between the hosts?", zh="关于主机之间的路径，你知道什么？"),
    kinds=("training", "serving", "download", "benchmark"),
    choices={
        "packet-loss": Text(en="Packets are lost, or many are sent again", zh="有丢包或大量重传"),
        "mtu-differs": Text(en="The MTU differs between hosts or along the path", zh="主机间或路径上 MTU 不同"),
        "small-passes-large-hangs": Text(en="Small messages pass, large ones hang", zh="小消息能通过，大消息挂起"),
        "latency-grows-under-load": Text(
            en="The round trip grows much while something else transfers", zh="有其他传输时往返时延大增"
        ),
        "takes-a-detour": Text(en="Neighbours reach each other through a far router", zh="相邻机器经远处的路由器互通"),
        "same-switch-fast-across-slow": Text(en="Fast below one switch, slow across switches", zh="同一交换机下快，跨交换机慢"),
        "few-flows-hash": Text(en="A few flows share one of several links", zh="少数几条流挤在多条链路中的一条上"),
        "same-subnet-twice": Text(en="Two interfaces of one host are in the same subnet", zh="同一主机两个接口在同一子网"),
        "address-claimed-twice": Text(en="Two machines claim one address", zh="两台机器使用同一地址"),
    },
)
