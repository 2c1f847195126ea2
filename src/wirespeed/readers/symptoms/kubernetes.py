"""What people say of pods, overlays, services, quotas, images and connection tracking."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_OVERLAY = r"(?:vxlan|geneve|ip-?in-?ip|ipip|wire-?guard|flannel|calico|cilium|weave|antrea|ovn|overlay|encapsulat\w+|tunnel|pod network|cni\b)"
_ONE = r"(?:one|1|a single|the same|single|only one|exactly one|the first)"
_POD = r"(?:pods?|replicas?|backends?|instances?|servers?|workers?|endpoints?)"

SYMPTOMS = Symptoms(
    title=Text(en="Kubernetes", zh="Kubernetes"),
    topics={
        "overlay-network": Topic(wordings=(rf"\b{_OVERLAY}",)),
        "overlay-mtu": Topic(
            wordings=(
                rf"{_OVERLAY}.{{0,60}}\bmtu\b",
                rf"\bmtu\b.{{0,60}}{_OVERLAY}",
                r"\bpods?\b.{0,50}\bmtu\b|\bmtu\b.{0,50}\bpods?\b",
                r"(?:after|with|plus|adding) (?:the )?(?:vxlan|geneve|tunnel|overlay|wireguard|ipip|encap\w*).{0,50}(?:15[0-9]\d|\d{4} ?bytes|exceed|larger|too (?:big|large))",
                r"(?:50|54|58|60|80|20)[- ]bytes? (?:of )?(?:vxlan|geneve|wireguard|ipip|tunnel|encap|overhead|header)",
            )
        ),
        "interface-mtu": Topic(
            wordings=(
                r"\b(?:en\w+|eth\d|bond\d|docker0|br-\w+|cni0|cali\w+|veth\w*|flannel[\w.-]*|vxlan[\w.]*|cilium_\w+|tunl0|wg\d|geneve\w*) (?:has |with |at )?mtu\W{1,3}\d{4}",
            )
        ),
        "big-hang-small-pass": Topic(
            wordings=(
                r"(?:big|large|long|bigger|larger)\b.{0,60}\b(?:hang|stall|time[sd]? ?-?out|freez|stuck|fail|never (?:arrive|complete|return)|get no)",
                r"\bsmall(?:er)?\b.{0,40}\b(?:pass|work|fine|ok|succeed|go through|complete|answer)",
                r"(?:over|above|larger than|bigger than|more than|beyond) (?:about |roughly |~ ?)?1[.,]?[34]\d{0,2} ?(?:k?B|bytes|kb)\b.{0,50}(?:hang|stall|time|fail|lost|drop)",
                r"(?:hang|stall|time ?out|fail|lost|drop)\w*.{0,60}(?:over|above|larger than|bigger than|more than|beyond) (?:about |roughly |~ ?)?1[.,]?[345]\d{0,2} ?(?:k?B|bytes|kb)\b",
                r"(?:tls|ssl) handshake.{0,40}(?:hang|stall|time|stuck)",
            ),
            negatable=False,
        ),
        "across-nodes-only": Topic(
            wordings=(
                r"(?:other|another|different|across|between) (?:k8s |worker )?nodes?\b.{0,60}(?:hang|slow|fail|time|stall|drop|low)",
                r"same node.{0,50}(?:fine|works?|ok|full|fast|good)",
                r"(?:bounced|forwarded|sent|goes|routed) to (?:an)?other node",
                r"(?:cross|inter)-node\b.{0,60}(?:hang|slow|fail|time|stall|drop|low)",
            )
        ),
        "encapsulated-not-sent": Topic(
            wordings=(
                r"(?:after|once) (?:vxlan |geneve |tunnel |overlay |the )?encapsulat\w+.{0,60}(?:\d{4}|not seen|never|lost|drop|too)",
                r"message too long.{0,40}(?:pod|vxlan|overlay|tunnel)",
            ),
            negatable=False,
        ),
        "sriov": Topic(wordings=(r"\bsr-?iov\b|\bvirtual functions?\b|\bVFs?\b(?! ?=)|vf ?\d+\b|sriov_numvfs|network-attachment",)),
        "sriov-unset": Topic(
            wordings=(
                r"\bvfs?\b.{0,80}(?:link[- ]state (?:disable|down)|trust(?:ed)? off|no[- ]carrier|\bdown\b|not (?:created|configured|assigned|set|bound|up)|all zero|zero guid|missing|max_tx_rate [1-9]|vlan 0|wrong vlan)",
                r"(?:sr-?iov|virtual function).{0,90}(?:not (?:configured|enabled|created|set|trusted)|disabled|missing|down|zero|unset|default|fail|cannot|can't|no such)",
                r"sriov_numvfs\W{0,4}(?:is |= ?|: ?)?0\b",
                r"(?:node|port)[_ ]?guids?\b.{0,30}(?:0000:0000:0000:0000|0x0+\b|all zero|zero|unset|not set|00:00:00:00:00:00:00:00)",
                r"(?:allocatable|capacity)\b.{0,60}(?:sriov|rdma|vf)\S*\W{1,3}\"?0\b",
                r"(?:guid|mac|vlan|trust|link[- ]state|policy)\b.{0,40}(?:of|on|for|to) (?:the |each |every )?vf.{0,60}(?:not|never|missing|unset|zero|wrong|off|disable)",
                r"(?:failed to|cannot|can't|could not|couldn't|unable to|error|fails? to) (?:configur\w+|set|allocat\w+|add|create|creating|enable|find|apply)\b.{0,60}(?:\bvfs?\b|sr-?iov|virtual functions?|numvfs)",
                r"\bnot enough (?:mmio|bus numbers?|memory|resources)\b.{0,40}(?:\bvfs?\b|sr-?iov|virtual function)|(?:\bvfs?\b|sr-?iov)\b.{0,60}\bnot enough (?:mmio|bus|memory)",
                r"\b(?:nic|rdma|vf|sr-?iov|network) (?:device )?resources?\b.{0,40}(?:\b(?:is|are|stays?|shows?|says?|offers?|has)\b.{0,8}\b(?:0|zero|none|missing)\b)|\b(?:0|zero|none|no)\b (?:of )?(?:our |the )?(?:nic|rdma|vf|sr-?iov) resources?\b",
            ),
            negatable=False,
        ),
        "conntrack-table-full": Topic(
            wordings=(
                r"nf_conntrack: (?:nf_conntrack: )?table full|ip_conntrack: table full",
                r"conntrack(?: table| entries| count)?.{0,40}(?:is |was |are )?(?:full|exhaust|at (?:its|the) (?:limit|max)|overflow|reached|runs? out)",
                r"(?:connection tracking|conntrack).{0,60}(?:full|exhaust|overflow|limit reached)",
                r"nf_conntrack_count\b.{0,40}(?:close to|equals?|=+ ?|reach\w*|at|near)\s*(?:nf_conntrack_max|the max|max)",
            )
        ),
        "insert-failed-seen": Topic(wordings=(r"\binsert_failed\W{1,3}[1-9]\d*\b",), negatable=False),
        "cpu-throttled": Topic(
            wordings=(
                r"(?:cfs|cpu).{0,30}throttl",
                r"throttled[_ ](?:periods?|time|usec|seconds)\b",
                r"container_cpu_cfs_throttled",
                r"throttl\w*.{0,30}(?:periods?|cpu|quota|cfs)",
                r"\bcpu (?:limit|quota)s?\b.{0,50}(?:throttl|hit|reached|too (?:low|small|tight)|exhaust)",
                r"\b(?:remov\w*|rais\w*|increas\w*|without|dropp\w*|delet\w*|lift\w*|doubl\w*|took out|taking out) (?:\w+ ){0,2}(?:cpu |cores? )?(?:limits?|quotas?)(?:\.cpu)?\b.{0,60}(?:\bgone\b|fast|fix|drops?|dropped|fell|falls?|normal|disappear|vanish|smooth|better|\d ?ms)",
                r"\b(?:limits?|quotas?)(?:\.cpu)?\b.{0,12}\b(?:removed|raised|lifted|deleted|gone|dropped)\b.{0,60}(?:gone|fast|fix|drops?|fell|normal|disappear|vanish|better|\d ?ms)",
            )
        ),
        "cpu-limit-low": Topic(
            wordings=(
                r"(?:default|limits?)\W{0,4}\{?\s*\"?cpu\"?\W{1,3}\"?(?:[1-9]\d{0,2}m|0\.\d+|1)\b",
                r"\bcpu (?:limit|quota)\b.{0,20}(?:[1-9]\d{0,2}m\b|0\.\d+|1 (?:core|cpu)|half a)",
                r"limit ?range",
            )
        ),
        "pod-idle-on-average": Topic(
            wordings=(
                r"(?:pod|container|cpu(?: usage| use)?|proxy|node|average cpu)\b.{0,40}(?:idle|\b[1-9] ?%|low|far below|\d+(?:-\d+)?m\b|well under)",
                r"cpu (?:usage|use|looks|is) .{0,20}(?:low|idle|average|fine)",
            )
        ),
        "one-pod-gets-all": Topic(
            wordings=(
                rf"(?:all|most|\d{{2,3}} ?%|every\w*|the bulk)\b.{{0,50}}\b(?:to|on|at|by|in|hits?|lands?|reach\w*|served by)\b.{{0,12}}\b{_ONE} {_POD}",
                rf"\b{_ONE} {_POD}\b.{{0,50}}(?:takes?|gets?|receives?|serves?|handles?|has|sees|overloaded|at 100|hot|busy|100 ?%)",
                rf"(?:\b{_POD}\b.{{0,60}}\b(?:others|the rest)|(?:other|remaining|new|added|scaled|extra|additional)(?:\W\w+)? {_POD})\b.{{0,30}}(?:idle|nothing|no (?:traffic|requests?|load)|zero|0 (?:req|rps)|unused|without (?:traffic|load|requests))",
                rf"(?:uneven|unbalanced|imbalanced?|skewed)\b.{{0,40}}(?:load|traffic|requests?|{_POD})",
                rf"\b(?:the )?other (?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|fifteen|nineteen)(?: {_POD})?\b.{{0,24}}\b(?:idle|sits?|do(?:es)? nothing|get nothing|quiet|silent|bored|unused|never)",
                rf"\b(?:only|just) (?:a single|one|the first|1)(?: of (?:the |my |our )?\w+)? {_POD}\b.{{0,30}}\b(?:prints?|logs?|answers?|responds?|works?|gets?|is used|does anything|serves?|busy)",
                rf"{_POD} .{{0,40}}(?:never|do(?:es)? not|don't|no) (?:get|receive|see|serve)s? (?:any )?(?:traffic|requests?|load)",
                r"(?:scal(?:ing|ed?) (?:out|up|from)|adding|more|added) .{0,20}(?:pods|replicas|instances).{0,50}(?:no (?:effect|change|help)|does not help|nothing|doesn't help|same)",
            ),
            negatable=False,
        ),
        "grpc": Topic(wordings=(r"\bgrpc\b|\bhttp/?2\b|\bh2c?\b|triton",)),
        "l4-balancing": Topic(
            wordings=(
                r"\bcluster-?ip\b|kube-?proxy|\biptables\b|\bipvs\b|\bL4\b|layer[- ]4|\bnlb\b|network load balancer|tcp (?:load balanc\w+|mode)|mode tcp",
                r"(?:one|single|long-lived|persistent|sticky) (?:tcp |grpc |http/?2 |h2 )?(?:connection|channel)",
                r"connection-level (?:load )?balanc",
            )
        ),
        "moves-with-client-restart": Topic(
            wordings=(
                r"\b(?:after|with|on|upon|when|until|only) (?:a |the |each |every |i )?(?:restart\w*|reconnect\w*|re-?deploy\w*) (?:of )?(?:the |my |our |its )?(?:clients?|caller|process|connection|it)?\b.{0,60}\b(?:moves?|shifts?|goes|jumps?|lands?|switch\w*|another|a different|spread\w*|balanc\w*)\b",
                r"\b(?:load|traffic|everything|requests?|calls?)\b.{0,24}\b(?:moves?|shifts?|jumps?|switch\w*)\b.{0,24}\b(?:another|a different|the next|one other) (?:pod|replica|backend|instance|server)\b",
            ),
            negatable=False,
        ),
        "client-side-balancing": Topic(
            wordings=(
                r"round_robin (?:policy|lb|load)",
                r"client-?side (?:load )?balanc",
                r"\bheadless\b",
                r"(?:envoy|linkerd|istio|l7|layer[- ]7) .{0,30}(?:balanc|proxy|mesh)",
            )
        ),
        "image-pull": Topic(
            wordings=(
                r"image[- ]?pull|pull\w*.{0,20}images?\b|images?\b.{0,30}pull|pulling image|container images?|node bring-?up",
            )
        ),
        "image-pull-took-minutes": Topic(
            wordings=(
                r"pulled image\b.{0,160} in (?:\d+h)?(?P<value>\d+)m[\d.]*s()",
                r"pulled image\b.{0,160} in (?P<value>\d{1,3})(?:\.\d+)? ?min",
            ),
            negatable=False,
        ),
        "image-already-there": Topic(
            wordings=(
                r"image\b.{0,40}(?:already|is there|is cached|is local|exists|present)|already (?:on|present on|cached on|pulled (?:to|on)) (?:that|the|this|each|every) node",
            ),
            negatable=False,
        ),
        "image-pull-one-by-one": Topic(
            wordings=(
                r"\blayers?\b.{0,40}\b(?:one after (?:the |an)?other|one by one|one at a time|serial(?:ly|ized|ised)?|sequential(?:ly)?|in turn|never in parallel)\b",
                r"\b(?:one after (?:the |an)?other|one by one|one at a time|serial(?:ly)?|sequential(?:ly)?)\b.{0,24}\blayers?\b",
                r"\b(?:images?|containers?)\b.{0,50}(?:one after (?:the |an)?other|one by one|one at a time|serial(?:ly|ized|ised)?|sequential\w*|in turn|queued?|behind)",
                r"(?:one after (?:the |an)?other|one by one|one at a time|serial(?:ly|ized|ised)?|sequential\w*|in turn)\b.{0,30}\bimages?\b",
                r"serialize-?image-?pulls\W{1,4}\"?true",
                r"max-?parallel-?image-?pulls\W{1,4}1\b",
                r"(?:wait\w*|stuck|queued?|hangs?)\b.{0,30}\b(?:for|behind|on|after|until)\b.{0,40}\b(?:pulls?|images?)\b",
                r"(?:small|tiny|\d{1,3} ?MB)\b.{0,30}(?:image|sidecar|container)\b.{0,60}\d+ ?min|\bone (?:image|pull) at a time",
            )
        ),
        "image-pull-waiting": Topic(
            wordings=(
                r"pulled image .{0,200} in (?P<value>\d+(?:\.\d+)?)(?P<unit>ms|s) \((?:[\dm.]+s) including waiting\)",
                r"including waiting",
            )
        ),
    },
)
