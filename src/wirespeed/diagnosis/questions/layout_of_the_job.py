"""How the work is laid out over GPUs and nodes."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="How is the work laid out over GPUs and nodes?", zh="工作如何分布在 GPU 与节点上？"),
    kinds=("training", "serving"),
    when=("slow",),
    choices={
        "tensor-parallel-across-nodes": Text(en="Tensor parallelism reaches over nodes", zh="张量并行跨节点"),
        "crosses-domain": Text(en="The job is spread over racks, pods or zones", zh="任务分散在多个机架、Pod 或可用区"),
        "many-small-messages": Text(
            en="Many small messages are sent instead of a few large ones", zh="发送许多小消息而不是少量大消息"
        ),
        "gradients-in-fp32": Text(en="Gradients are reduced in fp32 under mixed precision", zh="混合精度下以 fp32 规约梯度"),
        "experts-uneven": Text(en="Some experts get far more tokens than others", zh="部分专家得到的 token 多得多"),
        "kv-transfer": Text(
            en="Prefill and decode run apart, and the KV cache is sent between them", zh="预填充与解码分离，其间传输 KV 缓存"
        ),
    },
)
