"""Single observations of the rules for training: each input is synthetic and holds one of them alone."""

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

SEEN = {
    "lanes of UCX on TCP": ("rdma_fallback_tcp", "ucp_context_0 inter-node cfg#2 rma_am(tcp/eth1) am(tcp/eth1) ka(tcp/eth1)"),
    "UCX offers only TCP": ("rdma_fallback_tcp", "#      Transport: tcp\n#         Device: eth0\n#      Transport: cuda_copy"),
    "sums alike": (
        "straggler_compute_imbalance",
        "rank   compute ms   allreduce ms\n0      250          45\n1      210          85\n2      290          6\n",
    ),
    "two headers, no result": (
        "benchmark_not_multinode",
        "# nThread 1 nGpus 6 minBytes 8\n# Using devices\n# nThread 1 nGpus 6 minBytes 8\n",
    ),
    "one node in all slow pairs": ("straggler_slow_node", "sendrecv, GB/s\nn1-n2 48.1\nn1-n3 48.0\nn1-n4 21.7\nn2-n4 21.9\n"),
    "rates apart under one prefix": (
        "nccl_wrong_hca",
        "NCCL_IB_HCA=mlx5\nCA 'mlx5_0'\n\tPort 1:\n\t\tRate: 400\nCA 'mlx5_3'\n\tPort 1:\n\t\tRate: 25\n",
    ),
    "file of another machine": (
        "nccl_topo_file_wrong",
        "NCCL_TOPO_FILE=/opt/microsoft/ndv4-topo.xml\nThe machine has H100 GPUs.\n",
    ),
    "fewer pieces are faster": (
        "small_message_latency_bound",
        "15000 segments of 64 KB : 600 ms to completion\n240 segments of 4 MB : 100 ms to completion\n",
    ),
    "one release wedges": ("nccl_version_bug", "NCCL 2.28.9: wedged in 7 of 7 trials\nNCCL 2.30.7: 20000 steps clean\n"),
    "degree above a node": ("cross_node_tp", "2 x 4 L40S, tp 8, each decode is slow\n"),
}
NOT_SEEN = {
    "an RDMA lane beside": ("rdma_fallback_tcp", "ucp_context_0 inter-node cfg#2 am(rc_mlx5/mlx5_0:1 tcp/eth1) ka(tcp/eth1)"),
    "sums follow compute": (
        "straggler_compute_imbalance",
        "rank   compute ms   allreduce ms\n0      250          45\n1      210          46\n2      290          44\n",
    ),
    "a result between headers": (
        "benchmark_not_multinode",
        "# nThread 1 nGpus 6 minBytes 8\n# Avg bus bandwidth    : 3.9\n# nThread 1 nGpus 6 minBytes 8\n",
    ),
    "all pairs alike": ("straggler_slow_node", "sendrecv, GB/s\nn1-n2 48.1\nn1-n3 48.0\nn1-n4 47.7\nn2-n4 47.9\n"),
    "both releases are well": ("nccl_version_bug", "NCCL 2.28.9: 20000 steps clean\nNCCL 2.30.7: 20000 steps clean\n"),
    "degree within a node": ("cross_node_tp", "2 x 8 H100, tp 8\n"),
}


def _state(rule_id: str, text: str) -> str:
    records = [item for _, item in read_all(MemoryLines(text, "1"), READERS) if isinstance(item, Record)]
    return judge_rule(rule_id, RULES[rule_id], Case(records, texts={"1": text})).state


@pytest.mark.parametrize("name", SEEN)
def test_seen(name: str) -> None:
    """The observation alone makes the cause a finding."""
    assert _state(*SEEN[name]) == "present"


@pytest.mark.parametrize("name", NOT_SEEN)
def test_not_seen(name: str) -> None:
    """Its healthy twin does not."""
    assert _state(*NOT_SEEN[name]) != "present"
