"""What is known of the RDMA ports and their network."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What do you know of the RDMA ports and their network?", zh="关于 RDMA 端口及其网络，你知道什么？"),
    kinds=("training", "benchmark"),
    when=("does-not-start", "stops", "slow"),
    choices={
        "port-not-active": Text(en="A port is not ACTIVE", zh="有端口不是 ACTIVE"),
        "subnet-manager-missing": Text(en="No subnet manager runs (InfiniBand)", zh="没有子网管理器（InfiniBand）"),
        "pfc-not-set": Text(en="PFC or ECN is not set up (RoCE)", zh="未配置 PFC 或 ECN（RoCE）"),
        "rdma-ports-unreachable": Text(en="Some pairs of RDMA ports cannot reach each other", zh="部分 RDMA 端口之间不可达"),
        "rdma-device-not-passed": Text(en="The container does not see /dev/infiniband", zh="容器中看不到 /dev/infiniband"),
        "memory-lock-limited": Text(en="The limit of locked memory is small (ulimit -l)", zh="锁定内存上限很小（ulimit -l）"),
        "sriov-unset": Text(en="It is an SR-IOV function that is not fully set up", zh="是未配置完整的 SR-IOV 功能"),
        "icmp-blocked": Text(en='ICMP "packet too big" is blocked', zh="ICMP“数据包过大”被屏蔽"),
    },
)
