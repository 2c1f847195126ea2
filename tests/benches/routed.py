"""Runs in a network namespace of its own: a - router - b, with what the arguments ask of the router; prints records as lines.

Interfaces of a and b have an MTU of 9000; the router's towards b has 1400. Never run outside `in_namespace()`.
"""

import os
import subprocess
import sys
import time

from wirespeed.benches.links import client
from wirespeed.benches.links.spec import LinkSpec
from wirespeed.model import record_lines

SETUP = """
mount -t tmpfs none /run
ip netns add r
ip netns add b
ip link set lo up
ip link add a0 type veth peer name r0 netns r
ip -n r link add r1 type veth peer name b0 netns b
ip link set a0 mtu 9000 up
ip -n r link set r0 mtu 9000 up
ip -n r link set r1 mtu 1400 up
ip -n b link set b0 mtu 9000 up
ip address add 10.1.0.1/24 dev a0
ip -n r address add 10.1.0.2/24 dev r0
ip -n r address add 10.2.0.2/24 dev r1
ip -n b address add 10.2.0.1/24 dev b0
ip netns exec r sysctl -qw net.ipv4.ip_forward=1
ip route add default via 10.1.0.2
ip -n b route add default via 10.2.0.2
"""
NFT = {
    "silent": "add table inet t; add chain inet t o { type filter hook output priority 0; }; add rule inet t o icmp type destination-unreachable drop",
    "bleach": "add table inet t; add chain inet t f { type filter hook forward priority 0; }; add rule inet t f ip dscp set cs0",
    "block": "add table inet t; add chain inet t f { type filter hook forward priority 0; policy drop; }",
    "plain": "",
}
RESPONDER = """
import sys
from wirespeed.benches.links.responder import listen_at, serve
serve(listen_at("10.2.0.1", 5270), "secret token", 60.0)
"""


def main() -> None:
    """The arguments: what the router does, and the tests to run."""
    router, tests = sys.argv[1], tuple(sys.argv[2].split(","))
    for line in SETUP.strip().splitlines():
        subprocess.run(line.split(), check=True)
    peer = subprocess.Popen(["ip", "netns", "exec", "b", sys.executable, "-c", RESPONDER])
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        listening = subprocess.run(["ip", "netns", "exec", "b", "ss", "-Hltn"], capture_output=True, text=True, check=True).stdout
        if "5270" in listening:
            break
        time.sleep(0.05)
    if NFT[router]:
        subprocess.run(["ip", "netns", "exec", "r", "nft", NFT[router]], check=True)
    spec = LinkSpec(address="10.2.0.1", token="secret token", tests=tests, sender="a", receiver="b", duration_s=0.5, timeout_s=1.0)
    for one in client.run(spec):
        os.write(1, record_lines.encoded(one) + b"\n")
    peer.kill()
    peer.wait()


if __name__ == "__main__":
    main()
