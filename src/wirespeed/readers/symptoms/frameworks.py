"""What people say of frameworks, containers, names, addresses, ports and process limits."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_HELPS = r"(?:fix|help|works?|solv|pass|runs|goes away|resolve[sd]|connects?)"

SYMPTOMS = Symptoms(
    title=Text(en="frameworks, containers and addresses", zh="框架、容器与地址"),
    topics={
        "gloo-address-wrong": Topic(
            negatable=False,
            wordings=(
                r"\bgloo\b.{0,100}(?:127\.0|loopback|localhost|wrong|address|interface|ifname|connect(?!ed (?:to \d+ )?peer)|mesh)",
                r"GLOO_SOCKET_IFNAME",
                r"\bgloo\b.{0,60}(?:picked|picks|takes|took|chose|uses?|binds?|bound|announc\w*|refus\w*|timed? ?out|full ?mesh|hang\w*|stuck)",
                r"(?:cpu (?:process )?group|init_cpu_group|cpu backend|new_group\(backend=.gloo)\b.{0,60}(?:hang|stuck|sits|connect|fail|time|127|loopback|wrong|for ?ever)",
                r"(?:hang|stuck|sits|fail|timed? ?out|refused)\w*\s.{0,40}(?:\bgloo\b|cpu (?:process )?group|cpu backend)",
            ),
        ),
        "node-address-disagrees": Topic(
            negatable=False,
            wordings=(
                r"(?:VLLM_HOST_IP|SGLANG_HOST_IP|--?node[-_]ip[-_]address|\bPOD_IP\b|HOST_IP)\b.{0,80}",
                r"\bray\b.{0,80}(?:different|other|wrong|another|not the same|does not match|mismatch)\s.{0,20}(?:ip|address"
                r"|interface|node)",
                r"(?:registers?|registered|announces?|reports?|joins?|joined|advertis\w+)\s.{0,30}(?:with|under|on|as|its"
                r"|the)\s.{0,30}(?:ip\b|address|interface)",
                r"(?:two|2|different|both) (?:ip addresses|ips|addresses)\b.{0,60}(?:node|head|host|worker|same)",
                r"\bget_(?:node_)?ip(?:_address)?\(\)|(?:registers?|registered|joins?|joined|appears?|shows? up|listed)\s(?:itself )?(?:as|with|under|at|by)\s(?:\d+\.){3}\d+",
                r"every node should have a unique ip|unique ip addresses",
                r"\b(?:ray|head|driver|engine|worker|node|vllm|sglang)s?\b.{0,50}(?:under|picked|picks|took|takes|shows?|lists?|listed|detects?|detected|reports?|sees?|uses?|with|has|got)\s.{0,24}(?:wi-?fi|wlan\d?|wrong|other|another|second|public|lan|docker|vpn|tailscale|eth\d|en\w+\d)\b.{0,16}(?:ip\b|address|interface)?.{0,40}(?:while|but|although|instead|rather|whereas|and not|not)",
                r"(?:workers?|other nodes?|second node|clients?)\s(?:were |are |was |is )?(?:told|given|configured|started|join\w*|connect\w*)\s.{0,30}(?:\d+\.\d+\.\d+\.\d+|address|ip\b)",
                r"node:(?:<\w+>|\d+\.\d+\.\d+\.\d+)|(?:ray status|ray list nodes)\b.{0,60}(?:differ|another|other|wrong|only)",
                r"(?:wrong|unexpected|different|other|wi-?fi|public|nat)\s(?:ip|address)\b.{0,50}\b(?:ray|head|worker|node|vllm|sglang|engine)",
                r"\b(?:driver|head|host|local|node|my) ?ip\b.{0,60}\b(?:ray|nodes?|workers?|cluster)\b.{0,30}\d+\.\d+\.\d+\.\d+",
            ),
        ),
        "placement-never-ready": Topic(
            negatable=False,
            wordings=(
                r"wait\w*\s.{0,30}(?:placement group|resources?|nodes? to join|workers? to)",
                r"(?:engine|job|actor|launch\w*)\b.{0,40}(?:waits?|hangs?|pending|stuck)\b.{0,40}(?:ever|placement|resource|ray)?",
            ),
        ),
        "hostname-not-resolved": Topic(
            negatable=False,
            wordings=(
                r"host ?names?\b.{0,60}(?:not resolv|unresolv|cannot be resolved|can't be resolved|not known|unknown|no dns"
                r"|not in (?:dns|/etc/hosts))",
                r"(?:name|host ?name|MASTER_ADDR|rdzv\w*|hostname -i|gethostbyname)\b.{0,60}(?:resolves? to|gives|returns|is"
                r"|->|maps? to)\s?.{0,12}(?:127\.|loopback|localhost|::1|ipv6|nothing|wrong)",
                r"127\.0\.1\.1",
                r"/etc/hosts\b.{0,60}(?:loopback|127\.|missing|wrong|own name|hostname|entry|add)",
                r"(?:using|with|by) (?:the )?(?:ip|address)(?: address)?\b.{0,20}(?:instead of|rather than|not) (?:the "
                r"|a )?(?:host ?)?name",
                r"(?:temporary failure in|no) name resolution|name or service not known",
                r"(?:getent|nslookup|dig|host|ping)\s(?:hosts )?[\w.\-]+\s?.{0,20}(?:returns?|gives?|finds?|prints?|says?)?\s?(?:nothing|unknown|no (?:answer|result)|nxdomain|not found|127\.)",
                r"(?:with|using|by|when i (?:use|give|put))\s(?:the |a )?(?:plain |bare |raw |numeric |explicit )?(?:ip|address)(?: address)?\b.{0,40}(?:works?|starts?|runs?|fine|connects?|ok\b|joins?)",
                r"(?:cannot|can.t|could not|couldn.t|unable to|fails? to|does ?n.t|not)\s(?:be )?(?:resolve[ds]?|look(?:ed)? up|find)\s.{0,24}(?:host|name|peer|head|master|worker|node|each other)",
                r"(?:hosts?|nodes?|machines?|workers?)\s.{0,24}(?:register|announce|advertise|appear|show up|report)\w*\s.{0,24}(?:localhost|127\.|loopback)",
                r"failed to connect to any network address of \(?(?![\d.]+[,)])[\w.-]+",
                r"(?:neither|not|nor|isn.t|missing) in (?:the )?(?:dns|/etc/hosts|hosts(?: file)?)\b|(?:when|if|only) (?:i |we )?(?:use|using|give|giving|with) (?:the |a )?host ?names?\b",
            ),
        ),
        "bridge-networking": Topic(
            negatable=False,
            wordings=(
                r"\bbridge[- ](?:network\w*|mode)\b|\bdefault (?:docker )?(?:network|bridge|docker run)\b|\bdocker bridge\b",
                r"--net(?:work)?[= ]host|network_mode|host network(?:ing)?\b|hostNetwork",
                r"publish\w*\s.{0,20}ports?|\s-p \d+:\d+",
                r"container (?:ip|address)(?:es)?\b|private (?:container )?address",
                r"\bcompose\b|\bswarm\b|\boverlay network\b|\bcni\b bridge|\bports?:\s?-|(?:published|mapped|exposed|forwarded)\s.{0,16}ports?",
            ),
        ),
        "bridge-address": Topic(
            negatable=False,
            wordings=(
                r"\b172\.1[789]\.\d+\.\w+|\bdocker0\b",
                r"(?:container|docker|private|internal) (?:ip|address)(?:es)?\b.{0,60}(?:unreachable|cannot|not reach"
                r"|other host|announc|advertis|connect)",
                r"\b172\.(?:1[6-9]|2\d|3[01])\.0\.\d+\b.{0,60}(?:container|docker|unreachable|never configured|nobody|wrong)",
                r"(?:container|docker)\s?(?:.s)? (?:own )?(?:internal )?(?:ip|address)\b",
            ),
        ),
        "runs-in-container": Topic(
            wordings=(
                r"\bdocker\b|\bcontainers?\b|\bpods?\b|\bkubernetes\b|\bk8s\b|\bpodman\b|\bsingularity\b|\bapptainer\b"
                r"|\benroot\b|\bpyxis\b|\bimage\b",
                r"\b(?:containers?|pods?)\s(?:do(?:es)? ?n.t|do(?:es)? not|can(?:no|.)t|can not|never|fail\w*)\s\w+",
            )
        ),
        "rdma-device-not-passed": Topic(
            negatable=False,
            wordings=(
                r"/dev/infiniband|--device[= ]\S*(?:infiniband|uverbs)|\buverbs\d*\b|rdma/\w+|IPC_LOCK|--privileged",
                r"rdma (?:shared )?device plugin|rdma device(?:s)? (?:in|into|inside)|(?:inside|in) the (?:container"
                r"|pod)\b.{0,60}(?:no (?:ib|rdma|hca|device)|empty|nothing|not found)",
                r"(?:in|inside|within|from)\s(?:the |a |my |our )?(?:container|pod|docker|image)\b.{0,60}(?:no (?:ib|rdma|hca|infiniband|verbs|mlx5)|ibv_devi\w+ .{0,20}(?:empty|nothing|none|no )|not (?:see|visible|listed|there|present))",
                r"(?:ibv_devi\w+|ibstat|rdma link|verbs)\b.{0,40}(?:empty|nothing|none|no (?:ib )?devices?|fails?)\b.{0,40}(?:container|pod|docker|inside)",
                r"(?:\bexec|\binside|\bpods?|containers?)\b.{0,40}\b(?:ibv_\w+|ibstat\w*|rdma link)\b.{0,30}(?:empty|nothing|none|no\b|0 )",
                r"(?:works?|visible|there|fine|active)\s.{0,16}on the (?:host|node)\b.{0,40}(?:not|but|missing|gone|invisible)\s.{0,20}(?:container|pod|docker)",
                r"(?:ibv_devi\w+|ibstat\w*|rdma link|/dev/infiniband)\b.{0,30}(?:inside|in the|container|pod)\b.{0,30}(?:header|nothing|empty|none|no\b|missing)|\b(?:none|nothing|missing|empty|invisible|gone|no device)\s(?:inside|in the (?:container|pod|image)|within)",
                r"\bprivileged\b.{0,24}(?:makes?|made|lets|works?|helps?|fix|true)",
            ),
        ),
        "ping-works": Topic(
            wordings=(
                r"\bping(?:s|ing|ed)?\b.{0,40}(?:works?|fine|\bok\b|succe|each other|both ways|normal|passes|good)",
                r"(?:can|they|nodes?|hosts?|both)\s(?:\w+\s)?ping\b",
                r"(?:store|rendezvous|master port|ssh|telnet|port \d+|\b22\b|29[45]\d\d)\b.{0,24}(?:connects?|works?|ok\b|fine|reach\w*|succe\w*|open)\b",
            )
        ),
        "packet-filter": Topic(
            wordings=(
                r"\bfirewalls?\b|\biptables\b|\bnftables\b|\bufw\b|\bfirewalld\b|\bsecurity groups?\b|\bsecurity lists?\b"
                r"|network ?polic(?:y|ies)|\bNSG\b",
                r"\bports?\b.{0,24}(?:blocked|closed|filtered|not open|not allowed|denied)",
                r"only\s.{0,24}ports?\b.{0,30}(?:open|allowed|permitted)|(?:open|opened|allow\w*)\s.{0,20}only\s.{0,20}ports?",
                r"\bcalico\b.{0,30}polic|\bcilium\b.{0,30}polic|default[- ]deny|deny[- ]all|\bACLs?\b.{0,30}(?:block|drop|deny|allow)|\bselinux\b.{0,30}port",
                r"\bsg (?:rules?|inbound|ingress|outbound)\b|(?:ingress|inbound) rules?\b|\brules?:? (?:tcp|allow)\b|default-deny|\bnetpol\b",
                r"only\s(?:tcp|udp)[/: ]\d+",
                r"(?:vpc|rules?|polic\w+|group)\b.{0,16}\b(?:allows?|permits?|opens?)\s(?:only|just|nothing but)\b",
            )
        ),
        "packet-filter-off-helps": Topic(
            negatable=False,
            wordings=(
                rf"(?:disabl\w*|stop\w*|turn\w* off|flush\w*|open\w*|allow\w*|without|off)\s.{{0,40}}(?:firewall\w*|ufw"
                rf"|iptables|security group\w*|ports?|network ?polic\w*).{{0,60}}{_HELPS}",
                rf"(?:firewall\w*|ufw|iptables|security group\w*)\s(?:is |was |were )?(?:off|disabled|opened|flushed"
                rf"|stopped).{{0,60}}{_HELPS}",
                rf"(?:disabl\w*|stop\w*|flush\w*|open\w*|allow\w*|permit\w*|remov\w*|delet\w*)\s.{{0,40}}(?:firewall\w*|ufw|iptables|nftables|security group\w*|ports?|network ?polic\w*|acl|rules?).{{0,60}}{_HELPS}",
            ),
        ),
        "random-ports": Topic(
            negatable=False,
            wordings=(
                r"(?:random|ephemeral|high|dynamic|arbitrary|unlisted|other)\s(?:tcp )?ports?\b",
                r"\bnc\b.{0,60}(?:no route|timed? ?out|refused|hang)",
                r"(?:ports?|range)\s.{0,20}(?:32768|49152|60999|65535|\d{5} ?(?:-|to) ?\d{5})|high[- ]numbered ports?|every port except",
            ),
        ),
        "memory-lock-limited": Topic(
            negatable=False,
            wordings=(
                r"ibv_(?:create|reg|alloc)\w*.{0,60}(?:cannot allocate memory|enomem)|(?:cannot allocate memory|enomem)\b.{0,60}\b(?:ibv_|memory registration|register\w* memory|verbs)",
                r"\bmemlock\b|max locked memory|locked[- ]memory|ulimit -l|LimitMEMLOCK|RLIMIT_MEMLOCK",
                r"IPC_LOCK",
                r"(?:cannot|can't|unable to|fail\w* to)\s(?:pin|register|lock)\s.{0,20}memory",
                r"\bunprivileged\b.{0,40}(?:container|pod|process)?",
                r"ulimit\b.{0,30}(?:\b64\b|65536|locked|unlimited)|(?:pam|limits\.conf|systemd|slurmd?|sshd?)\b.{0,60}(?:memlock|locked|limits?)",
                r"(?:ibv_reg_mr|create_?(?:qp|cq)|reg(?:ister)?[ _]?mr|memory registration)\b.{0,40}(?:enomem|cannot allocate|out of memory|fail)",
                r"(?:works?|fine|ok|runs?|possible)\s(?:only )?(?:as|for|under|with) (?:root|sudo)|(?:only|just) (?:as |with )?(?:root|sudo)\b|non-?root\b.{0,30}(?:fail|can)",
            ),
        ),
        "shm-small": Topic(
            negatable=False,
            wordings=(
                r"(?:/dev/shm)\b.{0,80}(?:small|tiny|full|64 ?M|too|size|limit|out of|increas|default|only|no space)",
                r"--shm-size|shm[-_ ]?size|--ipc[= ]host",
                r"shared memory\b.{0,60}(?:insufficient|too (?:small|little)|out of|limit|segment|exhaust|not enough|no space"
                r"|increas)",
                r"(?:insufficient|not enough|out of|too little)\s.{0,12}shared memory",
                r"\bbus error\b",
                r"NCCL_SHM_DISABLE.{0,40}(?:avoid|help|works?|fix|pass)",
                r"unable to (?:mmap|open|write|resize|allocate)\b.{0,40}(?:/torch_|/dev/shm|shared memory|\bshm)",
                r"\bshm\b.{0,40}(?:64 ?m|full|small|limit|default|exhaust|no space|empty ?dir)|empty ?dir\b.{0,30}(?:memory|shm)|\bipc:? ?(?:private|host)\b",
                r"dataloader worker\b.{0,60}(?:killed|bus|exited)|num_workers\s?=?\s?0\b.{0,40}(?:work|fix|help|avoid|ok|fine)",
            ),
        ),
        "connection-fails": Topic(
            negatable=False,
            wordings=(
                r"(?:cannot|can.t|could not|couldn.t|unable to|fails? to|never|not|refus\w*|won.t)\s.{0,24}(?:connect|reach|join|talk|rendezvous|open|establish|register)",
                r"(?:connect\w*|connection|rendezvous|handshake|webhook|call|joins?|joining)\b.{0,30}(?:time[sd]? ?out|timing out|refused|fail\w*|hang\w*|dropped|reset|dead|lost)|no route to host|gateway time-?out",
                r"(?:\bnc\b|telnet|port \d+)\b.{0,60}(?:timed? ?out|refused|no route|hangs?)",
                r"\b(?:nccl|gloo|ray|torchrun|job|training|init)\s(?:\w+ )?(?:times? ?out|hangs?)\b",
            ),
        ),
        "public-cloud": Topic(
            negatable=False,
            wordings=(
                r"\bec2\b|\baws\b|\bgcp\b|\bgce\b|\bazure\b|\bgvnic\b|\bena\b|\boci\b|\balibaba cloud\b|\btencent cloud\b|\bcloud (?:vm|instance|provider|network)s?\b|\b[cmrpg]\d\w{0,3}\.(?:\d{1,2})?x?large\b",
            ),
        ),
        "nothing-arrives": Topic(
            negatable=False,
            wordings=(
                r"(?:never|not|nothing|n.t)\s(?:\w+ ){0,2}(?:arrives?|reach(?:es)?|gets? (?:there|through)|appears?|shows? up|lands?)\b|logs?\b.{0,24}(?:empty|silent|nothing|no (?:request|entry|line))|tcpdump\b.{0,60}(?:nothing|no (?:syn|packet|answer|reply)|only (?:the )?syn)",
            ),
        ),
        "gloo-named": Topic(
            negatable=False,
            wordings=(r"\bgloo\b",),
        ),
    },
)
