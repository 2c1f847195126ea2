"""What people say of PCIe, GPUs, NVLink, CPUs, NUMA and firmware."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

SYMPTOMS = Symptoms(
    title=Text(en="GPUs, PCIe and CPUs", zh="GPU、PCIe 与 CPU"),
    topics={
        "acs-on": Topic(
            wordings=(
                r"\bacs\b.{0,40}(?:enabled|on\b|active|set|not disabled|was|redirect)",
                r"(?:disabl\w+|turn\w* off|switch\w* off) (?:pcie? )?acs\b.{0,50}(?:fix|solv|help|work|resolv|pass)?",
                r"access control services",
                r"\bats\b.{0,30}(?:missing|off|not enabled|disabled)|directtrans-?\b",
            )
        ),
        "gdr-off-passes": Topic(
            wordings=(
                r"(?:NCCL_)?NET_GDR_LEVEL\s*=\s*(?:0|LOC).{0,40}(?:pass|work|fix|fine|ok|help|run)",
                r"(?:without|disabling|disabled?|turning off|no) (?:gdr|gpudirect(?: rdma)?).{0,40}(?:pass|work|fix|fine|ok|help|run|succe)",
                r"unless (?:gdr|gpudirect(?: rdma)?) is off|only (?:fails|hangs|breaks) with (?:gdr|gpudirect)",
                r"(?:from|to) (?:host|cpu|system) memory.{0,40}(?:fine|full|works|ok|fast).{0,60}(?:gpu|cuda|device)",
            ),
            negatable=False,
        ),
        "p2p-off-passes": Topic(
            wordings=(
                r"(?:NCCL_)?P2P_DISABLE\s*=\s*1.{0,60}(?:pass|work|fix|fine|ok|help|run|finish|avoid|solv|succe|complete)",
                r"(?:without|disabling|disabled?|turning off|no) (?:p2p|peer[- ]to[- ]peer|peer access).{0,40}(?:pass|work|fix|fine|ok|help|run|succe|finish)",
                r"(?:works?|passes|runs|finish\w*|ok|fine|succeeds).{0,30}(?:with|after|when|if).{0,20}P2P_DISABLE",
            ),
            negatable=False,
        ),
        "pair-specific": Topic(
            wordings=(
                r"(?:only|any|exactly|contains?|involv\w+|uses?|between|with) .{0,20}(?:both )?gpus? ?\d+ and (?:gpu ?)?\d+",
                r"(?:this|one|that|certain|specific|particular|same) pairs?\b",
                r"pair[- ](?:specific|dependent)|(?:two|2) gpus? (?:work|run|are fine) alone",
                r"(?:some|certain|specific|particular) (?:pairs?|combinations?) of (?:gpus|devices)",
            )
        ),
        "iommu-on": Topic(
            wordings=(
                r"\biommu\b.{0,40}(?:enabled|on\b|active|translat|strict|not (?:in )?pass|default|lazy)",
                r"(?:disabl\w+|turn\w* off|switch\w* off) (?:the )?(?:iommu|vt-?d|amd-?vi)",
                r"iommu[= ](?:pt|off|soft)\b.{0,50}(?:fix|solv|help|work|resolv|restor)",
                r"(?:vt-?d|amd-?vi|intel_iommu=on|amd_iommu=on).{0,30}(?:enabled|on\b)?",
                r"spin ?lock.{0,40}iommu|iommu.{0,40}spin ?lock|dmar.{0,20}fault",
            )
        ),
        "pcie-narrow": Topic(
            wordings=(
                r"\bx(?:1|2|4|8)\b.{0,40}(?:instead|rather than|not|should|expected|slot|electrical|lanes?)",
                r"(?:pcie|slot|lanes?|link)\b.{0,40}\b(?:only|just|limited to|downgraded|trained (?:at|to|down)|negotiated|running at|drops? to)\b.{0,30}(?:x ?\d|gen ?\d|\d+ ?gt)",
                r"(?:wrong|narrow|x8|x4|chipset|gen ?3|riser) slot|bifurcat\w+|downgraded",
                r"(?:moved?|moving) (?:the )?(?:card|nic|gpu|adapter) to (?:another|a different|an? x16) slot",
                r"gen ?[1-4]\b.{0,30}(?:instead of|not|rather than|should be|expected).{0,12}gen ?[2-6]",
            )
        ),
        "no-peer-access": Topic(
            wordings=(
                r"(?:p2p|peer(?:[- ]to[- ]peer)?(?: access)?)\b.{0,40}(?:not supported|unsupported|unavailable|disabled by|not (?:possible|available|allowed)|removed|blocked)",
                r"(?:geforce|rtx ?(?:20|30|40|50)[6-9]0|4090|3090|5090|consumer|l40s?|a10g?|t4)\b.{0,60}(?:no|without|lack\w*|don'?t|does not|not) .{0,20}(?:p2p|peer|nvlink)",
                r"(?:no|without|lacks?) (?:p2p|peer access|nvlink).{0,40}(?:geforce|rtx|4090|3090|consumer|l40|a10|t4)",
                r"cudaDeviceCanAccessPeer.{0,30}(?:0|false|no)|chipset not supported",
            ),
            negatable=False,
        ),
        "nvlink-trouble": Topic(
            wordings=(
                r"nvlinks?\b.{0,40}(?:down|inactive|missing|not (?:used|active|working|detected|available)|error|fault|broken|disabled|fail)",
                r"(?:missing|no|bad|loose|faulty|broken) nvlink(?: bridge)?",
                r"(?:intra-?node|single[- ]node|one node|8 gpus?).{0,40}(?:pcie (?:speed|class|rate)|far below nvlink)",
            )
        ),
        "fabric-manager-trouble": Topic(
            wordings=(
                r"fabric ?manager.{0,50}(?:not|stopped|inactive|fail|mismatch|version|missing|wrong|dead|down|restart|start)",
                r"(?:restart|start|install|upgrad)\w* (?:the )?(?:nvidia-)?fabric-?manager",
                r"system not yet initialized|error 802|cudaErrorSystemNotReady",
                r"nvswitch.{0,40}(?:fail|error|not|fatal|sxid)|imex.{0,30}(?:not|down|fail|missing)|nvls.{0,40}(?:fail|error|bind|multicast)",
            ),
            negatable=False,
        ),
        "gpu-broken": Topic(
            wordings=(
                r"\bxid\b(?:.{0,12}\d+)?|fallen off the bus|gpu (?:is )?lost|gpu.{0,20}(?:disappear|vanish)\w*",
                r"(?:uncorrectable|double[- ]bit|dbe|ecc) (?:ecc )?errors?|row remap",
                r"nvidia-smi.{0,20}(?:hangs?|err!|unable to determine|no devices)",
            )
        ),
        "gpu-memory-full": Topic(wordings=(r"cuda (?:error: )?out of memory|gpu (?:is )?out of memory|\bcuda oom\b|OutOfMemoryError",)),
        "wrong-socket": Topic(
            wordings=(
                r"(?:other|remote|wrong|different|far|opposite|second|another|one) (?:cpu )?(?:socket|numa(?: node)?)\b",
                r"(?:across|cross(?:es|ing)?|between) (?:the )?(?:sockets?|numa|qpi|upi|cpus|xgmi)",
                r"numa.{0,40}(?:mismatch|remote|wrong|bind|pin|unaware|misalign)",
                r"(?:numactl|pin\w*|bind\w*).{0,50}(?:fix|help|doubl|restor|improv|solv|faster|recover)",
                r"\bnps ?[=:]? ?[124]\b",
                r"(?:gpu|nic|hca).{0,30}(?:and|to|from).{0,20}(?:gpu|nic|hca).{0,40}different (?:sockets?|numa|cpus?|root)",
            )
        ),
        "mask-too-small": Topic(
            wordings=(
                r"(?:pinned|bound|restricted|limited|confined|taskset|affinity|mask\w*|cpuset).{0,40}(?:one|single|1|two|2|same|few|a) (?:cpu|core|thread)s?\b",
                r"(?:all|every|both) (?:ranks?|process\w*|threads?|workers?).{0,30}(?:same|one|single) (?:cpu|core)s?",
                r"--bind-to[- ]core|cpus-per-task[= ]1\b|OMP_(?:PROC_BIND|PLACES)|(?:cpu|core)[- ]?bind\w*",
                r"(?:proxy|progress|communication|network|polling) threads?.{0,50}(?:share|compete|starv|same core|oversubscri|one core|pinned)",
            )
        ),
        "restricted-cores": Topic(wordings=(r"(?:restricted|limited|confined|pinned|bound) to (?:cores?|cpus?) \d+",)),
        "firmware-option": Topic(
            wordings=(
                r"\b(?:bios|uefi)\b.{0,60}(?:setting|option|profile|update|change|default|power|mode|reset|version|upgrade)",
                r"relaxed ordering|\bc-?states?\b|energy (?:saving|efficien)|power (?:saving|profile|mode)|performance (?:profile|governor|mode)",
                r"(?:sub-?numa|snc|xgmi|pstate|hyper-?thread\w*|smt|ddio|above 4g|determinism)\b.{0,40}(?:off|on|disab|enab|sett|fix|chang)",
            )
        ),
        "one-core-full": Topic(
            wordings=(
                r"(?:one|single|1|a) (?:cpu )?(?:core|cpu|thread)s?\b.{0,40}(?:100 ?%|full|saturat|pegged|maxed|hot|busy|bottleneck)",
                r"(?:ksoftirqd|softirq|soft irq|\bsi\b).{0,40}(?:100 ?%|high|full|hot|one|single|saturat|9\d ?%)",
                r"(?:100|9\d) ?% (?:cpu |of (?:one|a) |on (?:one|a|a single) ?)?(?:core|cpu|ksoftirqd|softirq|thread)",
                r"single[- ]threaded|cpu[- ]bound|(?:only|just) one (?:core|thread) (?:is )?(?:used|busy|works?)",
            )
        ),
        "others-idle": Topic(wordings=(r"(?:other|all other|remaining|\d+ other) (?:cpus?|cores?).{0,15}idle|cpu(?: is)? (?:mostly )?idle",)),
        "interrupts-on-one-cpu": Topic(
            wordings=(
                r"(?:irqs?|interrupts?|queues?).{0,50}(?:one|single|same|cpu ?0|core ?0|few) ?(?:cpu|core)?s?\b",
                r"(?:cpu|core) ?0\b.{0,30}(?:irqs?|interrupts?|only|alone)",
                r"irqbalance.{0,40}(?:off|not|stopped|disabled|missing|dead|inactive)",
                r"(?:smp_affinity|irq affinity|rss|rps)\b.{0,50}(?:not|wrong|off|unset|default|fix|help|missing|single)",
                r"time_?squeeze.{0,40}cpu ?\d",
            )
        ),
        "healthy-twin": Topic(
            wordings=(
                r"(?:healthy|identical|same|other|sister|twin|good) (?:\w+ )?(?:twin|machine|box|node|host|unit|server|system|card|nic)s?\b.{0,60}\d",
                r"(?:healthy|good|other|identical) (?:twin|unit|box)",
            )
        ),
        "same-cap-everywhere": Topic(
            wordings=(
                r"(?:tcp|iperf3?).{0,40}(?:and|as well as|like).{0,20}(?:rdma|ib_\w+|perftest).{0,60}(?:same|both|stop|cap|limit|stuck)",
                r"(?:both|all tests?|every test|whatever).{0,40}(?:stop|cap|limit|stuck|max out|plateau|top out).{0,20}(?:at|to) (?:about |around |only )?\d",
                r"(?:same|identical) (?:cap|limit|rate|ceiling).{0,40}(?:tcp|rdma|test)",
            )
        ),
        "power-cycle-cures": Topic(
            wordings=(
                r"(?:power[- ]?cycl\w+|cold (?:boot|reboot)|unplug\w*|full (?:power|shutdown)|ac cycle|drain\w* power|reset\w* the (?:nic|card|adapter|hca)|mlxfwreset|re-?flash\w*|firmware (?:update|upgrade|reset|downgrade)).{0,60}(?:fix|help|restor|cure|solv|back|recover|full speed)?",
                r"(?:after|since) (?:a |the )?(?:reboot|boot|hot[- ]?plug|power (?:loss|outage|failure)|firmware (?:update|upgrade))",
                r"power[- ](?:limit|throttl|cap|budget)\w*.{0,30}(?:nic|card|adapter|slot|module|port)|(?:nic|card|adapter).{0,30}power[- ](?:limit|throttl|cap)",
            )
        ),
    },
)
