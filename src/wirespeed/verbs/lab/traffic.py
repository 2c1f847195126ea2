"""Give the lab healthy load, as a training job or a service makes it, or none."""

from typing import Annotated, get_args

import msgspec

from wirespeed.emulation import traffic
from wirespeed.model.document import Document, Headline
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.verbs.lab._shared import USUAL_NAME, NameOption

SCHEMA = "wirespeed/lab-traffic/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which load."""

    kind: Annotated[
        traffic.Kind,
        Option(
            help=Text(en="ring all-reduce bursts, requests and answers, or nothing", zh="环形 all-reduce 突发、请求应答，或无流量"),
            is_argument=True,
            metavar="training|serving|idle",
            choices=get_args(traffic.Kind),
        ),
    ]
    name: NameOption = USUAL_NAME


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab traffic`."""

    schema: str = SCHEMA
    kind: str


def run(options: Options) -> Answer:
    """Start it in place of what ran before. Raises CouldNot."""
    traffic.start(options.name, options.kind)
    return Answer(kind=options.kind)


def present(answer: Answer, options: Options) -> Document:
    """What runs now."""
    said = {
        "training": Text(
            en="A training-like job runs: a ring all-reduce every 300 ms", zh="类训练任务运行中：每 300 毫秒一次环形 all-reduce"
        ),
        "serving": Text(en="A service runs: about 50 requests a second", zh="服务运行中：每秒约 50 个请求"),
        "idle": Text(en="The lab is idle", zh="实验室空闲"),
    }
    return Document(title=same("wirespeed lab traffic"), blocks=(Headline(text=said[answer.kind]),))
