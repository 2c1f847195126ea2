"""Facts are matched by what they are about; what counts, lives once or was not readable is no change."""

import pytest
from msgspec.structs import replace

from wirespeed.diagnosis.changed_facts import FACTS, LEFT_OUT, changed_facts
from wirespeed.model import record_lines
from wirespeed.model.facts.host import HostIdentity, Interrupt, Sysctl
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.facts.path import Address, Neighbour, Qdisc, Route
from wirespeed.model.facts.sockets import Listener, TcpSocket
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import same

SOURCE = Source(tool="sysctl", path="/proc/x", host="node-a")
LINK = Link(source=SOURCE, name="eth0", mtu_bytes=9000, is_up=True, carrier_changes_count=2, mac_address="02:00:00:00:00:01")
ROUTE = Route(source=SOURCE, destination="default", link="eth0", gateway="192.0.2.1", table="main")
SYSCTL = Sysctl(source=SOURCE, name="net.core.somaxconn", setting="4096")
RECORDS = (LINK, ROUTE, SYSCTL)


def test_every_kind_of_fact_is_declared() -> None:
    facts = {kind for kind in record_lines.record_types() if kind.__module__.startswith("wirespeed.model.facts.")}
    assert facts <= set(FACTS) | set(LEFT_OUT)
    assert not set(FACTS) & set(LEFT_OUT)


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
def test_declared_fields_are_fields_and_what_counts_is_left(kind: type) -> None:
    fact = FACTS[kind]
    fields = set(kind.__struct_fields__)  # type: ignore[attr-defined]
    assert set(fact.key) | set(fact.leaves) | fact.identities <= fields
    assert not set(fact.key) & set(fact.leaves)


def test_the_same_is_no_change() -> None:
    assert changed_facts(RECORDS, RECORDS) == ()
    assert changed_facts(RECORDS, RECORDS[::-1]) == ()
    assert changed_facts((), ()) == ()


def test_a_changed_field_is_told_with_before_and_after() -> None:
    link, sysctl = changed_facts(RECORDS, (replace(LINK, mtu_bytes=1500), ROUTE, replace(SYSCTL, setting="128")))
    assert (link.fact, link.identity, link.change) == ("Link", "eth0", "changed")
    assert [(one.name, one.old, one.new) for one in link.fields] == [("mtu_bytes", 9000, 1500)]
    assert (sysctl.identity, sysctl.fields[0].old, sysctl.fields[0].new) == ("net.core.somaxconn", "4096", "128")


def test_what_comes_and_goes() -> None:
    (gone,) = changed_facts(RECORDS, (LINK, SYSCTL))
    (appeared,) = changed_facts((LINK, SYSCTL), RECORDS)
    assert (gone.change, appeared.change, gone.identity) == ("gone", "appeared", "default main")
    assert {one.name for one in gone.fields} == {"link", "gateway"}


def test_volatile_things_are_no_facts() -> None:
    noise = (
        replace(LINK, carrier_changes_count=3),
        Counter(source=SOURCE, scope="eth0", name="rx_bytes", value_count=5),
        Neighbour(source=SOURCE, address="192.0.2.9", state="STALE"),
        TcpSocket(source=SOURCE, local_address="a", local_port=1, remote_address="b", remote_port=2, state="ESTAB"),
        Listener(source=SOURCE, address="127.0.0.1", port=45123),
        Sysctl(source=SOURCE, name="net.netfilter.nf_conntrack_count", setting="77"),
        ROUTE,
        SYSCTL,
    )
    assert changed_facts(RECORDS, noise) == ()
    interrupt = Interrupt(source=SOURCE, irq="24", name="eth0-rx", per_cpu_counts=(1, 2), effective_cpus=(0,))
    assert changed_facts([interrupt], [replace(interrupt, per_cpu_counts=(9, 9))]) == ()
    assert changed_facts([interrupt], [replace(interrupt, effective_cpus=(1,))])


def test_what_could_not_be_read_is_no_change() -> None:
    denied = replace(LINK, mtu_bytes=None, missing={"mtu_bytes": "denied"})
    assert changed_facts([LINK], [denied]) == ()
    bonded = replace(LINK, master="bond0")
    (change,) = changed_facts([replace(LINK, missing={"master": "absent"})], [bonded])
    assert change.fields[0].new == "bond0", "that there was none is known"
    failed = Problem(source=SOURCE, why=same("no"), reason="denied")
    assert changed_facts(RECORDS, [LINK, ROUTE, failed]) == (), "the tool that gives settings failed"


def test_alike_things_are_matched_first() -> None:
    """The same prefix on two links: one route of it changes, and only that is told."""
    local = [replace(ROUTE, destination="fe80::/64", gateway=None, link=link, metric_number=256) for link in ("eth0", "eth1")]
    (change,) = changed_facts(local, [replace(local[0], link="eth2"), local[1]])
    assert [(one.name, one.old, one.new) for one in change.fields] == [("link", "eth0", "eth2")]
    (gone,) = changed_facts(local, local[1:])
    assert gone.fields[0].old == "eth0"


def test_several_sources_of_one_link_are_one() -> None:
    parts = (Link(source=SOURCE, name="eth0", mtu_bytes=9000), Link(source=SOURCE, name="eth0", driver="mlx5_core", is_up=True))
    whole = Link(source=SOURCE, name="eth0", mtu_bytes=9000, driver="mlx5_core", is_up=True)
    assert changed_facts(parts, [whole]) == ()


def test_replaced_identities_are_not_compared() -> None:
    before = (
        LINK,
        Address(source=SOURCE, link="eth0", address="192.0.2.2"),
        HostIdentity(source=SOURCE, hostname="a", cpu_count=2),
    )
    after = (
        replace(LINK, mac_address="02:00:00:99:99:99", mtu_bytes=1500),
        Address(source=SOURCE, link="eth0", address="192.0.2.77"),
        HostIdentity(source=SOURCE, hostname="host-99", cpu_count=2),
    )
    (change,) = changed_facts(before, after, with_identities=False)
    assert [one.name for one in change.fields] == ["mtu_bytes"]
    assert len(changed_facts(before, after)) == 4


def test_a_handle_given_anew_is_no_change_and_another_discipline_is() -> None:
    one = Qdisc(source=SOURCE, link="eth0", discipline="fq", handle="8001:", parent="root", sent_packets=5)
    assert changed_facts([one], [replace(one, handle="8002:", sent_packets=9)]) == ()
    assert changed_facts([one], [replace(one, discipline="pfifo_fast")])[0].identity == "eth0 root"


def test_many_facts_at_once() -> None:
    many = [Sysctl(source=SOURCE, name=f"net.x{number}", setting=str(number)) for number in range(20_000)]
    assert len(changed_facts(many, [replace(one, setting="0") for one in many])) == 19_999
