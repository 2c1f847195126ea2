"""Printed quantities: the unit is the ending of the name, and unknown is never zero."""

import pytest

from wirespeed.report.numbers import printed


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("link_rate_bits_per_s", 25e9, "25 Gb/s"),
        ("link_rate_bits_per_s", 941e6, "941 Mb/s"),
        ("busbw_bytes_per_s", 12.22e9, "12.2 GB/s"),
        ("size_bytes", 9637888, "9.19 MiB"),
        ("size_bytes", 512, "512 B"),
        ("mtu_bytes", 9000, "9000"),
        ("loss_ratio", 0.001, "0.1 %"),
        ("ttft_s", 0.0424, "42.4 ms"),
        ("ttft_s", 38.412, "38.4 s"),
        ("rtt_s", 71e-6, "71 us"),
        ("timeout_s", 1800, "30 min"),
        ("speed_transfers_per_s", 32e9, "32 GT/s"),
        ("clock_hz", 1005e6, "1 GHz"),
        ("drops_count", 48211, "48,211"),
        ("drops_count", None, "?"),
        ("link", "eth0", "eth0"),
        ("is_up", True, "yes"),
    ],
)
def test_printed(name: str, value: object, shown: str) -> None:
    assert printed(name, value) == shown
