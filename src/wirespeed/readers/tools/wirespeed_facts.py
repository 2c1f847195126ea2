"""Facts as wirespeed writes them, one line of JSON each: what a live diagnosis saw of its hosts."""

from wirespeed.model.facts import gpu, host, link, path, rdma, sockets
from wirespeed.model.kinds import Reader
from wirespeed.model.measurement import NameLookup, PathHop, PortProbe
from wirespeed.model.record import Record
from wirespeed.model.text import Text
from wirespeed.readers.parsing.own_records import is_ours, records_of

_GIVES: tuple[type[Record], ...] = (
    NameLookup,
    PathHop,
    PortProbe,
    *(
        kind
        for module in (gpu, host, link, path, rdma, sockets)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Record) and kind is not Record
    ),
)
_KINDS = frozenset(kind.__name__ for kind in _GIVES)

READER = Reader(
    title=Text(en="facts that wirespeed saw", zh="wirespeed 查看到的信息"),
    gives=_GIVES,
    recognises=is_ours,
    read=lambda lines: records_of(lines, _KINDS),
)
