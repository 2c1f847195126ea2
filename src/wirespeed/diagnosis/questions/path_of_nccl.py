"""Which way NCCL sends the data, as far as one knows."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What do you know of the way NCCL sends the data?", zh="NCCL 如何传输数据，你知道哪些？"),
    kinds=("training", "benchmark"),
    when=("does-not-start", "stops", "slow"),
    choices={
        "sockets-used": Text(en="It uses TCP sockets although there is RDMA", zh="有 RDMA 却走 TCP 套接字"),
        "gdr-not-used": Text(en="GPUDirect RDMA is not used", zh="未使用 GPUDirect RDMA"),
        "interface-wrong": Text(
            en="It takes the wrong network interface (docker0, management)", zh="选错网络接口（docker0、管理网）"
        ),
        "hca-wrong": Text(en="It takes the wrong RDMA card, or not all of them", zh="选错 RDMA 卡，或没有用上全部"),
        "variable-left-over": Text(en="An NCCL_ variable is left over from elsewhere", zh="残留了别处的 NCCL_ 变量"),
        "topology-file": Text(en="A topology file is given to NCCL", zh="给 NCCL 指定了拓扑文件"),
        "transfer-on-tcp": Text(en="UCX, MPI or a transfer engine falls back to TCP", zh="UCX、MPI 或传输引擎退回 TCP"),
        "efa-unusable": Text(en="EFA (AWS) is there but not used", zh="有 EFA（AWS）但未被使用"),
    },
)
