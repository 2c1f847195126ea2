"""GPUs and NVLink through NVML (`wirespeed[gpu]`), as one JSON reply; a value the driver does not give is null."""

import importlib
from collections.abc import Callable
from typing import Any

import msgspec

from wirespeed.machines.machine import MachineProblem, absent
from wirespeed.model.text import Text

MOST_GPUS = 64


def gpus(_: str) -> bytes:
    """Everything asked of NVML. Raises `MachineProblem` when the library or the driver is absent."""
    pynvml = _started()
    try:
        count = min(pynvml.nvmlDeviceGetCount(), MOST_GPUS)
        return msgspec.json.encode(
            {
                "driver": _text(_asked(pynvml, pynvml.nvmlSystemGetDriverVersion)),
                "cuda": _cuda(_asked(pynvml, pynvml.nvmlSystemGetCudaDriverVersion_v2)),
                "gpus": [_gpu(pynvml, index) for index in range(count)],
            }
        )
    finally:
        pynvml.nvmlShutdown()


class KeptGpus:
    """NVML kept open for what changes from moment to moment; `read` gives the shape of `gpus` with fewer fields."""

    def __init__(self) -> None:
        self._nvml = _started()
        count = min(self._nvml.nvmlDeviceGetCount(), MOST_GPUS)
        self._handles = {index: _asked(self._nvml, self._nvml.nvmlDeviceGetHandleByIndex, index) for index in range(count)}
        links = range(self._nvml.NVML_NVLINK_MAX_LINKS)
        self._links = {
            index: [number for number in links if _asked(self._nvml, self._nvml.nvmlDeviceGetNvLinkState, handle, number)]
            for index, handle in self._handles.items()
            if handle is not None
        }

    def read(self) -> bytes:
        """JSON of load, power, clocks, memory, and traffic and errors by NVLink."""
        return msgspec.json.encode({"gpus": [self._gpu(index) for index in self._links]})

    def _gpu(self, index: int) -> dict[str, Any]:
        nvml, handle = self._nvml, self._handles[index]
        use, memory = _asked(nvml, nvml.nvmlDeviceGetUtilizationRates, handle), _asked(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
        return {
            "index": index,
            "utilisation_percent": use.gpu if use else None,
            "memory_used_bytes": memory.used if memory else None,
            "power_milliwatts": _asked(nvml, nvml.nvmlDeviceGetPowerUsage, handle),
            "temperature_celsius": _asked(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            "sm_clock_mhz": _asked(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            "throttle_bits": _asked(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle),
            "nvlinks": [self._link(handle, number) for number in self._links[index]],
        }

    def _link(self, handle: Any, number: int) -> dict[str, Any]:
        """Traffic in KiB (fields NVLINK_THROUGHPUT_DATA_TX and _RX, scoped by link) and errors."""
        nvml = self._nvml
        fields = (("tx_kib", nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX), ("rx_kib", nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX))
        asked = _asked(nvml, nvml.nvmlDeviceGetFieldValues, handle, [(field, number) for _, field in fields]) or ()
        traffic = {
            name: int(value.value.ullVal)
            for (name, _), value in zip(fields, asked, strict=False)
            if value.nvmlReturn == nvml.NVML_SUCCESS
        }
        errors = {
            name: _asked(nvml, nvml.nvmlDeviceGetNvLinkErrorCounter, handle, number, counter)
            for name, counter in (
                ("replays", nvml.NVML_NVLINK_ERROR_DL_REPLAY),
                ("recoveries", nvml.NVML_NVLINK_ERROR_DL_RECOVERY),
                ("crc_errors", nvml.NVML_NVLINK_ERROR_DL_CRC_FLIT),
            )
        }
        return {"link": number} | traffic | errors

    def close(self) -> None:
        """Let NVML go."""
        self._nvml.nvmlShutdown()


def _started() -> Any:
    """The library, initialised. Raises `MachineProblem` when it or the driver is absent."""
    try:
        pynvml: Any = importlib.import_module("pynvml")
    except ImportError as error:
        raise MachineProblem(
            "unsupported", Text(en="GPUs need the extra wirespeed[gpu]", zh="读取 GPU 需要安装 wirespeed[gpu]")
        ) from error
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise _unavailable(pynvml, error) from error
    return pynvml


def _unavailable(nvml: Any, error: Exception) -> MachineProblem:
    if isinstance(error, nvml.NVMLError_LibraryNotFound | nvml.NVMLError_DriverNotLoaded):
        return absent("NVIDIA driver")
    if isinstance(error, nvml.NVMLError_NoPermission):
        return MachineProblem("denied", Text(en="NVML: permission denied", zh="NVML：没有权限"))
    return MachineProblem("unsupported", Text(en=f"NVML: {error}", zh=f"NVML：{error}"))


def _asked(nvml: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except nvml.NVMLError:
        return None


def _text(value: Any) -> str | None:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _cuda(version: int | None) -> str | None:
    return None if version is None else f"{version // 1000}.{version % 1000 // 10}"


def _gpu(nvml: Any, index: int) -> dict[str, Any]:
    handle = _asked(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    if handle is None:  # fallen off the bus
        return {"index": index}

    def ask(name: str, *arguments: Any) -> Any:
        function = getattr(nvml, name, None)
        return None if function is None else _asked(nvml, function, handle, *arguments)

    memory, use, pci, fabric = (
        ask("nvmlDeviceGetMemoryInfo"),
        ask("nvmlDeviceGetUtilizationRates"),
        ask("nvmlDeviceGetPciInfo"),
        _fabric(nvml, handle),
    )
    limits = ask("nvmlDeviceGetPowerManagementLimitConstraints")
    return {
        "index": index,
        "name": _text(ask("nvmlDeviceGetName")),
        "pci_address": _text(pci.busId).lower() if pci else None,  # type: ignore[union-attr]
        "utilisation_percent": use.gpu if use else None,
        "memory_used_bytes": memory.used if memory else None,
        "memory_total_bytes": memory.total if memory else None,
        "power_milliwatts": ask("nvmlDeviceGetPowerUsage"),
        "power_limit_milliwatts": ask("nvmlDeviceGetEnforcedPowerLimit"),
        "power_limit_max_milliwatts": limits[1] if limits else None,
        "temperature_celsius": ask("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU),
        "sm_clock_mhz": ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM),
        "sm_clock_max_mhz": ask("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM),
        "throttle_bits": ask("nvmlDeviceGetCurrentClocksThrottleReasons"),
        "pcie_generation": ask("nvmlDeviceGetCurrPcieLinkGeneration"),
        "pcie_generation_max": ask("nvmlDeviceGetMaxPcieLinkGeneration"),
        "pcie_width": ask("nvmlDeviceGetCurrPcieLinkWidth"),
        "pcie_width_max": ask("nvmlDeviceGetMaxPcieLinkWidth"),
        "ecc_uncorrected": ask("nvmlDeviceGetTotalEccErrors", nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC),
        "fabric_state": fabric[0],
        "fabric_status": fabric[1],
        "nvlinks": [link for number in range(nvml.NVML_NVLINK_MAX_LINKS) if (link := _nvlink(nvml, handle, number)) is not None],
    }


def _fabric(nvml: Any, handle: Any) -> tuple[int | None, int | None]:
    """State and status of the NVSwitch fabric; the call fills a structure and exists in recent drivers only."""
    if not hasattr(nvml, "c_nvmlGpuFabricInfo_t"):
        return None, None
    info = nvml.c_nvmlGpuFabricInfo_t()
    import ctypes

    if _asked(nvml, nvml.nvmlDeviceGetGpuFabricInfo, handle, ctypes.byref(info)) is None:
        return None, None
    return int(info.state), int(info.status)


def _nvlink(nvml: Any, handle: Any, number: int) -> dict[str, Any] | None:
    state = _asked(nvml, nvml.nvmlDeviceGetNvLinkState, handle, number)
    if state is None:
        return None

    def errors(counter: int) -> int | None:
        found: int | None = _asked(nvml, nvml.nvmlDeviceGetNvLinkErrorCounter, handle, number, counter)
        return found

    return {
        "link": number,
        "is_active": bool(state),
        "mbytes_per_s": _nvlink_speed(nvml, handle, number),
        "replays": errors(nvml.NVML_NVLINK_ERROR_DL_REPLAY),
        "recoveries": errors(nvml.NVML_NVLINK_ERROR_DL_RECOVERY),
        "crc_errors": errors(nvml.NVML_NVLINK_ERROR_DL_CRC_FLIT),
    }


def _nvlink_speed(nvml: Any, handle: Any, number: int) -> int | None:
    """Speed of one link in MB/s (field NVLINK_GET_SPEED, scoped by link)."""
    values = _asked(nvml, nvml.nvmlDeviceGetFieldValues, handle, [(nvml.NVML_FI_DEV_NVLINK_GET_SPEED, number)])
    if not values or values[0].nvmlReturn != nvml.NVML_SUCCESS:
        return None
    return int(values[0].value.uiVal)
