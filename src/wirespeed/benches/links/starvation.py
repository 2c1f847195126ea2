"""How long this process stood ready and got no processor: then what it measures is the machine, not the network."""

import time
from pathlib import Path

SCHEDSTAT = Path("/proc/thread-self/schedstat")


def waited_for_processor_s() -> float | None:
    """Since this thread began (second field of /proc/thread-self/schedstat, in ns); None where the kernel does not tell."""
    try:
        return int(SCHEDSTAT.read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


class Use:
    """Processor time used by this process, and waited for, inside a window."""

    def __init__(self) -> None:
        self._cpu_s, self._waited_s = time.process_time(), waited_for_processor_s()

    def ratios(self, duration_s: float) -> tuple[float, float | None]:
        """Share of the window's `duration_s` on a processor, and ready without one."""
        used = min(1.0, (time.process_time() - self._cpu_s) / duration_s)
        waited_s = waited_for_processor_s()
        if waited_s is None or self._waited_s is None:
            return used, None
        return used, min(1.0, (waited_s - self._waited_s) / duration_s)
