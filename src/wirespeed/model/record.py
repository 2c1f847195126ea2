"""The base of everything a reader or a collector yields."""

import msgspec

from wirespeed.model.source import Quote, Reason, Source


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=True, omit_defaults=True):
    """One fact, event or measured thing, with where it was seen.

    A field that could not be had is `None`; `missing` then says why (absent, denied, unsupported, timed-out) by field name.
    """

    source: Source
    quotes: tuple[Quote, ...] = ()
    missing: dict[str, Reason] = {}

    @property
    def host(self) -> str | None:
        """The machine this was seen on, where that is known."""
        return self.source.host
