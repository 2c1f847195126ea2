"""How requests and streams fail or stall."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="How do requests fail or stall?", zh="请求如何失败或停顿？"),
    kinds=("serving",),
    when=("does-not-start", "stops", "slow", "now-and-then"),
    choices={
        "stream-in-one-piece": Text(en="The stream arrives in one piece at the end", zh="流式输出最后一次性到达"),
        "compression-on": Text(en="A proxy compresses the stream", zh="代理对流做了压缩"),
        "sporadic-reset": Text(
            en="Now and then a request is reset (502, connection reset)", zh="偶尔有请求被重置（502、connection reset）"
        ),
        "silent-idle-drop": Text(
            en="After some quiet minutes a connection is dead without an error", zh="静默几分钟后连接失效且无报错"
        ),
        "cut-at-round-time": Text(en="Long requests end after a round time such as 60 s", zh="长请求在整数时间（如 60 s）被切断"),
        "gateway-timed-out": Text(en="The gateway answers 504", zh="网关返回 504"),
        "dns-five-seconds": Text(
            en="A request sometimes waits 5 s (or 2.5 s) before it begins", zh="请求有时在开始前等 5 s（或 2.5 s）"
        ),
        "dns-stall": Text(en="Name resolution is slow", zh="域名解析慢"),
        "forty-milliseconds": Text(en="Each message waits some 40 ms", zh="每条消息等约 40 ms"),
    },
)
