"""Kernel settings that bear on networks and on memory placement."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import problem, text_of
from wirespeed.observation.collector import Collector

NAMES = (
    *(f"net.core.{name}" for name in (
        "rmem_max", "wmem_max", "rmem_default", "wmem_default", "default_qdisc", "netdev_max_backlog", "netdev_budget", "netdev_budget_usecs",
        "dev_weight", "busy_poll", "busy_read", "somaxconn", "rps_sock_flow_entries", "optmem_max",
    )),
    *(f"net.ipv4.tcp_{name}" for name in (
        "rmem", "wmem", "mem", "slow_start_after_idle", "notsent_lowat", "congestion_control", "available_congestion_control",
        "max_syn_backlog", "abort_on_overflow", "mtu_probing", "timestamps", "sack", "window_scaling", "adv_win_scale",
        "moderate_rcvbuf", "ecn", "fastopen", "keepalive_time", "keepalive_intvl", "keepalive_probes", "retries2", "rto_min_us",
        "limit_output_bytes", "autocorking", "tw_reuse", "fin_timeout", "max_tw_buckets", "syncookies", "syn_retries", "no_metrics_save",
        "base_mss", "min_rtt_wlen", "max_orphans",
    )),
    *(f"net.ipv4.{name}" for name in (
        "ip_local_port_range", "ip_local_reserved_ports", "ip_forward", "ip_no_pmtu_disc", "icmp_ratelimit", "udp_mem", "udp_rmem_min",
        "conf.all.rp_filter", "conf.default.rp_filter", "conf.all.arp_ignore", "conf.all.arp_announce", "conf.all.arp_filter",
        "neigh.default.gc_thresh1", "neigh.default.gc_thresh2", "neigh.default.gc_thresh3", "neigh.default.gc_stale_time",
        "fib_multipath_hash_policy", "route.max_size",
    )),
    "net.ipv6.conf.all.disable_ipv6", "net.ipv6.neigh.default.gc_thresh3", "net.mptcp.enabled",
    "net.netfilter.nf_conntrack_max", "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_buckets",
    "net.netfilter.nf_conntrack_tcp_timeout_established", "net.netfilter.nf_conntrack_tcp_timeout_time_wait",
    "net.netfilter.nf_conntrack_tcp_be_liberal",
    "kernel.numa_balancing", "kernel.pid_max", "kernel.threads-max", "fs.file-max", "fs.nr_open",
    "vm.zone_reclaim_mode", "vm.min_free_kbytes", "vm.swappiness", "vm.overcommit_memory", "vm.max_map_count", "vm.nr_hugepages",
)  # fmt: skip
"""Settings asked for. One that this kernel or namespace does not have is left out: it is not a fact about the machine."""


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    for name in (*NAMES, *_per_interface(machine)):
        path = path_of(name)
        try:
            text = text_of(machine, path)
        except MachineProblem as trouble:
            if trouble.reason != "absent":
                yield problem(machine, "sysctl", path, trouble)
            continue
        line = text.partition("\n")[0]
        yield Sysctl(
            source=Source(tool="sysctl", path=path, host=machine.host),
            quotes=(Quote(source=path, line_index=0, text=line),),
            name=name,
            setting=" ".join(line.split()),
        )


def path_of(name: str) -> str:
    """The file of a setting. In the dotted name a slash stands for a dot within a component (`eth0/100`)."""
    return "/proc/sys/" + name.translate(str.maketrans("./", "/."))


def _per_interface(machine: Machine) -> Iterator[str]:
    """Reverse-path filtering and ARP behaviour are taken as the larger of `all` and the interface's."""
    try:
        names = machine.listing("/proc/sys/net/ipv4/conf")
    except MachineProblem:
        return
    for link in names:
        if link not in ("all", "default", "lo"):
            shown = link.replace(".", "/")
            yield from (f"net.ipv4.conf.{shown}.{key}" for key in ("rp_filter", "arp_ignore", "arp_announce"))


COLLECTOR = Collector(title=Text(en="kernel settings", zh="内核参数"), gives=(Sysctl,), observe=_observe, cost_s=0.01)
