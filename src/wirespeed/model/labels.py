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
        "network",
        Text(
            en="Access Control Services redirect peer PCIe traffic (GPU-GPU or GPU-NIC) up to the root/IOMMU; hangs, protection errors or halved rate. Includes missing ATS/DirectTrans in virtual machines.",
            zh="",
        ),
    ),
    "iommu": Meaning("host-pcie", "network", Text(en="IOMMU in translating mode breaks or slows peer-to-peer traffic.", zh="")),
    "pcie-link-degraded": Meaning(
        "host-pcie", "network", Text(en="PCIe link trained below capability or the slot is narrower than the device needs.", zh="")
    ),
    "p2p-unsupported-gpu": Meaning(
        "host-pcie", "network", Text(en="GPU model/driver has no PCIe peer access; data passes through host memory.", zh="")
    ),
    "nvlink-missing": Meaning("host-gpu", "network", Text(en="NVLink down, in error or unusable between some GPUs.", zh="")),
    "nvlink-fabric-manager": Meaning(
        "host-gpu", "network", Text(en="NVSwitch fabric state/Fabric Manager faulty (multicast or P2P set-up fails).", zh="")
    ),
    "gpu-xid": Meaning("host-gpu", "not-network", Text(en="GPU hardware/driver fault reported as Xid.", zh="")),
    "gpu-oom": Meaning("host-gpu", "not-network", Text(en="GPU out of memory on a rank.", zh="")),
    "numa-mismatch": Meaning(
        "host-cpu",
        "neither",
        Text(
            en="Process, memory or interrupt on another NUMA node/socket than NIC or GPU; includes NPS setting and wrong CPU masks.",
            zh="",
        ),
    ),
    "cpu-binding": Meaning("host-cpu", "neither", Text(en="CPU mask/binding too small or wrong for communication threads.", zh="")),
    "bios-setting": Meaning("host-cpu", "neither", Text(en="Firmware setting (NPS, power, relaxed ordering) limits I/O.", zh="")),
    "cpu-bound-host": Meaning("host-cpu", "neither", Text(en="One host core is the limit of a network path.", zh="")),
    "irq-affinity": Meaning("host-nic", "network", Text(en="NIC interrupts concentrated on one/few CPUs.", zh="")),
    "nic-ring-too-small": Meaning("host-nic", "network", Text(en="RX/TX ring overflows in bursts.", zh="")),
    "nic-firmware-state": Meaning(
        "host-nic", "network", Text(en="NIC up at nominal speed but capped by firmware/power state.", zh="")
    ),
    "pause-frames-throttling": Meaning(
        "host-nic", "network", Text(en="802.3x/PFC pause throttles the sender without drops.", zh="")
    ),
    "link-flapping": Meaning("host-nic", "network", Text(en="Link goes down and up again by itself.", zh="")),
    "host-routing-ambiguous": Meaning(
        "host-net", "network", Text(en="Overlapping routes/prefixes make source address or path choice unstable.", zh="")
    ),
    "duplicate-address": Meaning("host-net", "network", Text(en="Two machines claim one address.", zh="")),
    "l3-detour": Meaning(
        "host-net",
        "network",
        Text(en="Traffic between neighbours takes a longer routed way (wrong VLAN, gateway, far hop).", zh=""),
    ),
    "neighbour-table-overflow": Meaning("host-net", "network", Text(en="ARP/NDP table too small for the number of peers.", zh="")),
    "bufferbloat": Meaning("host-net", "network", Text(en="Queues are so deep that latency grows under load without loss.", zh="")),
    "ulimit-memlock": Meaning(
        "host-limits", "not-network", Text(en="Locked-memory limit or missing IPC_LOCK blocks RDMA registration.", zh="")
    ),
    "shm-too-small": Meaning("host-limits", "not-network", Text(en="/dev/shm too small for NCCL shared-memory segments.", zh="")),
    "file-descriptor-limit": Meaning(
        "host-limits", "not-network", Text(en="Process or system runs out of file descriptors.", zh="")
    ),
    "gdr-disabled": Meaning(
        "host-rdma", "network", Text(en="GPUDirect RDMA not active (module missing/not detected, level too low).", zh="")
    ),
    "vm-topology-missing": Meaning("host-rdma", "network", Text(en="Guest does not see the real PCIe tree.", zh="")),
    "nccl-topo-file-wrong": Meaning(
        "nccl-config", "network", Text(en="Injected topology/graph file does not fit the machine.", zh="")
    ),
    "nccl-env-override": Meaning("nccl-config", "network", Text(en="A left-over NCCL variable forces a bad path.", zh="")),
    "nccl-wrong-interface": Meaning("nccl-config", "network", Text(en="Bootstrap/socket interface chosen wrongly.", zh="")),
    "nccl-wrong-hca": Meaning("nccl-config", "network", Text(en="Wrong, too few or mismatching RDMA devices used.", zh="")),
    "gloo-wrong-interface": Meaning(
        "nccl-config", "network", Text(en="Gloo/CPU group announces loopback or a wrong interface.", zh="")
    ),
    "host-ip-mismatch": Meaning(
        "nccl-config", "network", Text(en="Framework components disagree on a node address (Ray/VLLM_HOST_IP).", zh="")
    ),
    "hostname-resolution": Meaning("nccl-config", "network", Text(en="Host name resolves to loopback/nothing.", zh="")),
    "ib-disabled-socket-fallback": Meaning(
        "transport", "network", Text(en="RDMA transport unavailable or switched off, NCCL runs on TCP.", zh="")
    ),
    "rdma-fallback-tcp": Meaning(
        "transport", "network", Text(en="Other RDMA stack (UCX, transfer engine) silently on TCP.", zh="")
    ),
    "container-missing-rdma-device": Meaning(
        "transport", "network", Text(en="Container/pod lacks uverbs device or capability.", zh="")
    ),
    "efa-misconfigured": Meaning("transport", "network", Text(en="EFA provider/plugin not usable.", zh="")),
    "tcp-single-flow-limit": Meaning(
        "transport", "network", Text(en="Per-flow limit of TCP/cloud network against NCCL sockets.", zh="")
    ),
    "nccl-plugin-mismatch": Meaning("version", "neither", Text(en="Different network plugins on the ranks.", zh="")),
    "version-mismatch": Meaning(
        "version", "neither", Text(en="Incompatible versions between nodes or between stacked libraries.", zh="")
    ),
    "nccl-version-bug": Meaning("version", "neither", Text(en="Defect or missing support in one library release.", zh="")),
    "configuration-drift": Meaning(
        "version", "neither", Text(en="A setting or version differs from the other machines of its role.", zh="")
    ),
    "roce-gid-index-wrong": Meaning("fabric", "network", Text(en="RoCE GID index not routable/not v2.", zh="")),
    "roce-unreachable-path": Meaning(
        "fabric", "network", Text(en="RoCE ports cannot reach each other (subnet, VLAN, routing).", zh="")
    ),
    "roce-pfc-missing": Meaning(
        "fabric", "network", Text(en="RoCE without working flow control/ECN loses packets under incast.", zh="")
    ),
    "packet-loss": Meaning("fabric", "network", Text(en="Loss on links (errors, discards) from other causes.", zh="")),
    "mtu-mismatch": Meaning("fabric", "network", Text(en="MTU differs along the path (hosts, switch, RDMA).", zh="")),
    "pmtu-blackhole": Meaning("fabric", "network", Text(en="Big packets vanish without ICMP.", zh="")),
    "ib-port-down": Meaning("fabric", "network", Text(en="InfiniBand port not Active.", zh="")),
    "ib-no-subnet-manager": Meaning("fabric", "network", Text(en="No (suitable) subnet manager.", zh="")),
    "link-speed-lower-than-assumed": Meaning("fabric", "network", Text(en="Negotiated/cabled speed lower than believed.", zh="")),
    "bond-lag-single-flow": Meaning("fabric", "network", Text(en="One flow/QP uses one member of a bond.", zh="")),
    "ecmp-collision": Meaning("fabric", "network", Text(en="Flows collide on equal-cost or statically routed links.", zh="")),
    "oversubscribed-fabric": Meaning("fabric", "network", Text(en="Uplink capacity below demand.", zh="")),
    "bandwidth-insufficient": Meaning("fabric", "network", Text(en="Link saturated by legitimate traffic.", zh="")),
    "noisy-neighbour": Meaning("fabric", "network", Text(en="Other tenants or jobs take the shared link or queue.", zh="")),
    "cloud-allowance-exceeded": Meaning(
        "fabric", "network", Text(en="Instance-level bandwidth, packet or connection allowance of the cloud is used up.", zh="")
    ),
    "distance": Meaning("fabric", "network", Text(en="Round-trip time between the places, not bandwidth, is the limit.", zh="")),
    "mtu-overlay": Meaning("k8s", "network", Text(en="Pod/overlay MTU does not fit the underlay.", zh="")),
    "sriov-config": Meaning("k8s", "network", Text(en="SR-IOV virtual function not configured.", zh="")),
    "l4-grpc-pinning": Meaning("k8s", "neither", Text(en="Connection-level balancing pins HTTP/2 to one pod.", zh="")),
    "dns-slow": Meaning("k8s", "network", Text(en="Name resolution stalls.", zh="")),
    "dns-conntrack-race": Meaning("k8s", "network", Text(en="Parallel A/AAAA queries lost in conntrack.", zh="")),
    "conntrack-full": Meaning("k8s", "network", Text(en="Connection tracking table full.", zh="")),
    "cpu-cfs-throttling": Meaning("k8s", "not-network", Text(en="CPU quota parks the data path.", zh="")),
    "straggler-slow-node": Meaning("straggler", "neither", Text(en="One node/GPU path is slow, others wait.", zh="")),
    "straggler-gpu-throttle": Meaning("straggler", "not-network", Text(en="GPU clocks/power capped.", zh="")),
    "straggler-compute-imbalance": Meaning(
        "straggler", "not-network", Text(en="Work is uneven, collectives measure waiting.", zh="")
    ),
    "straggler-other": Meaning("straggler", "neither", Text(en="Other late arrival of ranks.", zh="")),
    "collective-mismatch-desync": Meaning(
        "software", "not-network", Text(en="Ranks issue different collectives/sizes/order.", zh="")
    ),
    "collective-timeout-too-short": Meaning(
        "software", "not-network", Text(en="Watchdog limit shorter than legal waiting.", zh="")
    ),
    "peer-process-died": Meaning("software", "not-network", Text(en="A rank crashed; others report network errors.", zh="")),
    "placement-crosses-domain": Meaning("placement", "network", Text(en="Group spans racks/NVLink domains.", zh="")),
    "parallel-strategy-comm-bound": Meaning(
        "strategy", "network", Text(en="Parallel layout moves too much over slow links.", zh="")
    ),
    "cross-node-tp": Meaning("strategy", "network", Text(en="Tensor parallel across nodes.", zh="")),
    "small-message-latency-bound": Meaning(
        "strategy", "network", Text(en="Many small dependent messages; latency, not bandwidth.", zh="")
    ),
    "fp32-gradients": Meaning(
        "strategy", "network", Text(en="Gradients travel in fp32 although training is mixed precision.", zh="")
    ),
    "moe-imbalance": Meaning("strategy", "neither", Text(en="Hot experts receive more tokens, all-to-all waits for them.", zh="")),
    "benchmark-not-multinode": Meaning("measurement", "neither", Text(en="Test did not communicate (no MPI build).", zh="")),
    "client-bound-benchmark": Meaning("measurement", "not-network", Text(en="Load generator/test tool is the limit.", zh="")),
    "firewall-blocks-ports": Meaning("net-policy", "network", Text(en="Packet filter/security group blocks needed ports.", zh="")),
    "firewall-idle-timeout": Meaning("net-policy", "network", Text(en="Stateful device drops idle connections.", zh="")),
    "docker-network": Meaning("net-policy", "network", Text(en="Container bridge addresses unreachable from other hosts.", zh="")),
    "service-bound-loopback": Meaning("inference", "neither", Text(en="Server listens on loopback only.", zh="")),
    "proxy-buffering": Meaning("inference", "network", Text(en="Proxy buffers the stream.", zh="")),
    "proxy-compression-buffering": Meaning("inference", "network", Text(en="Compression holds stream events.", zh="")),
    "keepalive-timeout-reset": Meaning(
        "inference", "neither", Text(en="Server closes idle connections earlier than the proxy.", zh="")
    ),
    "gateway-timeout-too-short": Meaning(
        "inference", "neither", Text(en="Hop read timeout shorter than first byte/idle gap.", zh="")
    ),
    "gateway-connection-limit": Meaning("inference", "neither", Text(en="Gateway/client pool limit queues requests.", zh="")),
    "connection-reuse-missing": Meaning("inference", "network", Text(en="New TCP/TLS connection per request.", zh="")),
    "http2-stream-limit": Meaning("inference", "neither", Text(en="Concurrent stream limit on one connection.", zh="")),
    "nagle-delayed-ack": Meaning("inference", "network", Text(en="Nagle with delayed ACK adds about 40 ms.", zh="")),
    "ephemeral-port-exhaustion": Meaning("inference", "network", Text(en="Source ports used up in TIME_WAIT.", zh="")),
    "kv-cache-preemption": Meaning("inference", "not-network", Text(en="KV cache full, sequences are evicted.", zh="")),
    "server-saturated": Meaning("inference", "not-network", Text(en="Offered load above service rate.", zh="")),
    "accept-queue-overflow": Meaning(
        "inference", "neither", Text(en="Accept or SYN queue of a listening socket overflows.", zh="")
    ),
    "load-balancer-blind": Meaning(
        "inference", "neither", Text(en="Balancer ignores queue, batch or KV cache of the replicas.", zh="")
    ),
    "too-many-layers": Meaning("inference", "network", Text(en="Each proxy or gateway layer adds its share of latency.", zh="")),
    "kv-transfer-bound": Meaning(
        "inference", "network", Text(en="Moving the KV cache between prefill and decode is the limit.", zh="")
    ),
    "cold-start": Meaning(
        "inference", "not-network", Text(en="First requests wait for model load, compilation or scale-out.", zh="")
    ),
    "tcp-window-limited": Meaning("storage", "network", Text(en="Window/RTT bounds a flow.", zh="")),
    "download-single-stream": Meaning("storage", "network", Text(en="Serial/single-connection transfer.", zh="")),
    "slow-connection-tail": Meaning("storage", "network", Text(en="One slow connection holds a parallel download.", zh="")),
    "origin-rate-limited": Meaning("storage", "not-network", Text(en="Origin/registry/bucket throttles.", zh="")),
    "image-pull-serialized": Meaning("storage", "not-network", Text(en="Image pulls one after the other.", zh="")),
    "storage-bound": Meaning("storage", "not-network", Text(en="Storage/checkpoint bandwidth is the limit.", zh="")),
    "storage-access-pattern": Meaning("storage", "not-network", Text(en="Random/mmap reads on network storage.", zh="")),
    "dataloader-bound": Meaning("not-network", "not-network", Text(en="Input pipeline is the limit.", zh="")),
    "compute-bound": Meaning("not-network", "not-network", Text(en="Compute/memory bandwidth is the limit.", zh="")),
    "remote-compute-fallback": Meaning("not-network", "not-network", Text(en="Remote side computes on CPU.", zh="")),
    "no-fault-metric-misread": Meaning("no-fault", "neither", Text(en="Result is normal, metric or unit misread.", zh="")),
    "no-fault-harmless-message": Meaning("no-fault", "neither", Text(en="Log line is informational.", zh="")),
    "no-fault-hardware-limit": Meaning("no-fault", "neither", Text(en="Normal limit of this hardware.", zh="")),
    "no-fault-not-network-bound": Meaning("no-fault", "not-network", Text(en="Network is healthy and not the limit.", zh="")),
    "no-fault-queueing": Meaning("no-fault", "not-network", Text(en="Latency is queueing at the model server.", zh="")),
}
