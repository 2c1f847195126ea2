"""What is known of the host's buses, GPUs and processors."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What do you know of the host's hardware and its settings?", zh="关于主机硬件及其设置，你知道什么？"),
    kinds=("training", "benchmark"),
    choices={
        "acs-on": Text(en="PCIe ACS is on", zh="PCIe ACS 已开启"),
        "iommu-on": Text(en="The IOMMU translates", zh="IOMMU 处于转换模式"),
        "pcie-narrow": Text(en="A PCIe link runs with fewer lanes or at a lower generation", zh="有 PCIe 链路通道变少或降代"),
        "no-peer-access": Text(en="The GPUs have no peer access", zh="GPU 之间没有对等访问"),
        "nvlink-trouble": Text(en="NVLinks are down or report errors", zh="NVLink 断开或报错"),
        "fabric-manager-trouble": Text(en="Fabric Manager does not run or reports an error", zh="Fabric Manager 未运行或报错"),
        "wrong-socket": Text(en="Process, GPU and card sit on different sockets (NUMA)", zh="进程、GPU 与网卡不在同一插槽（NUMA）"),
        "mask-too-small": Text(en="Each process is bound to one or two cores", zh="每个进程只绑定一两个核心"),
        "firmware-option": Text(
            en="A firmware option (NPS, relaxed ordering, power) matters", zh="某个固件选项（NPS、宽松排序、电源）有影响"
        ),
    },
)
