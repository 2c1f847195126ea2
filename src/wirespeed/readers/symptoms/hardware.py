"""What people say of PCIe, GPUs, NVLink, CPUs, NUMA and firmware."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

SYMPTOMS = Symptoms(
    title=Text(en="GPUs, PCIe and CPUs", zh="GPU、PCIe 与 CPU"),
    topics={
        "acs-on": Topic(
            wordings=(
                r"\bacs\b(?:(?!\b(?:off|disabled|cleared)\b).){0,40}(?:enabled|on\b(?! the)|active|set|not disabled|was|redirect)",
                r"(?:disabl\w+|turn\w* off|switch\w* off) (?:pcie? )?acs\b.{0,50}(?:fix|solv|help|work|resolv|pass)?",
                r"access control services",
                r"\bats\b.{0,30}(?:missing|off|not enabled|disabled)|directtrans-?\b",
                r"\b(?:clear\w*|remov\w*|reset\w*) (?:the )?acs\b|pcie_acs_override",
                r"\bacs(?:ctl|cap)?\b.{0,60}(?:reqredir|srcvalid|cmpltredir|bits?\b|by default|isolat|groups?)",
                r"\b(?:no|without|lacks?|missing) (?:pcie )?ats\b|address translation services?\b.{0,40}(?:off|not|missing|disabled)",
                r"ats_enabled?\W{1,3}(?:false|0|no)\b|\bacs enable\b|access[- ]control (?:services?|redirect)",
                r"\b(?:srcvalid|reqredir|cmpltredir)\+",
            )
        ),
        "gdr-off-passes": Topic(
            wordings=(
                r"(?:NCCL_)?NET_GDR_LEVEL\s*=\s*(?:0|LOC).{0,40}(?:pass|work|fix|fine|ok|help|run)",
                r"(?:without|disabling|disabled?|turning off|no) (?:gdr|gpudirect(?: rdma)?).{0,40}(?:pass|work|fix|fine|ok|help|run|succe)",
                r"unless (?:gdr|gpudirect(?: rdma)?) is off|only (?:fails|hangs|breaks) with (?:gdr|gpudirect)",
                r"(?:from|to) (?:host|cpu|system) memory.{0,40}(?:fine|full|works|ok|fast).{0,60}(?:gpu|cuda|device)",
                r"(?:works?|passes|runs|finish\w*|ok|fine|succeeds).{0,30}(?:with|after|when|if|once).{0,20}(?:gdr|gpudirect)\w*.{0,12}(?:off|disabled|=\s*0)",
                r"(?:unload\w*|without|remov\w*|rmmod) (?:the )?(?:nvidia_peermem|nv_peer_mem|peermem)",
                r"(?:third|half|quarter|fraction|slow\w*|only).{0,40}\b(?:with|using) (?:gdr|gpudirect)\b.{0,40}(?:host|staging|bounce|copy)",
                r"(?:host|cpu|system) (?:memory|buffers?) (?:is |are |runs? )?(?:ok|fine|works?|full speed|good)|use_cuda\b.{0,40}(?:fail|error|hang|crash).{0,60}(?:without|host)",
            ),
            negatable=False,
        ),
        "p2p-off-passes": Topic(
            wordings=(
                r"(?:NCCL_)?P2P_DISABLE\s*=\s*1.{0,60}(?:pass|work|fix|fine|ok|help|run|finish|avoid|solv|succe|complete)",
                r"(?:without|disabling|disabled?|turning off|no) (?:p2p|peer[- ]to[- ]peer|peer access).{0,40}(?:pass|work|fix|fine|ok|help|run|succe|finish)",
                r"(?:works?|passes|runs|finish\w*|ok|fine|succeeds).{0,30}(?:with|after|when|if).{0,20}P2P_DISABLE",
                r"P2P_DISABLE\s*=\s*1.{0,30}(?:is )?(?:the )?(?:only )?(?:work-?around|way|cure)",
                r"P2P_LEVEL\s*=\s*(?:LOC|0)\b.{0,50}(?:pass|work|fix|fine|ok|help|run|finish|complet|let|succe)",
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
                r"io_page_fault|\biommu_(?:map|unmap|dma|iova)\w*|\balloc_iova|__iommu_dma\w*|\biova\b.{0,30}(?:lock|alloc|contention)",
                r"(?:add\w*|sett?\w*|with|after|boot\w*|until|need\w*|pass\w*) .{0,24}\b(?:amd_|intel_)?iommu=(?:pt|off)\b",
                r"\biommu\b.{0,40}(?:remap|lookup|faults?|page|tlb|iotlb|overhead|bottleneck|culprit)",
                r"\w*alloc\w*_iova\w*|iova_(?:rcache|magazine|domain)\w*",
            )
        ),
        "pcie-narrow": Topic(
            wordings=(
                r"\bx[1248]\b.{0,24}(?:slot|electrical|lanes?|link|pcie|(?:instead of|rather than|not|should be|expected) (?:gen ?\d )?x ?(?:8|16))|(?:pcie|slot|lanes?|width|gen ?\d|riser|card|nic|hca|gpu ?\d?)\b.{0,30}\bx[1248]\b(?! (?:faster|slower|more|higher|lower|the))",
                r"(?:pcie|slot|lanes?|link)\b.{0,40}\b(?:only|just|limited to|downgraded|trained (?:at|to|down)|negotiated|running at|drops? to)\b.{0,30}(?:x ?\d|gen ?\d|\d+ ?gt)",
                r"(?:wrong|narrow|x8|x4|chipset|gen ?3|riser) slot|bifurcat\w+|downgraded",
                r"(?:moved?|moving) (?:the )?(?:card|nic|gpu|adapter) to (?:another|a different|an? x16) slot",
                r"gen ?[1-4]\b.{0,30}(?:instead of|not|rather than|should be|expected).{0,12}gen ?[2-6]",
                r"pcie\.link\.(?:width|gen)\.current\W{0,3}(?:is |of )?[1-8]\b",
                r"\b(?:wired|connected|attached|runs?|running|works?|links?|linked) (?:with|as|for|at|via|over|through|to)? ?(?:only |just )?(?:(?:pcie )?x[1248]\b|[1248] (?:pcie )?lanes)",
                r"(?:through|via|behind|on|off|to) (?:the |a )?(?:chipset|pch|southbridge|m\.2|thunderbolt|oculink|mining) ?(?:slot|lanes?|adapter|riser)?.{0,30}(?:x[124]\b|lanes?|slow|bottleneck)",
                r"\b(?:pcie?|slot|gen) ?[1-3](?:\.0)? ?(?:x ?[1248]|with [1248] lanes)\b",
                r"\b(?:gen ?1|2\.5 ?gt/s)\b.{0,60}(?:gen ?[3-6]|16 ?gt|8 ?gt|32 ?gt|slow|crawl|while|though|instead)",
                r"(?:after|since|with|through|bad|faulty|long|replac\w*|swap\w*) (?:the |a )?riser\b",
                r"(?:pcie|slot|lanes).{0,30}(?:is|are|as) (?:the |our )?(?:limit|bottleneck|ceiling)",
                r"electrical\w* (?:only )?x ?[1248]\b|(?:mechanical\w*|physical\w*) x ?16\b",
                r"\b(?:now|still|only|at|as) (?:gen ?[1-5] )?x ?[1248]\b(?! (?:faster|slower|more|higher|lower|the))|width (?:dropped|reduced|degraded|fell)",
                r"\bgen ?[1-4]\b.{0,24}\b(?:max|capable|cap|of) ?(?:gen ?)?[3-6]\b|pcie generation\W{0,3}(?:current\W{0,3})?[1-4]\b.{0,12}max\W{0,3}[3-6]|(?:lspci|lnksta|nvidia-smi|link)\b.{0,40}\b(?:says?|shows?|reads?|is|at|reports?) (?:only )?gen ?[12]\b",
                r"limited by (?:an? |the )?\d+(?:\.\d)? ?gt/s|\bx[1248]\b.{0,16}\b(?:of|/|max\w*) ?x ?(?:8|16)\b|(?:riser|slot|backplane|bifurcation)\b.{0,40}(?:half|quarter|fewer|only \w+) (?:the )?(?:lanes|width|bandwidth|rate)",
                r"link width\b.{0,20}\b(?:1|2|4|8) ?x\b.{0,16}\b(?:8|16) ?x\b|\b(?:1|2|4|8)x (?:of|/|instead of|not|max) ?(?:8|16)x\b|thunderbolt\b|\boculink\b|\begpu\b|both ports (?:together|at once|combined|in total)\b.{0,40}\b1[0-4](?:\.\d)? ?gb/s",
            )
        ),
        "one-device-copies-slow": Topic(
            wordings=(
                r"(?:h2d|d2h|host[- ]to[- ]device|device[- ]to[- ]host|bandwidthtest|nvbandwidth|memcpy|copies)\b.{0,60}(?:gpu|card|device) ?#?\d\b.{0,30}\d.{0,30}(?:gpu|card|device|others?|rest) ?#?\d?.{0,16}\d",
                r"(?:one|a single) (?:gpu|card|device|nic)\b.{0,40}(?:copies|h2d|d2h|uploads?|host[- ]to[- ]device|reads?|writes?).{0,40}(?:others?|rest|remaining)",
            ),
            negatable=False,
        ),
        "no-peer-access": Topic(
            wordings=(
                r"(?:p2p|peer(?:[- ]to[- ]peer)?(?: access)?)\b.{0,40}(?:not supported|unsupported|unavailable|disabled by|not (?:possible|available|allowed)|removed|blocked)",
                r"(?:geforce|rtx ?(?:20|30|40|50)[6-9]0|4090|3090|5090|consumer|l40s?|a10g?|t4)\b.{0,60}(?:no|without|lack\w*|don'?t|does not|not) .{0,20}(?:p2p|peer|nvlink)",
                r"(?:no|without|lacks?) (?:p2p|peer access|nvlink).{0,40}(?:geforce|rtx|4090|3090|consumer|l40|a10|t4)",
                r"cudaDeviceCanAccessPeer.{0,30}(?:0|false|no)|chipset not supported",
                r"can_?(?:device_)?access_?peer.{0,24}(?:\b0\b|false|\bno\b)",
                r"\b(?:CNS|NS|GNS|TNS)\b for (?:every|all|each)|peer access (?:is )?not supported between",
                r"(?:geforce|rtx ?\d{4}|consumer|gaming|l40s?|a10g?|t4)\b.{0,80}(?:via shm|through (?:shm|host memory|system memory|cpu))",
                r"lacks? (?:gpu )?p2p|p2p (?:capability|test failed|is not available)|(?:gpu|device)s? (?:cannot|can'?t) (?:access|reach) each other",
                r"\b(?:3090|4090|5090|4080|3080|l40s?|l4|a10g?|t4|a16|a2)s?\b.{0,120}via shm",
                r"topo -p2p\b.{0,40}\b(?:ns|cns|gns|tns)\b|p2p is disabled between|peer access\W{1,3}(?:no|false|0|disabled|off)\b",
                r"(?:gpus?|cards?|t4s?|devices)\b.{0,12}(?:can'?t|cannot|don'?t|do not|unable to) .{0,16}(?:talk|access|reach|see|copy)\b.{0,16}(?:direct|each other|peer)",
            ),
            negatable=False,
        ),
        "nvlink-trouble": Topic(
            wordings=(
                r"nvlinks?\b.{0,40}(?:down|inactive|missing|not (?:used|active|working|detected|available)|error|fault|broken|disabled|fail)",
                r"(?:missing|bad|loose|faulty|broken) nvlink(?: bridge)?",
                r"(?:intra-?node|single[- ]node|one node|8 gpus?).{0,40}(?:pcie (?:speed|class|rate)|far below nvlink)",
                r"(?:should|expected|supposed) (?:be|to be|show|see|have) (?:an? )?(?:NV\d+|nvlink)\b|\bno NVL\b",
                r"(?:though|although|despite).{0,40}\bnvlink (?:bridges?|is|are|present|installed|between)",
                r"nvlink.{0,60}(?:rising|increas\w+|growing|replays?|crc|recover|flap|retrain|degrad)",
                r"(?:reseat\w*|replac\w*|remount\w*|swap\w*) .{0,24}(?:nvlink|bridge)",
                r"\bno nvlink (?:traffic|detected|used|active|shown|found|seen)|without (?:using )?nvlink.{0,40}(?:a100|h100|h200|v100|b200|dgx|hgx|sxm)",
                r"\b(?:gets?|sees?|saw|shows?|has|had|gives?|reports?|lists?|prints?|says?|with)\s.{0,12}\bNV\d{1,2}\b.{0,90}(?:mine|this one|ours?|here|\bsys\b|\bphb\b|\bnode\b|reboot|times|faster|sometimes)",
                r"(?:mine|this one|ours?|here|\bsys\b|\bphb\b)\b.{0,60}(?:others?|twin|second|rest|colleague\w*|sister|neighbou?r)\b.{0,40}\bNV\d{1,2}\b",
                r"bridges?\b.{0,40}(?:not|isn'?t|never) (?:to be )?(?:recogni[sz]ed|detected|seen|found|used)",
                r"gpu ?\d.{0,12}gpu ?\d.{0,24}\b(?:sys|phb|node|pix|pxb)\b.{0,50}\bnv\d+",
                r"(?:a100|h100|h200|b200|v100|sxm\w*|hgx|dgx)\b.{0,120}via shm\b",
                r"\b(\d{1,2}) of (?!\1\b)(?:6|12|18) (?:nv)?links?\b|(?:nv)?links?\b.{0,16}\b(?:lost|fewer|missing)\b.{0,30}\bgpu",
            )
        ),
        "fabric-manager-trouble": Topic(
            wordings=(
                r"fabric ?manager.{0,50}(?:not|stopped|inactive|fail|mismatch|version|missing|wrong|dead|down|restart|start)",
                r"(?:restart|start|install|upgrad)\w* (?:the )?(?:nvidia-)?fabric-?manager",
                r"system not yet initialized|error 802|cudaErrorSystemNotReady",
                r"nvswitch(?!.{0,80}nothing to do).{0,40}(?:fail|error|not|fatal|sxid)|imex.{0,30}(?:not|down|fail|missing)|nvls.{0,40}(?:fail|error|bind|multicast)",
                r"(?:is_available|torch\.cuda|cudaGetDeviceCount|cuInit).{0,60}(?:false|fail\w*|error).{0,80}(?:h[12]00|a100|b[23]00|hgx|dgx|sxm|nvswitch)",
                r"(?:h[12]00|a100|b[23]00|hgx|dgx|sxm|nvswitch).{0,80}(?:is_available|cudaGetDeviceCount|cuInit).{0,40}(?:false|fail|error)",
                r"system[_ ]not[_ ]ready|fabric (?:state|status).{0,12}(?:in progress|not started|failure)",
                r"driver .{0,40}(?:upgrad|updat)\w*.{0,40}fabric-?manager|\bmnnvl\b.{0,40}(?:fail|not|error)",
                r"\bimex\b.{0,60}(?:degraded|inactive|unavailable|error|dead|stopped)",
                r"cuinit\b.{0,20}\b802\b|\b802\b.{0,30}(?:cuda|cuinit|not (?:yet )?initiali[sz]ed)|fabric-?manager.{0,40}(?:shared|guest|partition|vm|host)",
            ),
            negatable=False,
        ),
        "gpu-broken": Topic(
            wordings=(
                r"\bxid\b(?:.{0,12}\d+)?|fallen off the bus|gpu (?:is )?lost|gpu.{0,20}(?:disappear|vanish)\w*",
                r"(?:uncorrectable|double[- ]bit|dbe|ecc) (?:ecc )?errors?|row remap",
                r"nvidia-smi.{0,20}(?:hangs?|err!|unable to determine|no devices)",
                r"(?:only|just|\d of|seven of|three of) (?:the )?(?:\d|one|three|four|five|six|seven|eight|sixteen) ?(?:gpus|cards)? (?:are |is |were )?(?:listed|visible|left|detected|found|shown|remain)",
                r"(?:lost|dropped|missing|lacks) (?:one|a|two|its) (?:\w+ )?(?:gpu|card)s?\b|\bshows? ERR!",
                r"\bgsp\b.{0,30}(?:time-?out|rpc|crash|hang|error|heartbeat)|unable to determine the device handle",
                r"gpu.{0,30}(?:stops?|stopped|no longer|does not|won'?t) (?:answer|respond|react)\w*|requires? (?:a )?gpu reset|\brma'?d?\b",
                r"\bdbe\b|remapp?(?:ed|ing)? rows?|rows? remapp?|unspecified launch failure|(?:page|row) retire\w*",
                r"(?:ecc|volatile|uncorrectable)\b.{0,30}\b[1-9]\d*\b.{0,24}\b(?:card|gpu|device)|illegal (?:memory access|instruction)\b.{0,60}\balways\b.{0,16}\b(?:gpu|card|node|machine)\b|always\b.{0,24}\bsame (?:gpu|card|node|machine)\b.{0,40}\billegal (?:memory access|instruction)",
            )
        ),
        "gpu-memory-full": Topic(
            wordings=(
                r"cuda (?:error: )?out of memory|gpu (?:is )?out of memory|\bcuda oom\b|OutOfMemoryError",
                r"(?:gpu|cuda|hip|vram|rank ?\d*|backward|forward|activation)s?\b.{0,30}\booms?\b(?![- ]?kill)|\boom(?:s|ed|ing)?\b(?![- ]?kill).{0,30}(?:gpu|cuda|vram|backward|forward|batch)",
                r"\b(?:rank|worker|process) ?\d+ oom(?:s|ed)?\b|(?:ran|run|runs|running|goes|went) out of (?:gpu|device|video|cuda) ?memory|out of vram|hip out of memory",
                r"(?:not enough|insufficient|too little) (?:gpu|device|video|cuda) memory",
                r"calloc (?:async |host )?\d+ bytes|(?:cuda|hip)?malloc\w* (?:fail|returned)|allocat\w* .{0,30}(?:gpu|device|cuda|hbm) (?:memory|buffers?).{0,16}fail|failed to allocate .{0,30}(?:gpu|cuda|device|hbm)",
                r"cuda\b.{0,16}\bout of memory|gpu_memory_utili[sz]ation\b.{0,6}0?\.9[5-9].{0,80}(?:crash|fail|die|error|oom)",
                r"tried to allocate \d|(?:\b\d{5}) ?mib ?/ ?\d{5} ?mib\b.{0,60}(?:crash|die|fail|abort|oom)",
            )
        ),
        "wrong-socket": Topic(
            wordings=(
                r"(?:other|remote|wrong|different|far|opposite|second|another|one) (?:cpu )?(?:socket|numa(?: node)?)\b",
                r"(?:across|cross(?:es|ing)?|between) (?:the )?(?:sockets?|numa|qpi|upi|cpus|xgmi)",
                r"numa.{0,40}(?:mismatch|remote|wrong|bind|pin|unaware|misalign)",
                r"(?:numactl|pin\w*|bind\w*).{0,50}(?:fix|help|doubl|restor|improv|solv|faster|recover)",
                r"\bnps ?[=:]? ?[124]\b",
                r"(?:gpu|nic|hca).{0,30}(?:and|to|from).{0,20}(?:gpu|nic|hca).{0,40}different (?:sockets?|numa|cpus?|root)",
                r"numa_miss|numa_foreign|other_node|numa (?:locality|distance|aware\w*|hops?)|cross[- ]numa",
                r"(?:gpus?|nics?|hcas?)\b[^.]{0,40}\b(?:on|at|under|behind|belongs? to|attached to|hangs? off) (?:the )?(?:cpu|socket|node|numa(?: node)?) ?[0-7]\b[^.]{0,60}\b(?:cpu|socket|node|numa(?: node)?) ?[0-7]\b",
                r"(?:over|via|through|saturat\w*) (?:the )?(?:upi|qpi|xgmi)\b|far (?:numa|socket|memory node)",
                r"(?:virtual|two|both|2|host) sockets\b.{0,60}(?:float|migrat|spread|span|share|cross)|(?:float|migrat|span|spread)\w* .{0,24}(?:both|two) (?:\w+ )?sockets",
                r"(?:without|outside|instead of) (?:slurm|srun|the scheduler).{0,60}(?:faster|full|fine|normal)",
                r"cross[- ]socket|(?:right|correct|proper|matching) (?:cpu socket|socket(?!s| ?(?:if|name|interface|type|option|address|_))|numa(?: node)?)|(?:second|other|first) (?:cpu|processor)'?s? (?:slot|lanes|root|memory)",
                r"-A ?\d+\b.{0,24}\d.{0,24}-A ?\d+\b|(?:cores?|cpus?) \d+-\d+.{0,24}\d.{0,40}(?:cores?|cpus?) \d+-\d+.{0,24}\d",
                r"numactl\b.{0,24}(?:-N|-m|--cpunodebind|--membind).{0,60}(?:gb/s|slow|half|faster|\d ?g\b)|(?:gb/s|slow|half).{0,80}numactl\b|\d gb/s on gpus? \d.{0,6}\d.{0,24}\d+ on \d",
                r"(?:cpus?|sockets?|cores?|numa nodes?) (?:next to|close to|nearest|near|local to) (?:the|its|their) (?:card|nic|gpu|hca|adapter)s?",
                r"on (?:cpu |numa )?(?:socket|node) ?\d\b.{0,40}\bon (?:cpu |numa )?(?:socket|node) ?\d|half (?:of )?(?:the |our )?(?:cores|cpus|processors|threads) (?:are |is |stay |sit )?(?:idle|unused)",
                r"memory (?:is |was |all )?(?:allocated|placed|sits?|lies|lives) (?:only |all )?(?:on|from|at) (?:the )?(?:numa|socket|other socket|wrong)|(?:everything|all (?:workers|ranks|processes|memory)) (?:\w+ ){0,3}(?:on|to) (?:the first |the same )?(?:numa(?: node)?|socket) ?0?\b",
                r"(?:gpus?|ranks?|cards?|nics?) (?:[0-3] ?(?:-|to|through|\.\.) ?[37])\b.{0,40}(?:fast|fine|ok|normal|full|good).{0,40}\b[48] ?(?:-|to|through|\.\.) ?(?:7|15)\b.{0,24}(?:slow|half|less|behind|bad|poor)|(?:slow|half|bad|behind)\w*\b.{0,24}(?:only )?(?:on|for|with) (?:gpus?|ranks?|cards?) (?:4 ?(?:-|to|through|\.\.) ?7|8 ?(?:-|to|through|\.\.) ?15)\b",
                r"(?:first|same|lower|upper) (?:\w+ )?(?:cores|cpus)\b.{0,60}\d.{0,60}(?:exclusive|whole|full|all|without|entire)|(?:gpu|nic|hca|card|device)s?\b.{0,40}\b(?:other|far|remote|opposite) (?:side|half|package|die|chip)\b",
                r"\b(?:socket|package|numa|numa node) ?#?0\b.{0,60}\b(?:socket|package|numa|numa node) ?#?1\b|\b(?:socket|package|numa|numa node) ?#?1\b.{0,60}\b(?:socket|package|numa|numa node) ?#?0\b|\b(?:lcores?|cores|memory|buffers?)\b.{0,24}\bnode ?[01]\b.{0,40}\b(?:nic|hca|gpu|card|cores|lcores?)s?\b.{0,16}\bnode ?[01]\b",
                r"\bon (?:the )?(?:other|second|far|remote|wrong|opposite) (?:cpu|processor|socket|package|die)\b(?! ?\d)",
            )
        ),
        "mask-too-small": Topic(
            wordings=(
                r"(?:pinned|bound|restricted|limited|confined|taskset|affinity|mask\w*|cpuset).{0,40}(?:one|single|1|two|2|same|few|a) (?:cpu|core|thread)s?\b",
                r"(?:all|every|both) (?:ranks?|process\w*|threads?|workers?).{0,30}(?:same|one|single) (?:cpu|core)s?",
                r"(?:pinned|bound|tied|confined|stuck|crammed|squeezed|land\w*)\s(?:to|on|onto|into)\s(?:the )?(?:core|cpu)s? ?(?:#|no\.? ?)?\d{1,3}\b(?![-,–]\d)",
                r"--bind-to[- ]core|cpus-per-task[= ]1\b|OMP_(?:PROC_BIND|PLACES)|(?:cpu|core)[- ]?bind\w*",
                r"(?:proxy|progress|communication|network|polling) threads?.{0,50}(?:share|compete|starv|same core|oversubscri|one core|pinned)",
                r"(?:allowed|runs?|running|allowed cpus?|affinity|sched_getaffinity).{0,30}\b(?:on |to |returns |= ?|is |list:? ?)?(?:core|cpu)s? ?0 only\b|sched_getaffinity.{0,24}\{\d\}",
                r"cpuset-cpus[= ]\"?\d(?:[-,]\d)?\b|(?:all|both|every) .{0,24}(?:pinned|bound|confined|restricted) to the same",
                r"(?:fight|compet|share|squeez|crowd)\w* (?:\w+ ){0,3}(?:over|for|on|onto|into) (?:core|cpu|the same core|a single core|one core)",
                r"--bind-to[ =](?:none|socket|numa).{0,60}(?:fix|help|doubl|solv|faster|restor|full)|binds? (?:every|each|all) (?:rank|process)\w* to (?:one|a single) core",
                r"(?:one|1|a single|two|2) (?:core|cpu)s? (?:per|for each|for every|a) (?:rank|task|process|gpu|pod|container)",
                r"(?:KMP|GOMP)(?:_CPU)?_AFFINITY|(?:un-?set|reset|remov\w*|clear\w*|widen\w*) (?:the )?(?:(?:cpu )?(?:affinity|pinning)|cpu (?:mask|binding))",
                r"\b(?:1|2|one|two) (?:exclusive|dedicated|pinned|reserved|isolated) (?:cpu|core)s?|-c ?[12]\b.{0,40}-c ?\d{1,2}\b|same hyper-?thread",
                r"(?:stuck|runs?|running|lands?|piled?|crammed) on (?:cpu|core) ?\d\b|(?:one|1|a single) (?:cpu|core)s? each\b|affinity mask: ?[1-9a-f]\b",
                r"(?:cgroup|cpuset|mask|affinity|pod|container)\b.{0,24}(?:cores?|cpus?) \d(?: and |, ?)\d only",
                r"\bnproc\b(?!-per).{0,24}\b(?:says|is|gives|prints|returns|shows|=|:|->)? ?\b[1-4]\b|getaffinity\b.{0,24}\b(?:one|two|three|four|[1-4]) (?:entr|cpus?|cores?)",
                r"(?:sees?|has|have|gets?|got|given) (?:only |just )(?:one|two|1|2|a single) (?:\w+ )?(?:cpu|core|thread)s?\b|(?:cpus?|cores?) (?:available|visible|usable|allowed)\W{1,3}[1-4]\b",
                r"allowedcpus\W{1,2}\d{1,2}(?:-\d{1,2})?\b|cpu_?(?:set|affinity|list)\W{1,3}\d(?:[-,]\d)?(?:\W|$)|(?:all|every) (?:ranks?|workers?|processes) (?:sit|run|are|live|land)s? (?:there|on one|on a single|on the same)",
            )
        ),
        "restricted-cores": Topic(wordings=(r"(?:restricted|limited|confined|pinned|bound) to (?:cores?|cpus?) \d+",)),
        "firmware-option": Topic(
            wordings=(
                r"\b(?:bios|uefi)\b.{0,60}(?:setting|option|profile|update|change|default|power|mode|reset|version|upgrade)",
                r"relaxed[ _]ordering|\bc-?states?\b|energy (?:saving|efficien)|power (?:saving|profile|mode)|performance (?:profile|governor|mode)",
                r"(?:sub-?numa|snc|xgmi|pstate|hyper-?thread\w*|smt|ddio|above 4g|determinism)\b.{0,40}(?:\boff\b|\bon\b(?! \d)|disab|enab|sett|fix|chang)",
                r"\bnps ?[=:]? ?[0124]\b|numa (?:nodes )?per socket",
                r"\baspm\b|(?:scaling )?governor\b|cpupower|\bepb\b|turbo (?:boost )?(?:off|disabled)|(?:powersave|ondemand|balanced) (?:mode|profile|governor)",
                r"10-?bit tags?|max_?(?:read_?req\w*|payload\w*)|max(?:imum)? read request|preferred[ -]io|\bpreferred i/o|\blclk\b|\bdf[- ]c-?states?\b|\bapbdis\b",
                r"tuned(?:-adm)? profile|busy[- ]loop.{0,60}\bus\b|idle=poll|(?:workload|hpc) profile|max_?payload\W{1,3}128",
                r"(?:512|256|128)[- ]?bytes? (?:read|request)|read requests?\b.{0,24}(?:512|256|128)|(?:frequency|clock)s? (?:stuck|stays?|capped|pinned) at \d+(?:\.\d)? ?[mg]hz|os controls epb|\bepb\b",
                r"\b(?:snc ?-?[24]?|sub-?numa\w*|nps ?-?[1248])\b.{0,40}(?:turned|switched|set|changed|enabled|disabled|on|off|active|default)|(?:after|since|with) (?:the |a |an |last |our )*(?:new |last |latest )?(?:bios|uefi)\b",
                r"(?:amd|epyc|milan|rome|genoa|naples|turin)\b.{0,60}\b(?:rdma|nic|gdr|read|write|ib_\w+)\b.{0,60}(?:intel|xeon)|(?:cpufreq|intel_pstate|amd_pstate|intel_idle|max_cstate)\w*",
                r"\b(?:schedutil|ondemand|powersave|conservative)\b|preferred.io|\bwrite ordering\b",
            )
        ),
        "one-core-full": Topic(
            wordings=(
                r"(?:one|single|1|a) (?:cpu )?(?:core|cpu|thread)s?\b.{0,40}(?:100 ?%|full|saturat|pegged|maxed|hot|busy|bottleneck)",
                r"(?:ksoftirqd|softirq|soft irq|\bsi\b).{0,40}(?:100 ?%|high|full|hot|one|single|saturat|9\d ?%)",
                r"(?:100|9\d) ?% (?:cpu |of (?:one|a) |on (?:one|a|a single) ?)?(?:core|cpu|ksoftirqd|softirq|thread)",
                r"single[- ]threaded|cpu[- ]bound|(?:only|just) one (?:core|thread) (?:is )?(?:used|busy|works?)",
                r"(?:100|9\d)(?:\.\d+)? ?% (?:in |of |on )?(?:%?soft|%?si\b|a core|one core|a single)",
                r"(?:takes?|uses?|fills?|burns?|eats?|needs?|costs?|consum\w+|occup\w+) (?:up )?(?:a|one|an entire|the) (?:full |whole |entire |single )?(?:core|cpu)\b",
                r"(?:ksoftirqd|vhost|vswitchd|wireguard|qemu|dpdk|softirq)\S{0,8}.{0,20}(?:pegged|saturat\w*|maxed|spinning|100|9\d(?:\.\d)? ?%)",
                r"ipt_do_table|\d{3,} (?:iptables|nftables|netfilter|filter|firewall) rules|single[- ]?core (?:limit|bound|bottleneck)",
                r"single thread(?:ed)?\b.{0,30}(?:saturat|limit|bottleneck|busy|full|max)",
                r"(?:top|htop|pidstat|mpstat|perf)\b.{0,8}(?:shows?|says?|:).{0,40}\b(?:100|9\d(?:\.\d+)?) ?%",
                r"(?:worker|thread|process|proxy|daemon|crypt\w*)s? (?:is |sits? |runs? )?at (?:100|9\d(?:\.\d+)?) ?%|nbthread 1\b|worker_processes 1\b",
                r"\d{3,} (?:nft|ebpf|acl|ipset|iptables|nftables|netfilter|filter|firewall|nat)\w* ?(?:rules|entries|chains)",
                r"user[- ]?(?:mode|space) (?:network\w*|proxy|tunnel)|\bslirp\w*|(?:sshd?|scp|openssl|aes|cipher|encrypt\w*)\b.{0,30}(?:100 ?%|one core|a core|limit|bottleneck)",
                r"(?:one|a single) (?:core|cpu) (?:is )?(?:burn\w*|boil\w*|hot|spinn?\w*|at its limit)",
                r"cpu util\w*\b.{0,30}\b9\d(?:\.\d+)? ?%|\b(?:9\d|100)(?:\.\d)? {1,6}(?:\S{1,24} )?(?:ksoftirqd|vhost-|ovs-vswitchd|wg-crypt|kworker)",
                r"\b(?:nft_do_chain|ipt_do_table|nf_hook_slow|csum_partial|copy_user\w*|__skb\w+|tcp_sendmsg\w*)\b|\bpps (?:stuck|stops?|limit|max|tops?|ceiling)|(?:gro|lro|tso|gso|offloads?)\b.{0,12}\b(?:off|disabled|missing)\b.{0,60}(?:core|cpu|gb)",
                r"kube-proxy\b.{0,24}\buserspace\b|\b\d+ ?k (?:services|rules|endpoints|routes|iptables)\b|(?:stunnel|openvpn|wireguard|ipsec|tls|ssl|encrypt\w*)\b.{0,60}(?:\b100 ?%|\b(?:a|one|single|whole) core\b|\bcpu[- ]bound\b)",
            )
        ),
        "others-idle": Topic(
            wordings=(r"(?:other|all other|remaining|\d+ other) (?:cpus?|cores?).{0,15}idle|cpu(?: is)? (?:mostly )?idle",)
        ),
        "interrupts-on-one-cpu": Topic(
            wordings=(
                r"\b(?:irqs?|interrupts?|queues?).{0,50}(?:one|single|same|cpu ?0|core ?0|few) ?(?:cpu|core)?s?\b",
                r"(?:cpu|core) ?0\b.{0,30}(?:irqs?|interrupts?|only|alone)",
                r"irqbalance.{0,40}(?:off|not|stopped|disabled|missing|dead|inactive)",
                r"(?:smp_affinity|irq affinity|rss|rps)\b.{0,50}(?:not|wrong|off|unset|default|fix|help|missing|single)",
                r"time_?squeeze.{0,40}cpu ?\d",
                r"set_irq_affinity|indirection table.{0,40}(?:queue 0|one queue|single)",
                r"(?:only|just|uses?|has) (?:one|a single|1) (?:rx|tx|receive|combined|hardware|nic|virtio) queue\b|combined:? 1\b.{0,30}(?:max|of)",
                r"(?:delivered|land|routed|handled|served)\w* (?:to|on|by) (?:only |just )?(?:cpu|core) ?\d+\b",
                r"\b(?:irqs?|interrupts?|vectors)\b.{0,30}(?:fire|land|handled|served|pinned|bound|sit|go)\w* (?:on|by|to) (?:only )?(?:cpu|core) ?\d+\b",
                r"cpu ?\d+ (?:%?soft\w*|%?si) (?:at )?9\d|(?:all|every|most) (?:\w+ ){0,2}(?:soft)?irqs?\b.{0,24}(?:cpu|core) ?\d|\brps_cpus\b.{0,16}\b0+\b",
                r"\b(?:irqs?|interrupts?|vectors?|completions?|affinity hints?)\b.{0,60}\b(?:core|cpu|vcpu) ?#?0\b|(?:single|one|1) (?:rx|tx|receive|hardware|combined|virtio|nic) queue|(?:nic|virtio\S*|interface|adapter|vnic|rss|ena)\b.{0,24}\b(?:single|one|1) queue|multi-?queue\b.{0,16}(?:off|not|disabled|missing)|ksoftirqd/0\b",
                r"without (?:rss|irqbalance|multi-?queue)|no (?:rss|irqbalance|multi-?queue)\b|\bcombined\W{1,3}1\b",
                r"smp_affinity\w*\b.{0,16}\b(?:is|are|=|all|of|:)? ?(?:0*1|0)\b(?!-)|(?:one|a single) (?:core|cpu)\b.{0,30}\b(?:softirqs?|interrupts?|irqs?)\b.{0,60}\b(?:idle|free|nothing)",
            )
        ),
        "healthy-twin": Topic(
            wordings=(
                r"(?:healthy|identical|same|other|sister|twin|good) (?:\w+ )?(?:twin|machine|box|node|host|unit|server|system|card|nic)s?\b.{0,60}\d",
                r"(?:healthy|good|other|identical) (?:twin|unit|box)",
                r"(?:other|second|sister|neighbou?r\w*|identical|same) (?:unit|box|machine|node|server|host|card) (?:gives?|gets?|does|reach\w*|runs?|shows?|delivers?|manages?)",
                r"\b(?:fw|firmware)\b.{0,40}\b(?:others?|rest|healthy|good) (?:ones?|nodes?|cards?|hosts?)?|\b\d+(?:\.\d+)? ?g\w*(?:/s)?\b.{0,24}(?:the )?(?:others?|rest|remaining|twins?) (?:\w+ ){0,2}\d",
            )
        ),
        "same-cap-everywhere": Topic(
            wordings=(
                r"(?:tcp|iperf3?).{0,40}(?:and|as well as|like).{0,20}(?:rdma|ib_\w+|perftest).{0,60}(?:same|both|stop|cap|limit|stuck)",
                r"(?:both|all tests?|every test|whatever).{0,40}(?:stop|cap|limit|stuck|max out|plateau|top out).{0,20}(?:at|to) (?:about |around |only )?\d",
                r"(?:same|identical) (?:cap|limit|rate|ceiling).{0,40}(?:tcp|rdma|test)",
                r"(?:iperf3?|tcp)\b.{0,20}(?:and|,|/).{0,12}(?:ib_\w+|rdma|perftest)\b.{0,20}(?:alike|both|the same|equally)",
                r"(?:every|any|all|each) (?:tests?|tools?|protocols?|transports?).{0,40}(?:tops? out|stops?|caps?|ends?|stuck|limited|peaks?) (?:at|to) ",
            )
        ),
        "power-cycle-cures": Topic(
            wordings=(
                r"(?:power[- ]?cycl\w+|cold (?:boot|reboot)|unplug\w*|full (?:power|shutdown)|ac cycle|drain\w* power|reset\w* the (?:nic|card|adapter|hca)|mlxfwreset|re-?flash\w*|firmware (?:update|upgrade|reset|downgrade)).{0,60}(?:fix|help|restor|cure|solv|back|recover|full speed)?",
                r"(?:after|since) (?:a |the )?(?:reboot|boot|hot[- ]?plug|power (?:loss|outage|failure)|firmware (?:update|upgrade))",
                r"power[- ](?:limit|throttl|cap|budget)\w*.{0,30}(?:nic|card|adapter|slot|module|port)|(?:nic|card|adapter).{0,30}power[- ](?:limit|throttl|cap)",
                r"power budget|insufficient power|hot[- ]?plugged|(?:ac|power) (?:off|drain|removed?)\b.{0,40}(?:back|fix|restor|full|again|normal)",
                r"(?:nic|card|adapter|hca|port|bnxt|mlx5)\w*.{0,40}(?:firmware|recovery|safe|degraded|limited|low[- ]power) (?:mode|state|recovery)|firmware is in recovery",
                r"(?:pull\w*|unplug\w*|remov\w*|disconnect\w*) (?:the )?(?:power|psu|brick|cords?)|mlxfwreset",
                r"(?:after|since) .{0,24}(?:power (?:failure|loss|outage|cut)|brown-?out|blackout)",
                r"(?:since|after) .{0,30}\b(?:lost|losing|loss of) (?:its |the )?power|(?:cold|warm) (?:boot|reboot|restart)\b.{0,60}\d",
                r"until (?:the |it |we )?(?:\w+ )?(?:is |was |were |are )?(?:unplugged|power[- ]cycled|powered off|drained|cold[- ]booted|reseated)",
            )
        ),
        "peer-access-slower": Topic(
            wordings=(
                r"p2p\W{0,3}(?:enabled|on)\W{1,3}.{0,24}\d.{0,40}p2p\W{0,3}(?:disabled|off)",
                r"(?:enabl\w+|with|using) (?:p2p|peer(?:[- ]to[- ]peer)?(?: access)?).{0,40}(?:slower|worse|halves|drops|crawls)",
                r"(?:p2p|peer[- ]to[- ]peer) (?:cop\w+|bandwidth|transfers?|traffic|reads?|writes?).{0,50}(?:only|half|far below|slow|below)",
            ),
            negatable=False,
        ),
        "peer-data-wrong": Topic(
            wordings=(
                r"(?:p2p|peer|simplep2p|gpudirect).{0,60}(?:verif\w+ (?:error|fail)|corrupt|wrong (?:data|results?|values?)|zeros|garbage|mismatch|fails verif)",
                r"verification (?:error|fail)\w*.{0,40}(?:element|p2p|peer|gpu)|values? read back (?:are|is) (?:zero|wrong|0)",
                r"(?:p2p|peer)\b.{0,60}(?:data|results?|values?|copies) (?:are|is|come back|were) (?:wrong|corrupt\w*|garbage|zeros?)",
            ),
            negatable=False,
        ),
        "epyc-named": Topic(wordings=(r"\b(?:amd )?(?:epyc|threadripper|rome|milan|genoa|naples|turin)\b|\bamd [79]\d{2}[2-5]\b",)),
        "asks-for-a-setting": Topic(
            wordings=(
                r"(?:some|any|which|what|a) (?:knob|setting|option|parameter|tweak|bios)s?\b.{0,40}(?:set|change|tune|need|have|should|miss)|what (?:to|should i|do i) (?:set|change|tune)",
            )
        ),
        "setting-without-effect": Topic(
            wordings=(
                r"(?:has|have|had|makes?|made|with|shows?) (?:absolutely )?(?:no|zero) (?:effect|difference|influence|impact)|(?:no|zero|without) (?:effect|change|difference|influence)\b",
                r"curves? (?:lie|are) on top|(?:do|does|did)(?: not|n'?t) (?:react|respond to|change anything|matter|make a difference)|(?:same|identical) (?:result|rate|number)s? (?:with|without|either|for all)",
            ),
            negatable=False,
        ),
    },
)
