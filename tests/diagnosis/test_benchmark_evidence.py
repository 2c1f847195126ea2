"""Single observations of the rules in outputs of benchmarks: each case holds one of them alone; all figures are synthetic or published."""

import json
from collections.abc import Callable
from pathlib import Path

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
SAMPLES = Path(__file__).parents[1] / "data" / "readers" / "tools"

BW = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 1048576    5000             {rate}             {rate}		     0.01\n"
OSU = "# OSU MPI{device} Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n1048576    {rate}\n"
LATENCY = "# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n8        {time}\n"
VERBS = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n 8       1000          1.60           5.63         1.71              1.75\n"
SOCKPERF = (
    "sockperf {mode} -i 192.0.2.4 -t 10\nsockperf: == version #3.10 ==\nsockperf: ====> avg-latency={time} (std-dev=3.000, mean-ad=1.000)\n"
    "sockperf: # dropped messages = {dropped}; # duplicated messages = 0; # out-of-order messages = 0\nsockperf: ---> percentile 50.000 = {time}\n"
)
SENT = "[ 0] IP = 192.0.2.4       PORT = 11111 # UDP\nsockperf: [Valid Duration] RunTime=10.000 sec; SentMessages=100000; ReceivedMessages=100000\n"

RAS = """Communicators... (0.00s)
#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different AllReduce operation counts
  30 ranks have launched up to operation {most}
  Rank 3 has launched up to operation {least} -- GPU 3 managed by process 77 on node 192.0.2.210
"""
RAS_ROW = "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n    0         1         4         8        32        32   RUNNING  {errors}\n"
DEAD = "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n  Process 3487984 on node 192.0.2.213 managing GPU 5\n"


def _ras_json(*counts: tuple[int, int]) -> str:
    """A report of one communicator; each rank has launched so many all-gathers and all-reduces."""
    ranks = [
        {
            "rank": rank,
            "host": "node-a",
            "status": {"init_state": 0},
            "collective_counts": {"AllGather": gathered, "AllReduce": reduced},
        }
        for rank, (gathered, reduced) in enumerate(counts)
    ]
    communicator = {"hash": "0xae", "size": len(ranks), "missing_ranks_count": 0, "ranks": ranks, "missing_ranks": []}
    return json.dumps(
        {
            "nccl_version": "2.29.1",
            "cuda_runtime_version": 13000,
            "timestamp": "now",
            "communicators_count": 1,
            "communicators": [communicator],
        }
    )


def _inspector(times_us: Callable[[int, int], float], size_bytes: int = 1 << 30, operations: int = 20) -> str:
    """The inspector's lines of four ranks; `times_us` gives the time of an operation on a rank."""
    return "\n".join(
        json.dumps(
            {
                "header": {"id": "0x7f", "rank": rank, "n_ranks": 4, "nnodes": 1},
                "metadata": {"inspector_output_format_version": "v4.0", "hostname": "node-a", "pid": 1},
                "coll_perf": {
                    "coll": "AllReduce", "coll_sn": operation, "coll_msg_size_bytes": size_bytes, "coll_exec_time_us": times_us(operation, rank),
                    "coll_timing_source": "kernel_gpu", "coll_algobw_gbs": 1.0, "coll_busbw_gbs": 1.5,
                },
            }
        )
        for operation in range(operations)
        for rank in range(4)
    )  # fmt: skip


GPU_TOPO = '<pci busid="0000:{bus}:00.0" class="0x030200" link_speed="32.0 GT/s" link_width="16"><gpu dev="{dev}" sm="90" rank="{dev}" gdr="1">{links}</gpu></pci>\n'
LINK = '<nvlink target="0000:f5:00.0" count="{count}" tclass="0x068000"/>'
NIC_TOPO = (
    '<pci busid="0000:a3:00.0" class="0x020700" link_speed="{speed} GT/s PCIe" link_width="{width}"><nic>'
    '<net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x1" gdr="1"/></nic></pci>\n'
)


def _served(concurrency: int, tokens_per_s: float, offered: str = "", duration_s: float = 60.0, e2e_ms: float = 2000.0) -> str:
    """A result block of `vllm bench serve`."""
    rate = f"Request rate configured (RPS):           {offered}\n" if offered else ""
    return (
        "============ Serving Benchmark Result ============\nSuccessful requests:                     240\n"
        f"Maximum request concurrency:             {concurrency}\n{rate}Benchmark duration (s):                  {duration_s:.2f}\n"
        f"Request throughput (req/s):              {240 / duration_s:.2f}\nOutput token throughput (tok/s):         {tokens_per_s:.2f}\n"
        f"Mean TTFT (ms):                          55.00\nMean TPOT (ms):                          19.00\n"
        f"Mean E2EL (ms):                          {e2e_ms:.2f}\n==================================================\n"
    )


def _steps(*seconds: float) -> str:
    """A log in the form of nanoGPT."""
    return "".join(f"iter {number}: loss 3.1, time {1000 * one:.1f}ms\n" for number, one in enumerate(seconds))


def _timers(**times: tuple[float, float]) -> str:
    """A block of Megatron-LM's timers: the least and the most of all ranks, in milliseconds."""
    rows = (f"    {name.replace('_', '-')} ..........: ({least:.2f}, {most:.2f})\n" for name, (least, most) in times.items())
    return "(min, max) time across ranks (ms):\n" + "".join(rows)


RANKS = "times across ranks (ms):\n  forward-compute:\n     rank  0: 500.10\n     rank  1: 505.20\n     rank  2: {third:.2f}\n     rank  3: 502.30\n"
RANK_STEP = "[rank{rank}]: [titan] step: {step}  loss:  7.1  memory: 30.85GiB(38.99%)  tps: 5,432  mfu: 31.59%\n"
COMMS = "Comm. Op            Message Size        Count               Total Latency(ms)   Avg Latency(ms)     tput_avg (Gbps)     busbw_avg (Gbps)\nall_reduce\n"
COMMS_ROW = "                    {size: <20}{count: <20}{total: <20}0.08                0.43                0.41\n"


def _topology(*devices: str) -> str:
    return '<system version="1">\n<cpu numaid="0" affinity="ffff">\n' + "".join(devices) + "</cpu>\n</system>\n"


def _gpus(*links: int) -> list[str]:
    return [GPU_TOPO.format(bus=f"{0x10 + dev:02x}", dev=dev, links=LINK.format(count=count)) for dev, count in enumerate(links)]


SEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "verbs: GPU buffers slower": (
        "pcie_acs_enabled",
        ("cuMemAlloc() of a 67108864 bytes GPU buffer\n" + BW.format(rate="92.3"), BW.format(rate="196.2")),
    ),
    "MPI: GPU buffers slower": (
        "gdr_disabled",
        (OSU.format(device="-CUDA", rate="2100.00"), OSU.format(device="", rate="24000.00")),
    ),
    "MPI as slow as TCP, verbs quick": ("rdma_fallback_tcp", (LATENCY.format(time="14.20"), VERBS)),
    "far by sockperf": ("distance", (SOCKPERF.format(mode="pp --tcp", time="12500.000", dropped=0),)),
    "dropped messages": ("packet_loss", (SENT + SOCKPERF.format(mode="ul", time="41.000", dropped=1200).split("\n", 2)[2],)),
    "late under load": (
        "bufferbloat",
        (SOCKPERF.format(mode="pp", time="120.000", dropped=0), SOCKPERF.format(mode="ul", time="60000.000", dropped=0)),
    ),
    "RAS: a dead process": ("peer_process_died", (DEAD,)),
    "RAS: nothing moves between two reports": (
        "collective_mismatch_desync",
        (RAS.format(most=6650, least=6649) + "\n" + RAS.format(most=6650, least=6649),),
    ),
    "RAS: a rank that does not come": (
        "straggler_other",
        (RAS.format(most=6650, least=6649) + "\n" + RAS.format(most=6650, least=6649),),
    ),
    "RAS: other calls on some ranks": ("collective_mismatch_desync", (_ras_json((12, 100), (12, 100), (13, 99)),)),
    "inspector: one rank comes last": ("straggler_slow_node", (_inspector(lambda _, rank: 900 if rank == 2 else 4000),)),
    "inspector: now this, now that rank": (
        "straggler_compute_imbalance",
        (_inspector(lambda operation, rank: 900 if rank == operation % 4 else 4000),),
    ),
    "inspector: small messages": (
        "small_message_latency_bound",
        (_inspector(lambda _, rank: 40, size_bytes=65536, operations=50),),
    ),
    "topology: a slot below its port": ("pcie_link_degraded", (_topology(NIC_TOPO.format(speed="16.0", width=8)),)),
    "topology: a GPU with fewer links": ("nvlink_missing", (_topology(*_gpus(18, 18, 17, 18)),)),
    "topology: a bridge of a guest": ("vm_topology_missing", ((SAMPLES / "nccl_xml" / "h100-guest" / "input.xml").read_text(),)),
    "topology: one NIC without GPUDirect": (
        "gdr_disabled",
        ((SAMPLES / "nccl_xml" / "a100-bare-metal" / "input.xml").read_text(),),
    ),
    "plan: a NIC of the other socket": (
        "numa_mismatch",
        ("NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw 12.000000/12.000000, type NVL/SYS, sameChannels 1\n",),
    ),
    "served less than offered": ("server_saturated", (_served(512, 900.0, "8.00", duration_s=240.0, e2e_ms=40000.0),)),
    "the same rate at any concurrency": ("server_saturated", (_served(16, 900.0), _served(32, 905.0), _served(64, 902.0))),
    "the generator is late": ("client_bound_benchmark", ((SAMPLES / "guidellm_json" / "sweep" / "input.json").read_text(),)),
    "waits for others in one of two runs": (
        "no_fault_queueing",
        (
            _served(4, 900.0),
            _served(64, 900.0).replace(
                "Mean TTFT (ms):                          55.00", "Mean TTFT (ms):                          14100.00"
            ),
        ),
    ),
    "steps grow slower": ("straggler_gpu_throttle", (_steps(*(1.0 + 0.02 * number for number in range(40))),)),
    "steps are slower at once": ("straggler_slow_node", (_steps(*[1.0, 1.01, 0.99] * 7, *[1.5, 1.52, 1.49] * 7),)),
    "timers: unhidden communication": (
        "parallel_strategy_comm_bound",
        (_timers(forward_backward=(900, 1000), all_grads_sync=(500, 520), optimizer=(100, 100)),),
    ),
    "timers: batches": (
        "dataloader_bound",
        (_timers(forward_backward=(900, 1000), batch_generator=(10, 600), optimizer=(100, 100)),),
    ),
    "timers: uneven computing": (
        "straggler_compute_imbalance",
        (_timers(forward_backward=(900, 1000), forward_compute=(200, 400)),),
    ),
    "timers: one slow rank": ("straggler_slow_node", (RANKS.format(third=910.7),)),
    "a rank falls silent": (
        "peer_process_died",
        ("".join(RANK_STEP.format(rank=rank, step=step) for step in range(1, 9) for rank in range(4) if rank != 2 or step < 4),),
    ),
    "DeepSpeed: small messages": (
        "small_message_latency_bound",
        (
            COMMS
            + COMMS_ROW.format(size="2.0 KB", count=9000, total=720.0)
            + COMMS_ROW.format(size="678.86 MB", count=4, total=60.0),
        ),
    ),
    "plan: no NVLink": (
        "nvlink_missing",
        (
            "NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw 12.000000/12.000000, type SYS/PIX, sameChannels 1\n",
            "Our HGX H100 has NVLink.",
        ),
    ),
}
NOT_SEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "verbs: GPU buffers as fast": (
        "pcie_acs_enabled",
        ("cuMemAlloc() of a 67108864 bytes GPU buffer\n" + BW.format(rate="192.3"), BW.format(rate="196.2")),
    ),
    "MPI: only GPU buffers": ("gdr_disabled", (OSU.format(device="-CUDA", rate="2100.00"),)),
    "MPI: GPU buffers as fast": (
        "gdr_disabled",
        (OSU.format(device="-CUDA", rate="23100.00"), OSU.format(device="", rate="24000.00")),
    ),
    "MPI as quick as verbs": ("rdma_fallback_tcp", (LATENCY.format(time="2.10"), VERBS)),
    "MPI slow, no RDMA in sight": ("rdma_fallback_tcp", (LATENCY.format(time="14.20"),)),
    "near by sockperf": ("distance", (SOCKPERF.format(mode="pp --tcp", time="22.500", dropped=0),)),
    "nothing dropped": ("packet_loss", (SENT + SOCKPERF.format(mode="ul", time="41.000", dropped=1).split("\n", 2)[2],)),
    "as quick under load": (
        "bufferbloat",
        (SOCKPERF.format(mode="pp", time="120.000", dropped=0), SOCKPERF.format(mode="ul", time="140.000", dropped=0)),
    ),
    "RAS: all is well": ("peer_process_died", (RAS_ROW.format(errors="OK"),)),
    "RAS: counts grow": ("straggler_other", (RAS.format(most=6650, least=6649) + "\n" + RAS.format(most=6710, least=6709),)),
    "RAS: the same calls, later": ("collective_mismatch_desync", (_ras_json((12, 100), (12, 100), (12, 100)),)),
    "inspector: all alike": ("straggler_slow_node", (_inspector(lambda _, rank: 4000 + rank),)),
    "inspector: one rank comes last, always": (
        "straggler_compute_imbalance",
        (_inspector(lambda _, rank: 900 if rank == 2 else 4000),),
    ),
    "inspector: large messages": ("small_message_latency_bound", (_inspector(lambda _, rank: 4000, operations=50),)),
    "topology: a slot that carries its port": ("pcie_link_degraded", (_topology(NIC_TOPO.format(speed="16.0", width=16)),)),
    "topology: a slot of unknown width": ("pcie_link_degraded", (_topology(NIC_TOPO.format(speed="32.0", width=0)),)),
    "topology: links alike": ("nvlink_missing", (_topology(*_gpus(18, 18, 18, 18)),)),
    "a short run's last requests take their time": (
        "server_saturated",
        (_served(512, 900.0, "8.00", duration_s=45.0, e2e_ms=14000.0),),
    ),
    "the rate grows with concurrency": ("server_saturated", (_served(16, 900.0), _served(32, 1705.0), _served(64, 3102.0))),
    "the generator is on time": (
        "client_bound_benchmark",
        ((SAMPLES / "guidellm_json" / "old-and-cut" / "input.json").read_text(),),
    ),
    "figures of two runs are not mixed": (
        "no_fault_queueing",
        (_served(4, 900.0, duration_s=240.0), _served(64, 900.0, duration_s=20.0)),
    ),
    "steps alike, one pause": ("straggler_gpu_throttle", (_steps(*[1.0, 1.01, 0.99] * 7, 9.0, *[1.0, 1.02, 0.99] * 7),)),
    "steps slow at first": ("straggler_slow_node", (_steps(9.0, 4.0, *[1.0, 1.01, 0.99] * 7),)),
    "steps that are quicker later": ("straggler_slow_node", (_steps(*[1.5, 1.52, 1.49] * 7, *[1.0, 1.01, 0.99] * 7),)),
    "timers: communication is hidden": (
        "parallel_strategy_comm_bound",
        (_timers(forward_backward=(900, 1000), all_grads_sync=(10, 12), optimizer=(100, 100)),),
    ),
    "timers: batches at hand": (
        "dataloader_bound",
        (_timers(forward_backward=(900, 1000), batch_generator=(1, 6), optimizer=(100, 100)),),
    ),
    "timers: even computing": ("straggler_compute_imbalance", (_timers(forward_backward=(900, 1000), forward_compute=(390, 400)),)),
    "timers: ranks alike": ("straggler_slow_node", (RANKS.format(third=510.7),)),
    "all ranks go on": (
        "peer_process_died",
        ("".join(RANK_STEP.format(rank=rank, step=step) for step in range(1, 9) for rank in range(4)),),
    ),
    "DeepSpeed: large messages": (
        "small_message_latency_bound",
        (
            COMMS
            + COMMS_ROW.format(size="2.0 KB", count=900, total=72.0)
            + COMMS_ROW.format(size="678.86 MB", count=40, total=602.3),
        ),
    ),
    "a refused TCP ping is no loss": (
        "packet_loss",
        ((SAMPLES / "tcp_ping" / "hping" / "input.txt").read_text().split("HPING 192.0.2.10")[0],),
    ),
}


def _supports(rule: str, texts: tuple[str, ...]) -> bool:
    records = [
        item
        for place, text in enumerate(texts)
        for _, item in read_all(MemoryLines(text, f"input {place}"), READERS)
        if isinstance(item, Record)
    ]
    judged = judge_rule(rule, RULES[rule], Case(records))
    return any(one.weight_nats > 0 for one in judged.verdict.evidence)


@pytest.mark.parametrize("name", SEEN)
def test_it_speaks(name: str) -> None:
    assert _supports(*SEEN[name])


@pytest.mark.parametrize("name", NOT_SEEN)
def test_it_does_not_speak(name: str) -> None:
    assert not _supports(*NOT_SEEN[name])
