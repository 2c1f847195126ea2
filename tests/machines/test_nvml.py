"""NVML through a stand-in library that answers some questions and refuses others, as older drivers do. No GPU was at hand."""

import sys
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from wirespeed.machines.machine import MachineProblem
from wirespeed.machines.nvml import KeptGpus, gpus


class NVMLError(Exception):
    pass


class LibraryNotFound(NVMLError):
    pass


class NotLoaded(NVMLError):
    pass


class NoPermission(NVMLError):
    pass


def refuse(*_: Any) -> Any:
    raise NVMLError("Not Supported")


def library(**given: Any) -> SimpleNamespace:
    field = SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(uiVal=26562))
    functions: dict[str, Any] = {
        "nvmlInit": lambda: None, "nvmlShutdown": lambda: None, "nvmlDeviceGetCount": lambda: 1, "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlSystemGetDriverVersion": lambda: b"550.54.15", "nvmlSystemGetCudaDriverVersion_v2": lambda: 12040,
        "nvmlDeviceGetName": lambda handle: "NVIDIA H200", "nvmlDeviceGetPowerUsage": lambda handle: 300500,
        "nvmlDeviceGetPciInfo": lambda handle: SimpleNamespace(busId=b"00000000:8A:00.0"),
        "nvmlDeviceGetPowerManagementLimitConstraints": lambda handle: [200000, 700000],
        "nvmlDeviceGetNvLinkState": lambda handle, link: 1 if link < 2 else refuse(),
        "nvmlDeviceGetNvLinkErrorCounter": lambda handle, link, counter: counter * 10,
        "nvmlDeviceGetFieldValues": lambda handle, wanted: [field],
        "nvmlDeviceGetMemoryInfo": refuse, "nvmlDeviceGetTotalEccErrors": refuse, "nvmlDeviceGetUtilizationRates": refuse,
    }  # fmt: skip
    constants = {
        "NVML_TEMPERATURE_GPU": 0, "NVML_CLOCK_SM": 1, "NVML_MEMORY_ERROR_TYPE_UNCORRECTED": 1, "NVML_VOLATILE_ECC": 0, "NVML_SUCCESS": 0,
        "NVML_NVLINK_MAX_LINKS": 4, "NVML_NVLINK_ERROR_DL_REPLAY": 0, "NVML_NVLINK_ERROR_DL_RECOVERY": 1, "NVML_NVLINK_ERROR_DL_CRC_FLIT": 2,
        "NVML_FI_DEV_NVLINK_GET_SPEED": 164,
    }  # fmt: skip
    errors = {
        "NVMLError": NVMLError,
        "NVMLError_LibraryNotFound": LibraryNotFound,
        "NVMLError_DriverNotLoaded": NotLoaded,
        "NVMLError_NoPermission": NoPermission,
    }
    return SimpleNamespace(**functions | constants | errors | given)


def test_what_the_driver_refuses_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library())
    answer = msgspec.json.decode(gpus(""))
    assert (answer["driver"], answer["cuda"]) == ("550.54.15", "12.4")
    (gpu,) = answer["gpus"]
    assert (gpu["name"], gpu["pci_address"], gpu["power_limit_max_milliwatts"]) == ("NVIDIA H200", "00000000:8a:00.0", 700000)
    assert [gpu[name] for name in ("memory_used_bytes", "ecc_uncorrected", "utilisation_percent", "fabric_state")] == [None] * 4
    assert gpu["nvlinks"] == [
        {"link": link, "is_active": True, "mbytes_per_s": 26562, "replays": 0, "recoveries": 10, "crc_errors": 20}
        for link in (0, 1)
    ]


def test_a_lost_gpu_is_still_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library(nvmlDeviceGetHandleByIndex=refuse))
    assert msgspec.json.decode(gpus(""))["gpus"] == [{"index": 0}]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(LibraryNotFound, "absent"), (NotLoaded, "absent"), (NoPermission, "denied"), (NVMLError, "unsupported")],
)
def test_a_missing_driver_is_absent_not_zero(monkeypatch: pytest.MonkeyPatch, error: type[Exception], reason: str) -> None:
    def fail() -> None:
        raise error("no")

    monkeypatch.setitem(sys.modules, "pynvml", library(nvmlInit=fail))
    with pytest.raises(MachineProblem) as caught:
        gpus("")
    assert caught.value.reason == reason


def test_without_the_extra_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(MachineProblem, match="extra"):
        gpus("")


def test_kept_open_it_is_started_once_and_tells_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def fields(handle: int, wanted: list[tuple[int, int]]) -> list[SimpleNamespace]:
        """Traffic of link `n` is 1000 * field + n KiB; receiving is refused."""
        return [
            SimpleNamespace(nvmlReturn=0 if field == 138 else 3, value=SimpleNamespace(ullVal=1000 * field + link))
            for field, link in wanted
        ]

    stand_in = library(
        nvmlInit=lambda: calls.append("init"), nvmlShutdown=lambda: calls.append("shutdown"), nvmlDeviceGetFieldValues=fields,
        NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX=138, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX=139,
        nvmlDeviceGetTemperature=refuse, nvmlDeviceGetClockInfo=lambda handle, clock: 1980, nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 4,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pynvml", stand_in)
    kept = KeptGpus()
    for _ in range(3):
        (gpu,) = msgspec.json.decode(kept.read())["gpus"]
    kept.close()
    assert calls == ["init", "shutdown"]
    assert (gpu["power_milliwatts"], gpu["sm_clock_mhz"], gpu["temperature_celsius"], gpu["utilisation_percent"]) == (
        300500,
        1980,
        None,
        None,
    )
    assert gpu["nvlinks"][1] == {"link": 1, "tx_kib": 138_001, "replays": 0, "recoveries": 10, "crc_errors": 20}
