"""Records of wirespeed's own measurements and recordings, one line of JSON each."""

from wirespeed.model.kinds import Reader
from wirespeed.model.link_runs import DatagramTrain, FlowRun, HeaderRun, LatencyRun, PathMtuRun
from wirespeed.model.measurement import NameServerRun
from wirespeed.model.series import Burst, FlowSummary, Moved, SeriesSummary
from wirespeed.model.text import Text
from wirespeed.readers.parsing.own_records import is_ours, records_of

_GIVES = (DatagramTrain, FlowRun, HeaderRun, LatencyRun, PathMtuRun, NameServerRun, Burst, FlowSummary, Moved, SeriesSummary)
_KINDS = frozenset(kind.__name__ for kind in _GIVES)

READER = Reader(
    title=Text(en="records of wirespeed's own measurements", zh="wirespeed 自身测量的记录"),
    gives=_GIVES,
    recognises=is_ours,
    read=lambda lines: records_of(lines, _KINDS),
    obtained_by=("wirespeed bench links PEER", "wirespeed record --for 10s"),
)
