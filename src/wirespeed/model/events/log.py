"""Lines of the kernel, of frameworks, servers and proxies."""

from wirespeed.model.record import Record


class KernelEvent(Record, frozen=True, kw_only=True):
    """A line of dmesg or the journal that bears on GPUs, NICs, memory or the network; `topic` says on what.

    Topics are those of `readers/tools/kernel_log.py`:

    - GPUs: `xid`, `sxid`, `gpu-lost`, `nvlink`, `fabric-manager`
    - NICs: `link-down`, `link-up`, `bond-member-down`, `bond-member-up`, `module-unplugged`, `module-hot`, `module-error`,
      `firmware-dead`, `firmware-timeout`, `tx-timeout`, `efa-error`, `ena-error`
    - PCIe: `pcie-limited`, `pcie-power`, `aer` (corrected and uncorrected: the message says which), `iommu-fault`
    - network: `conntrack-full`, `neighbour-overflow`, `syn-flood`, `martian-source`, `duplicate-address`, `tcp-memory`
    - host: `oom-kill`, `segfault`, `page-allocation-failure`, `hung-task`, `soft-lockup`, `cpu-hot`, `machine-check`
    - storage: `nfs-timeout`, `nfs-ok`, `lustre-error`
    """

    topic: str
    message: str
    device: str | None = None
    code_number: int | None = None
    """Xid number, watts of a PCIe slot (`pcie-power`), port (`syn-flood`), seconds (`hung-task`)."""
    at_s: float | None = None
    """Seconds of the kernel's own clock or of the day, where printed."""


class FrameworkEvent(Record, frozen=True, kw_only=True):
    """A line of torch, DeepSpeed, Ray, vLLM, Gloo and the like; `topic` as in `readers/tools/python_log.py`.

    Topics, one an event, the more telling first:

    - collectives: `watchdog-timeout`, `watchdog-state` (last enqueued and completed work), `collective-mismatch` (one event a rank
      that differs), `collective-missing-rank` (one a rank), `collective-state`, `barrier-timeout`, `nccl-error`
    - rendezvous: `store-timeout`, `heartbeat-lost`, `peer-closed` (got 0 bytes), `gloo-no-interface` (`peer` is the name or address
      that was looked for), `gloo-connect-failed`, `placement-waiting` (`peer` is the node that was asked for)
    - processes: `process-died`, `out-of-memory`, `too-many-files`
    - connections, by errno in any program's words: `connection-refused`, `connection-reset`, `connection-timeout`, `broken-pipe`,
      `no-route`, `address-in-use`, `address-not-available`, `name-not-resolved`; and `timeout` (a Python or gRPC time-out)
    - RDMA: `verbs-failed` (UCX: a verbs call failed), `ucx-error`, `efa-unavailable`, `transfer-failed` (NIXL, Mooncake, KV transfer)
    - serving: `kv-preemption`, `kv-cache`
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
    `body-buffered`, `address-in-use`, `address-not-available`, `upstream-refused`, `response-buffered`, `client-closed`,
    `stream-cut` (a body that ended before its end), `too-many-files`, `worker-timeout`.
    """

    topic: str
    message: str
    status_code: int | None = None
    server: str | None = None
    duration_s: float | None = None
