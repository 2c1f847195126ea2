"""Limits and layers that a cluster or a cloud adds."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="Does it run in Kubernetes or a cloud? What do you know?", zh="是否运行在 Kubernetes 或云上？你知道什么？"),
    kinds=("serving", "download", "training"),
    choices={
        "overlay-mtu": Text(en="The overlay's MTU is not smaller than the network's", zh="覆盖网络的 MTU 不小于底层网络"),
        "conntrack-table-full": Text(en="The connection-tracking table is full", zh="连接跟踪表已满"),
        "insert-failed-seen": Text(en="conntrack counts insert_failed", zh="conntrack 的 insert_failed 在增长"),
        "cpu-throttled": Text(en="A CPU limit throttles the pod", zh="CPU 限额使 Pod 受到节流"),
        "cloud-cap": Text(en="The instance has an allowance of bandwidth or packets", zh="实例有带宽或包数配额"),
        "single-flow-limited": Text(en="One connection is capped, more connections are faster", zh="单连接有上限，多连接更快"),
        "neighbours-full": Text(en="The ARP or neighbour table overflows", zh="ARP 或邻居表溢出"),
        "outbound-fails": Text(en="Outbound connections fail now and then (NAT)", zh="对外连接偶尔失败（NAT）"),
    },
)
