"""What goes wrong while processes find each other."""

from wirespeed.model.kinds import Question
from wirespeed.model.text import Text

QUESTION = Question(
    asks=Text(en="Does it fail while processes find each other? How?", zh="进程互相建立连接时失败吗？如何表现？"),
    kinds=("training", "serving"),
    when=("does-not-start", "stops", "now-and-then"),
    choices={
        "gloo-address-wrong": Text(en="Gloo binds or announces a wrong address", zh="Gloo 绑定或公布了错误的地址"),
        "node-address-disagrees": Text(
            en="The address a node announces is not the one it listens at", zh="节点公布的地址与监听的不同"
        ),
        "hostname-not-resolved": Text(en="A host name cannot be resolved", zh="主机名无法解析"),
        "packet-filter": Text(en="A firewall or security group is in between", zh="中间有防火墙或安全组"),
        "bridge-address": Text(
            en="A container's bridge address (172.17.x) is used between hosts", zh="主机间使用了容器网桥地址（172.17.x）"
        ),
        "bound-to-loopback": Text(en="The service listens at 127.0.0.1 only", zh="服务只监听 127.0.0.1"),
        "shm-small": Text(en="/dev/shm is small", zh="/dev/shm 很小"),
        "fd-exhausted": Text(en='"Too many open files"', zh="“打开的文件过多”"),
    },
)
