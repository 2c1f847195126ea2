"""What made it go away: the strongest hint a person can give."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="Has any of these made it better?", zh="以下哪项使情况好转？"),
    kinds=("training", "benchmark", "serving"),
    choices={
        "p2p-off-passes": Text(en="NCCL_P2P_DISABLE=1 (no GPU peer access)", zh="NCCL_P2P_DISABLE=1（关闭 GPU 对等访问）"),
        "gdr-off-passes": Text(en="GPUDirect RDMA off (NCCL_NET_GDR_LEVEL=0)", zh="关闭 GPUDirect RDMA（NCCL_NET_GDR_LEVEL=0）"),
        "interface-set-helps": Text(
            en="Naming the interface (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME)",
            zh="指定网络接口（NCCL_SOCKET_IFNAME、GLOO_SOCKET_IFNAME）",
        ),
        "hca-choice-helps": Text(en="Naming the RDMA card (NCCL_IB_HCA)", zh="指定 RDMA 卡（NCCL_IB_HCA）"),
        "gid-index-matters": Text(en="Another GID index (NCCL_IB_GID_INDEX)", zh="更换 GID 索引（NCCL_IB_GID_INDEX）"),
        "depends-on-mtu": Text(en="A smaller MTU", zh="减小 MTU"),
        "packet-filter-off-helps": Text(en="Switching the firewall off", zh="关闭防火墙"),
        "topology-file-off-helps": Text(en="Leaving out the topology file", zh="不使用拓扑文件"),
        "other-release-helps": Text(en="Another version of NCCL, driver or framework", zh="更换 NCCL、驱动或框架版本"),
    },
)
