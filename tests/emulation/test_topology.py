"""The drawing of a lab: everybody has an address of their own and a way to everybody."""

import ipaddress

import pytest

from wirespeed.emulation import topology
from wirespeed.emulation.topology import Spec


@pytest.mark.parametrize(("leaves", "spines", "hosts"), [(1, 1, 1), (2, 2, 4), (3, 2, 7), (16, 8, 200)])
def test_addresses_are_unique_and_hosts_shared_out(leaves: int, spines: int, hosts: int) -> None:
    drawing = topology.drawn(Spec(leaves_count=leaves, spines_count=spines, hosts_count=hosts))
    addresses = [address for place in drawing.places for address in place.addresses]
    assert len(addresses) == len(set(addresses))
    assert all(ipaddress.ip_address(address) for address in addresses)
    seats = [sum(host.leaf == leaf.name for host in drawing.of_role("host")) for leaf in drawing.of_role("leaf")]
    assert max(seats) - min(seats) <= 1 and sum(seats) == hosts
    assert len(drawing.links) == hosts + leaves * spines


def test_both_ends_of_an_uplink_are_neighbours() -> None:
    drawing = topology.drawn(Spec(leaves_count=3, spines_count=2, hosts_count=3))
    by_name = {place.name: place for place in drawing.places}
    for leaf_index, leaf in enumerate(drawing.of_role("leaf")):
        for spine_index, spine in enumerate(drawing.of_role("spine")):
            near, far = leaf.addresses[1 + spine_index], by_name[spine.name].addresses[leaf_index]
            assert ipaddress.ip_interface(f"{near}/31").network == ipaddress.ip_interface(f"{far}/31").network


def test_a_host_is_in_the_subnet_of_its_gateway() -> None:
    drawing = topology.drawn(Spec(leaves_count=4, hosts_count=9))
    gateways = {leaf.name: leaf.addresses[0] for leaf in drawing.of_role("leaf")}
    for host in drawing.of_role("host"):
        own = ipaddress.ip_interface(f"{host.addresses[0]}/24").network
        assert host.leaf is not None
        assert ipaddress.ip_address(gateways[host.leaf]) in own


def test_a_queue_holds_ten_milliseconds() -> None:
    assert "limit 250000b" in topology.bucket(200e6)  # 200 Mbit/s x 10 ms / 8
    assert topology.bucket(1e6, queue_bytes=8e6).endswith("limit 8000000b")
