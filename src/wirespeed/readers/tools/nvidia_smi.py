"""The tables of `nvidia-smi`: one GPU in two lines of three cells, and the processes below."""

import re
from collections.abc import Iterator

import msgspec

from wirespeed.model.facts.gpu import Gpu, GpuProcess
from wirespeed.model.facts.host import SoftwareVersion
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import size_in_bytes
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"NVIDIA-SMI [\d.]{1,20}.{0,80}Driver Version: *(?P<driver>[\d.]{1,20})(?: +CUDA Version: *(?P<cuda>[\d.]{1,20}))?")
_PCI_ADDRESS = regex(r"^[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]$")
_GPU_ROW = regex(r"\| +\d{1,3} [^|]{1,80}\| +[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:")
_TEMPERATURE = regex(r"\b(\d{1,3})C\b")
_POWER = regex(r"(?P<drawn>\S{1,12}) / +(?P<limit>\S{1,12})")
_MEMORY = regex(r"(\d{1,9})MiB */ +(\d{1,9})MiB")
_UTILISATION = regex(r"(\d{1,3})%")
_PROCESS = regex(
    r"^\| +(?P<gpu>\d{1,3})(?: +(?:N/A|\d{1,3}) +(?:N/A|\d{1,3}))? +(?P<process>\d{1,10}) +(?P<type>C|G|C\+G|M\+C) +(?P<name>\S[^|]*?)"
    r" +(?P<memory>\d{1,9}MiB|N/A) *\|$"
)
_NO_INDEX = Text(en="the second line of a GPU without its first", zh="只有 GPU 的第二行，缺少第一行")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    driver: str | None = None
    cuda: str | None = None
    first: tuple[Gpu, Quote] | None = None
    for index, line in lines:
        header = _HEADER.search(line)
        if header:
            driver, cuda = header["driver"], header["cuda"]
            yield _version(lines, index, line, driver)
            continue
        cells = [cell.strip() for cell in line[line.find("|") :].split("|")[1:-1]] if "|" in line else []
        if len(cells) == 1 and (process := _PROCESS.match(line.strip())):
            yield _process(lines, quote(lines, index, line), process)
        if len(cells) < 3:
            continue
        if _GPU_ROW.search(line):
            if first:
                yield first[0]
            first = _first_line(lines, index, line, cells, driver, cuda)
        elif _MEMORY.search(cells[1]):
            if first is None:
                yield Problem(source=source(lines, "nvidia-smi"), why=_NO_INDEX, line_index=index)
                continue
            yield _completed(first[0], (first[1], quote(lines, index, line)), cells)
            first = None
    if first:
        yield first[0]


def _version(lines: Lines, index: int, line: str, driver: str) -> SoftwareVersion:
    return SoftwareVersion(source=source(lines, "nvidia-smi"), quotes=(quote(lines, index, line),), name="driver", version=driver)


def _first_line(
    lines: Lines, index: int, line: str, cells: list[str], driver: str | None, cuda: str | None
) -> tuple[Gpu, Quote] | None:
    """Name, bus and ECC; the last word of the first cell is the persistence mode (On, Off, N/A)."""
    if not cells[0] or not cells[1]:
        return None
    number, *words = cells[0].split()
    address = cells[1].split()[0]
    if not number.isdecimal() or not _PCI_ADDRESS.match(address):
        return None
    said = quote(lines, index, line)
    gpu = Gpu(
        source=source(lines, "nvidia-smi"),
        quotes=(said,),
        index=int(number),
        title=" ".join(words[:-1]) or None,
        driver=driver,
        cuda=cuda,
        pci_address=address.lower().removeprefix("0000"),  # as sysfs writes it
        ecc_uncorrected_count=int(cells[2]) if cells[2].isdecimal() else None,
    )
    return gpu, said


def _completed(gpu: Gpu, quotes: tuple[Quote, ...], cells: list[str]) -> Gpu:
    temperature, power = _TEMPERATURE.search(cells[0]), _POWER.search(cells[0])
    memory, utilisation = _MEMORY.search(cells[1]), _UTILISATION.search(cells[2])
    return msgspec.structs.replace(
        gpu,
        quotes=quotes,
        temperature_celsius=float(temperature[1]) if temperature else None,
        power_w=_watts(power["drawn"]) if power else None,
        power_limit_w=_watts(power["limit"]) if power else None,
        memory_used_bytes=size_in_bytes(float(memory[1]), "MiB") if memory else None,
        memory_total_bytes=size_in_bytes(float(memory[2]), "MiB") if memory else None,
        utilisation_ratio=int(utilisation[1]) / 100 if utilisation else None,
    )


def _process(lines: Lines, said: Quote, found: re.Match[str]) -> GpuProcess:
    return GpuProcess(
        source=source(lines, "nvidia-smi"),
        quotes=(said,),
        gpu_index=int(found["gpu"]),
        process_number=int(found["process"]),
        command=found["name"],
        is_compute="C" in found["type"],
        memory_used_bytes=size_in_bytes(float(found["memory"][:-3]), "MiB") if found["memory"] != "N/A" else None,
    )


def _watts(printed: str) -> float | None:
    """`72W`; the table also prints N/A and Unknown Error there."""
    number = printed.removesuffix("W")
    return float(number) if number != printed and number.isdecimal() else None


READER = Reader(
    title=Text(en="nvidia-smi table", zh="nvidia-smi 表格"),
    gives=(Gpu, GpuProcess, SoftwareVersion),
    recognises=marked(_HEADER, _GPU_ROW),
    read=_read,
    obtained_by=("nvidia-smi",),
)
