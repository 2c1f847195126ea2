"""What is sent away holds no secrets and, on request, no identities; and reads the same."""

import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.archive.redact import redacted
from wirespeed.archive.store import Run
from wirespeed.archive.substitutes import Substitutes
from wirespeed.model import record_lines as lines_of_records
from wirespeed.model.facts.host import EnvVar, HostIdentity
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.record import Record
from wirespeed.model.run import Manifest, Reply
from wirespeed.model.secrets import without_secrets
from wirespeed.model.settings import CodeCall, Command, Directive, Setting
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text

KEY = b"0123456789abcdef0123456789abcdef"
SUBSTITUTES = Substitutes(KEY, frozenset({"gpu-node-17.corp.example.com"}))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("export HF_TOKEN=hf_abcdefghijklmnopqrstuvwx", "hf_abcdefghijklmnopqrstuvwx"),
        ('"api_key": "s3cr3t-value"', "s3cr3t-value"),
        ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("https://user:pa55word@registry.example/v2", "pa55word"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG"),
        ("password: hunter22", "hunter22"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz"),
    ],
)
def test_secrets_go(text: str, secret: str) -> None:
    assert secret not in without_secrets(text)
    assert "[redacted]" in without_secrets(text)
    assert without_secrets(without_secrets(text)) == without_secrets(text)


@pytest.mark.parametrize(
    "text",
    ["max_tokens: 4096", "tokens per second: 812.5", "prompt_tokens=1024", "net.ipv4.tcp_rmem = 4096 131072 6291456", "NCCL_IB_TIMEOUT=22",
     "token_type: null", "http://192.0.2.1:8000/v1", "tokenizer: llama-tokenizer", "throughput 1234 tok/s"],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


@given(st.ip_addresses(v=4), st.ip_addresses(v=4))
def test_common_prefixes_stay_common(one: ipaddress.IPv4Address, other: ipaddress.IPv4Address) -> None:
    def shared(a: bytes, b: bytes) -> int:
        return 32 - (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).bit_length()

    a, b = SUBSTITUTES.address(one.packed), SUBSTITUTES.address(other.packed)
    is_plain = all(0 < address.packed[0] < 224 and address.packed[0] != 127 for address in (one, other))
    if is_plain:
        assert shared(a, b) == shared(one.packed, other.packed)
    assert ipaddress.IPv4Address(a).is_private == one.is_private or one.packed[0] in (192, 198, 203)


@pytest.mark.parametrize(
    "kept", ["127.0.0.1", "0.0.0.0", "255.255.255.0", "224.0.0.1", "::1", "::", "ff02::1", "00:00:00:00:00:00"]
)
def test_what_identifies_nobody_stays(kept: str) -> None:
    assert SUBSTITUTES.in_text(f"x {kept} y") == f"x {kept} y"


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("inet 10.20.30.40/24 brd", r"inet 10\.\d+\.\d+\.\d+/24 brd"),
        ("via 192.168.7.9 dev", r"via 192\.168\.\d+\.\d+ dev"),
        ("10.20.0.0/16 dev eth0", r"10\.\d+\.0\.0/16 dev eth0"),
        ("fe80::1234:5678", r"fe80::[0-9a-f:]+"),
        ("2001:db8::7/64", r"2001:[0-9a-f:]+/64"),
        ("fe80:0000:0000:0000:0200:5eff:fe00:5301", r"fe80:0000:0000:0000(:[0-9a-f]{4}){4}"),
        ("0000:0000:0000:0000:0000:ffff:0a14:1e28", r"0000:0000:0000:0000:0000:ffff:0a[0-9a-f]{2}:[0-9a-f]{4}"),
        ("b8:59:9f:12:34:56", r"b8:59:9f(:[0-9a-f]{2}){3}"),
        ("node_guid b859:9f03:0012:3456", r"node_guid b859:9f03:00[0-9a-f]{2}:[0-9a-f]{4}"),
        ("GPU-8a2b3c4d-1111-2222-3333-444455556666", r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("Serial Number: MT2122X01234", r"Serial Number: [A-Z]{2}\d{4}[A-Z]\d{5}"),
        ("ssh gpu-node-17 ok", r"ssh host-[0-9a-f]{6} ok"),
        ("MASTER_ADDR=gpu-node-17.corp.example.com", r"MASTER_ADDR=host-[0-9a-f]{6}\.host-[0-9a-f]{6}\.example\.com"),
    ],
)
def test_substitutes_have_the_same_form(text: str, shape: str) -> None:
    changed = SUBSTITUTES.in_text(text)
    assert changed != text
    assert re.fullmatch(shape, changed), changed
    assert SUBSTITUTES.in_text(text) == changed, "the same each time"


@pytest.mark.parametrize(
    "text",
    ["0000:81:00.0", "12:34:56", "2026-11-29 15:40:12.123", "5.15.0-105-generic", "28.39.1002", "LnkSta: Speed 16GT/s, Width x8",
     "00000004 00000000 0000001a", "rx_prio3_pause: 17", "Cpus_allowed_list: 0-63,128-191", "eth0: mtu 9000", "/proc/sys/net/ipv4/tcp_rmem"],
)  # fmt: skip
def test_what_only_looks_like_an_identity_stays(text: str) -> None:
    assert SUBSTITUTES.in_text(text) == text


def test_text_and_bytes_agree() -> None:
    packed = ipaddress.IPv4Address("10.20.30.40").packed
    assert SUBSTITUTES.in_text("10.20.30.40") == str(ipaddress.IPv4Address(SUBSTITUTES.address(packed)))
    assert SUBSTITUTES.in_text("b8:59:9f:12:34:56") == SUBSTITUTES.mac(bytes.fromhex("b8599f123456")).hex(":")
    network = ipaddress.IPv4Network("10.20.16.0/20")
    changed = ipaddress.IPv4Network((SUBSTITUTES.address(network.network_address.packed, 20), 20))
    member = ipaddress.IPv4Address(SUBSTITUTES.address(ipaddress.IPv4Address("10.20.31.7").packed))
    assert member in changed


def test_a_whole_run() -> None:
    source = Source(tool="env", path="environment", host="gpu-node-17")
    run = Run(
        manifest=Manifest(host="gpu-node-17"),
        replies=(
            Reply(kind="file", request="/proc/sys/kernel/hostname", content=b"gpu-node-17\n"),
            Reply(kind="file", request="/etc/app.conf", content=b"password = hunter22\nlisten 10.1.2.3:80\n"),
            Reply(kind="answer", request="name-lookup gpu-node-17", content=b'{"addresses":["10.1.2.3"]}'),
            Reply(kind="netlink", request="0 00", content=bytes([10, 1, 2, 3])),
        ),
        records=(
            HostIdentity(source=source, hostname="gpu-node-17"),
            EnvVar(
                source=source,
                quotes=(Quote(source="environment", line_index=0, text="NCCL_DEBUG=INFO"),),
                name="NCCL_DEBUG",
                setting="INFO",
            ),
        ),
    )
    light = redacted(run, identities=False, rewrite=lambda reply, _: b"")
    assert light.manifest.redacted == ("secrets",)
    assert light.replies[1].content == b"password = [redacted]\nlisten 10.1.2.3:80\n"
    assert (light.replies[0], light.replies[3], light.records) == (run.replies[0], run.replies[3], run.records)
    full = redacted(run, identities=True, rewrite=lambda reply, substitutes: substitutes.address(reply.content or b""), key=KEY)
    everything = repr(full)
    assert "gpu-node-17" not in everything
    assert "10.1.2.3" not in everything
    assert "hunter22" not in everything
    address = str(ipaddress.IPv4Address(full.replies[3].content or b""))
    assert f"listen {address}:80".encode() in (full.replies[1].content or b""), "text and netlink agree"
    assert full.records[1] == redacted(run, identities=True, rewrite=lambda *_: b"", key=KEY).records[1]
    assert isinstance(full.records[1], EnvVar)
    assert full.records[1].setting == "INFO"


SOURCE = Source(tool="test", path="x")


def _quoted(text: str) -> tuple[Quote, ...]:
    return (Quote(source="x", line_index=0, text=text),)


@pytest.mark.parametrize(
    ("record", "secret"),
    [
        (EnvVar(source=SOURCE, name="HF_TOKEN", setting="tkX9", quotes=_quoted("HF_TOKEN is tkX9 here")), "tkX9"),
        (Setting(source=SOURCE, name="password", setting="12345678", value=12345678.0, quotes=_quoted("12345678")), "12345678"),
        (Setting(source=SOURCE, name="db.password", setting="two words", quotes=_quoted("> two words")), "two words"),
        (Directive(source=SOURCE, server="nginx", name="proxy_set_header", arguments=("Authorization", "Bearer tkX9")), "tkX9"),
        (Directive(source=SOURCE, server="redis", name="requirepass", arguments=("tkX9",), quotes=_quoted("requirepass tkX9")), "tkX9"),
        (Command(source=SOURCE, program="vllm", arguments=("serve", "--api-key", "tkX9", "--port", "80")), "tkX9"),
        (Command(source=SOURCE, program="--api-key", arguments=("tkX9", "--port", "80")), "tkX9"),
        (Command(source=SOURCE, program="curl", arguments=("-u", "admin:tkX9", "http://192.0.2.1/")), "tkX9"),
        (CodeCall(source=SOURCE, name="api_key", arguments="'tkX9'", quotes=_quoted("api_key 'tkX9'")), "tkX9"),
        (Setting(source=SOURCE, name="value", setting="spread1", quotes=_quoted("  value: spread1")), "spread1"),
    ],
)  # fmt: skip
def test_a_record_is_redacted_by_its_names(record: Record, secret: str) -> None:
    manifest = b"- name: HF_TOKEN\n  value: spread1\n"
    run = Run(manifest=Manifest(), replies=(Reply(kind="input", request="pod.yaml", content=manifest),), records=(record,))
    kept = redacted(run, identities=False, rewrite=lambda *_: b"")
    assert secret in repr(record)
    assert secret not in repr(kept)
    assert "12345678" not in repr(kept)


@pytest.mark.parametrize(
    "record",
    [
        Setting(source=SOURCE, name="max_tokens", setting="4096", value=4096.0, quotes=_quoted("max_tokens: 4096")),
        Directive(source=SOURCE, server="nginx", name="auth_basic", arguments=("off",), quotes=_quoted("auth_basic off;")),
        Directive(source=SOURCE, server="nginx", name="proxy_set_header", arguments=("Connection", "")),
        Directive(source=SOURCE, server="haproxy", name="cookie", arguments=("SRV", "insert")),
        Command(source=SOURCE, program="docker", arguments=("run", "-u", "1000:1000", "--tokenizer", "x")),
        EnvVar(source=SOURCE, name="HF_TOKEN", setting=None),
    ],
)
def test_what_only_sounds_secret_stays_in_records(record: Record) -> None:
    assert redacted(Run(manifest=Manifest(), records=(record,)), identities=False, rewrite=lambda *_: b"").records == (record,)


@pytest.mark.parametrize("name", ["Link", "Counter", "absent", "full", "Problem"])
def test_a_host_named_like_a_word_of_the_model(name: str) -> None:
    source = Source(tool="test", path=f"/x/{name}", host=name)
    items: tuple[Record | Problem, ...] = (
        HostIdentity(source=source, hostname=name),
        Link(source=source, name="eth0", duplex="full", missing={"speed_bits_per_s": "absent"}),
        Counter(source=source, scope="eth0", name="rx_bytes", canonical="counter", value_count=1),
        Problem(source=source, why=Text(en=f"{name} said no", zh=f"{name} 拒绝"), reason="absent"),
    )
    kept = redacted(Run(manifest=Manifest(host=name), records=items), identities=True, rewrite=lambda *_: b"", key=KEY)
    back = tuple(lines_of_records.decoded(map(lines_of_records.encoded, kept.records), "x"))
    assert back == kept.records
    assert [type(item) for item in back] == [type(item) for item in items]
    assert isinstance(back[1], Link)
    assert (back[1].duplex, back[1].missing) == ("full", {"speed_bits_per_s": "absent"})
    assert isinstance(back[2], Counter)
    assert back[2].canonical == "counter"
    assert isinstance(back[3], Problem)
    assert name not in back[3].why.en.split()
    assert (back[3].reason, back[3].source.tool) == ("absent", "test")
