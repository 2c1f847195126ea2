"""Lines of the kernel, of frameworks, servers and proxies."""

from wirespeed.model.record import Record


class KernelEvent(Record, frozen=True, kw_only=True):
    """A line of dmesg or the journal that bears on GPUs, NICs, memory or the network; `topic` says on what.

    Topics are those of `readers/tools/kernel_log.py`: `xid`, `link-down`, `link-up`, `pcie-limited`, `aer`, `oom-kill`,
    `conntrack-full`, `neighbour-overflow`, `tx-timeout`, `firmware-dead`, `module-hot`, `iommu-fault`, `syn-flood` ...
    """

    topic: str
    message: str
    device: str | None = None
    code_number: int | None = None
    """Xid number and the like."""
    at_s: float | None = None
    """Seconds of the kernel's own clock or of the day, where printed."""


class FrameworkEvent(Record, frozen=True, kw_only=True):
    """A line of torch, DeepSpeed, Ray, vLLM, Gloo and the like; `topic` as in `readers/tools/python_log.py`.

    Topics include `watchdog-timeout`, `collective-mismatch`, `store-timeout`, `gloo-no-interface`, `process-died`,
    `out-of-memory`, `connection-refused`, `connection-reset`, `no-route`, `name-not-resolved`, `placement-waiting`,
    `nccl-error`, `kv-preemption`, `timeout`.
    """

    topic: str
    message: str
    rank: int | None = None
    sequence_number: int | None = None
    operation: str | None = None
    timeout_s: float | None = None
    element_count: int | None = None
    peer: str | None = None


class ServerEvent(Record, frozen=True, kw_only=True):
    """A line or status of an HTTP server, proxy or registry: status code and message.

    Topics: `status`, `upstream-timeout`, `upstream-closed`, `no-live-upstream`, `too-many-connections`, `rate-limited`,
    `body-buffered`, `address-in-use`, `address-not-available`.
    """

    topic: str
    message: str
    status_code: int | None = None
    server: str | None = None
    duration_s: float | None = None
