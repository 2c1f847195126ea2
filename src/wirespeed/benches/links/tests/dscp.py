"""Whether the path keeps the DSCP field: a code sent against the code that arrives, both ways."""

from wirespeed.benches.links.probing import Answer, Prober, answer_probes
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec, LinkTest, not_done, receiver_of, sender_of, source_of
from wirespeed.model.link_runs import HeaderRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

TITLE = Text(en="DSCP kept by the path", zh="路径是否保留 DSCP")
CODES = (8, 26, 46)
"""CS1 (bulk), AF31 (RoCE traffic as vendors set it up), EF (CNP and voice)."""


def _client(spec: LinkSpec, session: Session) -> list[Record | Problem]:
    found: list[Record | Problem] = []
    with Prober(session, "dscp") as prober:
        for code in CODES:
            prober.set(dscp=code)
            answer = prober.probe(reply_dscp=code)
            if not isinstance(answer, Answer):
                found.append(not_done(spec, TITLE, "timed-out"))
                continue
            found.append(_header(spec, (sender_of(spec), receiver_of(spec)), code, answer.tos_received))
            found.append(_header(spec, (receiver_of(spec), sender_of(spec)), code, answer.reply_tos))
    return found


def _header(spec: LinkSpec, ends: tuple[str, str], sent: int, received_tos: int | None) -> HeaderRun:
    return HeaderRun(
        source=source_of(spec),
        sender=ends[0],
        receiver=ends[1],
        address=spec.address,
        dscp_sent_code=sent,
        dscp_received_code=None if received_tos is None else received_tos >> 2,
    )


TEST = LinkTest(
    title=TITLE,
    gives=(HeaderRun,),
    cost_s=lambda spec: 0.1,
    client=_client,
    failed=lambda spec, error: [not_done(spec, TITLE, error)],
    server=answer_probes,
)
