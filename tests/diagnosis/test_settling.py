"""What would settle a cause: commands from the readers, for the record that is really needed, and their time."""

import pytest

from wirespeed.diagnosis import rules, settling
from wirespeed.diagnosis.effort import RERUN_S, takes_s
from wirespeed.diagnosis.settling import Settling
from wirespeed.model import shelf
from wirespeed.model.facts.link import Counter, LinkRings
from wirespeed.model.kinds import Reader, Rule, wants
from wirespeed.model.settings import Setting
from wirespeed.readers import tools

READERS = shelf.every(tools, Reader)
RULES = shelf.every(rules, Rule)
SETTLING = Settling(READERS)


@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        ("ethtool -S IFACE", 1.0),
        ("iperf3 -c PEER -t 10 -P 8", 10.0),
        ("oha -z 30s -c 64 --no-tui URL", 30.0),
        ("wrk -t4 -c64 -d45s --latency URL", 45.0),
        ("wirespeed record --for 10s", 10.0),
        ("ping -c 10 PEER", 10.0),
        ("mtr -r -n -c 100 PEER", 100.0),
        ("mpstat -P ALL 1 5", 5.0),
        ("iostat -x 1 10", 10.0),
        ("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH <your command>", RERUN_S),
        ("UCX_LOG_LEVEL=info <your command>", RERUN_S),
        ("env | grep -E '^(NCCL|GLOO|UCX|FI|OMPI|TORCH|CUDA)_'", 1.0),
        ("", 1.0),
    ],
)
def test_time_a_command_takes(command: str, seconds: float) -> None:
    assert takes_s(command) == seconds


@pytest.mark.parametrize(
    ("names", "command"),
    [
        (("rx_no_buffer",), "ethtool -S IFACE"),
        (("listen_overflows", "listen_drops"), "nstat -az"),
        (("conntrack_insert_failed",), "conntrack -S"),
        (("rdma_sequence_error", "cnp_sent"), "rdma statistic"),
        (("xmit_wait",), "perfquery -x"),
    ],
)
def test_a_counter_is_had_from_the_tool_that_counts_it(names: tuple[str, ...], command: str) -> None:
    ways = SETTLING.ways_to(wants(Counter, lambda one: one.canonical in names))
    assert ways[0].command == command


def test_a_record_of_one_tool_is_had_from_it() -> None:
    way = SETTLING.ways_to(LinkRings)[0]
    assert (way.command, way.title) == ("ethtool -g IFACE", READERS["ethtool_rings"].title)


def test_what_stands_in_the_users_files_has_no_command() -> None:
    (way,) = SETTLING.ways_to(Setting)
    assert way.command is None and way.takes_s is None


def test_the_cheapest_proof_comes_first() -> None:
    """mtu_mismatch: facts of links and ports at once, the driver's counters at once, a measured path in half a minute."""
    proofs = [together for together in SETTLING.proofs_of(RULES["mtu_mismatch"]) if len(together) == 1]
    commands = [together[0][0].command for together in proofs]
    assert {"ip -s -d link", "ibstat", "ethtool -S IFACE"} < set(commands)
    assert commands[-1] == "wirespeed bench links PEER"
    times = [together[0][0].takes_s or 0.0 for together in proofs]
    assert times == sorted(times)


@pytest.mark.parametrize("kind", settling._TOLD_BY)
def test_preferred_commands_are_those_of_readers(kind: type) -> None:
    known = {command for reader in READERS.values() if kind in reader.gives for command in reader.obtained_by}
    assert set(settling._TOLD_BY[kind]) <= known | {"wirespeed diagnose --peer PEER"}


@pytest.mark.parametrize("name", RULES)
def test_commands_can_be_pasted(name: str) -> None:
    """Prose is no command: each begins with a program or a variable."""
    for command in SETTLING.commands_for(RULES[name], [need for needs in RULES[name].needs for need in needs]):
        assert " then " not in command and " on every " not in command
        assert command.split()[0].replace("_", "").replace("-", "").replace("=", "").replace(".", "").isalnum() or "=" in command
