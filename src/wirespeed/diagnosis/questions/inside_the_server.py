"""What the model server says of itself."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What does the model server say of itself?", zh="模型服务自身显示什么？"),
    kinds=("serving",),
    when=("slow", "now-and-then", "works"),
    choices={
        "kv-preempted": Text(en="Requests are preempted for want of KV cache", zh="因 KV 缓存不足抢占请求"),
        "kv-cache-full": Text(en="KV cache use is near 100 %", zh="KV 缓存使用率接近 100 %"),
        "throughput-flat": Text(en="More load gives no more throughput", zh="加大负载吞吐不再增加"),
        "queue-time": Text(en="The time is spent waiting in the queue", zh="时间花在排队上"),
        "served-in-turn": Text(en="Requests are served one after the other", zh="请求逐个处理"),
        "loads-or-compiles": Text(en="It loads the model or compiles at first", zh="开始时在加载模型或编译"),
        "kv-transfer": Text(en="The KV cache is sent between machines", zh="KV 缓存在机器间传输"),
    },
)
