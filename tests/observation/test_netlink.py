"""Netlink and ethtool decoders: against live replies, against the tools' own figures, and on damaged bytes."""

import random
import socket
from collections.abc import Iterator

import pytest

from wirespeed.archive.substitutes import Substitutes
from wirespeed.machines import local
from wirespeed.machines.local import Local
from wirespeed.model.source import Problem, Source
from wirespeed.readers.netlink import ethtool_ioctl as ethtool
from wirespeed.readers.netlink import identities, inet_diag, wire
from wirespeed.readers.netlink import rtnetlink as rt
from wirespeed.verbs._look import observe

SOURCE = Source(tool="test", path="reply")
NAMES = {1: "lo", 2: "eth0"}
ROUTE_REQUESTS = (rt.LINKS_REQUEST, rt.ADDRESSES_REQUEST, rt.ROUTES_REQUEST, rt.NEIGHBOURS_REQUEST, rt.QDISCS_REQUEST)


@pytest.fixture
def connection() -> Iterator[tuple[socket.socket, socket.socket, int]]:
    """A loopback connection over which 5,000 bytes have gone."""
    with socket.create_server(("127.0.0.1", 0), backlog=7) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        client.sendall(bytes(5000))
        accepted.recv(5000, socket.MSG_WAITALL)
        yield client, accepted, server.getsockname()[1]
        client.close()
        accepted.close()


def decode_routing(data: bytes) -> int:
    return len(list(rt.links(data))) + sum(
        len(list(reader(data, NAMES, SOURCE))) for reader in (rt.addresses, rt.routes, rt.neighbours, rt.qdiscs)
    )


def decode_everything(data: bytes) -> None:
    decode_routing(data)
    list(inet_diag.sockets(data, {}, SOURCE))
    list(inet_diag.listeners(data, {}, SOURCE))


def test_tcp_info_agrees_with_the_socket(connection: tuple[socket.socket, socket.socket, int]) -> None:
    client, _, port = connection
    reply = Local().netlink(inet_diag.NETLINK_SOCK_DIAG, inet_diag.REQUESTS[0])
    (found,) = [
        one for one in inet_diag.sockets(reply, {}, SOURCE) if (one.local_port, one.remote_port) == (client.getsockname()[1], port)
    ]
    assert (found.state, found.local_address, found.remote_address) == ("ESTAB", "127.0.0.1", "127.0.0.1")
    assert (found.bytes_sent_bytes, found.bytes_acked_bytes) == (5000, 5001), "the kernel counts the SYN among the acknowledged"
    assert found.bytes_received_bytes == 0
    assert found.mss_bytes == client.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    assert found.congestion_control == client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    assert found.rtt_s is not None
    assert 0 < found.rtt_s < 1
    assert found.retransmits_total_packets == 0


def test_a_listener_shows_its_backlog(connection: tuple[socket.socket, socket.socket, int]) -> None:
    reply = Local().netlink(inet_diag.NETLINK_SOCK_DIAG, inet_diag.LISTENING_REQUESTS[0])
    (found,) = [one for one in inet_diag.listeners(reply, {}, SOURCE) if one.port == connection[2]]
    assert (found.address, found.queue_count, found.backlog_count) == ("127.0.0.1", 0, 7)


def test_a_kernel_with_a_short_tcp_info_leaves_fields_out(connection: tuple[socket.socket, socket.socket, int]) -> None:
    reply = Local().netlink(inet_diag.NETLINK_SOCK_DIAG, inet_diag.REQUESTS[0])
    kind, start, kept = next(
        (kind, start, kept)
        for kind, start, end in wire.messages(reply)
        if inet_diag.INFO in (kept := wire.attributes(reply, start + 72, end))
    )
    info = wire.ATTRIBUTE.pack(4 + 104, inet_diag.INFO) + kept[inet_diag.INFO][:104]
    body = reply[start : start + 72] + info
    (found,) = inet_diag.sockets(wire.HEADER.pack(16 + len(body), kind, 0, 1, 0) + body, {}, SOURCE)
    assert (found.bytes_sent_bytes, found.min_rtt_s, found.busy_s) == (None, None, None)
    assert found.congestion_window_packets is not None


def test_links_agree_with_the_socket_module() -> None:
    reply = Local().netlink(rt.NETLINK_ROUTE, rt.LINKS_REQUEST)
    assert {link.index: link.name for link in rt.links(reply)} == dict(socket.if_nameindex())


@pytest.mark.parametrize("seed", range(40))
def test_damaged_replies_never_raise(seed: int) -> None:
    chance = random.Random(seed)
    machine = Local()
    replies = [machine.netlink(rt.NETLINK_ROUTE, request) for request in ROUTE_REQUESTS]
    replies += [
        machine.netlink(inet_diag.NETLINK_SOCK_DIAG, request) for request in (*inet_diag.REQUESTS, *inet_diag.LISTENING_REQUESTS)
    ]
    substitutes = Substitutes(b"k" * 32)
    for reply in replies:
        damaged = bytearray(reply)
        for _ in range(chance.randrange(1, 30)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        cut = bytes(damaged[: chance.randrange(len(damaged) + 1)])
        decode_everything(bytes(damaged))
        decode_everything(cut)
        for family in (rt.NETLINK_ROUTE, inet_diag.NETLINK_SOCK_DIAG):
            identities.rewritten(family, cut, substitutes.address, substitutes.mac)
        junk = chance.randbytes(400)
        decode_everything(junk)
        for decoder in (
            ethtool.driver,
            ethtool.settings,
            ethtool.settings_request,
            ethtool.strings,
            ethtool.statistics,
            ethtool.string_count,
        ):
            decoder(junk[: chance.randrange(400)])
        ethtool.features(junk, ("a",) * 70)
        ethtool.words(junk[:10], 8)


@pytest.mark.parametrize("request_bytes", ROUTE_REQUESTS, ids=("links", "addresses", "routes", "neighbours", "qdiscs"))
def test_redacted_replies_decode_to_as_many_facts(request_bytes: bytes) -> None:
    reply = Local().netlink(rt.NETLINK_ROUTE, request_bytes)
    substitutes = Substitutes(b"k" * 32)
    again = identities.rewritten(rt.NETLINK_ROUTE, reply, substitutes.address, substitutes.mac)
    assert decode_routing(again) == decode_routing(reply)
    assert decode_routing(reply) > 0 or request_bytes == rt.NEIGHBOURS_REQUEST
    assert not wire.is_cut(again)


def test_netem_and_token_bucket_speak_of_their_limits() -> None:
    """Built by hand from linux/pkt_sched.h: netem of 10 ms and 1 % loss; tbf of 1 Gb/s (rate 125,000,000 bytes per s)."""
    netem = (0).to_bytes(4, "little") + (1000).to_bytes(4, "little") + (0xFFFFFFFF // 100).to_bytes(4, "little") + bytes(12)
    netem += wire.ATTRIBUTE.pack(12, 10) + (10_000_000).to_bytes(8, "little")
    tbf = wire.ATTRIBUTE.pack(4 + 36, 1) + bytes(8) + (125_000_000).to_bytes(4, "little") + bytes(24)
    found = list(rt.qdiscs(_qdisc(b"netem\0", netem) + _qdisc(b"tbf\0", tbf), NAMES, SOURCE))
    assert found[0].delay_s == pytest.approx(0.01)
    assert found[0].loss_ratio == pytest.approx(0.01, rel=1e-6)
    assert found[1].rate_bits_per_s == 1e9


def _qdisc(kind: bytes, options: bytes) -> bytes:
    def attribute(number: int, value: bytes) -> bytes:
        packed = wire.ATTRIBUTE.pack(4 + len(value), number) + value
        return packed + bytes(-len(packed) % 4)

    body = b"\0\0\0\0" + (2).to_bytes(4, "little") + bytes(4) + b"\xff\xff\xff\xff" + bytes(4)
    body += attribute(rt.TCA_KIND, kind) + attribute(rt.TCA_OPTIONS, options)
    return wire.HEADER.pack(16 + len(body), rt.RTM_NEWQDISC, 0, 1, 0) + body


def test_a_cut_reply_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "MOST_NETLINK_BYTES", 1)
    monkeypatch.setattr(local, "NETLINK_BUFFER_BYTES", 1024)
    items = observe(Local(), ("qdiscs",))
    assert any("cut" in item.why.en for item in items if isinstance(item, Problem))
