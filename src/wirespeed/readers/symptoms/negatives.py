"""What people say where nothing is wrong with the network: expectations, harmless lines, limits of the hardware."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

SYMPTOMS = Symptoms(
    title=Text(en="no fault", zh="无故障"),
    topics={
        "blames-network": Topic(
            wordings=(
                r"\b(?:network|link|nic|gateway|balancer|proxy|bandwidth|switch|interconnect|infiniband|fabric|ethernet|cable|firewall|all-?reduce|nccl|roce|dns|ingress)\b[^?]{0,80}\?",
                r"(?:network|link|nic|gateway|bandwidth|switch|interconnect|infiniband|fabric) (?:problem|issue|fault|bottleneck|limit)",
                r"is (?:our|the|my) (?:\w+ )?(?:network|link|nic|gateway|balancer|proxy|switch|fabric)\b",
            ),
            negatable=False,
        ),
        "expects-more": Topic(
            wordings=(
                r"\bwhy (?:is|are|do|does|did|so|not|only|we|can't)\b|\b(?:only|just|merely) (?:about |around |~)?\d|instead of (?:the |about |~)?\d|\bexpect(?:ed|s|ing)?\b|\bshould (?:be|get|reach|give|have|see|do)\b|supposed to|(?:lower|less|slower|worse) than (?:expected|the|specified|advertised|it|we)",
                r"half (?:of )?(?:the|what|that)|far (?:below|from)|promised|advertised|theoretical|rated|\breference\b|\bspec(?:ified|s|ification)?\b|what is wrong|which (?:number|one|figure|value|column) is (?:wrong|right|true|correct|real)",
                r"(?:is|are) (?:this|that|it|these|they) (?:a )?(?:normal|ok|okay|expected|good|right|realistic|reasonable|bad|plausible)\b|how (?:do|should|can) (?:i|we) (?:judge|read|interpret)|what (?:could|can|should|must|do) (?:i|we) (?:have to )?(?:expect|repair|fix|change|tune|miss)\b|what (?:is|am i|are we) (?:missing|misconfigured|limiting)|\b(?:i (?:have )?(?:read|saw|seen|heard)|people (?:get|report)|others (?:get|report|see)|blog|reddit|forum)\b.{0,40}\d|where (?:is|are|does|do) the (?:rest|other|missing|remaining)|is that all\b",
            ),
            negatable=False,
        ),
        "exceeds-link": Topic(
            wordings=(
                r"(?:exceed\w*|above|more than|over|higher than|beats?|faster than|greater than)\b.{0,24}\b(?:line rate|link|wire|nics?|theoretical|physical(?:ly)?|maximum|possible|hardware|limit)\b",
            )
        ),
        "collective-at-full-rate": Topic(
            wordings=(
                r"(?:all-?gather|all-?reduce|collective|nccl|busbw|reduce-?scatter)\b.{0,50}(?:as in nccl-tests|same as (?:in )?(?:nccl-tests|the benchmark)|at full|full (?:rate|speed|bandwidth)|as expected|unchanged)",
            )
        ),
        "at-limit-said": Topic(
            wordings=(
                r"\b(?:8[5-9]|9\d)(?:\.\d+)? ?(?:%|per ?cent) of (?:what|the|its|our|line|theoretical|peak|max\w*|link|nominal|spec\w*|wire)\b",
                r"(?:curves?|results?|numbers|runs)\b.{0,30}(?:on top of each other|identical|the same|coincide|overlap)",
            )
        ),
        "batching-is-free": Topic(
            wordings=(
                r"\b(?:[2-9]|1\d|32|64|several|many|two|four|six|eight) (?:\w+ )?(?:requests?|users?|streams?|sequences?|sessions?|clients?)\b.{0,40}(?:1\.\d ?x|hardly|barely|(?:almost|nearly) (?:the )?same|no slower|same (?:speed|time|latency))",
                r"batch\w*\b.{0,30}(?:free|no slower|same (?:speed|time|latency)|scales? (?:well|linearly))",
            ),
            negatable=False,
        ),
        "busbw-named": Topic(
            wordings=(
                r"\b(?:busbw|bus ?bw|bus bandwidth)\b[^\d\n]{0,30}(?P<value>\d{1,4}(?:\.\d+)?)\b(?! ?(?:[kmgt]i?b|%|ms|us|s\b|x\b|\d))",
            )
        ),
        "several-links-named": Topic(
            wordings=(
                r"\b(?:\d{1,2}|two|three|four|six|eight|dual|quad|both) ?[x×*] ?(?:[\w-]+ )?\d{2,3} ?g(?:b|e|\b)",
                r"\b(?:\d{1,2}|two|three|four|six|eight|dual|quad|both) (?:\w+ )?(?:nics?|hcas?|cards?|ports?|rails?|adapters?|links?|cables?) (?:of|at|with|running|each)? ?\d{2,3} ?g(?:b|e|\b)",
                r"\b(?:\d{1,2}|two|three|four|six|eight|dual|quad|both)[ -]\d{2,3} ?g(?:b(?:it)?(?:/s|ps)?|be|e)? (?:\w+ )?(?:nics|hcas|cards|ports|rails|adapters|links|cables|uplinks)\b",
            ),
            negatable=False,
        ),
        "served-in-turn": Topic(
            wordings=(
                r"\b(?:second|2nd|other|next|another|further|later) (?:user|request|client|prompt|caller|chat|session|person|one)s?\b.{0,24}\b(?:waits?|queues?|starts?|gets?|answers?|begins?|is (?:served|answered|processed))\b.{0,24}\b(?:until|till|for|only (?:when|after)|after|once)\b.{0,24}\b(?:first|previous|other|one before|is (?:done|finished))",
                r"\b(?:requests?|users?|prompts?|they)\b.{0,24}\b(?:served|processed|handled|answered|run)\b.{0,16}\b(?:one after (?:the |an)?other|one by one|one at a time|in turn|sequential(?:ly)?|serially)",
                r"\b(?:num_parallel|--parallel|max[-_]num[-_]seqs|max[-_]batch[-_]size|max[-_]concurrent[-_]requests)\W{1,3}1\b",
            ),
            negatable=False,
        ),
        "link-changed": Topic(
            wordings=(
                r"\b\d+ ?g(?:b\w*(?:/s)?|be)?\b.{0,16}(?:\bto\b|->|→|\bagainst\b|\bvs\.?|\binstead of\b|\band\b).{0,16}\b\d+ ?g(?:b\w*(?:/s)?|be)?\b",
                r"\b(?:upgrad\w*|replac\w*|chang\w*|swapp\w*|doubl\w*|faster)\b.{0,30}\b(?:network|links?|nics?|switch\w*|interconnect|fabric|cables?)\b",
            ),
            negatable=False,
        ),
        "queue-time": Topic(
            wordings=(
                r"(?:request[_ ])?queue[_ ]?(?:time|wait|duration|delay|latency)\w*|time in (?:the )?queue|waiting time|wait(?:ing)? in (?:the )?queue|scheduler wait|request_queue_time_seconds",
            )
        ),
        "service-time-constant": Topic(
            wordings=(
                r"(?:inference|service|compute|decode|prefill|model|forward|gpu|processing)[- ](?:time|latency|duration)\b.{0,50}(?:constant|stays?|same|unchanged|flat|stable|does not)",
                r"(?:tpot|itl|per[- ]token|inter-?token)\b.{0,30}(?:(?:the )?same|constant|unchanged|stays?|flat|\d+ ?ms in (?:both|all))",
                r"(?:network|rtt|ping|connect|gateway|transfer|wire)\b.{0,50}(?:constant|unchanged|flat|stable|\b0\.\d+ ?ms|[1-9](?:\.\d+)? ?ms|< ?\d+ ?ms|negligible|no (?:loss|change|retrans))",
            )
        ),
        "network-hardly-used": Topic(
            wordings=(
                r"(?:network|link|nic|ethernet|bandwidth|interconnect|traffic|wire|rx|tx|utili[sz]ation of the (?:link|network))\b.{0,50}(?:\b[0-9](?:\.\d+)? ?%|1\d ?%|idle|hardly|barely|\d+(?:\.\d+)? ?k(?:i?b|bit)(?:/s|ps)|(?<![\d.])\d{1,2}(?:\.\d+)? ?mbit(?:/s|ps)?|unused|nearly nothing|far (?:below|from)|negligible|not (?:the )?(?:limit|bottleneck|saturated))",
                r"(?:traffic|utili[sz]ation|network usage|link usage) (?:is |stays |was )?(?:very |quite )?low\b",
                r"(?:iperf3?|ib_write_bw|perftest|nccl-tests?|all_reduce_perf|ping|bandwidth test)\b.{0,60}(?:full|line rate|normal|fine|good|as expected|ok|healthy|9\d ?%|clean)",
                r"(?:faster|upgrad\w*|10 ?x|double|2\.5|25|100|200|400)\b.{0,40}(?:network|link|nic|ethernet|switch|interconnect)\b.{0,50}(?:no (?:difference|change|effect|gain|help)|same|made no|did not|does not|unchanged|identical)",
                r"(?:upgrad|doubl|replac|chang|switch|mov)\w*\b.{0,30}\b\d+ ?g(?:b\w*(?:/s)?|be)?\b.{0,40}(?:still|same|no (?:change|difference|effect|gain)|unchanged|identical|did not)",
                r"\b(?:thunderbolt|wi-?fi|ethernet|usb4|infiniband|roce|rdma|tcp|\d+ ?g(?:b\w*|be)?)\b (?:vs\.?|or|versus|and|instead of|against) .{0,20}\b(?:thunderbolt|wi-?fi|ethernet|usb4|infiniband|roce|rdma|tcp|\d+ ?g(?:b\w*|be)?)\b.{0,40}\b(?:same|no difference|makes no|identical|equal|unchanged)",
                r"(?:tok(?:en)?s?/s|throughput|it/s|step time|samples/s|epoch)\b.{0,20}\b(?:the same|same|unchanged|did not move|identical|no change|still)\b|\b(?:same|unchanged|identical) (?:tok(?:en)?s?/s|throughput|step time|speed)\b",
                r"(?:before and after|with either|at either|with both|on both) .{0,20}(?:link|network|nic|speed|switch)\b|(?:nic|network|link|switch|traffic) (?:graph|usage|use)?\W{0,3}\d+(?:\.\d+)? ?[gm]bit/s before and after",
                r"(?<![\d.:])\b(?:0|no|zero) (?:retransmits?|retransmissions?|drops?|losses|loss|errors?|packet loss)\b",
            ),
            negatable=False,
        ),
        "layers-in-turn": Topic(
            wordings=(
                r"layers?\b.{0,40}(?:split|spread|divided|distributed|offload\w*|shard\w*)\b.{0,30}(?:between|across|over|among|on|to)",
                r"(?:split|pipelin\w*|pp ?=|pipeline[- ]parallel|layer[- ]split|tensor-split|--split-mode layer)\b.{0,60}(?:layers?|nodes?|gpus?|stages?|turn|sequential|idle|wait)",
                r"layers? (?:are |is )?(?:shared (?:out|between|among|over)|partitioned|dealt out|assigned to)",
                r"layers? (?:are |is )?(?:split|spread|divided|distributed)\b|\b(?:50|33|25|20) ?% each\b|\bring of \d\b",
                r"\bstages?\b.{0,30}(?:in turn|sequential|idle while|one (?:at a time|after))",
                r"(?:pipeline[- ]parallel\w*|\bpp ?= ?\d|layer[- ]split)\b.{0,60}(?:batch(?:[- ]size)? ?(?:of |= ?)?1\b|(?:one|single) (?:request|stream|user|sequence))",
                r"(?:one|only one) (?:gpu|node|stage) (?:works|computes|is (?:active|busy)|at a time)",
                r"(?:each|both|all) gpus?\b.{0,40}(?:(?:about |~ ?|at )?(?:50|33|25) ?%|half|idle|takes? turns|in turn|alternat)",
                r"(?:pipeline )?bubbles?\b",
            )
        ),
        "compute-dominates": Topic(
            wordings=(
                r"(?:comm\w*|all-?reduce|nccl|network (?:time|share|part|wait)|exposed comm\w*|sync)\b.{0,50}(?:is |takes |only |about |under |below |just )*\b(?:[0-9](?:\.\d+)?|1[0-5]) ?%",
                r"(?:compute|kernel|forward|backward|gemm|matmul|attention|flops)\b.{0,50}(?:[7-9]\d ?%|dominat|most|takes|bound|limit)",
                r"(?:compute|memory[- ]bandwidth|memory|hbm|gpu)[- ]bound",
                r"(?:comm\w*|all-?reduce|nccl|collectives?) (?:is |are )?(?:fully |completely |well |entirely |all )?(?:overlapped|hidden)",
                r"\b(?:same (?:speed|time|rate|throughput|step|tok\w*|performance|latency|number|figure|result|as)|identical|equal\w*|as slow|just as slow)\b.{0,60}(?:single|one) (?:gpu|node|machine)",
                r"(?:single|one)[- ](?:gpu|node|machine)\b.{0,60}\b(?:same (?:speed|time|rate|throughput|step|tok\w*|performance|latency|number|figure|result)|the same\b(?! \w)|identical|equally|just as|as slow|no (?:difference|better))",
                r"\b(?:every|each|any|all)\b.{0,12}\b(?:change|tweak|knob|optimi[sz]ation|setting)s?\b.{0,16}\b(?:throughput[- ])?(?:neutral|no (?:effect|gain|difference))|\b(?:launch|kernel)s?\b.{0,20}\btweaks?\b.{0,30}\b(?:neutral|no (?:effect|gain|difference))",
                r"scal(?:ing|es?|ed) (?:efficiency )?.{0,20}(?:9\d(?:\.\d+)? ?%|0\.9\d|linear|1\.9\d?\d? ?x|3\.[6-9]\d? ?x|7\.[2-9]\d? ?x)",
                r"(?:mfu|hfu)\b\W{0,6}(?:of |is |at |= ?)?(?:[4-7]\d(?:\.\d+)? ?%|0\.[4-7])",
                r"(?:tokens?/s|tok/s|decode|generation)\b.{0,60}(?:memory bandwidth|hbm|weights? (?:read|per token)|theoretical)",
            )
        ),
        "overlap-slows-kernels": Topic(
            wordings=(
                r"(?:kernels?|gemms?|matmuls?|attention|compute|backward|forward)\b.{0,60}(?:twice as long|slow(?:er|s|ed)?(?: down)?|longer|stretch\w*|degrad\w*|[1-3](?:\.\d+)? ?x)\b.{0,60}\b(?:overlap\w*|concurrent\w*|all-?gather|all-?reduce|reduce-?scatter|nccl|collective\w*|communicat\w*)",
                r"(?:overlap\w*|concurrent\w*|all-?gather|all-?reduce|reduce-?scatter|nccl|collective\w*|communicat\w*)\b.{0,60}\b(?:kernels?|gemms?|matmuls?|attention|compute)\b.{0,40}(?:twice as long|slow(?:er|s|ed)?|longer|stretch\w*|degrad\w*)",
                r"(?:kernel|gemm|compute) times?\b.{0,30}\balone\b.{0,30}(?:while|with|during|overlap)",
                r"(?:sms?|hbm|l2|memory bandwidth) (?:contention|interference|are (?:shared|taken))",
            ),
            negatable=False,
        ),
        "time-grows-with-tokens": Topic(
            wordings=(
                r"(?:ttft|first[- ]token|prefill|latency|time|wait)\b.{0,40}(?:doubl\w*|proportional\w*|linear\w*|scales?|grows?)\b.{0,50}\b(?:prompts?|inputs?|context|tokens?|sequence|length|volume)",
                r"(?:prompts?|inputs?|contexts?|sequence)\b.{0,30}(?:doubl\w*|twice as long|longer)\b.{0,40}(?:ttft|first[- ]token|prefill|latency|time|wait)",
                r"(?:long(?:er)?|big(?:ger)?|large(?:r)?|\d+ ?k) (?:prompts?|inputs?|contexts?)\b.{0,40}(?:slow|seconds|\d ?s\b|longer|minutes)",
            ),
            negatable=False,
        ),
        "prompt-is-huge": Topic(
            wordings=(
                r"\b(?:(?:very|extremely|really|so) (?:large|big|long)|huge|enormous|giant) (?:system |cold |input )*(?:prompts?|contexts?)\b(?!.{0,30}\b(?:slower|longer|doubl))",
                r"\b(?:prompts?|contexts?|inputs?)\b.{0,24}\b(?:of|with|is|are|has|have|grew to|about)\W.{0,12}\b(?:[2-9]\d|\d{3})(?:k\b|[., ]?000\b| thousand)",
                r"\b(?:[2-9]\d|\d{3})(?:k|[., ]?000| thousand)[ -](?:token )?(?:tokens? )?(?:of )?(?:system |input |cold )?(?:prompts?|contexts?|instructions)\b",
                r"\b\d{2,3} tools\b.{0,40}\b(?:enabled|json|schemas?|kb|tokens|definitions?|in (?:the|each|every) (?:prompt|request))",
            ),
            negatable=False,
        ),
        "no-gpu-machine": Topic(
            wordings=(
                r"\braspberry pi\b|\b(?:cpu[- ]only|without (?:a )?gpu|no gpu|no graphics card|cpu (?:backend|inference|box|machine))\b|\b(?:n100|old laptop|mini ?pc|nas box|synology)\b|\bon (?:the |a |my )?(?:cpu|pi)\b",
            ),
            negatable=False,
        ),
        "alike-on-all-of-a-kind": Topic(
            wordings=(
                r"\b(?:all|each|every one) (?:of )?(?:the |our |these |those )?(?:\d+ |new |other |identical )*(?:machines?|nodes?|servers?|hosts?|boxes|cards?|systems|units)\b.{0,50}\b(?:alike|the same(?: way)?|identical(?:ly)?|exactly (?:this|the same)|equally)\b",
                r"\b(?:identical|the same|alike)\b.{0,24}\b(?:on|across|for|in) (?:all|each|every) (?:of )?(?:the |our |these |\d+ )*(?:\w+ )?(?:machines?|nodes?|servers?|hosts?|boxes|cards?|systems|units)\b(?: of (?:this|that|the same|one) (?:model|kind|type|size|sku))?",
                r"\bdown to the same (?:links?|lanes?|ports?|numbers?|digits?)\b|\b(?:every|each|all) (?:\w+ )?(?:machines?|nodes?|servers?|hosts?|instances?|cards?) of (?:this|that|one|the same) (?:model|kind|type|size|sku|generation)\b",
            ),
            negatable=False,
        ),
        "bridged-card-named": Topic(
            wordings=(r"\b(?:h100|h200|h800)s?[ -](?:\d+ ?gb[ -])?(?:pcie|nvl)\b|\b(?:pcie|nvl)[ -](?:h100|h200|h800)s?\b",),
            negatable=False,
        ),
        "no-switch-to-manage": Topic(
            wordings=(
                r"NV_WARN_NOTHING_TO_DO|\bnvswitch\b.{0,60}\bnothing to do\b",
                r"\b(?:no|without|has no|lacks?|not have|0) (?:an? |any )?(?:nv-?switch(?:es)?|nvidia switch(?:es)?|fabric switch(?:es)?)\b",
            ),
            negatable=False,
        ),
        "link-layer-hellos": Topic(
            wordings=(
                r"\b(?:lldp\w*|lldpd|\bcdp\b|spanning[- ]tree|bpdus?|\bstp\b|\blacp\b|neighbou?r[- ]discovery (?:daemon|protocol)|unknown (?:ethertype|protocol|vlan)s?|vlan 0|homeplug|wake-on-lan|multicast|broadcasts?)\b",
            ),
            negatable=False,
        ),
        "capture-misses": Topic(
            wordings=(
                r"\b(?:tcpdump|wireshark|tshark|ibdump|sniffer|pcap|(?:packet|port|traffic) (?:captures?|dumps?)|(?:captures?|dumps?) (?:of|from) the (?:port|nic|interface|link|wire)|io graphs?)\b.{0,50}\b(?:only (?:finds?|shows?|sees?|has|contains?|counts?|\d)|(?:finds?|shows?|sees?|has|contains?|counts?) only|misses|missed|missing|incomplete|fewer|far less|a fraction|(?:at most|just) \d)",
                r"\b[1-9]\d* packets dropped by kernel\b",
            ),
            negatable=False,
        ),
        "longer-sampling-is-smooth": Topic(
            wordings=(
                r"\b(?:smooth|steady|even|constant|flat)\b.{0,40}\b(?:from|at|on) the (?:other|far|receiving) (?:end|side)|\b(?:second by second|every second)\b.{0,24}\b(?:smooth|steady|even|same)|\b(?:smooth|steady)\b.{0,40}\bsecond by second",
                r"\b(?:with|at|over|using) (?:an? )?(?:interval|samples?|averag\w+|window)s? of (?:[2-9]|\d\d) ?s\w*\b.{0,40}\b(?:smooth|steady|normal|right|fine)|\b(?:sampl\w+|poll\w+|averag\w+)\b.{0,24}\b(?:less often|slower|longer|every [2-9])\b.{0,30}\b(?:smooth|steady|normal|fine|right)",
            ),
            negatable=False,
        ),
        "single-machine": Topic(
            wordings=(
                r"\b(?:one|single|1|a single|same|only one)[- ](?:server|machine|node|box|host|workstation|pc)\b",
                r"\b(?:4|8|2|four|eight|two) (?:\w+ )?gpus? (?:in|on) (?:one|a single|the same)\b",
                r"within (?:the|one|a) (?:node|server|machine)|intra-node|standalone",
            )
        ),
        "comes-to-a-stop": Topic(
            wordings=(
                r"\b(?:hangs?|hung|hanging|deadlock\w*|stuck|wedge[sd]?|freez\w*|frozen|never (?:returns?|finish\w*|completes?|comes? back|starts?)|aborts?|crash\w*|segfault\w*|dies|died|killed|exits? (?:with|code) [1-9])\b",
                r"\b(?:then|and then|but|for (?:an? )?(?:hours?|minutes|ever)) nothing\b|nothing (?:for (?:an?|\d+)|at all|moves|happens|more)|no (?:progress|output|further (?:output|progress|lines))|(?:all|some|one) ranks? (?:stop|stand|stay)\w*",
            )
        ),
        "works-anyway": Topic(
            wordings=(
                r"(?:works?|runs?|trains?|training|inference|jobs?|performance|results?|throughput|speed|bandwidth|job|everything|loss|curve|quer(?:y|ies)|sums?)\b.{0,40}\b(?:fine|right|ok|okay|normal(?:ly)?|well|correct(?:ly)?|completes?|as expected|without (?:a )?(?:problem|error|issue)s?|good|no (?:errors?|impact|slowdown)|anyway|succeeds?|complete)\b",
                r"(?:prints?|gives?|shows?|delivers?|produces?) (?:the |its |all )?(?:results?|numbers|output|loss) (?:as (?:always|usual|before|ever)|fine|normally)|(?:job|run|training|test) (?:then |still )?(?:goes on|continues|proceeds)",
                r"(?:no|without) (?:visible |noticeable )?(?:impact|effect|slowdown|errors?|failures?|harm)\b|\b(?:no ?(?:body|one)|no (?:client|user|customer|caller)s?|not one (?:client|user|customer))\b.{0,12}\b(?:complain\w*|notic\w+|affected|sees? (?:an? )?(?:errors?|problems?|failures?))",
                r"\b(?:quer(?:y|ies)|requests?|calls?) (?:all |still |do |just )?(?:works?|succeeds?|go through|are (?:served|answered))\b",
                r"\berror rate\b.{0,30}\b(?:is |at |of |stays? )?(?:0|zero|none|flat|unchanged)\b|\b(?:no|not one|never an?|zero) (?:\w+ )?(?:clients?|users?|customers?|callers?)\b.{0,16}\b(?:reported|complain\w*|notic\w+|saw|seen|lost|fail\w*)",
                r"\b(?:retransmi\w+|traffic|latency)\b.{0,24}\b(?:as before|near(?:ly)? zero|unchanged|as always)\b",
                r"out of bounds values : 0 ok|exit(?:ed|s)? (?:code|with|status)\W{0,8}0\b|(?:finish|complet)\w* (?:fine|normally|successfully|with exit code 0)",
            ),
            negatable=False,
        ),
        "alarming-line": Topic(
            wordings=(
                r"open mpi failed an?\b|failed an? \w+(?: \w+)? library call|\b(?:ofi|mtl|btl|pml|ucx)\b.{0,30}\b(?:warn\w*|failed|not available|could not)",
                r"libibverbs: warning|couldn't load driver|no userspace device-specific driver",
                r"no plugin found|could not find: libnccl-(?:net|tuner|profiler|env)|libnccl-(?:net|tuner|profiler)\S*\.so.{0,60}(?:cannot open|no such file|not found)|failed to open libibverbs|no device found\b|plugin .{0,30}(?:not found|internal)",
                r"errno: ?97\b|address family not supported by protocol|client socket (?:cannot be|has failed to be)",
                r"destroy_process_group\(\)|using GPU \d+ (?:to perform barrier|as device)|device used by this process is currently unknown|find_unused_parameters|hides? ?/dev|guessing device id",
                r"missing (?:PXB|P2P)|cuMem host|nccl_cumem_host|MSCCL|ncclOptions|gdrcopy|nvidia_peermem.{0,40}(?:not|missing)|could not (?:load|find) (?:gdrapi|nvml|nvls)|NVLS multicast support is not available",
                r"(?:error|#wrong) (?:column|col)\b.{0,40}(?:not 0|non-?zero|e-0)",
                r"OMP_NUM_THREADS|setting ompi|btl_openib|openfabrics|no OpenFabrics connection schemes|There was an error initializing an OpenFabrics device|\bplm_|xla service|tensorflow.{0,30}(?:avx|rebuild)",
                r"rx_dropped\b.{0,60}(?:\d|rises|grows)|\brx dropped\b|softnet.{0,30}squeez|time_squeeze",
                r"\b(?:User|Future|Deprecation|Runtime)Warning:|^\s*\[?W\d{0,4}[ \d:.]|\bbarrier\(\).{0,40}(?:device|context)|\b(?:WARN|WARNING)\b.{0,80}\?",
                r"\b(?:warn(?:ing)?s?|messages?|lines?|logs?|notices?)\b.{0,50}\b(?:harmless|ignored?|informational|safe|worry|means?|bad|concern|serious|problem|relevant)\b",
                r"\bgloo\b.{0,12}\brank \d+ is connected to (?P<value>\d+)() peer ranks\b.{0,60}\bis\W{1,4}(?P=value)\b",
                r"\b(?:printed|goes|written|logged|comes) (?:to|on) stderr\b|\bstderr\b.{0,40}\b(?:flags?|flagged|noise|noisy|fails? (?:the|our) ci)\b",
                r"\binvalid http request received\b|\b(?:bad|invalid|malformed) (?:http )?request (?:version|line|syntax)\b|client sent (?:an )?(?:invalid|plain http)\b.{0,40}|\bhttp: tls handshake error\b",
                r"\b(?:these|those|the same) (?:lines|messages|errors|entries|warnings)\b.{0,40}\b(?:all day|every (?:few |\d+ )?(?:s|seconds?|minutes?)|at (?:a )?(?:fixed|regular|even)|day and night|around the clock)",
            ),
            negatable=False,
        ),
        "asks-about-retransmits": Topic(
            wordings=(
                r"\b(?:retr|retransmi\w+|retries)\b.{0,80}\?|\b(?:should|must|why|is|are)\b.{0,30}\b(?:retr|retransmi\w+|retries)\b",
                r"\b(?:retr|retransmi\w+|retries)\b.{0,40}\b(?:worr\w+|normal|bad|many|zeros?|high|not 0|above)\b",
            ),
            negatable=False,
        ),
        "health-probe": Topic(
            wordings=(
                r"\b(?:peers?|sources?|clients?|senders?|remote (?:ends?|side)|they|these|them)\b.{0,60}\b(?:always |only |all )?(?:the )?(?:load ?)?(?:balancer|lb|nlb|alb|elb|kubelet|haproxy|monitor\w*|prober?|scanner)(?:'s|s')?\b.{0,12}\b(?:own )?(?:address\w*|ips?|subnet|hosts?|itself)",
                r"\b(?:health|liveness|readiness|tcp|balancer|lb|kubelet|monitoring)[- ]?(?:checks?|checker|probes?|prober)\b.{0,80}\b(?:reset|rst|close[sd]?|connect\w*|without|no (?:data|payload|request)|half[- ]open|handshake|log)",
                r"\bhandshake\b.{0,30}\b(?:rst|reset|fin|closes?d?)\b.{0,30}\b(?:no|without|zero|empty)\b.{0,8}\b(?:payload|data|bytes?|request)",
                r"\b(?:connects?|opens?)\b.{0,24}\b(?:and|then)\b.{0,12}\b(?:closes?|resets?|rst|drops?)\b.{0,30}\b(?:without|no|before)\b.{0,12}\b(?:sending|payload|data|bytes?|request)",
            ),
            negatable=False,
        ),
        "asks-about-message": Topic(
            wordings=(
                r"\b(?:warn(?:s|ing|ings)?|errors?|messages?|logs?|lines?|info|notices?|columns?)\b.{0,80}\?",
                r"\blog (?:warns|says|shows|prints|complains)|what does .{0,60} mean|does (?:this|it|that) matter|is (?:this|that|it) an? (?:issue|concern)|(?:which|what) (?:package|library|plugin|driver|module|component|thing)\b.{0,20}\b(?:do i|am i|are we|is) (?:miss\w*|lack\w*|need\w*|absent)|(?:do i|must i|should i) (?:install|fix|worry|care|set)|is (?:this|that|it) (?:a problem|bad|harmless|serious|normal|ok|safe|an? (?:error|issue))|should (?:i|we) (?:worry|care)|can (?:i|we|this be) (?:ignore|ignored)|how (?:do|to|can) (?:i|we)? ?(?:fix|silence|remove|suppress) (?:this|the|that)? ?(?:warn|message|error)",
            ),
            negatable=False,
        ),
        "pcie-generation-limit": Topic(
            wordings=(
                r"pci-?e?(?:xpress)? ?(?:gen ?)?[345](?:\.0)? ?x ?(?:4|8|16)\b",
                r"(?:gen ?[345]|pci-?e (?:gen ?)?[345](?:\.0)?)\b.{0,12}\b(?:slot|host|board|server|cpu|platform|riser|machine)",
                r"(?:gen ?[345])(?:\.0)? ?x ?(?:4|8|16)\b",
                r"(?:root complex|host bridge|(?:\bPHB\b|\bSYS\b)|through (?:the )?(?:cpu|host memory)|\bupi\b|\bqpi\b|infinity fabric)\b.{0,60}(?:limit|path|only|\d|between|p2p)",
            )
        ),
        "pcie-generation-named": Topic(wordings=(r"\bpci-?e(?:xpress)? ?(?:gen ?)?[345](?:\.0)?\b|\bgen ?[345]\b",)),
        "consumer-gpu": Topic(
            wordings=(
                r"\b(?:rtx|gtx|geforce)[- ]?(?:\w+ )?(?:10[678]0|20[678]0|30[5-9]0|40[5-9]0|50[5-9]0|a[246]000)\b|\b(?:3090|4090|5090|3080|4080|2080) ?(?:ti|super)?s?\b|titan|\bL4\b|\bL40S?\b|\bA10\b|\bT4\b|\bV100 pcie\b|rtx (?:6000|pro)",
            )
        ),
        "no-nvlink-hardware": Topic(
            wordings=(r"(?:no|without|lacks?|has no|does not (?:have|support)) (?:nv-?link|p2p|peer[- ]to[- ]peer|nvswitch)",),
            negatable=False,
        ),
        "metric-confusion": Topic(
            wordings=(
                r"\balgbw\b(?!\W*busbw\b).{1,60}\bbusbw\b|\bbusbw\b(?!\W*(?:wrong|error|algbw)\b).{1,60}\balgbw\b|\balgbw (?:and|or|vs\.?|versus|against|not|is not) busbw\b|\b(?:avg|average) (?:bus )?bandwidth\b(?!\s*[:=])|bus bandwidth (?:above|exceeds|higher|lower|below|vs)",
                r"\b4x ?(?:[qfehnx]dr|hdr|ndr)\b|\b[14]x\b.{0,20}(?:lanes?|width)|bits? (?:and|or|vs\.?|versus|against|with) bytes?|\bunits? (?:is|are|mis|mix|confus)|Mi?B (?:vs\.?|or|and|not) Mi?B\b|Gi?B (?:vs\.?|or|and|not) Gi?B\b|\bfactor (?:of )?(?:8|eight)\b|\b(?:multipl\w*|times|divide\w*) ?(?:by |it by )?(?:8|eight)\b",
                r"(?:gpu|nvidia-smi|sm)\b.{0,20}util\w*.{0,40}100 ?%.{0,60}(?:slow|low|wait|power|nccl|hang|nothing)",
                r"\b100 ?%.{0,60}\b(?:as long as|while|whenever|when) (?:they|it|the (?:others?|ranks?|gpus?|kernels?)) (?:only )?(?:waits?|idles?|blocks?|stands?)|\b100 ?%.{0,80}\b(?:temperature|fans?|power|watts?)\b.{0,24}\b(?:idle|low|cold|cool|like idle|hardly|barely)",
                r"\bwait\w*\b.{0,80}\b100 ?%.{0,60}\b(?:temperature|fans?|power|cold|cool|idle)",
                r"100 ?% (?:gpu[- ])?(?:util\w*|busy).{0,80}(?:spin|wait|power|stands|hang|nccl|still|nothing)|nccl kernels?\b.{0,30}(?:spin|busy-?wait|poll)|util\w*\b.{0,20}100 ?%.{0,60}(?:stands still|no progress|hang|stuck)",
                r"(?:mean|average|averaged?) (?:over|of|across) (?:all )?(?:sizes|message)|small(?:est)? (?:message|size)s?\b.{0,40}(?:low|slow|bandwidth|GB/s|busbw)",
                r"no warm-?up|without (?:a |any )?warm-?up|(?:includ\w+|counts?) (?:the )?(?:warm-?up|first iteration)|first (?:iteration|call|run)\b.{0,40}\d.{0,30}\b(?:all )?(?:others?|the rest|later ones)\b.{0,30}(?:benchmark|nccl|test)",
                r"\b(?:network|ethernet|nic|interface|eth\d|traffic|iftop|nload|bmon|ifconfig|node.?exporter|wandb|grafana|sar|dashboard)\b.{0,60}\b(?:0|zero|no|nothing|idle|flat|none|\d+ ?kB/s)\b.{0,60}\b(?:ib\d?|infiniband|rdma|roce|verbs|efa)\b.{0,20}\b(?:used|in use|runs?|active|full|carries|busy)",
                r"\b(?:gen(?:eration)?|link gen)\b.{0,16}\b1\b.{0,40}\bidle|\bidle\b.{0,40}\bgen(?:eration)? ?1\b",
                r"loss\b.{0,40}(?:at )?(?:hop|router|middle|intermediate)|(?:hop|router) \d+.{0,40}(?:loss|lost|drop)|(?:lost|loss|dropped)\b.{0,20}at hop",
                r"uni-?directional\b.{0,60}bi-?directional|bi-?directional\b.{0,60}uni-?directional",
                r"bi-?directional\b.{0,60}(?:\bsum|\btotal|\bdouble|both (?:ways|directions))|both directions|full[- ]duplex.{0,30}(?:sum|double)",
                r"(?:ib|infiniband|link|port) rate.{0,40}(?:encoding|8b/10b|64b/66b)|after encoding",
                r"lspci.{0,40}downgraded.{0,60}idle|(?:2\.5 ?GT/s|gen ?1)\b.{0,50}(?:idle|power ?sav|at rest)|idle\b.{0,60}(?:2\.5 ?GT/s|gen ?1\b)",
            )
        ),
        "loss-at-hop": Topic(
            wordings=(
                r"(?:loss|lost|drops?|dropped)\b.{0,30}\b(?:at|on|in) (?:the )?(?:hop|router|middle|intermediate|\d(?:st|nd|rd|th) hop)",
                r"(?:hop|router) (?:no\.? |number |#)?\d+.{0,40}(?:loss|lost|drop)",
            )
        ),
        "loss-to-the-end": Topic(
            wordings=(
                r"(?:loss|lost|%|drops?)\W(?:(?!\b(?:none|no|not|zero|nothing|0)\b).){0,40}\b(?:at|on|to|reaches) the (?:last|final|end|target|destination)\b|last hop\b.{0,20}(?:loss|lost|[1-9]\d* ?%)",
                r"(?:loss|lost|drops?)\b.{0,60}(?:also at|up to|until|and (?:all|every) (?:the )?(?:later|following|next|subsequent)|through to) (?:the )?(?:last|end|final|target|destination|hops?)?",
            )
        ),
        "pcie-sleeps": Topic(
            wordings=(
                r"under load\b.{0,30}(?:(?:8|16|32)(?:\.0)? ?GT/s|gen ?[345])|(?:(?:8|16|32)(?:\.0)? ?GT/s|gen ?[345])\b.{0,30}under load",
                r"idle\b.{0,40}(?:2\.5 ?GT/s|gen ?1\b)|(?:2\.5 ?GT/s|gen ?1)\b.{0,40}idle|\bP8\b|(?:power|idle) sav\w*.{0,30}(?:pcie|link)|aspm",
            )
        ),
        "line-rate-named": Topic(
            wordings=(
                r"\b(?P<value>25|40|50|56|100|200|400|800) ?(?P<unit>G)\b (?:\w+ )?(?:types?|parts?|hardware|equipment|gear|optics?|transceivers?|dacs?|aocs?|modules?|qsfp\w*|sfp\w*|nodes?|hosts?|servers?)\b",
                r"\b(?P<value>1|2\.5|5|10|25|40|50|100|200|400|800)[- ](?P<unit>gigabits?)\b(?! ?(?:per|/|a) ?s)",
                r"\b(?P<value>1|2\.5|5|10|20|25|40|50|56|100|200|400|800) ?(?P<unit>(?:GbE|GBASE)|gigabit ethernet|gige)\b",
                r"\b(?P<value>1|2\.5|5|10|20|25|40|50|56|100|200|400|800) ?(?P<unit>(?:Gb(?:it)?s?/s(?:ec)?|Gbps)) (?:is what|is sold|(?:is |as )?(?:advertised|promised|nominal|specified|rated|theoretical)|(?:each )?per (?:node|server|instance|host))",
                r"\brates?\W{1,3}(?P<value>40|56|100|200|400|800)(?P<unit>)\b(?! ?[a-z/%.\d])",
                r"(?:bit|bits|gb/s|gbps|mb/s|gb|bandwidth|iperf3?|throughput)\b.{0,30}\b(?:on|over|of|from|through|with) (?:a |an |my |our |the )?(?P<value>1|2\.5|5|10|20|25|40|50|56|100|200|400|800) ?(?P<unit>G)\b(?! ?(?:b|of|ib|ram|mem|model))",
                r"(?:sells?|promis\w+|advertis\w+|rated|nominal\w*|spec(?:ified|s)?|instance|theoretical)\b[^.;\d]{0,24}\b(?P<value>1|2\.5|5|10|20|25|40|50|56|100|200|400|800) ?(?P<unit>(?:Gb(?:it)?s?/s(?:ec)?|Gbps|Gbits?))\b",
                r"\b(?P<value>1|2\.5|5|10|20|25|40|50|56|100|200|400|800) ?(?P<unit>(?:Gb(?:it)?s?/s(?:ec)?|Gbps|Gbits?|Gb|G))(?: \w+)? (?:network|nics?|links?|ethernet|infiniband|ib|roce|switch|ports?|line|card|cable|hca|connect-?x|fabric|uplink|interface|rdma)\b",
                r"\b(?:network|nic|link|ethernet|infiniband|ib|roce|switch|port|line|card|cable|hca|connect-?x(?:-?\d)?|fabric|uplink|interface|[efhn]dr)\b(?: (?:is|should (?:be|do|give|carry|run at)|can (?:do|carry)|does|has|with|of|speed|rate|at|a|listed|as|supports|rated|runs|for|up to|between)|[,:(=-]|\W\w+:)* ?\(?(?P<value>1|2\.5|5|10|20|25|40|50|56|100|200|400|800) ?(?P<unit>(?:Gb(?:it)?s?/s(?:ec)?|Gbps|Gbits?|Gb|G))\b",
            )
        ),
        "gigabit-named": Topic(
            wordings=(
                r"\b(?:a|one|my|our|the|plain|single|this|your) gigabit (?:line|link|network|ethernet|port|nic|switch|lan|card|uplink|connection|interface)",
                r"\bgigabit (?:ethernet|lan|switch)\b|\b1[,.]?000 ?(?:mb(?:it)?(?:/s|ps)?|base-?t)\b",
            )
        ),
        "warm-up-counted": Topic(
            wordings=(
                r"\bno warm-?up\b|\bwithout (?:a |any )?warm-?up\b|(?:includ\w+|counts?) (?:the )?warm-?up|\bwarm-?up (?:0|off|disabled|skipped)|(?:^|\s)-w 0\b",
            ),
            negatable=False,
        ),
        "infiniband-generation": Topic(wordings=(r"\b(?:4x[- ]?)?(?P<unit>QDR|FDR|EDR|HDR100|HDR|NDR200|NDR|XDR)\b",)),
    },
)
