"""What people say of hosts, NICs and their limits."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

SYMPTOMS = Symptoms(
    title=Text(en="hosts and NICs", zh="主机与网卡"),
    topics={
        "host-sends-pause": Topic(
            wordings=(
                r"(?:switch|port).{0,60}(?:counts?|receiv|sees?|gets?).{0,30}pause",
                r"(?:host|server|nic|machine|node).{0,20}(?:sends?|emits?|generates?).{0,20}pause",
                r"(?:server|host|nic|machine)\s+pauses\s+(?:it|the switch)",
            )
        ),
        "receive-buffer-errors": Topic(wordings=(r"receive[- ]buffer errors?", r"rx buffer (?:errors?|overflow)")),
        "ring-overflow": Topic(
            wordings=(r"ring (?:buffer )?(?:overflow|overrun|full|exhaust)", r"out of (?:rx )?(?:buffers|descriptors)")
        ),
    },
)
