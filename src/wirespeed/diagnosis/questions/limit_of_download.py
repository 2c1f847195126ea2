"""Is it the network at all: what a download or the loading of a model waits for."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(
        en="Is it the network at all? What does the download or the loading wait for?",
        zh="首先判断是否与网络有关：下载或加载在等什么？",
    ),
    kinds=("download",),
    when=("slow", "now-and-then", "stops", "works"),
    is_first=True,
    choices={
        "storage-is-limit": Text(en="The disk or file system is slower than the network", zh="磁盘或文件系统比网络慢"),
        "link-full": Text(en="The network link is full", zh="网络链路已跑满"),
        "origin-throttles": Text(en="The source limits us (429, 503, a quota)", zh="来源限制我们（429、503 或配额）"),
        "few-left-hanging": Text(
            en="Most of it is quick, and a few last pieces or connections hang", zh="大部分很快，最后几块或几个连接停滞"
        ),
        "far-away": Text(en="The source is far away", zh="来源很远"),
        "window-limited": Text(en="One connection stays at one rate whatever the link", zh="无论链路多快，单连接速率固定"),
        "random-reads": Text(
            en="It reads in small pieces here and there (memory mapping, random access)", zh="零散小块读取（内存映射、随机访问）"
        ),
        "image-pull-one-by-one": Text(en="Container images or layers are fetched one after the other", zh="容器镜像或层逐个拉取"),
    },
)
