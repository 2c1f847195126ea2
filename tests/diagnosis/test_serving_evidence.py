"""Gateways, servers, stores and load generators: each text is what a user would paste and holds one observation."""

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

CURL = "$ curl -sN -o /dev/null -w '%{{http_code}} %{{time_starttransfer}} %{{time_total}}\\n' http://a.example/x\ncurl: (18) transfer closed with outstanding read data remaining\n200 0.9 {}\n"
GIN = '[GIN] 2025/01/18 - {} | 200 | {} | 192.0.2.10 | POST "/api/chat"\n'
HTTPCORE = "2024-12-25 14:42:{},194 - DEBUG - connect_tcp.started host='api.example.com' port=443 local_address=None timeout=20\n"
ENVOY = (
    '{{"duration":{},"method":"POST","response_code":504,"response_code_details":"stream_idle_timeout","response_flags":"SI"}}\n'
)
HAPROXY = "defaults\n  mode http\n  timeout client 45s\n  timeout server 45s\nfrontend a\n  bind :80\n"
ENGINE = "INFO 03-18 09:12:0{} [loggers.py:118] Engine 000: Avg generation throughput: 2950.4 tokens/s, Running: {} reqs, Waiting: 0 reqs\n"
IPERF = (
    "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    "[  5]   0.00-1.00   sec  10.0 MBytes  83.9 Mbits/sec     2    620 KBytes\n"
    "[  5]   1.00-2.00   sec  10.0 MBytes  83.9 Mbits/sec     1    620 KBytes\n"
    "[  5]   2.00-3.00   sec  10.0 MBytes  83.9 Mbits/sec     {}    620 KBytes\n"
)
CUBIC = "net.ipv4.tcp_congestion_control = cubic\nnet.ipv4.tcp_wmem = 4096 16384 67108864\n"

SEEN = {
    "first token with the end at one place": (
        "proxy_buffering",
        "request   TTFT at a   TTFT at b   total at a   total at b\n1   2.0 s   9.9 s   10.0 s   10.0 s\n2   3.0 s   9.8 s   10.0 s   10.0 s\n",
        "at one place",
    ),
    "bodies cut after one time": ("gateway_timeout_too_short", CURL.format(61.0) + CURL.format(61.01), "one and the same time"),
    "Envoy ends at a round time": ("gateway_timeout_too_short", ENVOY.format(300014), "a round time"),
    "a heartbeat slower than the hop": (
        "gateway_timeout_too_short",
        HAPROXY + "\nThe server sends a comment event every 60 s.\n",
        "the hop waits for",
    ),
    "defaults in code": (
        "keepalive_timeout_reset",
        "connector = aiohttp.TCPConnector(limit=4096)\nuvicorn.run(app, host=host, port=port, workers=8)\n",
        "closes after 5",
    ),
    "a pool of a hundred": (
        "gateway_connection_limit",
        "concurrent_requests: 128\n\n" + ENGINE.format(4, 100) + ENGINE.format(5, 100),
        "128 are wanted",
    ),
    "overflow of a circuit breaker": (
        "gateway_connection_limit",
        "upstream_reset_before_response_started{overflow}\n",
        "used up",
    ),
    "one channel against many": (
        "http2_stream_limit",
        "one shared channel: up to 1.5 s\none channel per call: about 150 ms\n",
        "over one channel",
    ),
    "a connection for each call": (
        "connection_reuse_missing",
        "".join(HTTPCORE.format(second) for second in (10, 12, 14)),
        "made 3 connections",
    ),
    "the smaller answer is later": ("nagle_delayed_ack", "file of 1 kB: 220 ms\nfile of 3 kB: 8 ms\n", "longer than"),
    "late by its own schedule": (
        "client_bound_benchmark",
        "schedule delay: mean 2.8 s\n",
        "after their time",
    ),
    "one core of four": (
        "client_bound_benchmark",
        "locust on an instance with 4 CPUs\nCPU of the instance: just under 25 %\n",
        "is one core",
    ),
    "a hit slower than computing": (
        "kv_transfer_bound",
        "first time this prompt: first token after 7.7 s\ncache hit in redis: first token after 20.2 s\n",
        "computed anew",
    ),
    "slow after each pause": (
        "cold_start",
        GIN.format("20:50:00", "50.1s")
        + GIN.format("20:50:30", "5.0s")
        + GIN.format("20:51:00", "5.1s")
        + GIN.format("20:58:00", "52.0s"),
        "after a pause",
    ),
    "all requests at one replica": (
        "l4_grpc_pinning",
        "requests per minute\nweb-0   0\nweb-1   2900\nweb-2   0\n",
        "of the load",
    ),
    "published and reset": (
        "service_bound_loopback",
        "$ docker run -p 8080:8080 image serve --host 127.0.0.1\n0.0.0.0:8080->8080/tcp\n$ curl http://127.0.0.1:8080/health\ncurl: (56) Recv failure: Connection reset by peer\n",
        "nobody listens where it leads",
    ),
    "weights that come slowly": (
        "storage_bound",
        "900 GiB of weights on EFS\nload: 43 minutes\n",
        "from a shared file system",
    ),
    "rare loss, ample buffers": ("congestion_control_unsuited", IPERF.format(1) + "\n" + CUBIC, "far below the buffers"),
}

SILENT = {
    "cut after different times": ("gateway_timeout_too_short", CURL.format(61.0) + CURL.format(33.2), "one and the same time"),
    "an ending at no round time": ("gateway_timeout_too_short", ENVOY.format(271500), "a round time"),
    "a heartbeat quicker than the hop": (
        "gateway_timeout_too_short",
        HAPROXY + "\nThe server sends a comment event every 15 s.\n",
        "the hop waits for",
    ),
    "code with a longer time": (
        "keepalive_timeout_reset",
        "connector = aiohttp.TCPConnector(limit=4096)\nuvicorn.run(app, timeout_keep_alive=75)\n",
        "closes after 5",
    ),
    "a load that varies": (
        "gateway_connection_limit",
        "concurrent_requests: 128\n\n" + ENGINE.format(4, 117) + ENGINE.format(5, 112),
        "are wanted",
    ),
    "a bigger answer that is later": ("nagle_delayed_ack", "file of 1 kB: 8 ms\nfile of 3 kB: 220 ms\n", "longer than"),
    "two connections": ("connection_reuse_missing", HTTPCORE.format(10) + HTTPCORE.format(12), "connections to"),
    "slow without a pause": (
        "cold_start",
        GIN.format("20:50:00", "50.1s")
        + GIN.format("20:50:50", "49.0s")
        + GIN.format("20:51:50", "52.1s")
        + GIN.format("20:58:00", "52.0s"),
        "after a pause",
    ),
    "two cores of four": (
        "client_bound_benchmark",
        "locust on an instance with 4 CPUs\nCPU of the instance: 52 %\n",
        "is one core",
    ),
    "much loss": ("congestion_control_unsuited", IPERF.format(900) + "\n" + CUBIC, "far below the buffers"),
    "a hit that is quicker": (
        "kv_transfer_bound",
        "first time this prompt: first token after 7.7 s\ncache hit in redis: first token after 1.2 s\n",
        "computed anew",
    ),
}


def _said(rule: str, text: str) -> list[str]:
    records = [item for _, item in read_all(MemoryLines(text, "1"), READERS) if isinstance(item, Record)]
    verdict = judge_rule(rule, RULES[rule], Case(records, "", {"1": text})).verdict
    return [
        one.says.filled({name: str(value) for name, value in one.values.items()}).en
        for one in verdict.evidence
        if one.weight_nats > 0
    ]


@pytest.mark.parametrize("name", SEEN)
def test_is_seen(name: str) -> None:
    rule, text, says = SEEN[name]
    assert any(says in one for one in _said(rule, text)), _said(rule, text)


@pytest.mark.parametrize("name", SILENT)
def test_is_not_seen(name: str) -> None:
    rule, text, says = SILENT[name]
    assert not any(says in one for one in _said(rule, text)), _said(rule, text)
