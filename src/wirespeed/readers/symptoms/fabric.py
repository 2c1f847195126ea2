"""What people say of links, switches, loss, MTU and paths."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_SWITCH = r"(?:switch(?:es)?|port profile|port template|fabric|network|vlan|uplink|router|ToR|leaf)"
_HOST = r"(?:hosts?|nics?|servers?|nodes?|machines?|interfaces?|adapters?|peers?|other (?:side|end))"

SYMPTOMS = Symptoms(
    title=Text(en="links and fabric", zh="链路与网络"),
    topics={
        "mtu-differs": Topic(
            wordings=(
                r"mtu\b.{0,60}\d{4}.{0,50}\b(?:hosts?|nics?|nodes?|others?|peers?|servers?|switch\w*)\b.{0,40}\d{4}",
                r"mtu[ -]?(?:mismatch|differs?|different|inconsistent|not (?:the )?(?:same|equal|match))",
                r"(?:different|mismatch\w*|unequal|inconsistent) mtus?\b",
                rf"{_SWITCH}.{{0,40}}\bmtu\b.{{0,60}}(?:smaller|lower|still|only|default|1500|too small)",
                r"\b\d{4}\b.{0,20}\b(?:on|at)\b.{0,30}(?:host|nic|node|server|switch).{0,40}\b(?:but|and|while|against|vs)\b.{0,30}\b\d{4}\b.{0,20}\bmtu",
                r"jumbo (?:frames?|mtu).{0,60}(?:not|only|one|some|except|disabled|off|forgot|missing)",
                r"(?:one|some|two|new|other) (?:node|host|port|switch)\w*.{0,40}\bmtu\b (?:of )?\d{4}",
            ),
            negatable=False,
        ),
        "depends-on-mtu": Topic(
            wordings=(
                r"(?:hangs?|fails?|breaks?|crash\w*|drops?|slow).{0,60}\bmtu\b.{0,20}\d{4}",
                r"\bmtu\b.{0,30}\d{4}.{0,80}(?:works?|fine|passes|runs|fixe[sd]|helps?)",
                r"(?:lower|reduc|rais|increas|chang|sett)\w* (?:the )?mtu.{0,40}(?:fix|solv|help|works)",
            )
        ),
        "small-passes-large-hangs": Topic(
            wordings=(
                r"(?:small|short|tiny|little).{0,50}(?:pass|fine|work|ok\b|succeed|arrive).{0,80}(?:large|big|long|bulk)",
                r"(?:large|big|long|bulk|full[- ]size\w*).{0,60}(?:hang|stall|stuck|time ?out|never|fail|drop|lost|freez).{0,90}(?:small|short|tiny)",
                r"(?:hangs?|stalls?|stuck|freezes).{0,40}(?:over|above|beyond|larger|bigger|more than) (?:about )?\d",
                r"(?:ssh|scp|login|handshake|connect).{0,40}(?:works?|ok|fine|succeeds).{0,60}(?:transfer|copy|upload|download|scp|rsync|git).{0,20}(?:hang|stall|freez|stuck)",
                r"only (?:big|large|long) .{0,40}(?:hang|fail|stall|time out|drop)",
                r"(?:default|small) (?:message )?size passes",
            ),
            negatable=False,
        ),
        "large-frames-unanswered": Topic(
            wordings=(
                r"(?:packets?|segments?|frames?|payload).{0,60}(?:leav|sent|transmit).{0,60}(?:no|without|never).{0,20}(?:ack|answer|reply|response)",
                r"(?:not|never) (?:be )?seen on the wire",
                r"(?:encapsulat|after encap).{0,60}(?:drop|lost|not seen|exceed)",
            ),
            negatable=False,
        ),
        "icmp-blocked": Topic(
            wordings=(
                r"icmp.{0,40}(?:block|drop|filter|disabled|denied|reject)",
                r"(?:block|drop|filter)\w* (?:all )?icmp",
                r"(?:no|never|without) .{0,20}(?:frag(?:mentation)?[ -]needed|packet too big|icmp unreachable)",
                r"pmtud?\b.{0,30}(?:black ?hole|broken|fail|disabled|does not work)",
                r"path mtu discovery.{0,30}(?:broken|fail|disabled|black)",
            ),
            negatable=False,
        ),
        "mtu-probing-helps": Topic(
            wordings=(r"tcp_mtu_probing.{0,40}(?:fix|help|work|recover|solv)", r"mss[ -]?clamp\w*.{0,40}(?:fix|help|work|solv)")
        ),
        "packet-loss": Topic(
            wordings=(
                r"(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>%)\s*(?:packet |frame )?loss",
                r"packet loss|packets? (?:are |were |get |being )?(?:lost|dropped|missing)|losing packets|drops packets",
                r"(?:crc|fcs|symbol|bit) errors?",
                r"(?:high|many|lots of|constant|growing|increasing) (?:tcp )?(?:retransmi\w+|retrans\b)",
                r"(?:bad|damaged|faulty|dirty|broken|defective) (?:cable|optic|transceiver|fib(?:er|re)|sfp|qsfp|dac|port|link)",
            )
        ),
        "loss-only-mid-hop": Topic(wordings=(r"loss at (?:hop|an? intermediate|the middle)",)),
        "link-flaps": Topic(
            wordings=(
                r"(?:link|port|interface|nic)s?.{0,30}(?:flap\w*|bounc\w+|goes? (?:down|up) and|went down|keeps? going down)",
                r"flapping|link (?:goes|went|going) down",
                r"(?:drops? out|disappear\w*) and (?:comes?|came|return)\w*",
            )
        ),
        "pfc-not-set": Topic(
            wordings=(
                r"\b(?:pfc|priority flow control|flow control|ecn|dcqcn|lossless|qos)\b.{0,50}(?:not (?:been )?(?:set|configured|enabled|active)|missing|off\b|disabled|absent|never|inconsistent|default)",
                r"(?:no|without|missing|lacks?|never (?:configured|enabled)) (?:any )?(?:pfc|ecn|dcqcn|flow control|lossless|qos)",
                r"(?:not|never) (?:configured|enabled|set up) (?:pfc|ecn|flow control|lossless)",
                r"enabl\w+ (?:pfc|ecn|dcqcn|flow control|global pause).{0,60}(?:fix|solv|help|resolv|doubl|restor)",
                r"lossy (?:roce|ethernet|fabric|network)",
            ),
            negatable=False,
        ),
        "many-to-one-collapses": Topic(
            wordings=(
                r"incast|many[- ]to[- ]one",
                r"(?:one pair|two nodes|single pair|point[- ]to[- ]point|pairwise|few nodes).{0,60}(?:fine|ok|full|line rate|good|fast|works).{0,90}(?:more|all|many|larger|scale|all-to-all|alltoall|incast|8 nodes|16|32)",
                r"(?:collaps\w*|drops? sharply|falls? apart|degrad\w*) (?:under|with|at|when).{0,30}(?:load|incast|scale|more (?:nodes|senders|flows)|all-?to-?all)",
                r"small (?:switch )?buffers?|shallow buffers?|tail[- ]drops?",
            )
        ),
        "roce-in-use": Topic(wordings=(r"\broce(?:v?2)?\b", r"rdma over (?:converged )?ethernet")),
        "receives-pause": Topic(
            wordings=(
                r"(?:receiv\w+|rx|incoming|getting|gets?|sees?).{0,30}\bpause\b",
                r"\bpause frames?\b.{0,40}(?:from|by) (?:the )?switch",
                r"(?:switch|peer|fabric).{0,30}(?:pauses? (?:us|the|our)|sends?.{0,20}pause)",
                r"\b(?:xoff|pfc) (?:storm|frames?|pause)|pause storm",
                r"global pause|802\.3x",
            )
        ),
        "no-drops-anywhere": Topic(
            wordings=(
                r"(?:zero|no|without(?: any)?) (?:packet )?(?:drops?|loss|discards?|errors?)",
                r"(?:error|drop) counters? (?:are |is |all )*(?:zero|clean|0\b|flat)",
                r"nothing (?:is )?dropped|(?:nics?|links?|counters?) (?:and \w+ )?(?:are|is|look) clean",
            ),
            negatable=False,
        ),
        "port-not-active": Topic(
            wordings=(
                r"(?:ib|infiniband|hca|port|link)s?.{0,30}\b(?:is|are|stays?|shows?|in state|state:?|state is)\b.{0,15}(?:down|polling|disabled|inactive|not active)",
                r"port_down|(?:physical|phys(?:ical)? state):? (?:polling|disabled)",
                r"no (?:link|carrier) (?:on|at) (?:the )?(?:ib|hca|mlx|port)",
            ),
        ),
        "subnet-manager-missing": Topic(
            wordings=(
                r"(?:no|without|missing|lost|two|wrong|second|not running).{0,25}(?:subnet manager|opensm|\bsm\b)",
                r"(?:subnet manager|opensm).{0,40}(?:not (?:running|started|active|found)|stopped|died|down|missing|crash)",
                r"(?:start|restart)\w* (?:opensm|the subnet manager|ufm).{0,40}(?:fix|solv|help|active|work)",
                r"port.{0,30}\binit(?:ializ\w+)?\b(?: state)?",
            ),
            negatable=False,
        ),
        "link-slower-than-thought": Topic(
            wordings=(
                r"negotiat\w+.{0,30}(?:down|to|at|only) .{0,20}(?:\d+\s*(?:g|m|gb|mb))",
                r"(?:linked?|connects?|comes? up|runs?|negotiated?) (?:at|with|as) (?:only )?(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>[GM](?:b(?:it|ps)?)?(?:/s)?)\b.{0,60}(?:instead|but|expected|although|should|of)",
                r"(?:instead of|should be|expected|supposed to be|rated|believed|assumed|thought).{0,25}\b(?:10|25|40|50|100|200|400|800)\s*g",
                r"(?:traffic|copy|training|storage|data).{0,40}(?:over|through|via|uses?) (?:the )?(?:1 ?g|gigabit|management|1000base)",
                r"(?:wrong|cheap|old|cat ?5e?|copper|fallback) (?:cable|splitter|transceiver|module)",
                r"half duplex",
            ),
        ),
        "bonded": Topic(
            wordings=(
                r"\b(?:bond(?:ed|ing)?\d*|lacp|lag|802\.3ad|link aggregation|port[- ]channel|team(?:ed|ing))\b",
                r"dual[- ](?:port|plane) .{0,30}(?:bond|lag)",
            )
        ),
        "one-member-only": Topic(
            wordings=(
                r"(?:only )?(?:one|a single|half)\b.{0,25}\b(?:member|leg|port|slave|link|physical port|cable)\b.{0,40}(?:used|busy|carr|traffic|active|idle)",
                r"(?:other|second) (?:member|leg|port|slave|link).{0,30}(?:idle|unused|no traffic|empty)",
                r"(?:half|50 ?%) of the (?:bond|lag|aggregate)",
                r"all (?:traffic|bytes|packets) (?:on|over|through) (?:one|a single) (?:member|leg|port|link)",
            )
        ),
        "more-flows-scale": Topic(
            wordings=(
                r"(?:several|more|multiple|many|parallel|\d+) (?:qps?|flows?|streams?|connections?|threads).{0,50}(?:full|scale|reach|line|faster|better|\d{2,3} ?g|double|higher)",
                r"(?:single|one) (?:flow|stream|qp|connection|tcp).{0,60}(?:stuck|cap|limit|only|max|never|tops? out|half|reaches)",
                r"(?:qps_per_connection|-q \d|-P \d+).{0,50}(?:help|fix|full|scale|double|reach|higher)",
            )
        ),
        "few-flows-hash": Topic(
            wordings=(
                r"\becmp\b|equal[- ]cost|hash(?:es|ing)? (?:collision|polari[sz]|onto|to the same)|hash collisions?|flow collisions?|static(?:ally)? rout",
                r"adaptive routing.{0,40}(?:off|not|disabled|unset|fix|help|raise)",
                r"(?:uplinks?|spines?|paths?) (?:are |is )?(?:uneven|unbalanced|skewed|one .{0,10}full)",
                r"low entropy|few (?:large |elephant )?flows",
                r"adaptive_routing(?:\s+|=)(?:unset|0)",
            ),
            negatable=False,
        ),
        "varies-run-to-run": Topic(
            wordings=(
                r"(?:varies|vary|different|fluctuat\w*|random\w*|bimodal|unstable|inconsistent).{0,40}(?:run to run|each run|every run|between runs|from run|runs?\b|reruns?|same nodes)",
                r"(?:sometimes|some runs).{0,30}(?:half|full|slow|fast).{0,40}(?:sometimes|others?|half|full)",
                r"half (?:the |of the )?(?:bandwidth|speed|rate) (?:in|on) some (?:runs|pairs)",
            )
        ),
        "plateau-near-half": Topic(
            wordings=(
                r"(?:about|around|near|at|only|exactly|roughly|stops? at) (?:half|50 ?%|1/2)\b",
                r"half of (?:the |what )",
                r"plateaus?",
            )
        ),
        "several-switch-tiers": Topic(
            wordings=(
                r"multi[- ]?(?:rack|tier|pod)|across (?:racks?|leaf\w*|spines?|pods?|switches|rails)|inter[- ](?:rack|leaf|pod|switch)|(?:leaf|spine)[- ](?:and|spine|leaf)|\bclos\b|fat[- ]?tree",
                r"different (?:racks?|leaf|leaves|tors?|pods?|switches)",
            )
        ),
        "oversubscribed": Topic(
            wordings=(
                r"over-?subscri\w+",
                r"(?:[2-9]|1\d)\s*:\s*1\b.{0,20}(?:ratio|blocking|subscription|uplink)?|blocking (?:factor|ratio)",
                r"(?:uplinks?|spine links?|inter-?switch links?|trunk|isl).{0,40}(?:full|saturat|100 ?%|bottleneck|congest|limit|too (?:few|small|narrow))",
                r"(?:few|only \w+|\d+) uplinks? (?:for|per|shared)",
            )
        ),
        "same-switch-fast-across-slow": Topic(
            wordings=(
                r"(?:same|within (?:a|one|the)|intra|inside) ?-?(?:rack|leaf|switch|tor|pod).{0,60}(?:fine|fast|full|ok|good|line).{0,80}(?:across|between|different|inter|cross|two|other)",
                r"(?:across|between|different|inter-?|cross-?) ?(?:racks?|leaf|leaves|switch(?:es)?|tors?|pods?).{0,50}(?:slow|half|drop|low|third|quarter|worse|fall)",
            )
        ),
        "scales-badly": Topic(
            wordings=(
                r"(?:more|adding|with \d+|beyond|past|larger|increasing).{0,25}(?:nodes|hosts|gpus|servers|ranks).{0,50}(?:slow|drop|worse|fall|degrad|not scale|stops? scaling|decreas)",
                r"(?:bandwidth|busbw|throughput|performance) (?:drops|falls|decreases|degrades) (?:with|as|when|at|beyond|from).{0,30}(?:nodes|scale|ranks|gpus)",
            )
        ),
        "same-subnet-twice": Topic(
            wordings=(
                r"(?:two|both|several|multiple|all|\d+) (?:nics?|interfaces?|ports?|addresses|ips).{0,60}(?:same|one|identical) (?:subnet|network|/\d+|ip range|prefix)",
                r"(?:same|overlapping|identical) (?:subnets?|prefix(?:es)?|routes?|networks?).{0,40}(?:two|both|several|nics?|interfaces?|on)",
                r"overlapp\w+ (?:routes?|prefix\w*|subnets?|networks?)",
                r"arp flux|asymmetric rout\w+|rp_filter|reverse path",
                r"(?:wrong|other|different|random|unexpected) (?:source (?:address|ip)|nic|interface).{0,40}(?:repl|answer|used|chosen|route)",
            )
        ),
        "address-claimed-twice": Topic(
            wordings=(
                r"duplicate (?:ip|address|ipv4|ipv6)|ip (?:address )?conflict|same ip (?:address )?(?:on|twice|assigned|used)|address (?:already )?in use by another (?:host|machine)",
                r"two (?:machines|hosts|nodes|mac addresses|macs).{0,40}(?:same|one) (?:ip|address)",
                r"(?:mac|arp).{0,30}(?:flips?|changes|alternat\w+) (?:between|back)",
            )
        ),
        "goes-through-router": Topic(
            wordings=(
                r"(?:through|via|over|crosses|traverses|hairpins?|passes) (?:the |a |an )?(?:router|gateway|firewall|l3|layer ?3|core|vpn|nat|wan)\b",
                r"(?:different|wrong|another|other|separate) vlans?\b",
                r"(?:routed|detour|extra hops?|longer path|hairpin\w*)",
                r"inter-?vlan",
            )
        ),
        "latency-grows-under-load": Topic(
            wordings=(
                r"(?:latency|rtt|ping|delay).{0,40}(?:grows?|rises?|jumps?|increas\w+|climbs?|spikes?|goes up).{0,50}(?:load|busy|transfer|upload|download|copy|bulk|saturat|traffic|backup)",
                r"buffer-?bloat|deep (?:buffers?|queues?)|standing queue",
                r"(?:during|while|when).{0,25}(?:copy|upload|download|transfer|backup|checkpoint|bulk).{0,40}(?:latency|ping|rtt|stream|token)",
            )
        ),
        "icmp-prohibited": Topic(wordings=(r"admin(?:istratively)?[- ]prohibited|host prohibited",)),
    },
)
