"""What stands between client and server."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="What stands between client and server, and how is it set up?", zh="客户端与服务端之间有什么，如何配置？"),
    kinds=("serving",),
    choices={
        "new-connection-each": Text(
            en="Every request makes a new connection (and TLS handshake)", zh="每个请求都新建连接（及 TLS 握手）"
        ),
        "many-hops": Text(en="Several gateways, proxies or a mesh in a row", zh="连续经过多个网关、代理或服务网格"),
        "connection-limit": Text(
            en="The gateway limits connections; requests wait there although the server is idle",
            zh="网关限制连接数；服务端空闲而请求在网关等待",
        ),
        "stream-limit": Text(
            en="All goes through one HTTP/2 connection, which stops at 100 streams", zh="全部经一条 HTTP/2 连接，最多 100 个流"
        ),
        "one-pod-gets-all": Text(en="One replica gets nearly all requests", zh="几乎所有请求都到一个副本"),
        "balancing-blind": Text(en="The balancer does not see queues or caches", zh="负载均衡看不到队列或缓存"),
        "source-ports-gone": Text(
            en='Source ports run out ("cannot assign requested address")', zh="源端口用尽（cannot assign requested address）"
        ),
        "accept-queue": Text(en="The listen queue overflows in bursts", zh="突发时监听队列溢出"),
    },
)
