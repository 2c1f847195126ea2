"""What people say of placement, parallel layouts, message sizes, experts and what a benchmark really ran."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

SYMPTOMS = Symptoms(
    title=Text(en="placement and parallel layout", zh="放置与并行布局"),
    topics={
        "crosses-domain": Topic(
            negatable=False,
            wordings=(
                r"(?:span\w*|cross\w*|across|spread\w*|split\w*|scatter\w*|straddl\w*|over|between|different|two|several"
                r"|multiple|other)\s(?:\w+\s){0,3}"
                r"(?:racks?|pods? of switches|leaf|leaves|leafs|spines?|zones?|availability zones|AZs?|NVLink domains?|nvl72"
                r"|islands?|superpods?|scalable units?|\bSUs?\b|blocks?|rails?|data ?cent(?:er|re)s?|switch(?:es)?"
                r"|placement groups?|tors?)\b",
                r"(?:same|one|single|within a|inside a)\s(?:\w+\s)?(?:rack|leaf|zone|AZ|NVLink domain|switch|placement group"
                r"|block|island)\b.{0,80}(?:fast|fine|full|faster|good|normal|expected|\d)",
                r"(?:random|arbitrary|scheduler)\s.{0,30}(?:placement|node order|allocation|assignment)|rank order\b"
                r"|hostfile order|node order\b|topology[- ]aware|topology plugin",
                r"(?:straddl\w*|span\w*|spill\w*|split\w*|spread\w*|land\w*|scatter\w*|come from|came from|placed (?:in|on|across)|allocated (?:in|on|across))\s.{0,30}\b(?:two|three|several|different|multiple|many|other|separate|both)\s(?:\w+ )?(?:racks?|leaf|leaves|leafs|spines?|zones?|azs?|nvl\d*|cliques?|domains?|switch(?:es)?|islands?|blocks?|rooms?|buildings?|sites?|placement groups?|clusters?|regions?)",
                r"(?:from|on|in|under|behind)\s(?:one|the same|a single)\s(?:\w+ )?(?:leaf|rack|switch|zone|az|clique|block|tor|pod|room)\b.{0,60}(?:from|on|in|under|when|but|two|three|different|several)",
                r"(?:two|three|four|several|different|other|multiple|distinct|not the same|\d+)\s(?:\w+ ){0,2}(?:cliques?|clique ?ids?|cluster ?uuids?|fabric ids?|nvlink (?:partitions?|fabrics?))\b",
                r"(?:under|in|behind|on|within)\s(?:one|the same|a single|1)\s(?:\w+ )?(?:leaf|rack|switch|zone|az|clique|block|tor|room|domain|island)\b(?: switch)?.{0,60}\d.{0,24}\b(?:otherwise|else|if not|elsewhere)",
                r"(?:no|without|missing|forgot)\s(?:a |the |any )?(?:cluster )?placement (?:group|policy)|(?:compact|cluster|spread) placement",
                r"\bclique(?:s| id)?\b.{0,24}\d.{0,40}\bclique\b|\b(?:us|eu|ap|sa|ca)-\w+-\d[a-f]\b.{0,40}\b(?:us|eu|ap|sa|ca)-\w+-\d[a-f]\b|different (?:azs?|availability zones?|zones?|regions?)",
                r"(?:allocation|placement|nodes? (?:i|we) get|lucky|unlucky|depend\w* on (?:which|the) nodes?|some (?:allocations|placements|node sets))\b.{0,60}(?:slow|fast|%|differ|\d ?gb)",
                r"\b(?:rack|leaf|clique|row|block|su|zone|pod|tor|switch) ?#?\w{0,3}\d\b.{0,24}\b(?:rack|leaf|clique|row|block|su|zone|pod|tor|switch) ?#?\w{0,3}\d\b",
                r"(?:speed|performance|throughput|bandwidth|time|fast|slow)\b.{0,16}\bdepend\w*\s(?:\w+ )?on\s(?:which|the)\s(?:nodes?|hosts?|allocation|placement|machines)|topology\.conf|switchname=",
                r"\b(?:pod|rack|row|island|block|hall|zone|cell) [a-h]\b.{0,60}\b(?:pod|rack|row|island|block|hall|zone|cell) [a-h]\b",
            ),
        ),
        "crossing-ruled-out": Topic(
            negatable=False,
            wordings=(
                r"(?:first|initially|wrongly)\s.{0,24}(?:thought|suspected|assumed|guessed|blamed)\s.{0,40}(?:racks?|leaf|switch|zone|tor\b|crossing|placement|spine)",
                r"(?:not|n.t|no)\s(?:\w+ ){0,2}(?:depend|matter|relat|correlat|difference)\w*\s.{0,30}(?:racks?|leaf|switch|zone|placement|which nodes)|(?:racks?|leaf|switch|zone|placement)\b.{0,24}(?:makes? no difference|do(?:es)? n.t matter|irrelevant|ruled out)",
            ),
        ),
        "lies-in-domain": Topic(
            negatable=False,
            wordings=(
                r"^\s*[\w.\-\[\],]+\s*(?:\t|\s{1,24}|\s?[:=|,]\s?)(?P<unit>(?:nvl\w*-?dom\w*|dom(?:ain)?|rack|leaf|tor|clique|block|su|zone|island|row|spine|switch|sw|cabinet|pod|az)[-_ ]?[a-z]?\d{1,4}[a-z]?|[a-z]{2}-\w+-\d[a-f])\s*(?:$|[|,#(])",
            ),
        ),
        "tensor-parallel": Topic(
            negatable=False,
            wordings=(r"tensor[- _]?parallel\w*|\bTP ?[=-]? ?(?:size )?\d+\b|--?tp(?:-size)?[ =]\d+|\bTP\b",),
        ),
        "tensor-parallel-across-nodes": Topic(
            negatable=False,
            wordings=(
                r"(?:tensor[- _]?parallel\w*|\bTP ?=? ?\d*\b)(?: size)?.{0,60}(?:across|over|spans?|between|(?<!tp=[248] )(?<!tp[248] )on)\s(?:the\s)?(?:two"
                r"|both|2|four|4|\d+|multiple|several|different)?\s?(?:nodes|hosts|machines|servers|boxes)",
                r"(?:across|over|between)\s(?:two|2|both|multiple|several|\d+)?\s?(?:nodes|hosts|machines|servers"
                r"|boxes)\b.{0,40}(?:tensor[- _]?parallel|\bTP\b)",
                r"(?:tensor[- _]?parallel\S*|--?tp\S*|\bTP\b)(?: size)?.{0,20}\bover\s.{0,12}(?:\d+ ?G(?:b|ig)|ethernet|wi-?fi"
                r"|tcp|thunderbolt|usb4)",
                r"(?:multi|inter|cross)-?node\s(?:tensor[- _]?parallel\w*|TP\b)",
                r"\bTP ?=? ?(?:16|32|64)\b",
                r"(?:split\w*|cut\w*|shard\w*|slic\w*)\s.{0,24}(?:each|every|all|the) (?:layers?|matri\w+|heads?|weights?)\b.{0,40}(?:both|two|machines|nodes|boxes|hosts|macs?)",
                r"(?:tensor[- _]?parallel\w*|\bTP\b).{0,80}(?:pipeline[- ]?parallel\w*|\bPP\b).{0,50}(?:faster|better|\d ?t(?:ok\w*)?/s|instead)|(?:pipeline[- ]?parallel\w*|\bPP\b).{0,40}(?:faster|better)\s.{0,16}(?:tensor|TP\b)",
                r"(?:two|2|both|multiple|several|four|4)\s(?:\w+ )?(?:nodes|machines|hosts|boxes|sparks?|mac(?:s| studios?| minis?)|servers|pcs|workstations|laptops)\b.{0,80}(?:tensor[- _]?parallel|\bTP\b)",
                r"tensor[-_](?:model[-_])?parallel[-_]size[\"\x27]?[ =:]+(?:16|32|64|128)\b|--?tp(?:-size)?[ =](?:16|32|64|128)\b",
            ),
        ),
        "communication-share-high": Topic(
            negatable=False,
            wordings=(
                r"(?:communication|comm|nccl|all-?_?reduce|all-?_?gather|reduce-?_?scatter|all-?to-?all|exposed"
                r"|gradient sync\w*)\b.{0,60}(?:\d\d+ ?%(?! (?:util|busy|gpu|cpu|loss|load)| (?:of|below|under|from|slower|less|more|faster|lower) (?:what|peak|line|expect|theor|max|spec|(?:the |its |our |than )*(?:expected|vendor|peak|line|theoret|rated|nominal|advertised|promised|other|rate|spec|one|link|max|published)))|percent|most of|dominat\w*|half|majority|larger than"
                r"|longer than compute|bottleneck)",
                r"(?:\d+ ?%|most|half|majority) of (?:the )?(?:step|iteration|time|training)\b.{0,40}(?:communicat|nccl"
                r"|all-?_?reduce|all-?_?gather|network|waiting for)",
                r"(?:scal\w*|throughput|speed-?up)\b.{0,40}(?:poor|bad|only|drops?|collaps\w*|worse|does not|no gain"
                r"|\d+ ?%)\b.{0,60}(?:nodes?|gpus?|servers?)",
                r"(?:two|2|more) (?:nodes|servers|machines)\b.{0,60}(?:slower|no faster|not faster|worse) than\s(?:one|a single|1)",
                r"(?:zero[- ]?3|stage 3|fsdp|full[- ]?shard\w*)\b.{0,60}(?:slow|across|nodes|ethernet|all-?_?gather|traffic"
                r"|communicat)",
                r"(?:adding|add|adds|more|extra|additional)\s(?:\w+ )?(?:nodes?|machines?|servers?|gpus?|hosts?|workers?|boxes)\b.{0,40}(?:not help|no (?:help|gain|benefit|faster)|slower|slows?|worse|hardly|barely|nothing|hurts?|does ?n.t (?:help|scale|speed))",
                r"the more (?:nodes|gpus|machines|servers|workers|hosts)\b.{0,50}(?:slow|worse|less|longer|lower)",
                r"slow\w*\s(?:with|on|over|across|using|when \w+)\s(?:2|two|3|three|4|four|more|several|multiple|both)\s(?:\w+ )?(?:nodes|machines|servers|hosts|gpus)\b",
                r"\b1 ?(?:node|gpu|machine|server)\b\W{0,3}.{0,20}\d.{0,40}\b[2-9]\d* ?(?:nodes|gpus|machines|servers)\b\W{0,3}.{0,20}\d|on one node,? .{0,16}\d+.{0,12} on (?:two|three|four)",
                r"(?:weights?|parameters?|params|states?|model)\s(?:are |is )?(?:cut|split|shard\w*|partition\w*|spread|gather\w*)\s.{0,16}(?:over|across|from|between)\s(?:all|every|both|the)\b",
                r"\bone (?:node|box|machine|server|host|gpu)\b\W{0,3}\d+(?:\.\d+)? ?(?:s/it|s\b|ms\b|it/s|tok|samples|min).{0,24}\b(?:two|three|four|both) (?:nodes|boxes|machines|servers|hosts|gpus)\b\W{0,3}\d",
                r"\d+ (?:with|on|at) (?:one|1|a single)(?: (?:node|gpu|machine|server))?,? .{0,12}\d+ (?:with|on|at) (?:two|2)\b",
                r"\d\d ?% (?:exposed|of (?:step|time) in)?\s?(?:comm\w*|nccl\w*|all-?_?(?:gather|reduce)|collectives?)\b",
            ),
        ),
        "slow-links": Topic(
            wordings=(
                r"\b(?:1|2\.5|5|10|25|40|50) ?G(?:b(?:e|ps|it(?:/s)?|/s)?|igabit)?(?:E)?\b(?! ?B)",
                r"\bgigabit\b|\bwi-?fi\b|\bplain ethernet\b|\bover (?:ethernet|tcp|wan|vpn|internet)\b",
            )
        ),
        "many-small-messages": Topic(
            negatable=False,
            wordings=(
                r"(?:many|thousands of|hundreds of|lots of|per[- ](?:layer|parameter|tensor)|(?<!step )(?<!iter )(?<!iteration )\b\d{3,} )\s?(?:small|tiny|short"
                r"|separate)?\s?(?:messages?|all-?_?reduces?|collectives?|calls?|tensors|transfers|packets)\b",
                r"(?:small|tiny|short)\s(?:messages?|tensors?|buckets?|all-?_?reduces?|transfers?|packets?)\b.{0,60}(?:slow"
                r"|latency|dominat|many|each|poor|low|bad)",
                r"(?:each|every|per)\s(?:layer|token|step|micro-?batch|parameter)\b.{0,40}(?:all-?_?reduce|collective|sends?\b|message|sync|broadcast)\w*\b.{0,30}\d+ ?(?:k?i?b|bytes|us|µs)\b",
                r"(?:pipeline|chain|sequence|stream|series) of (?:tiny|small|short)\b",
                r"latency[- ]bound|dominated by latency|latency, not bandwidth|launch overhead|bucket_cap_mb|bucket size",
                r"(?:each|per|every) (?:token|decode step)\b.{0,60}(?:all-?_?reduce|round trips?|sync\w*|latency)",
                r"\b\d[\d,.]{2,} ?k?\s(?:\w+ ){0,2}(?:segments|pieces|blocks|chunks|descriptors|descs|requests|messages|packets|operations|ops|transfers|writes|reads|calls|buffers|tensors|regions|keys|gradients|all-?_?reduces|kernels|pages)\b",
                r"\b\d[\d,.]* ?k\s(?:segments|pieces|blocks|chunks|descriptors|messages|transfers|buffers|tensors)\b",
                r"(?:post\w*|submi\w*|prepar\w*|issu\w*|build\w*|creat\w*)\s.{0,24}(?:descriptors?|work requests|wqes?|small (?:requests|transfers|writes))",
                r"(?:fewer|larger|bigger|merged|merging|coalesc\w*|contiguous|fused|fusing|batched|aggregat\w*)\s.{0,24}(?:pieces|blocks|messages|segments|transfers|buckets|descriptors|tensors|all-?_?reduces)",
                r"(?:each|every|per) (?:token|layer|step|decode step)\b.{0,40}\d+ (?:all-?_?reduces?|collectives?|messages|round[- ]?trips|syncs?)",
                r"\b\d{4,}\s(?:\d+(?:\.\d+)? ?k?i?b (?:\w+ )?)?(?:puts|gets|writes|reads|sends|messages|transfers|verbs|posts|exchanges)\b",
                r"(?:thousands|hundreds|lots|millions|many|tons)(?: of)? (?:small|tiny|short|little)\s(?:\w+ )?\w+s\b",
            ),
        ),
        "link-mostly-idle": Topic(
            negatable=False,
            wordings=(
                r"(?:link|network|bandwidth|nic|wire|fabric)\b.{0,40}(?:\bidle|unused|\b\d ?%|far from|not saturated"
                r"|barely used|hardly used)",
                r"under \d ?%.{0,20}(?:link|network|bandwidth|nic)",
                r"(?:nic|link|wire|network|bandwidth|fabric|utili[sz]ation)\b.{0,24}(?:\bat|only|below|under|just)? ?\b[1-9] ?%|bandwidth (?:use|usage)?\s?(?:is )?(?:tiny|low|negligible)",
            ),
        ),
        "gradients-in-fp32": Topic(
            negatable=False,
            wordings=(
                r"(?:gradients?|grads?|all-?_?reduce|reduce-?_?scatter|communicat\w*|buckets?|traffic|bytes"
                r"|volume)\b.{0,60}(?:\bfp32\b|\bf32\b|float32|\bfloat\b|4 bytes|full precision|single precision|double the (?:bytes|size|volume|traffic)|twice (?:the|as many) (?:bytes|size|volume|traffic|expected))",
                r"(?:fp32|float32|4[- ]byte)\s.{0,24}(?:gradients?|grads?|all-?_?reduce|reduc\w*|communicat\w*|buckets?)",
                r"(?:communication_data_type|reduce_dtype)\W.{0,16}(?:fp32|float32|torch\.float\b)|grad_reduce_in_fp32"
                r"|accumulate[-_]allreduce[-_]grads[-_]in[-_]fp32",
            ),
        ),
        "mixed-precision": Topic(
            negatable=False, wordings=(r"mixed[- ]precision|\bbf16\b|bfloat16|\bfp16\b|\bamp\b|autocast|\bhalf precision\b",)
        ),
        "experts": Topic(
            wordings=(
                r"\bMoE\b|mixture[- ]of[- ]experts|\bexperts?\b|expert[- ]parallel\w*|\bEP ?=? ?\d+\b|deep_?ep\b",
                r"\bdeepseek-?(?:v[23]|r1)\b|\bmixtral\b|\bqwen3?-\w*a\d+b\b|\bdispatch (?:and|/|&) combine\b|\brouter\b.{0,20}(?:collaps|token|expert)",
                r"\brouted tokens\b|\b(?:in|during|of) (?:the )?(?:dispatch|combine)\b",
            )
        ),
        "experts-uneven": Topic(
            negatable=False,
            wordings=(
                r"(?:hot|popular|overloaded|busy|busiest|few|some|one|imbalanced)\s(?:\w+\s)?experts?\b.{0,60}",
                r"experts?\b.{0,60}(?:imbalanc\w*|uneven\w*|skew\w*|unequal|overload\w*|hot\b|most of the tokens|more tokens"
                r"|times (?:more|the))",
                r"(?:tokens?|routing|router|gate|load)\b.{0,50}(?:imbalanc\w*|uneven\w*|skew\w*|unequal\w*)\b",
                r"load[- ]balanc\w* loss|capacity factor|aux(?:iliary)? loss|\bEPLB\b|redundant experts|dropped tokens"
                r"|token dropping",
                r"expert ?\d+\b.{0,40}(?:times|x\b|%|most|more|\d{3,})|router collaps\w*|routing collaps\w*|(?:tokens?|load) (?:received |sent |routed )?per (?:ep|expert|rank)",
                r"(?:one|some|few|a) (?:gpu|rank|device|worker)s?\b.{0,24}(?:\d ?x|times|more|most)\b.{0,24}\btokens",
            ),
        ),
        "benchmark-without-mpi": Topic(
            negatable=False,
            wordings=(
                r"(?:without|no|not|missing|forgot)\s.{0,24}\bMPI\b(?: ?= ?1)?",
                r"(?:re-?)?(?:built|build\w*|compil\w*|make)\s.{0,24}\bMPI ?= ?1.{0,60}(?:fix|help|works?|solv|pass|runs)",
                r"(?:plain|bare|just|only|simply|ran|run)\s.{0,16}\bmake\b.{0,30}(?:without|no|any|alone)?.{0,16}(?:flags?|options?|arguments?|MPI)|make clean\b.{0,40}MPI",
            ),
        ),
        "benchmark-not-joined": Topic(
            negatable=False,
            wordings=(
                r"(?:each|every|both)\s(?:node|host|process|rank|server|machine)s?\b(?!.{0,40}(?:\bis\b|\bare\b|works?|runs?|fine|ok\b|fast|good|pass).{0,12}(?:fine|ok\b|fast|good|well|alone|by itself)).{0,60}(?:separate|independent|alone|own"
                r"|its own|rank 0|by itself|standalone)",
                r"same (?:bandwidth|results?|numbers?|busbw)\b.{0,30}\b(?:1|one|single)\b.{0,12}(?:2|two|more|multi\w*)[- ]?nodes",
                r"(?:same|equal|identical)\s.{0,40}(?:as|to|result\w*|bandwidth|number)\b.{0,40}(?:single|one)[- ]node",
                r"(?:both|each|every|all)\s(?:of them|hosts?|nodes?|machines?|ranks?|servers?|process\w*)\s(?:reports?|shows?|prints?|gives?|gets?|says?)\s.{0,30}(?:single|one)[- ]node",
                r"counters?\b.{0,20}(?:do(?:es)? not|do(?:es)?n.t|never|hardly|barely)\s(?:move|change|increase|rise|count|increment)|counters? (?:stay|remain)\w* (?:flat|zero|the same|at)",
                r"(?:no|zero|without)\s.{0,20}traffic\b.{0,60}(?:between|network|nic|fabric|wire|nodes|switch|port)",
                r"(?:bus ?bw|bandwidth|results?|numbers?|figures?)\b.{0,24}(?:impossibl|too (?:high|good)|can.?not be (?:true|right|real)|unbelievabl|suspicious)",
                r"(?:printed|prints|appears?|shown|header|output)\s.{0,20}(?:twice|two times|several times|once per)",
                r"(?:do(?:es)? ?n.?o?t|never|can.?t see|no)\s.{0,24}(?:communicat\w*|connections?|talk|exchange)\b.{0,40}(?:between|across|hosts|nodes|machines|each other)",
                r"(?:nic|network|interface|ib|port|switch)\s(?:\w+ )?(?:graph|counters?|traffic|load|monitor)\b.{0,30}(?:zero|flat|0\b|nothing|no traffic|idle|silent)\b.{0,80}(?:nccl-tests?|benchmark|numbers|bandwidth|result|test)",
                r"(?:more|higher|faster|above|beyond)\s.{0,24}(?:than|what)\s.{0,16}(?:the |our |my )?(?:nics?|network|link|cards?|wire)\s.{0,16}(?:could|can|possibl\w*|allow\w*|give|have|ever)",
                r"(?:two|2|both|separate|independent|several)\s.{0,16}(?:tables?|headers?|result (?:blocks|tables)|single-node (?:runs|tests))\b|all (?:say|report|show|print|have|are) rank 0|rank 0 (?:on|from) (?:each|every|both)",
            ),
        ),
        "shards-fully": Topic(
            negatable=False,
            wordings=(
                r"zero[- _]?(?:stage[- _]?)?3|\bstage[\"\x27]?\s?[:=]?\s?3\b|full[- _]shard|\bfsdp2?\b|\bzero-?infinity\b|reshard_after_forward",
            ),
        ),
        "collective-benchmark": Topic(
            negatable=False,
            wordings=(
                r"nccl[- ]tests?\b|rccl[- ]tests?\b|\b\w+_perf\b|\bbusbw\b|\bbus bandwidth\b|osu_\w+|\ball_reduce_perf\b|collective benchmark",
            ),
        ),
        "pieces-of-size": Topic(
            negatable=False,
            wordings=(
                r"\b(?P<value>\d[\d,]*(?:\.\d+)?k?) (?:\w+ )?(?:segments|pieces|blocks|chunks|descriptors|descs|requests|messages|transfers|buffers|tensors|buckets|writes|reads|calls|ops|all-?_?reduces)\s?(?:of|x|×|a|@|each|at|,)\s?(?:~|about )?(?=\d+(?:\.\d+)? ?(?P<unit>[kmg]?i?b)\b)",
            ),
        ),
        "posting-dominates": Topic(
            negatable=False,
            wordings=(
                r"(?:post\w*|submi\w*|launch\w*|enqueu\w*|per[- ](?:call|message|descriptor) (?:cost|overhead))\b.{0,40}(?:exceeds?|dominat\w*|longer than|more than|most of|\d+(?:\.\d+)? ?% of|of (?:the )?(?:transfer|total) time)|\d+(?:\.\d+)? ?% of (?:the )?(?:transfer )?time\s.{0,24}(?:post|submi|enqueu|launch)\w*",
            ),
        ),
        "gpus-per-node": Topic(
            negatable=False,
            wordings=(
                r"\b[2-9]\d* ?[x×] ?(?P<value>\d{1,2}) ?(?:[x×] ?)?(?:GPUs?|(?:rtx ?)?[a-z]{1,3}\d{1,4}\w*)\b",
                r"\b(?P<value>\d{1,2}) (?:gpus?|cards) (?:per|each|a|in each|on each) ?(?:node|host|machine|server|box)?",
            ),
        ),
        "tensor-parallel-degree": Topic(
            negatable=False,
            wordings=(
                r"\btp[ =:-]?(?:size[ =:]?)?\s?(?P<value>\d{1,3})\b|tensor[-_ ](?:model[-_ ])?parallel(?:ism)?(?:[-_ ](?:size|degree))?[\"\x27]?\s?(?:=|:|of|is)?\s?(?P<unit>)",
            ),
        ),
    },
)
