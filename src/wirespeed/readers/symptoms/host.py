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
        "receive-buffer-errors": Topic(
            wordings=(
                r"receive[- ]buffer errors?",
                r"rx buffer (?:errors?|overflow)",
            )
        ),
        "ring-overflow": Topic(
            wordings=(
                r"ring (?:buffer )?(?:overflow|overrun|full|exhaust)",
                r"out of (?:rx )?(?:buffers|descriptors)",
                r"(?:out of|lacks?|no (?:more |free )?|runs? out of|short of) (?:rx |receive |free )?(?:descriptors?|rx buffers?)",
                r"\brx[-_ ]?(?:ovr|missed|fifo|over|no_?buffer|no_?dma)\w*\b.{0,40}(?:grow|ris|increas|climb|high|keeps|burst|non-?zero|\d{2,})|rx_out_of_buffer",
                r"(?:rais\w*|increas\w*|bigger|larger|enlarg\w*|bump\w*|max\w*) (?:the )?(?:rx |receive |nic )?rings?\b|ethtool -G\b.{0,60}(?:fix|help|eliminat|gone|solv|drops?|stop)?",
                r"\brx:? \d{2,4} (?:of|out of|/) \d{4,5}\b|(?:default|small|tiny|256|512)[- ](?:entry |sized? )?(?:rx |receive )?rings?\b|rings? (?:size )?(?:at|of|is|are) (?:the )?(?:default|256|512)",
                r"\brings?:? ?(?:size )?\d+\b.{0,16}(?:max|of \d)|micro-?bursts?|rx_drops?\b.{0,24}(?:increment|grow|ris|count|increas)|rx overruns?|queue size (?:of )?(?:128|256|512)\b",
                r"(?:port\.)?rx_(?:dropped|discards?)\b.{0,24}(?:climb|grow|ris|increas|count)",
                r"(?:rx_)?(?:fifo|missed|over\w*|no_?buff\w*)(?:_errors)?\b.{0,24}(?:climb|grow|ris|burst|increas|count)\w*|ethtool -g\W{1,3}\d{2,4}\b",
            )
        ),
    },
)
