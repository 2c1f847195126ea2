"""The vocabulary of causes: one short label a root cause, grouped by family, with its meaning and its bearing on the network.

A rule names exactly one label as its cause. Adding a label takes a decision note (docs/decisions/).
"""

from typing import Literal

import msgspec

from wirespeed.model.text import Text

Label = Literal[
    "pcie-acs-enabled",
    "iommu",
    "pcie-link-degraded",
    "p2p-unsupported-gpu",
    "nvlink-missing",
    "nvlink-fabric-manager",
    "gpu-xid",
    "gpu-oom",
    "numa-mismatch",
    "cpu-binding",
    "bios-setting",
    "cpu-bound-host",
    "irq-affinity",
    "nic-ring-too-small",
    "nic-firmware-state",
    "pause-frames-throttling",
    "link-flapping",
    "host-routing-ambiguous",
    "duplicate-address",
    "l3-detour",
    "congestion-control-unsuited",
    "packet-reordering",
    "neighbour-table-overflow",
    "bufferbloat",
    "ulimit-memlock",
    "shm-too-small",
    "file-descriptor-limit",
    "gdr-disabled",
    "vm-topology-missing",
    "nccl-topo-file-wrong",
    "nccl-env-override",
    "nccl-wrong-interface",
    "nccl-wrong-hca",
    "gloo-wrong-interface",
    "host-ip-mismatch",
    "hostname-resolution",
    "ib-disabled-socket-fallback",
    "rdma-fallback-tcp",
    "container-missing-rdma-device",
    "efa-misconfigured",
    "tcp-single-flow-limit",
    "nccl-plugin-mismatch",
    "version-mismatch",
    "nccl-version-bug",
    "configuration-drift",
    "roce-gid-index-wrong",
    "roce-unreachable-path",
    "roce-pfc-missing",
    "packet-loss",
    "mtu-mismatch",
    "pmtu-blackhole",
    "ib-port-down",
    "ib-no-subnet-manager",
    "link-speed-lower-than-assumed",
    "bond-lag-single-flow",
    "ecmp-collision",
    "oversubscribed-fabric",
    "bandwidth-insufficient",
    "noisy-neighbour",
    "cloud-allowance-exceeded",
    "distance",
    "mtu-overlay",
    "sriov-config",
    "l4-grpc-pinning",
    "dns-slow",
    "dns-conntrack-race",
    "conntrack-full",
    "cpu-cfs-throttling",
    "straggler-slow-node",
    "straggler-gpu-throttle",
    "straggler-compute-imbalance",
    "straggler-other",
    "collective-mismatch-desync",
    "collective-timeout-too-short",
    "peer-process-died",
    "placement-crosses-domain",
    "parallel-strategy-comm-bound",
    "cross-node-tp",
    "small-message-latency-bound",
    "fp32-gradients",
    "moe-imbalance",
    "benchmark-not-multinode",
    "client-bound-benchmark",
    "firewall-blocks-ports",
    "firewall-idle-timeout",
    "docker-network",
    "service-bound-loopback",
    "proxy-buffering",
    "proxy-compression-buffering",
    "keepalive-timeout-reset",
    "gateway-timeout-too-short",
    "gateway-connection-limit",
    "connection-reuse-missing",
    "http2-stream-limit",
    "nagle-delayed-ack",
    "ephemeral-port-exhaustion",
    "kv-cache-preemption",
    "server-saturated",
    "accept-queue-overflow",
    "load-balancer-blind",
    "too-many-layers",
    "kv-transfer-bound",
    "cold-start",
    "tcp-window-limited",
    "download-single-stream",
    "slow-connection-tail",
    "origin-rate-limited",
    "image-pull-serialized",
    "storage-bound",
    "storage-access-pattern",
    "dataloader-bound",
    "compute-bound",
    "remote-compute-fallback",
    "no-fault-metric-misread",
    "no-fault-harmless-message",
    "no-fault-hardware-limit",
    "no-fault-not-network-bound",
    "no-fault-queueing",
]

Bearing = Literal["network", "not-network", "neither"]
"""Whether a cause means that the network (links, paths, transports and their set-up) is the limit."""


class Meaning(msgspec.Struct, frozen=True):
    """What a label says, the family it belongs to, and its bearing on the network."""

    family: str
    bearing: Bearing
    text: Text


MEANINGS: dict[Label, Meaning] = {
    "pcie-acs-enabled": Meaning(
        "host-pcie",
        "not-network",
        Text(
            en="Access Control Services redirect peer PCIe traffic (GPU-GPU or GPU-NIC) up to the root/IOMMU; hangs, protection errors or halved rate. Includes missing ATS/DirectTrans in virtual machines.",
            zh="PCIe 访问控制服务（ACS）把点对点流量（GPU 间或 GPU 与网卡间）绕到根复合体/IOMMU：挂起、保护错误或速率减半；也包括虚拟机缺少 ATS/DirectTrans。",
        ),
    ),
    "iommu": Meaning(
        "host-pcie",
        "not-network",
        Text(
            en="IOMMU in translating mode breaks or slows peer-to-peer traffic.",
            zh="IOMMU 处于地址转换模式，破坏或拖慢点对点流量。",
        ),
    ),
    "pcie-link-degraded": Meaning(
        "host-pcie",
        "not-network",
        Text(
            en="PCIe link trained below capability or the slot is narrower than the device needs.",
            zh="PCIe 链路协商低于能力，或插槽窄于设备所需。",
        ),
    ),
    "p2p-unsupported-gpu": Meaning(
        "host-pcie",
        "not-network",
        Text(
            en="GPU model/driver has no PCIe peer access; data passes through host memory.",
            zh="该 GPU 型号或驱动不支持 PCIe 对等访问，数据经主机内存中转。",
        ),
    ),
    "nvlink-missing": Meaning(
        "host-gpu",
        "not-network",
        Text(en="NVLink down, in error or unusable between some GPUs.", zh="部分 GPU 之间 NVLink 断开、出错或不可用。"),
    ),
    "nvlink-fabric-manager": Meaning(
        "host-gpu",
        "not-network",
        Text(
            en="NVSwitch fabric state/Fabric Manager faulty (multicast or P2P set-up fails).",
            zh="NVSwitch 互连状态或 Fabric Manager 异常（组播或 P2P 建立失败）。",
        ),
    ),
    "gpu-xid": Meaning(
        "host-gpu", "not-network", Text(en="GPU hardware/driver fault reported as Xid.", zh="GPU 硬件或驱动故障，以 Xid 报告。")
    ),
    "gpu-oom": Meaning("host-gpu", "not-network", Text(en="GPU out of memory on a rank.", zh="某个进程的 GPU 显存不足。")),
    "numa-mismatch": Meaning(
        "host-cpu",
        "neither",
        Text(
            en="Process, memory or interrupt on another NUMA node/socket than NIC or GPU; includes NPS setting and wrong CPU masks.",
            zh="进程、内存或中断与网卡或 GPU 不在同一 NUMA 节点；包括 NPS 设置和错误的 CPU 掩码。",
        ),
    ),
    "cpu-binding": Meaning(
        "host-cpu",
        "neither",
        Text(en="CPU mask/binding too small or wrong for communication threads.", zh="CPU 掩码或绑定太小，或不适合通信线程。"),
    ),
    "bios-setting": Meaning(
        "host-cpu",
        "neither",
        Text(en="Firmware setting (NPS, power, relaxed ordering) limits I/O.", zh="固件设置（NPS、电源、宽松排序）限制 I/O。"),
    ),
    "cpu-bound-host": Meaning(
        "host-cpu", "neither", Text(en="One host core is the limit of a network path.", zh="主机的一个核心成为网络路径的上限。")
    ),
    "irq-affinity": Meaning(
        "host-nic", "network", Text(en="NIC interrupts concentrated on one/few CPUs.", zh="网卡中断集中在一个或少数 CPU。")
    ),
    "nic-ring-too-small": Meaning("host-nic", "network", Text(en="RX/TX ring overflows in bursts.", zh="收发环在突发时溢出。")),
    "nic-firmware-state": Meaning(
        "host-nic",
        "network",
        Text(en="NIC up at nominal speed but capped by firmware/power state.", zh="网卡标称速率正常，但被固件或供电状态限速。"),
    ),
    "pause-frames-throttling": Meaning(
        "host-nic",
        "network",
        Text(en="802.3x/PFC pause throttles the sender without drops.", zh="802.3x/PFC 暂停帧在不丢包的情况下压住发送方。"),
    ),
    "link-flapping": Meaning(
        "host-nic", "network", Text(en="Link goes down and up again by itself.", zh="链路反复自行断开又恢复。")
    ),
    "host-routing-ambiguous": Meaning(
        "host-net",
        "network",
        Text(
            en="Overlapping routes/prefixes make source address or path choice unstable.",
            zh="路由或前缀重叠，使源地址或路径选择不稳定。",
        ),
    ),
    "duplicate-address": Meaning("host-net", "network", Text(en="Two machines claim one address.", zh="两台机器使用同一地址。")),
    "congestion-control-unsuited": Meaning(
        "host-net",
        "network",
        Text(
            en="The congestion control in use does not suit the path: Reno or CUBIC over a long path that loses a little.",
            zh="所用拥塞控制与路径不合：在略有丢包的长路径上使用 Reno 或 CUBIC。",
        ),
    ),
    "packet-reordering": Meaning(
        "fabric",
        "network",
        Text(
            en="Packets of one flow overtake each other, and are sent again although nothing is lost.",
            zh="同一条流的数据包相互超越，未丢失却被重传。",
        ),
    ),
    "l3-detour": Meaning(
        "host-net",
        "network",
        Text(
            en="Traffic between neighbours takes a longer routed way (wrong VLAN, gateway, far hop).",
            zh="相邻机器间的流量走了更长的三层路径（VLAN、网关或远端跳错误）。",
        ),
    ),
    "neighbour-table-overflow": Meaning(
        "host-net", "network", Text(en="ARP/NDP table too small for the number of peers.", zh="ARP/NDP 表容不下对端数量。")
    ),
    "bufferbloat": Meaning(
        "host-net",
        "network",
        Text(en="Queues are so deep that latency grows under load without loss.", zh="队列过深，负载下时延增长却不丢包。"),
    ),
    "ulimit-memlock": Meaning(
        "host-limits",
        "not-network",
        Text(
            en="Locked-memory limit or missing IPC_LOCK blocks RDMA registration.",
            zh="锁定内存上限或缺少 IPC_LOCK 阻止 RDMA 注册。",
        ),
    ),
    "shm-too-small": Meaning(
        "host-limits",
        "not-network",
        Text(en="/dev/shm too small for NCCL shared-memory segments.", zh="/dev/shm 容不下 NCCL 共享内存段。"),
    ),
    "file-descriptor-limit": Meaning(
        "host-limits", "not-network", Text(en="Process or system runs out of file descriptors.", zh="进程或系统的文件描述符用尽。")
    ),
    "gdr-disabled": Meaning(
        "host-rdma",
        "network",
        Text(
            en="GPUDirect RDMA not active (module missing/not detected, level too low).",
            zh="GPUDirect RDMA 未生效（模块缺失或未检测到，级别过低）。",
        ),
    ),
    "vm-topology-missing": Meaning(
        "host-rdma", "network", Text(en="Guest does not see the real PCIe tree.", zh="虚拟机看不到真实的 PCIe 树。")
    ),
    "nccl-topo-file-wrong": Meaning(
        "nccl-config",
        "network",
        Text(en="Injected topology/graph file does not fit the machine.", zh="注入的拓扑或图文件与机器不符。"),
    ),
    "nccl-env-override": Meaning(
        "nccl-config", "network", Text(en="A left-over NCCL variable forces a bad path.", zh="遗留的 NCCL 变量强制走了坏路径。")
    ),
    "nccl-wrong-interface": Meaning(
        "nccl-config", "network", Text(en="Bootstrap/socket interface chosen wrongly.", zh="引导或套接字接口选错。")
    ),
    "nccl-wrong-hca": Meaning(
        "nccl-config",
        "network",
        Text(en="Wrong, too few or mismatching RDMA devices used.", zh="使用的 RDMA 设备错误、太少或不匹配。"),
    ),
    "gloo-wrong-interface": Meaning(
        "nccl-config",
        "network",
        Text(en="Gloo/CPU group announces loopback or a wrong interface.", zh="Gloo/CPU 通信组公布了回环或错误接口。"),
    ),
    "host-ip-mismatch": Meaning(
        "nccl-config",
        "network",
        Text(
            en="Framework components disagree on a node address (Ray/VLLM_HOST_IP).",
            zh="框架各组件对节点地址的认识不一致（Ray/VLLM_HOST_IP）。",
        ),
    ),
    "hostname-resolution": Meaning(
        "nccl-config", "network", Text(en="Host name resolves to loopback/nothing.", zh="主机名解析到回环地址或无法解析。")
    ),
    "ib-disabled-socket-fallback": Meaning(
        "transport",
        "network",
        Text(en="RDMA transport unavailable or switched off, NCCL runs on TCP.", zh="RDMA 传输不可用或被关闭，NCCL 退回 TCP。"),
    ),
    "rdma-fallback-tcp": Meaning(
        "transport",
        "network",
        Text(en="Other RDMA stack (UCX, transfer engine) silently on TCP.", zh="其他 RDMA 栈（UCX、传输引擎）悄悄使用 TCP。"),
    ),
    "container-missing-rdma-device": Meaning(
        "transport",
        "network",
        Text(en="Container/pod lacks uverbs device or capability.", zh="容器或 Pod 缺少 uverbs 设备或权限。"),
    ),
    "efa-misconfigured": Meaning("transport", "network", Text(en="EFA provider/plugin not usable.", zh="EFA 提供者或插件不可用。")),
    "tcp-single-flow-limit": Meaning(
        "transport",
        "network",
        Text(en="Per-flow limit of TCP/cloud network against NCCL sockets.", zh="TCP 或云网络的单流上限制约 NCCL 套接字。"),
    ),
    "nccl-plugin-mismatch": Meaning(
        "version", "neither", Text(en="Different network plugins on the ranks.", zh="各进程加载的网络插件不同。")
    ),
    "version-mismatch": Meaning(
        "version",
        "neither",
        Text(en="Incompatible versions between nodes or between stacked libraries.", zh="节点之间或软件栈之间版本不兼容。"),
    ),
    "nccl-version-bug": Meaning(
        "version", "neither", Text(en="Defect or missing support in one library release.", zh="某个库版本的缺陷或缺少支持。")
    ),
    "configuration-drift": Meaning(
        "version",
        "neither",
        Text(en="A setting or version differs from the other machines of its role.", zh="某项设置或版本与同角色的其他机器不同。"),
    ),
    "roce-gid-index-wrong": Meaning(
        "fabric", "network", Text(en="RoCE GID index not routable/not v2.", zh="RoCE GID 索引不可路由或不是 v2。")
    ),
    "roce-unreachable-path": Meaning(
        "fabric",
        "network",
        Text(en="RoCE ports cannot reach each other (subnet, VLAN, routing).", zh="RoCE 端口互不可达（子网、VLAN、路由）。"),
    ),
    "roce-pfc-missing": Meaning(
        "fabric",
        "network",
        Text(en="RoCE without working flow control/ECN loses packets under incast.", zh="RoCE 缺少有效的流控/ECN，incast 时丢包。"),
    ),
    "packet-loss": Meaning(
        "fabric",
        "network",
        Text(en="Loss on links (errors, discards) from other causes.", zh="其他原因造成的链路丢包（错误、丢弃）。"),
    ),
    "mtu-mismatch": Meaning(
        "fabric",
        "network",
        Text(en="MTU differs along the path (hosts, switch, RDMA).", zh="路径上 MTU 不一致（主机、交换机、RDMA）。"),
    ),
    "pmtu-blackhole": Meaning("fabric", "network", Text(en="Big packets vanish without ICMP.", zh="大包无 ICMP 提示地消失。")),
    "ib-port-down": Meaning("fabric", "network", Text(en="InfiniBand port not Active.", zh="InfiniBand 端口不是 Active。")),
    "ib-no-subnet-manager": Meaning("fabric", "network", Text(en="No (suitable) subnet manager.", zh="没有（合适的）子网管理器。")),
    "link-speed-lower-than-assumed": Meaning(
        "fabric", "network", Text(en="Negotiated/cabled speed lower than believed.", zh="协商或线缆速率低于预期。")
    ),
    "bond-lag-single-flow": Meaning(
        "fabric", "network", Text(en="One flow/QP uses one member of a bond.", zh="单流或单 QP 只用绑定链路的一个成员。")
    ),
    "ecmp-collision": Meaning(
        "fabric",
        "network",
        Text(en="Flows collide on equal-cost or statically routed links.", zh="流量在等价路径或静态路由链路上碰撞。"),
    ),
    "oversubscribed-fabric": Meaning("fabric", "network", Text(en="Uplink capacity below demand.", zh="上行容量低于需求。")),
    "bandwidth-insufficient": Meaning(
        "fabric", "network", Text(en="Link saturated by legitimate traffic.", zh="链路被正常流量占满。")
    ),
    "noisy-neighbour": Meaning(
        "fabric",
        "network",
        Text(en="Other tenants or jobs take the shared link or queue.", zh="其他租户或任务占用共享链路或队列。"),
    ),
    "cloud-allowance-exceeded": Meaning(
        "fabric",
        "network",
        Text(
            en="Instance-level bandwidth, packet or connection allowance of the cloud is used up.",
            zh="云实例的带宽、包速率或连接额度用尽。",
        ),
    ),
    "distance": Meaning(
        "fabric",
        "network",
        Text(en="Round-trip time between the places, not bandwidth, is the limit.", zh="瓶颈是两地之间的往返时延，而非带宽。"),
    ),
    "mtu-overlay": Meaning(
        "k8s", "network", Text(en="Pod/overlay MTU does not fit the underlay.", zh="Pod 或叠加网络的 MTU 与底层不符。")
    ),
    "sriov-config": Meaning("k8s", "network", Text(en="SR-IOV virtual function not configured.", zh="SR-IOV 虚拟功能未配置。")),
    "l4-grpc-pinning": Meaning(
        "k8s",
        "neither",
        Text(en="Connection-level balancing pins HTTP/2 to one pod.", zh="连接级负载均衡把 HTTP/2 固定到一个 Pod。"),
    ),
    "dns-slow": Meaning("k8s", "network", Text(en="Name resolution stalls.", zh="域名解析卡顿。")),
    "dns-conntrack-race": Meaning(
        "k8s", "network", Text(en="Parallel A/AAAA queries lost in conntrack.", zh="并行的 A/AAAA 查询在 conntrack 中丢失。")
    ),
    "conntrack-full": Meaning("k8s", "network", Text(en="Connection tracking table full.", zh="连接跟踪表已满。")),
    "cpu-cfs-throttling": Meaning("k8s", "not-network", Text(en="CPU quota parks the data path.", zh="CPU 配额使数据路径停顿。")),
    "straggler-slow-node": Meaning(
        "straggler", "neither", Text(en="One node/GPU path is slow, others wait.", zh="某个节点或 GPU 路径慢，其他在等待。")
    ),
    "straggler-gpu-throttle": Meaning("straggler", "not-network", Text(en="GPU clocks/power capped.", zh="GPU 时钟或功率受限。")),
    "straggler-compute-imbalance": Meaning(
        "straggler", "not-network", Text(en="Work is uneven, collectives measure waiting.", zh="工作量不均，集合通信测到的是等待。")
    ),
    "straggler-other": Meaning("straggler", "neither", Text(en="Other late arrival of ranks.", zh="进程因其他原因迟到。")),
    "collective-mismatch-desync": Meaning(
        "software",
        "not-network",
        Text(en="Ranks issue different collectives/sizes/order.", zh="各进程发出的集合操作种类、大小或顺序不同。"),
    ),
    "collective-timeout-too-short": Meaning(
        "software", "not-network", Text(en="Watchdog limit shorter than legal waiting.", zh="看门狗时限短于合理等待。")
    ),
    "peer-process-died": Meaning(
        "software", "not-network", Text(en="A rank crashed; others report network errors.", zh="某个进程崩溃，其他进程报网络错误。")
    ),
    "placement-crosses-domain": Meaning(
        "placement", "network", Text(en="Group spans racks/NVLink domains.", zh="通信组跨越机架或 NVLink 域。")
    ),
    "parallel-strategy-comm-bound": Meaning(
        "strategy", "network", Text(en="Parallel layout moves too much over slow links.", zh="并行方式在慢链路上搬运过多数据。")
    ),
    "cross-node-tp": Meaning("strategy", "network", Text(en="Tensor parallel across nodes.", zh="张量并行跨节点。")),
    "small-message-latency-bound": Meaning(
        "strategy",
        "network",
        Text(en="Many small dependent messages; latency, not bandwidth.", zh="大量相互依赖的小消息；受限于时延而非带宽。"),
    ),
    "fp32-gradients": Meaning(
        "strategy",
        "network",
        Text(en="Gradients travel in fp32 although training is mixed precision.", zh="混合精度训练中梯度仍以 fp32 传输。"),
    ),
    "moe-imbalance": Meaning(
        "strategy",
        "neither",
        Text(en="Hot experts receive more tokens, all-to-all waits for them.", zh="热门专家收到更多 token，all-to-all 等待它们。"),
    ),
    "benchmark-not-multinode": Meaning(
        "measurement", "neither", Text(en="Test did not communicate (no MPI build).", zh="测试并未通信（未启用 MPI 构建）。")
    ),
    "client-bound-benchmark": Meaning(
        "measurement", "not-network", Text(en="Load generator/test tool is the limit.", zh="压测工具本身是瓶颈。")
    ),
    "firewall-blocks-ports": Meaning(
        "net-policy", "network", Text(en="Packet filter/security group blocks needed ports.", zh="包过滤或安全组阻断所需端口。")
    ),
    "firewall-idle-timeout": Meaning(
        "net-policy", "network", Text(en="Stateful device drops idle connections.", zh="有状态设备丢弃空闲连接。")
    ),
    "docker-network": Meaning(
        "net-policy",
        "network",
        Text(en="Container bridge addresses unreachable from other hosts.", zh="容器网桥地址在其他主机上不可达。"),
    ),
    "service-bound-loopback": Meaning(
        "inference", "not-network", Text(en="Server listens on loopback only.", zh="服务只监听回环地址。")
    ),
    "proxy-buffering": Meaning("inference", "not-network", Text(en="Proxy buffers the stream.", zh="代理缓冲了流式响应。")),
    "proxy-compression-buffering": Meaning(
        "inference", "not-network", Text(en="Compression holds stream events.", zh="压缩滞留了流式事件。")
    ),
    "keepalive-timeout-reset": Meaning(
        "inference",
        "not-network",
        Text(en="Server closes idle connections earlier than the proxy.", zh="服务器比代理更早关闭空闲连接。"),
    ),
    "gateway-timeout-too-short": Meaning(
        "inference",
        "not-network",
        Text(en="Hop read timeout shorter than first byte/idle gap.", zh="某一跳的读超时短于首字节或空闲间隔。"),
    ),
    "gateway-connection-limit": Meaning(
        "inference", "not-network", Text(en="Gateway/client pool limit queues requests.", zh="网关或客户端连接池上限使请求排队。")
    ),
    "connection-reuse-missing": Meaning(
        "inference", "network", Text(en="New TCP/TLS connection per request.", zh="每个请求都新建 TCP/TLS 连接。")
    ),
    "http2-stream-limit": Meaning(
        "inference", "neither", Text(en="Concurrent stream limit on one connection.", zh="单连接的并发流上限。")
    ),
    "nagle-delayed-ack": Meaning(
        "inference", "network", Text(en="Nagle with delayed ACK adds about 40 ms.", zh="Nagle 与延迟确认叠加约 40 ms。")
    ),
    "ephemeral-port-exhaustion": Meaning(
        "inference", "network", Text(en="Source ports used up in TIME_WAIT.", zh="源端口在 TIME_WAIT 中耗尽。")
    ),
    "kv-cache-preemption": Meaning(
        "inference", "not-network", Text(en="KV cache full, sequences are evicted.", zh="KV 缓存已满，序列被逐出。")
    ),
    "server-saturated": Meaning(
        "inference", "not-network", Text(en="Offered load above service rate.", zh="请求负载超过服务能力。")
    ),
    "accept-queue-overflow": Meaning(
        "inference",
        "not-network",
        Text(en="Accept or SYN queue of a listening socket overflows.", zh="监听套接字的接受队列或 SYN 队列溢出。"),
    ),
    "load-balancer-blind": Meaning(
        "inference",
        "not-network",
        Text(en="Balancer ignores queue, batch or KV cache of the replicas.", zh="负载均衡不看副本的队列、批次或 KV 缓存。"),
    ),
    "too-many-layers": Meaning(
        "inference", "network", Text(en="Each proxy or gateway layer adds its share of latency.", zh="每一层代理或网关都增加时延。")
    ),
    "kv-transfer-bound": Meaning(
        "inference",
        "network",
        Text(en="Moving the KV cache between prefill and decode is the limit.", zh="预填充与解码之间搬运 KV 缓存是瓶颈。"),
    ),
    "cold-start": Meaning(
        "inference",
        "not-network",
        Text(en="First requests wait for model load, compilation or scale-out.", zh="首批请求等待模型加载、编译或扩容。"),
    ),
    "tcp-window-limited": Meaning("storage", "network", Text(en="Window/RTT bounds a flow.", zh="窗口/RTT 限制单流速率。")),
    "download-single-stream": Meaning("storage", "network", Text(en="Serial/single-connection transfer.", zh="串行或单连接传输。")),
    "slow-connection-tail": Meaning(
        "storage", "network", Text(en="One slow connection holds a parallel download.", zh="一条慢连接拖住并行下载。")
    ),
    "origin-rate-limited": Meaning(
        "storage", "not-network", Text(en="Origin/registry/bucket throttles.", zh="源站、镜像库或存储桶限流。")
    ),
    "image-pull-serialized": Meaning("storage", "not-network", Text(en="Image pulls one after the other.", zh="镜像逐个拉取。")),
    "storage-bound": Meaning(
        "storage", "not-network", Text(en="Storage/checkpoint bandwidth is the limit.", zh="存储或检查点带宽是瓶颈。")
    ),
    "storage-access-pattern": Meaning(
        "storage", "not-network", Text(en="Random/mmap reads on network storage.", zh="在网络存储上随机或 mmap 读取。")
    ),
    "dataloader-bound": Meaning("not-network", "not-network", Text(en="Input pipeline is the limit.", zh="输入流水线是瓶颈。")),
    "compute-bound": Meaning(
        "not-network", "not-network", Text(en="Compute/memory bandwidth is the limit.", zh="计算或显存带宽是瓶颈。")
    ),
    "remote-compute-fallback": Meaning(
        "not-network", "not-network", Text(en="Remote side computes on CPU.", zh="远端在 CPU 上计算。")
    ),
    "no-fault-metric-misread": Meaning(
        "no-fault", "neither", Text(en="Result is normal, metric or unit misread.", zh="结果正常，误读了指标或单位。")
    ),
    "no-fault-harmless-message": Meaning("no-fault", "neither", Text(en="Log line is informational.", zh="日志仅为提示。")),
    "no-fault-hardware-limit": Meaning("no-fault", "neither", Text(en="Normal limit of this hardware.", zh="该硬件的正常上限。")),
    "no-fault-not-network-bound": Meaning(
        "no-fault", "not-network", Text(en="Network is healthy and not the limit.", zh="网络健康，不是瓶颈。")
    ),
    "no-fault-queueing": Meaning(
        "no-fault", "not-network", Text(en="Latency is queueing at the model server.", zh="时延来自模型服务器的排队。")
    ),
}
