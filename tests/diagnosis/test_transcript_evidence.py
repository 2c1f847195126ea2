"""What transcripts show (prompts that name hosts, loops, cut tables) reaches the rules; each text holds one observation, each look-alike none."""

import pytest

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import judge_rule
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.kinds import Reader, Rule
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.readers import tools
from wirespeed.readers.recognise import read_all

READERS = shelf.every(tools, Reader)
RULES = shelf.every(rules, Rule)

GIDS = "pod-{} $ show_gids\nmlx5_4  1  {}  0000:0000:0000:0000:0000:ffff:c000:020{}  192.0.2.{}  v2  net1\n"
LOOP = "$ for n in node-1 node-2; do echo $n; ssh $n ip -br addr show eth0; done\nnode-1\neth0  UP  192.0.2.11/24 {}\nnode-2\neth0  UP  192.0.2.12/24 {}\n"
TOPO = "        GPU0  GPU1  mlx5_0  mlx5_1  mlx5_2  mlx5_3\nGPU0     X    NV12  PXB     SYS     PXB     SYS\nGPU1    NV12   X    SYS     PXB     SYS     PXB\n"
CHANNEL = "{}:90{}:119{} [{}] NCCL INFO Channel 00/0 : {}[{}] -> {}[{}] [send] via NET/IB/{}/GDRDMA\n"
SECOND = "[  5]   {0}.00-{1}.00   sec  0.00 Bytes  0.00 bits/sec    1   {2}\n"
STREAM = "[  5]   0.00-10.00  sec  11.1 GBytes  {} Gbits/sec    0             sender\n"
SUM = "[SUM]   0.00-10.00  sec   108 GBytes  {} Gbits/sec    3             sender\n"
DELAYS = "| Delay(ms) | Bandwidth(Mbps) |\n| 10 | {} |\n| 100 | {} |\n| 1000 | {} |\n"
BRIDGE = "$ ip route\ndefault via 10.0.75.1 dev eth0\n172.17.0.0/16 dev {} proto kernel scope link src 172.17.0.1\n"
SILENT = "--- 172.17.15.220 ping statistics ---\n5 packets transmitted, 0 received, 100% packet loss, time 4091ms\n"
TAIL = "request duration p50   4 ms\nrequest duration p99   {}\nlimits: {{cpu: 200m}}\n"
UPLINKS = "port of tor-1       Gb/s\nuplink to leaf-1    {}\nuplink to leaf-2    {}\n"
SS = "ESTAB 0 0 192.0.2.1:5001 198.51.100.1:40000\n\t cubic wscale:12,12 rto:404 rtt:{}/0.9 mss:1448 cwnd:1571 ssthresh:1110 bytes_retrans:41233 retrans:0/{} busy:312000ms{}\n"
TEST = "{}: [  5]   0.00-10.00  sec  10.9 GBytes  {} Gbits/sec    0   sender\n"
SPEED = "Settings for eth0:\n\tSpeed: 10000Mb/s\n"

SEEN = {
    "GID rows that differ": ("roce_gid_index_wrong", GIDS.format("a", 5, 1, 1) + GIDS.format("b", 7, 2, 2), "another index"),
    "one address on two hosts of a loop": ("duplicate_address", LOOP.format("192.0.2.100/32", "192.0.2.100/32"), "same address"),
    "one adapter of four": ("nccl_wrong_hca", "NCCL_IB_HCA=mlx5_0\n" + TOPO, "at most half"),
    "an adapter for two": (
        "nccl_wrong_hca",
        "".join(
            CHANNEL.format(host, local, local, local, rank, local, rank + 8, local, nic)
            for host, local, rank, nic in (("node-3", 0, 24, 1), ("node-3", 1, 25, 1), ("node-4", 0, 32, 0), ("node-4", 1, 33, 1))
        ),
        "share an adapter",
    ),
    "loopback is a candidate": ("nccl_wrong_interface", "NCCL_SOCKET_IFNAME=^docker0\n", "does not hold lo"),
    "no kernel for the GPU": (
        "nccl_version_bug",
        "a:1:2 [0] NCCL INFO ncclMaxSharedMem 82240 exceeds device/fn maxSharedMem 79856\n",
        "do not fit the GPU",
    ),
    "descriptors lost on the way": ("file_descriptor_limit", "RuntimeError: received 0 items of ancdata\n", "refuses to open"),
    "two builds": (
        "version_mismatch",
        "".join(
            f"host-{host} $ python -c 'import torch; print(torch.__version__, torch.cuda.nccl.version())'\n{printed}\n"
            for host, printed in (("a", "1.1.0 2402"), ("b", "1.2.0 2408"))
        ),
        "different versions",
    ),
    "hot under a prompt": (
        "straggler_gpu_throttle",
        "node-c $ nvidia-smi -q -d PERFORMANCE -i 5 | grep -i slowdown\n        HW Slowdown      : Active\n            HW Thermal Slowdown   : Active\n",
        "",
    ),
    "fabric manager without switches": (
        "no_fault_harmless_message",
        "nv-fabricmanager[4177]: request to query NVSwitch device information failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n",
        "also appears on healthy",
    ),
    "the stall of jumbo frames": (
        "mtu_mismatch",
        "".join(SECOND.format(at, at + 1, "8.74 KBytes") for at in range(1, 5)),
        "one jumbo segment",
    ),
    "one answer, large probes lost": (
        "pmtu_blackhole",
        "$ ping -M do -s 1300 203.0.113.20\n1308 bytes from 203.0.113.20: icmp_seq=1 ttl=57 time=31.8 ms\n$ ping -M do -s 1392 203.0.113.20\n"
        "--- 203.0.113.20 ping statistics ---\n5 packets transmitted, 0 received, 100% packet loss, time 4091ms\n",
        "vanish",
    ),
    "sixteen streams": ("tcp_single_flow_limit", STREAM.format(9.53) + SUM.format(92.9), "much faster than one"),
    "rate times delay is steady": ("tcp_window_limited", DELAYS.format(29.77, 4.87, 0.534), "product stays near"),
    "behind the bridge": ("routing_ambiguous", BRIDGE.format("docker0") + SILENT, "container bridge"),
    "a tail of a period": ("cpu_cfs_throttling", TAIL.format("61 ms"), "scheduling period"),
    "a cold uplink": ("ecmp_collision", UPLINKS.format(99.6, 0.2), "hardly anything"),
    "held by losses over a long way": (
        "congestion_control_unsuited",
        SS.format(200.4, 28476, ""),
        "congestion window after losses",
    ),
    "drops rise in a table": (
        "accept_queue_overflow",
        "min    acceptQ  ListenOverflows\n14.0   382      3378\n14.1   512      3631\n14.2   506      5458\n",
        "from look to look",
    ),
    "a wrong checksum": (
        "packet_loss",
        "$ nstat -az\n#kernel\nUdpInCsumErrors                 36                 0.0\n",
        "wrong checksum",
    ),
}
STORE = "[E socket.cpp:793] [c10d] The client socket has timed out after 60s while trying to connect to (192.0.2.20, 2222).\n"
NAMED = "node0 $ getent hosts $(hostname)\n{}  node0\n"
LISTENS = "node0 $ ss -ltn\nState   Recv-Q  Send-Q   Local Address:Port   Peer Address:Port\nLISTEN  0       128            0.0.0.0:{}          0.0.0.0:*\n"
STANDS = "rank 0-5, 7   {} (torch/distributed/distributed_c10d.py:3129)\nrank 6        all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
DUMPS = (
    "node-a $ tcpdump -ni eth0 udp port 8472\nIP 192.0.2.11.45123 > 192.0.2.12.8472: OTV, flags [I] (0x08), overlay 0, instance 1\n"
    "node-b $ tcpdump -ni eth0 {}\n0 packets captured\n"
)
PFC = (
    "{}NCCL_IB_TC is not set\n$ mlnx_qos -i eth1\nPriority trust state: dscp\ndscp2prio mapping:\n        prio:0 dscp:07,06,05,04,03,02,01,00,\n"
    "        prio:5 dscp:59,\nPFC configuration:\n        priority    0   1   2   3   4   5   6   7\n        enabled     {}\n"
)
SEEN |= {
    "the endpoint under another name": ("host_ip_mismatch", STORE + NAMED.format("198.51.100.20"), "its own name means another"),
    "nobody at the endpoint": ("host_ip_mismatch", STORE + LISTENS.format(22), "nobody listens"),
    "ranks in two collectives": ("collective_mismatch_desync", STANDS.format("broadcast_object_list"), "different collectives"),
    "sent and not received": ("firewall_blocks_ports", DUMPS.format("udp port 8472"), "none arrives"),
    "a class that nothing protects": ("roce_pfc_missing", PFC.format("", "0   0   0   0   0   1   0   0"), "PFC is on for"),
    "a port that waits": (
        "ib_no_subnet_manager",
        "  PCI_addr   |  RDMA  | Net | Numa | LnkStat | IpStat | Link | Rate\n000a:11:00.1 | mlx5_1 | ib1 |  2   |  init   |  down  |  IB  | 100\n",
        "Initializing",
    ),
}
QUIET = {
    "the endpoint under its name": ("host_ip_mismatch", STORE + NAMED.format("192.0.2.20"), "its own name means another"),
    "somebody at the endpoint": ("host_ip_mismatch", STORE + LISTENS.format(2222), "nobody listens"),
    "ranks in one collective": ("collective_mismatch_desync", STANDS.format("all_reduce"), "different collectives"),
    "another filter": ("firewall_blocks_ports", DUMPS.format("udp port 4789"), "none arrives"),
    "a class that is protected": ("roce_pfc_missing", PFC.format("", "1   0   0   0   0   0   0   0"), "PFC is on for"),
    "the same GID row": ("roce_gid_index_wrong", GIDS.format("a", 5, 1, 1) + GIDS.format("b", 5, 2, 2), "another index"),
    "each host its own": ("duplicate_address", LOOP.format("", ""), "same address"),
    "all adapters named": ("nccl_wrong_hca", "NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3\n" + TOPO, "at most half"),
    "every rank its adapter": (
        "nccl_wrong_hca",
        "".join(
            CHANNEL.format(host, local, local, local, rank, local, rank + 8, local, local)
            for host, local, rank in (("node-3", 0, 24), ("node-3", 1, 25), ("node-4", 0, 32), ("node-4", 1, 33))
        ),
        "share an adapter",
    ),
    "lo is excluded too": ("nccl_wrong_interface", "NCCL_SOCKET_IFNAME=^docker0,lo\n", "does not hold lo"),
    "a stall of small frames": (
        "mtu_mismatch",
        "".join(SECOND.format(at, at + 1, "1.41 KBytes") for at in range(1, 5)),
        "one jumbo segment",
    ),
    "streams share a full link": ("tcp_single_flow_limit", STREAM.format(9.41) + SUM.format(9.42), "much faster than one"),
    "a rate that hardly falls": ("tcp_window_limited", DELAYS.format(93.1, 92.8, 60.1), "product stays near"),
    "an address behind the card": ("routing_ambiguous", BRIDGE.format("eth1") + SILENT, "container bridge"),
    "a tail far beyond a period": ("cpu_cfs_throttling", TAIL.format("900 ms"), "scheduling period"),
    "warm uplinks": ("ecmp_collision", UPLINKS.format(55.6, 44.2), "hardly anything"),
    "a near path": ("congestion_control_unsuited", SS.format(2.4, 28476, ""), "congestion window after losses"),
    "the receiver was late": (
        "congestion_control_unsuited",
        SS.format(200.4, 28476, " rwnd_limited:300000ms(96.1%)"),
        "congestion window after losses",
    ),
    "the slow run is asked about": ("no_fault_line_rate_reached", SPEED + TEST.format("now", 6.50), "sent again"),
}


SAID = {
    "spread by packet": (
        "packet_reordering",
        "ip load-sharing per-packet\nWe use round robin over the two circuits and packets arrive out of order.\n",
        "spread over several",
    ),
    "the second part late": ("nagle_delayed_ack", "The second write of each answer comes 40 ms after the first.\n", ""),
    "two flows into a port": (
        "roce_pfc_missing",
        "RoCE: two flows into one port make 5 Gb/s in sum, each alone 23. The switch is as it came out of the box.\n",
        "",
    ),
    "a server that answers some": ("dns_slow", "The server answers the first 6 queries, the rest stays without an answer.\n", ""),
}


@pytest.mark.parametrize(("rule", "text", "wanted"), SAID.values(), ids=SAID)
def test_told(rule: str, text: str, wanted: str) -> None:
    assert [said for said, weight in _says(rule, text) if wanted in said and weight > 0], _says(rule, text)


def _says(rule: str, text: str) -> list[tuple[str, float]]:
    case = Case([item for _, item in read_all(MemoryLines(text, "1"), READERS) if isinstance(item, Record)])
    return [(one.says.en, one.weight_nats) for one in judge_rule(rule, RULES[rule], case).verdict.evidence]


@pytest.mark.parametrize(("rule", "text", "wanted"), SEEN.values(), ids=SEEN)
def test_seen(rule: str, text: str, wanted: str) -> None:
    assert [said for said, weight in _says(rule, text) if wanted in said and weight > 0], _says(rule, text)


@pytest.mark.parametrize(("rule", "text", "wanted"), QUIET.values(), ids=QUIET)
def test_quiet(rule: str, text: str, wanted: str) -> None:
    assert not [said for said, weight in _says(rule, text) if wanted in said and weight > 0], _says(rule, text)


def test_a_full_link_is_no_answer_to_a_later_slow_run() -> None:
    full = sum(weight for _, weight in _says("no_fault_line_rate_reached", SPEED + TEST.format("now", 9.40)))
    both = sum(
        weight for _, weight in _says("no_fault_line_rate_reached", SPEED + TEST.format("before", 9.40) + TEST.format("now", 6.50))
    )
    assert full > 0 >= both
