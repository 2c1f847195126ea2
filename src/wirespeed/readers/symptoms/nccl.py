"""What people say of NCCL's choices: interfaces, RDMA devices, transports, topology and left-over variables."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_NODES = r"(?:nodes?|hosts?|machines?|servers?|boxes|workers?|pods?|vms?|pcs|computers|workstations|laptops|sparks?|macs?|trays|blades|instances)"
_WORKS = (
    r"(?:works?|fine|ok\b|pass(?:es)?|succeed|normal|correct|healthy|full|fills?|reach|line rate|lists?|shows?|sees?|active|\d)"
)
_TCP = r"(?:tcp|sockets?|ethernet|NET/Socket|network Socket)"

SYMPTOMS = Symptoms(
    title=Text(en="NCCL configuration and transports", zh="NCCL 配置与传输"),
    topics={
        "topology-file": Topic(
            negatable=False,
            wordings=(
                r"NCCL_(?:TOPO|GRAPH)_FILE",
                r"\btopo(?:logy)?[ _.-]?(?:xml|files?)\b",
                r"(?:hand|self)[- ]?(?:made|written)\b.{0,30}topolog",
                r"(?:virtual|custom|injected|vendor|other instance)\s.{0,12}topology",
                r"\b(?:xml|graph|topology)\s(?:\w+\s){0,3}(?:describes?|made for|written for|belongs? to|comes? from|came from|(?:is|was) (?:for|from|of|copied|taken))\b",
            ),
        ),
        "topology-file-off-helps": Topic(
            negatable=False,
            wordings=(
                r"(?:without|unset\w*|remov\w*|drop\w*|delet\w*)\s.{0,30}(?:NCCL_(?:TOPO|GRAPH)_FILE"
                r"|topo(?:logy)?[ _.-]?(?:xml|file)).{0,60}"
                r"(?:works?|fine|fast|pass|runs|normal|full|ok|fix|help|solv)",
                r"(?:unset\w*|remov\w*|drop\w*|delet\w*|without|disabl\w*)\s(?:it|the (?:xml|file|dump|graph))\b.{0,60}(?:works?|fine|fast|pass|runs|normal|full|fix|help|brings?|back|\d ?[GT]b)",
            ),
        ),
        "topology-file-helps": Topic(
            negatable=False,
            wordings=(
                r"(?:set\w*|giv\w*|provid\w*|inject\w*|with|adding|either)\s.{0,40}(?:NCCL_TOPO_FILE|NCCL_NET_GDR_LEVEL=(?:SYS"
                r"|5)|topo(?:logy)?[ _.-]?(?:xml|file)).{0,60}"
                r"(?:full|fast|doubl|restor|optimal|fix|help|solv|works|expected|\d+ ?[GT]b)",
                r"(?:topo(?:logy)?[ _.-]?(?:xml|file)|NCCL_TOPO_FILE).{0,40}(?:brings|gives|gave|brought|took).{0,30}(?:full|back|up to|\d ?[GT]b)",
            ),
        ),
        "topology-flat": Topic(
            negatable=False,
            wordings=(
                r"(?:every|all|each|any)\s.{0,24}(?:pairs?|gpus?|nics?|paths?)\b.{0,24}\b(?:PHB|SYS|NODE)\b",
                r"(?:lspci|pci\w* (?:tree|topology|layout|bus)|topology|topo -m)\b.{0,40}\b(?:flat|one (?:bus|root)|no switch)",
                r"(?:everything|all|gpus?|nics?)\s.{0,40}(?:hangs? off|under|below|sits? on|on)\s(?:the |a |one |same |single ){0,3}(?:pcie? root|root (?:port|complex|bus)|bus 0)",
                r"\b(?:only|nothing but|always|just|all)\s(?:PHB|SYS)\b|\b(?:PHB|SYS)\s(?:for|between|in|to)\s(?:every|all|each|any)",
            ),
        ),
        "virtual-machine": Topic(
            wordings=(
                r"\b(?:kvm|qemu|proxmox|esxi|vmware|hyper-?v|openstack|libvirt|vfio)\b",
                r"\bvirtual(?:i[sz]ed)? machines?\b|\bvirtuali[sz]ed\b",
                r"\bVMs?\b",
                r"\bguests?\b",
                r"pass(?:ed)?[- ]?through",
            )
        ),
        "slower-than-bare-metal": Topic(
            negatable=False,
            wordings=(
                r"\d+ ?[GM]b(?:/s|ps)\b.{0,24}on bare[- ]?metal",
                r"bare[- ]?metal.{0,80}(?:faster|better|full|higher|reach|twice|\dx|times|as expected|fine)",
                r"(?:slower|lower|below|worse|half|third|fraction|behind).{0,60}(?:bare[- ]?metal|physical (?:host|machine"
                r"|server))",
                r"(?:vs\.?|versus|against|compared (?:to|with)|than)\s.{0,30}bare[- ]?metal",
                r"bare[- ]?metal.{0,40}(?:\d+ ?[GM]b)",
            ),
        ),
        "variable-left-over": Topic(
            negatable=False,
            wordings=(
                r"left[- ]?over\s.{0,30}(?:variables?|env|settings?|NCCL_)",
                r"(?:unset\w*|remov\w*|dropp\w*|delet\w*|without)\s.{0,40}(?:NCCL_(?!TOPO|GRAPH)\w+"
                r"|env(?:ironment)?(?: variables?)?|variables?)"
                r".{0,60}(?:fix|help|works?|restor|fast|full|solv|goes away|runs|normal|pass|\d+ ?[GT]b)",
                r"(?:variables?|env\w*|settings?|NCCL_\w+|recipe|script).{0,40}(?:copied|inherited|taken over|baked"
                r"|carried over|from (?:an? )?(?:old|other|blog))",
                r"(?:copied|inherited|carried over)\s.{0,40}(?:variables?|env\w*|settings?|NCCL_\w+)",
                r"(?:unset\w*|remov\w*|dropp\w*|delet\w*|without|purg\w*|clean|empty|comment\w* out)\s.{0,40}(?:NCCL_(?!TOPO|GRAPH)\w+|env(?:ironment)?|variables?|module|profile|conf|shell|flags?).{0,60}(?:quick|fast|good|fine|back|brings|gone|jumps?|normal|twice)",
                r"(?:launch script|env file|dockerfile|module ?file|profile|bashrc|nccl\.conf|base image|template|helm chart)\b.{0,60}(?:exports?|sets?|contains?|still has|forces?|copied|inherit)",
                r"(?:copied|inherited|taken|borrowed|leftovers?|left)\s.{0,40}(?:script|recipe|blog|tutorial|workaround|another cluster|old (?:cluster|job|node)s?)",
                r"(?:copied|copy|pasted|took|taken|borrowed|reused?|inherited|kept)\s.{0,30}(?:launch (?:line|command|script)|command line|flags|config\w*|env\w*|run script|\.bashrc|settings|exports?)\b",
                r"(?:with|after|once|when)\s(?:the |that |this |these |all )?(?:variables?|settings?|env\w*|flags?|exports?|NCCL_\w+)\s(?:is |are |was |were )?(?:removed|unset|gone|dropped|deleted|commented|cleared|not set|off\b)",
                r"\b(?:plain|bare|fresh|clean|default|empty|without (?:any )?(?:env|settings|variables|exports?))\s(?:\w+ )?(?:mpirun|srun|shell|environment|env|launch|settings?|login|run|defaults?)\b.{0,40}\d",
                r"(?:workaround|hack|debug\w*)\s.{0,40}(?:never removed|still (?:set|there|in)|forgotten|from (?:last|an? old))",
            ),
        ),
        "nvlink-machine": Topic(wordings=(r"\bNV-?Link\b|\bNV-?Switch\b|\bSXM\d?\b|\bDGX\b|\bHGX\b|\bGB[23]00\b",)),
        "consumer-gpus": Topic(
            negatable=False, wordings=(r"\bRTX\b|\bGeForce\b|\b[2-5]0[6-9]0(?: ?Ti)?s?\b|\bT4s?\b|\bA10G?\b|\bL40?S?\b",)
        ),
        "several-nodes": Topic(
            wordings=(
                rf"\b(?:two|three|four|eight|sixteen|several|multiple|many|both|across|between|each of (?:the )?\d+|[2-9]"
                rf"|[1-9]\d+)[- ]"
                rf"(?:the |of the |\w+ )?{_NODES}\b",
                r"\b(?:multi|inter|cross|internode|between)-?(?:node|host|server)s?\b",
                r"\b\d+ ?[x×] ?\d+ ?(?:[x×] ?)?(?:GPUs?|(?:rtx ?)?[a-z]{1,3}\d{1,4}\w*)\b",
                r"\b(?:another|other|remote|second|peer) (?:node|host|machine|server|box)\b",
                r"\bracks\b",
                r"\bnum_?nodes?[\"\x27]?\s?[:=]\s?[2-9]|--?nnodes[ =][2-9]|\b-N ?[2-9]\b",
            )
        ),
        "one-node": Topic(
            wordings=(
                r"\b(?:one|single|1|same)[- ](?:physical )?(?:node|host|machine|server|box|workstation)\b",
                r"\bworkstation\b|\bdesktop\b",
            )
        ),
        "interface-wrong": Topic(
            negatable=False,
            wordings=(
                r"(?:wrong|incorrect|unexpected|unintended|different)\s(?:network\s|socket\s)?(?:interfaces?|nics?"
                r"|network cards?|adapters?)\b",
                r"(?:picks?|picked|chooses?|chose|selects?|selected|takes?|took|uses?|using|binds?|bound|announces?"
                r"|advertises?)\s.{0,40}"
                r"(?:docker\d|virbr\d*|\blo\b|loopback|management|mgmt|wi-?fi|wlan\w*|tailscale\d*|vpn|tunnel|ip6tnl\d*"
                r"|\bbr-\w+|usb\d*|bmc)",
                r"NCCL_SOCKET_IFNAME.{0,60}(?:wrong|exist|missing|differ|named|no such|not (?:set|match|found))",
                r"no socket interface found",
                r"interface (?:names?|naming).{0,30}(?:differ|not the same|vary|varies|unequal)",
                r"(?:uses?|used|using|picks?|picked|takes?|took|chooses?|chose|goes|went|runs?|binds?|bound|listens?|announces?|registers?|advertises?|sits?|talks?)\s.{0,40}\b(?:lan|nics?|interfaces?|network|port|card|address|link|eth\d|en[ops]\d\w*|ib\d)\b.{0,24}(?:instead of|rather than|not (?:the|over|on)|although|though)",
                r"(?:want|need|force|tell|make|how (?:do|can|to))\s.{0,40}(?:use|take|go (?:over|through)|prefer|bind to)\s.{0,24}\b(?:en[ops]\d\w*|eth\d|ib\d|bond\d|the (?:fast|25g|100g|10g|second|other|internal|private))",
                r"(?:picks?|picked|chooses?|chose|selects?|selected|found|took|takes?|lists?)\s.{0,30}\b(?:en[ops]\d\w*|eth\d|wlan\d|wl\w+|br\d|bond\d)\b.{0,12}(?:first|by default|again)",
                r"\b(?:en[ops]\w*\d|eth\d|bond\d|br\d|wl\w+|tun\d|usb\d|em\d)\s(?:is|being|=)\s(?:the |our |a |an |my |only )?(?:[\w.]+ ){0,4}(?:office|management|mgmt|public|internet|admin\w*|bmc|ipmi|vpn|wi-?fi|wireless|backup|slow|1 ?g(?:b\w*|igabit)?)\b",
                r"\b(?:sends?|sent|receives?|traffic|data|talks?|goes?|uses?|using|routed?)\s(?:\w+ ){0,2}(?:over|through|via|on|by|out of)\s(?:the |its |their |my |our )?(?:\w+ )?(?:1 ?gb?\w*|100 ?mb?\w*|slow\w*|management|office|wrong|campus|home)\s(?:port|nic|card|lan|interface|link|network|one\b)",
                r"NCCL_SOCKET_IFNAME\b.{0,40}(?:no effect|ignored|(?:does ?n.t|does not|did ?n.t|did not) (?:work|take|help|change)|not (?:honou?red|respected|used|enforc))|ignor\w*\s.{0,16}NCCL_SOCKET_IFNAME",
                r"(?:what|which|how)\s.{0,24}(?:put|set|give|use|specify|write)\s.{0,16}NCCL_SOCKET_IFNAME|NCCL_SOCKET_IFNAME\b.{0,24}\b(?:lo|loopback|docker0|virbr0)\b",
                r"(?:one|1|first|a|node-?\w+)\b.{0,20}\b(?:has|have|is|calls?|named|gives|with|uses)\s.{0,12}\b(?:en[ops]\w*\d|eth\d|ib\d|bond\d)\b.{0,60}\b(?:other|second|2nd|2|another)\b.{0,24}\b(?:en[ops]\w*\d|eth\d|ib\d|bond\d)\b",
                r"two nics\b.{0,80}\b(?:office|public|management|wrong|other|slow)",
                r"(?:shows? up|appears?|listed|seen|known|registered|reachable)\s.{0,30}(?:docker\d|virbr\d*|wlan\d?|wlp\w+|wi-?fi|tailscale\d?|vpn|tun\d|br-\w+)|\b192\.168\.122\.\d+",
                r"(?:at|to|via|over|uses?|through|with)\s(?:its|the|their|a)?\s?(?:public|external|internet|nat)\s(?:address|ip|interface|nic)\b",
            ),
        ),
        "interface-set-helps": Topic(
            negatable=False,
            wordings=(
                r"(?:set\w*|export\w*|with|adding|using)\s.{0,12}NCCL_SOCKET_IFNAME.{0,60}(?:fix|help|works?|solv|pass|runs"
                r"|connect)",
                r"(?:disabl\w*|down|remov\w*)\s.{0,30}(?:other|second|docker\d|virbr\d?|wi-?fi)\s?(?:interface|nic"
                r"|bridge)?.{0,40}(?:fix|help|works?|solv|pass|runs)",
                r"NCCL_SOCKET_IFNAME\s?=\s?\S+.{0,40}\b(?:fix|help|works?|solv|pass|runs|fine|good|ok\b|clean|happy|full|fast|doubl|restor|back\b|cures?|normal|gone|brings)",
            ),
        ),
        "hca-wrong": Topic(
            negatable=False,
            wordings=(
                r"(?:wrong|only one|only some|only (?:\d|two|three|four)|just one|fewer|not all|mismatch\w*"
                r"|unequal)\s(?:of\s)?.{0,30}"
                r"(?:\bhcas?\b|rdma (?:devices?|nics?|ports?)|ib (?:devices?|cards?|ports?|nics?)|roce (?:ports?|nics?"
                r"|devices?)|\bmlx5_\w+|\brails?\b|\bnics\b)",
                r"NCCL_IB_HCA.{0,60}(?:wrong|mismatch|differ|only|missing|not match|lists|order|prefix|includes?|names)",
                r"(?:storage|management|frontend|front-end|north-?south)\s(?:\w+\s)?(?:hca|rdma|roce|\bib\b|mlx5"
                r"|nics?).{0,60}(?:used|picked|chosen|takes?|includ|list)",
                r"(?:devices?|hcas?|mlx5_\w+).{0,40}(?:different|another|not the same) (?:order|numbering|names?|subnets?"
                r"|networks?|fabrics?)",
                r"(?:half|part|some|two|three|four|\d|one) (?:of )?(?:the |my |our |its |all )?(?:\d )?(?:rails|hcas?|nics|adapters|rdma devices|ib ports|cards|ports)\b.{0,30}(?:used|loaded|busy|active|carr|move|see|idle|silent|dark|unused|listed|work)",
                r"(?:nothing|silence|zero|no (?:traffic|bytes|packets|load)|idle|silent|quiet|never (?:used|touched|move))\s.{0,20}(?:on|at|through|for)\s.{0,12}(?:mlx5_\w+|hca|rail|bnxt_re\w*|irdma\w*|rocep\w+|ibp\w+)",
                r"(?:mlx5_\w+|bnxt_re\w*|rocep\w+|rails?|hcas?)\b.{0,40}(?:idle|silent|quiet|unused|at zero|never used|not used|no traffic|stays? (?:dark|at 0))",
                r"(?:mlx5_\w+|device (?:names?|numbers?|numbering|order)|hca (?:names?|order|numbering)|enumerat\w*)\b.{0,50}(?:shift\w*|differ\w*|swapp\w*|not the same|reversed?|other way|renam\w*|renumber\w*|chang\w*)",
                r"(?:storage|frontend|front-end|management|ethernet|nfs|25g|10g|40g|onboard)\b.{0,40}(?:also|too|as well)\b.{0,24}(?:rdma|roce|\bib\b|verbs|ib device)",
                r"\b(?:mlx5|bnxt_re|rocep|irdma|ibp)\w*\d (?:is|being|sits|belongs|goes|hangs) (?:the |for |our |a )?(?:[\w.]+ ){0,4}(?:storage|management|ethernet|front-?end|nfs|onboard|boot|25g|10g)\b",
                r"(?:hcas?|nics|devices|cards|rails|adapters)\b.{0,16}(?:are|is|called|named)\s.{0,6}(?:mlx5|rocep|bnxt|ibp)\S*.{0,40}\b(?:on|in) (?:the )?(?:new|old|other|second|rest|node|host)",
                r"NCCL_IGNORE_NET_MISMATCH|nets? mismatch|(?:same|equal) (?:number|count) of (?:nics|hcas|net devices)",
                r"\border of\b.{0,30}\b(?:pci\w*|devices?|cards?|hcas?|nics?|rails?)\b.{0,20}(?:differ|chang|not the same|vari)|\bmlx5_\d+ of \S+.{0,40}\bmlx5_\d+ of \S+",
                r"(?:nccl|it|job)\s(?:also )?(?:includes?|picks?|takes?|uses?|tries|adds?|mixes|lists)\s.{0,40}\b(?:ethernet|storage|bond\w*|roce|25g|management|them|both)\b.{0,40}(?:infiniband|\bib\b|next to|besides|as well|too\b|along)",
                r"only (?:the )?(?:first \w+ )?(?:rails?|hcas?|ib ports?|rdma (?:nics?|ports?)|mlx5_)\s?\S{0,5}\s(?:shows?|sees?|carr\w+|has|have|gets?|moves?|is|are)\b",
            ),
        ),
        "hca-choice-helps": Topic(
            negatable=False,
            wordings=(
                r"(?:set\w*|list\w*|with|exclud\w*|restrict\w*|limit\w*|select\w*)\s.{0,30}(?:NCCL_IB_HCA|mlx5_\w+|hcas?).{0,60}"
                r"(?:fix|help|works?|solv|pass|runs|full|doubl|restor)",
                r"NCCL_IB_HCA\s?=\s?\S+.{0,40}\b(?:fix|help|works?|solv|pass|runs|fine|good|ok\b|clean|happy|full|fast|doubl|restor|back\b|cures?|normal|gone|brings)",
                r"(?:unless|until|only (?:if|when|after))\s.{0,24}(?:exclud\w*|restrict\w*|remov\w*|blacklist\w*|disabl\w*|unbind|list\w*|name|pin)\s.{0,40}(?:card|hca|nic|adapter|device|port|mlx5|bnxt)",
                r"(?:exclud\w*|blacklist\w*|leav\w* out|taking out|unbind\w*|disabl\w*)\s.{0,30}(?:card|hca|nics?|adapter|mlx5_\w+|bnxt_re\w*|rocep\w*|storage port).{0,50}\b(?:fix|help|works?|solv|pass|runs|fine|good|ok\b|clean|happy|full|fast|doubl|restor|back\b|cures?|normal|gone|brings)",
            ),
        ),
        "rdma-healthy-outside": Topic(
            negatable=False,
            wordings=(
                rf"(?:ib_(?:write|read|send)_(?:bw|lat)|perftest|\brping|ibstat(?:us)?|ibv_devinfo|ibv_devices"
                rf"|fi_info)\b(?!.{{0,60}}(?:\bno\b|not |fail|empty|nothing|none|-61)).{{0,80}}{_WORKS}",
                rf"(?:on|from) the host\b.{{0,60}}{_WORKS}",
                r"\b(?:infiniband|rdma|roce|\bib)\b.{0,30}(?:works|healthy|fine|active|is up|are up)",
                r"\b(?:ib|rdma|roce|infiniband|hcas?|cards?)\b.{0,16}\b(?:tests?|tools?|benchmarks?|bandwidth)\b.{0,24}(?:fine|ok\b|good|line rate|full|pass|\d ?g)",
            ),
        ),
        "rdma-expected": Topic(
            wordings=(
                r"\binfiniband\b|\bRDMA\b|\bRoCE\b|\bIB (?:cards?|nics?|network|fabric|clusters?|ports?)\b|\bConnectX\b"
                r"|\bmlx5\w*|\bCX-?[4-8]\b|\b[HN]DR\b",
            )
        ),
        "sockets-used": Topic(
            wordings=(
                rf"(?:falls? back|falling back|fallback|fell back|drops? back|switch(?:es|ed)?)\s.{{0,20}}{_TCP}",
                r"NET/Socket|network Socket|\busing sockets?\b|sockets? (?:are|is|were) used|uses? (?:tcp|sockets?)\b"
                r"|runs? (?:over|on) (?:tcp|sockets?)",
                r"(?:instead of|not|rather than)\s.{0,12}(?:infiniband|rdma|\bIB\b|roce|efa)\b",
                r"(?:eth\d|ethernet|management|1 ?GbE|tcp).{0,40}(?:carries|traffic|busy|loaded).{0,60}(?:ib|rdma"
                r"|infiniband).{0,20}(?:idle|silent|zero)",
                r"(?:hcas?|infiniband|\bib|rdma|roce|ib ?dev|mlx5\w*|fabric)\b.{0,16}(?:counters?|ports?|nics?|cards?|side|traffic)?.{0,16}(?:never sees?|stays? (?:at )?(?:zero|0|flat|silent)|(?:is|are|sits?) (?:idle|silent|quiet|unused|flat|dark)|do(?:es)? not move|see nothing|show nothing)",
                r"(?:goes|going|runs?|running|flows?|travels?|takes?|passes|is|all|traffic|data)\s(?:all )?(?:through|over|via|on|across)\s(?:the |my |our )?(?:\w+ )?(?:management|mgmt|1 ?g\b|1 ?gbe|10 ?g\b|10 ?gbe|eth\d|ethernet|tcp\b|en[ops]\d|default nic|host network)",
                r"(?:never|not|does ?n.t|won.t|refuses to|stopped|how (?:do|can) i)\s.{0,20}(?:us(?:e|es|ing)|touch(?:es)?|pick(?:s)?(?: up)?|see(?:s)?|find(?:s)?|go(?:es)? over)\s.{0,16}(?:infiniband|\bib\b|rdma|roce|the hcas?|mlx5|the (?:ib|fast|400g|200g) (?:cards?|nics?|network))",
            ),
            negatable=False,
        ),
        "transfer-on-tcp": Topic(
            negatable=False,
            wordings=(
                r"\b(?:ucx\w*|ucp|mooncake|nixl\w*|nvshmem\w*|transfer engine|open ?mpi|mpich|kv(?: cache)? transfers?"
                r"|disaggregat\w*|lmcache|libfabric|deepep)\b"
                r".{0,100}\b(?:tcp|sockets?)\b",
                r"\b(?:tcp|sockets?)\b.{0,60}\b(?:ucx|mooncake|nixl|nvshmem|transfer engine|open ?mpi|kv(?: cache)? transfers?)\b",
                r"UCX_TLS.{0,40}tcp|tcp_transport|TcpTransport|\bbtl\b.{0,20}\btcp\b|No OpenFabrics connection schemes"
                r"|(?:falls?|falling|fell) back (?:to|on) tcp|MC_FORCE_TCP|protocol[\"' :=]+tcp",
                r"install\w*\W{0,2}(?:transport)?\W.{0,12}tcp\b|\b(?:btl|pml|mtl|tls|transport|protocol|provider|backend)\s?[:=]\s?[\"\x27]?tcp\b|\(tcp/\w+",
                r"(?:only|just|nothing but|lists?|offers?|shows?|reports?)\s.{0,24}\btcp\b.{0,30}(?:transport|device|no (?:rc|ib|mlx5|verbs)|and (?:self|cuda|sm|shm))",
                r"(?:built|compiled|configured|installed|wheel|image|package)\b.{0,40}without\s.{0,16}(?:verbs|rdma|ucx|infiniband|ib\b|openib)",
                r"transport [\x27\"]?(?:rc|dc|ud|ib)\w*[\x27\"]? is not available|no rdma (?:transport|device)s?\b.{0,30}(?:ucx|nixl|mooncake)",
            ),
        ),
        "transfer-engine": Topic(
            wordings=(
                r"\b(?:ucx|ucp|mooncake|nixl|nvshmem|transfer engine|kv(?: cache)? transfers?|prefill.{0,20}decode"
                r"|disaggregat\w*|lmcache)\b",
                r"\b(?:kv (?:blocks?|pages?|cache) (?:transfers?|mov\w+|cross\w*)|transfer backend|nixlbench|open ?mpi|ompi)\b",
            )
        ),
        "efa-cluster": Topic(
            negatable=False,
            wordings=(
                r"\bEFA\b|aws[-_]ofi[-_]nccl|\bofi[- ]nccl|elastic fabric|\bp[4-6][a-z]*\.\d+xlarge|\bp(?:3dn|4de?|5en?)\b"
                r"|\bg\d\w*\.\d+xlarge|\btrn\d\b",
                r"\brdmap\d+s\d+|\bprovider:? efa\b|\bsrd/|\befa[;_]|\bhyperpod\b",
            ),
        ),
        "efa-unusable": Topic(
            negatable=False,
            wordings=(
                r"\b(?:EFA|libfabric|ofi|fi_info|provider)\b.{0,80}(?:not (?:used|found|available|loaded|selected|visible"
                r"|listed)|missing|fails?|failed|unavailable|no such|nothing)",
                r"(?:no|without|missing)\s.{0,24}(?:aws[-_]ofi|ofi plugin|libfabric|efa (?:provider|device|plugin))",
                r"fi_info\b.{0,20}-61|no eligible providers",
                r"aws[-_]ofi\S*\b.{0,24}(?:not\b|n.t\b|missing|absent|nowhere|forgotten)",
                r"security group.{0,80}(?:EFA|itself|self|all traffic)",
                r"fi_getinfo\b.{0,12}-61|software emulat\w*|emulat\w* in software|(?:put|get|rma|one-sided|rdma (?:read|write))\b.{0,40}emulat",
                r"(?:outbound|inbound|egress|ingress)\b.{0,60}(?:efa|itself|same group|own group|self)|efa\b.{0,80}security group",
                r"efa\b.{0,60}(?:hangs?|stuck|silence|times? out|never)",
            ),
        ),
        "single-flow-limited": Topic(
            negatable=False,
            wordings=(
                r"(?:one|single|per|each)[- ](?:tcp[- ])?(?:flow|stream|connection|socket)s?\b.{0,80}(?:limit|caps?|capped"
                r"|only|at most|max|stops|\d ?g)",
                r"(?:limit|caps?|capped|at most|max\w*)\s.{0,30}(?:per|each|single)[- ](?:tcp )?(?:flow|stream|connection)",
                r"(?:\d+|more|several|multiple|parallel|many)\s(?:parallel |tcp )?(?:streams|connections|sockets"
                r"|flows)\b.{0,80}(?:full|reach|fill|line rate|scale|faster|more|\d ?g)",
                r"\b(?:dozens?|scores|hundreds|tens|lots|a (?:lot|few|couple|dozen)|many|several|more) of (?:\w+ )?(?:streams|connections|sockets|flows|threads)\b.{0,80}(?:full|reach|fill|line rate|scale|faster|prints?|shows?|gives?|\d ?g|\d\d)",
                r"\b(?:two|four|eight|ten|sixteen|several|many|[2-9]|[1-6]\d)\s(?:parallel |tcp )?(?:rsyncs?|scps?|copies|streams?|flows?|transfers?|process\w*|connections|iperf3?s?|clients)\b.{0,12}(?:side by side|in parallel|together|at once|at the same time|concurrently)\b.{0,30}\d",
                r"(?:more|additional|raising|increasing|adding)\s(?:\w+ and |the number of )?(?:threads|sockets|connections|streams|flows)\b.{0,40}(?:helps?|faster|improv|better|more)",
                r"NCCL_(?:SOCKET_NTHREADS|NSOCKS_PERTHREAD).{0,80}(?:help|faster|doubl|rais|improv|full|more|times)",
                r"-P ?1\b.{0,40}-P ?\d+|(?:one|1|single)\s(?:\w+ )?(?:stream|flow|connection|socket|process|copy|scp|rsync|iperf\w*)s?\b.{0,50}\d ?g.{0,60}\b(?:\d{1,3}|several|many|multiple|more|parallel)\s(?:\w+ )?(?:streams?|flows?|connections?|sockets?|process\w*|copies|threads)",
                r"\b-?-?P(?:arallel)? ?\d+\b.{0,30}\d ?g(?:b|ig)",
                r"(?:cap|limit)(?:s|ped|ed)?\s.{0,30}(?:5|10) ?gb\w*.{0,20}(?:flow|connection|stream)|(?:flow|connection|stream)s?\b.{0,30}(?:5|10) ?gb",
                r"\b(?:one|1|a single)\s(?:\w+ )?(?:stream|flow|connection|socket|process|copy|scp|rsync|iperf3?|transfer|client)s?\b.{0,50}\d ?g.{0,60}\b(?:\d{1,3}|two|four|eight|ten|sixteen|several|many|multiple|parallel)\s(?:\w+ )?(?:streams?|flows?|connections?|sockets?|process\w*|copies|threads|scps?|rsyncs?|iperfs?|transfers|clients)",
            ),
        ),
        "gdr-not-used": Topic(
            negatable=False,
            wordings=(
                r"(?:\bGDR\b|GPU ?Direct(?: RDMA)?)\b.{0,40}(?:\boff\b|disabled|not (?:used|active|enabled|available|working"
                r"|supported)|missing|never|inactive)",
                r"(?:nvidia[-_]|nv_?)peer_?mem\w*.{0,40}(?:not |missing|absent|fail|unloaded)",
                r"(?:without|no|missing)\s.{0,16}(?:GPU ?Direct|\bGDR\b|nvidia[-_]peermem|nv_peer_mem)",
                r"(?:staged|bounce|copied|copies) (?:through|in|via|over)\s.{0,20}(?:host|cpu|system) memory",
                r"(?:nvidia[-_]|nv_?)peer_?mem\w*.{0,50}(?:won.t|can(?:no|.)t|could not|refus|invalid|error|unknown symbol|do(?:es)? not load|blacklist)",
                r"(?:never|not|n.t)\s.{0,16}(?:use|uses|using|see|say|show|print)\s.{0,12}(?:\bGDR\w*|GPU ?Direct)",
                r"(?:channels?|via NET/IB\S*|lines?)\b.{0,40}(?:without|no|lack\w*|missing)\s.{0,8}(?:/?GDRDMA|\bGDR\b)",
                r"(?:copy|copies|traffic|data|buffers?)\b.{0,40}(?:through|via|in)\s.{0,10}(?:host|cpu|system|main) (?:memory|ram|buffers?)",
            ),
        ),
        "gid-index-matters": Topic(
            negatable=False,
            wordings=(
                r"NCCL_IB_GID_INDEX.{0,80}(?:fix|help|works?|solv|pass|wrong|not set|unset|index|\d)",
                r"\bGID(?: index| table)?\b.{0,80}(?:wrong|differ|index 0|link[- ]?local|v1|chang|not (?:valid|present"
                r"|routable)|empty|reorder)",
                r"(?:perftest|ib_write_bw)\b.{0,40}(?:-x ?\d|gid)",
            ),
        ),
        "rdma-ports-unreachable": Topic(
            negatable=False,
            wordings=(
                r"(?:roce|rdma|rails?|ports?|nics?|hcas?|subnets?|vlans?).{0,60}(?:cannot|can't|can not|do(?:es)? not"
                r"|unable to|never)\s(?:\w+\s)?(?:reach|route|ping|talk|connect|communicate|see)",
                r"(?:different|separate|other|own|isolated|distinct)\s(?:\w+\s)?(?:subnets?|vlans?|networks?)\b.{0,60}",
                r"rail[- ](?:only|optimi[sz]ed|aligned)|NCCL_CROSS_NIC|cross[- ]rail",
                r"no (?:route|routing|gateway) (?:between|for|from|to)\s.{0,30}(?:roce|rdma|rail|subnet|port)",
            ),
        ),
        "rdma-card-count": Topic(
            negatable=False,
            wordings=(
                r"\b(?P<value>[2-9]|1[0-6])\s?(?:x|×)?\s?(?:\d+ ?g(?:b\w*|igabit)? )?(?:connectx\w*(?:-\d)?|cx-?[4-8]\b|hcas?|ib (?:cards?|nics?|ports?)|rdma (?:nics?|devices?|cards?)|roce (?:nics?|ports?)|rails?|[hn]dr (?:ports?|nics?|hcas?))",
                r"\b(?P<value>[2-9])\s?[x×]\s?(?:\d+ ?g\w*|[hen]dr)\b",
            ),
        ),
    },
)
