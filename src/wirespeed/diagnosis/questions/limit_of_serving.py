"""Is it the network at all: where the time of a request goes."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(
        en="Is it the network at all? Where does the time of a slow request go?",
        zh="首先判断是否与网络有关：慢请求的时间花在哪里？",
    ),
    kinds=("serving",),
    when=("slow", "now-and-then", "works"),
    is_first=True,
    choices={
        "gpu-busy": Text(en="The GPUs are busy all the time", zh="GPU 一直很忙"),
        "server-queue-grows": Text(en="Requests wait in the server's queue, and it grows", zh="请求在服务端排队，且队列增长"),
        "first-is-slow": Text(en="Only the first request after a start or a pause is slow", zh="只有启动或空闲后的第一个请求慢"),
        "buffers-on-cpu": Text(en="The model runs on the CPU, not on the GPU", zh="模型运行在 CPU 而非 GPU 上"),
        "far-away": Text(en="Client and server are far apart", zh="客户端与服务端相距很远"),
        "layers-in-turn": Text(
            en="The model's layers are spread over machines that work one after the other", zh="模型的层分布在多台机器上依次执行"
        ),
        "time-grows-with-tokens": Text(en="It grows with the length of the prompt or answer", zh="随提示或回答的长度增长"),
        "link-full": Text(en="A network link is full", zh="有链路已跑满"),
        "network-hardly-used": Text(en="The network is hardly used", zh="网络几乎没有流量"),
    },
)
