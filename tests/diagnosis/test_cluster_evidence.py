"""What rules conclude from lists, code and denials: the sick node of a list of pairs, nodes of several racks, collectives in branches."""

from pathlib import Path

import pytest

import wirespeed


def _causes(directory: Path, question: str, *inputs: str) -> dict[str, float]:
    for index, text in enumerate(inputs):
        (directory / f"{index}.txt").write_text(text, encoding="utf-8")
    return {one.cause: one.confidence_ratio for one in wirespeed.diagnose(str(directory), question=question).findings}


def test_the_node_that_is_slow_with_every_partner_is_named(tmp_path: Path) -> None:
    pairs = "node-1 node-2  86.2\nnode-1 node-3  47.9  # other rack\nnode-2 node-4  86.0\nnode-3 node-4  48.2\n"
    (tmp_path / "1.txt").write_text(pairs, encoding="utf-8")
    answer = wirespeed.diagnose(str(tmp_path), question="Some pairs are slow.")
    assert answer.findings[0].cause == "straggler-slow-node"
    assert any("node-3" in evidence.says.en for evidence in answer.findings[0].evidence)


def test_pairs_that_no_single_node_explains_name_none(tmp_path: Path) -> None:
    pairs = "node-1 node-2  86.2\nnode-1 node-3  47.9\nnode-2 node-4  47.7\nnode-3 node-4  86.1\n"
    assert _causes(tmp_path, "Some pairs are slow.", pairs).get("straggler-slow-node", 0.0) < 0.5


def test_nodes_listed_in_two_cliques_cross_a_domain(tmp_path: Path) -> None:
    listed = "node-1   clique-1\nnode-2   clique-1\nnode-3   clique-2\nnode-4   clique-2\n"
    assert _causes(tmp_path, "The all-to-all takes twice as long as last week.", listed)["placement-crosses-domain"] > 0.3


def test_nodes_listed_in_one_clique_do_not(tmp_path: Path) -> None:
    listed = "node-1   clique-1\nnode-2   clique-1\nnode-3   clique-1\nnode-4   clique-1\n"
    found = _causes(tmp_path, "The all-to-all takes twice as long as last week.", listed)
    assert found.get("placement-crosses-domain", 0.0) < 0.5


@pytest.mark.parametrize(
    ("body", "is_blamed"), [("    dist.all_reduce(loss)", True), ("    print(loss)\ndist.all_reduce(loss)", False)]
)
def test_a_collective_in_the_branch_of_one_rank(tmp_path: Path, body: str, is_blamed: bool) -> None:
    found = _causes(tmp_path, "It hangs.", f"if dist.get_rank() == 0:\n{body}\n")
    assert (found.get("collective-mismatch-desync", 0.0) >= 0.4) is is_blamed


def test_a_gloo_connection_that_broke_had_the_right_address(tmp_path: Path) -> None:
    line = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:525] Read error [192.0.2.7]:40122: Connection reset by peer"
    found = _causes(tmp_path, "The job ends after some hours.", line)
    assert found.get("gloo-wrong-interface", 0.0) < 0.5
    assert found["peer-process-died"] >= 0.3


def test_a_memlock_error_where_no_rdma_is_wanted_is_no_fault(tmp_path: Path) -> None:
    line = (
        "ib_log.c:246 UCX ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory. Please set max locked memory to 'unlimited'"
    )
    assert _causes(tmp_path, "Why is it slow?", line)["ulimit-memlock"] >= 0.5
    assert _causes(tmp_path, "Why is it slow?", line, "There is no InfiniBand in this machine.").get("ulimit-memlock", 0.0) < 0.5
