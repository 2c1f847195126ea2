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
                r"\bmtu\b.{0,12}\d{4}\b.{0,24}(?:,|but|and|while|against|vs\.?|other|node|host).{0,24}\b(?:mtu )?(?:1500|9\d{3}|4\d{3}|1[0-4]\d\d|2044|65520)\b",
                r"(?:switch|port|vlan|bridge|router)\w*.{0,24}(?:only|just|still|limited to).{0,24}\b1[0-9]\d\d\b.{0,60}(?:hosts?|nodes?|servers?|nics?).{0,24}\b(?:9\d{3}|4\d{3})\b",
                r"active_?mtu.{0,20}\d{3,4}.{0,60}\b\d{4}\b.{0,24}(?:other|peer|side|node|host)|active_?mtu.{0,20}(?:differs|mismatch)",
                r"(?:come|came|comes|boot|start)s? up with (?:mtu )?1500|jumbo (?:frames? )?.{0,40}(?:forgot|but not|yet not|not on|never)",
                r"\bgiants?\b.{0,30}\d|oversized? (?:frames|packets)|frames? too long",
                r"-s ?(?:89\d\d|[4-8]\d{3})\b.{0,60}(?:100 ?%|fail\w*|lost|loss|no (?:reply|answer)|nothing|times? out|dies).{0,80}(?:-s ?)?1[0-4]\d\d|-s ?1[0-4]\d\d.{0,40}(?:ok|fine|works?|pass\w*|answer\w*|repl\w+).{0,60}-s ?(?:89\d\d|[4-8]\d{3})\b.{0,40}(?:fail|lost|loss|no |nothing|time|dies|100)",
                r"(?:switch\w*|port)\b.{0,24}(?:delivered|came|comes|shipped|defaults?|left) (?:with |at |to )?(?:mtu )?1[0-9]\d\d\b",
                r"jumbo\w*\b.{0,60}\b(?:but|yet|while|except|though)\b.{0,60}(?:switch|vlan|port|bridge|router|other|peer|nic|bond|tunnel)\b.{0,24}(?:isn'?t|not|no|1500|default|off|without|doesn'?t)|(?:rest|others?|all other\w*)\b.{0,24}\b9\d{3}\b.{0,40}|\b1500\b.{0,30}\b(?:rest|others?|remaining|peers?)\b.{0,16}\b9\d{3}\b",
            ),
            negatable=False,
        ),
        "depends-on-mtu": Topic(
            wordings=(
                r"(?:hangs?|fails?|breaks?|crash\w*|drops?|slow).{0,60}\bmtu\b.{0,20}\d{4}",
                r"\bmtu\b.{0,30}\d{4}.{0,80}(?:works?|fine|passes|runs|fixe[sd]|helps?)",
                r"(?:lower|reduc|rais|increas|chang|sett)\w* (?:the )?mtu.{0,40}(?:fix|solv|help|works)",
                r"(?:works?|ok|fine|pass\w*) (?:with|at|using) (?:-m |mtu )\d{3,4}",
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
                r"(?:from|above|beyond|over|past|starting at|at) \d+ ?(?:k|kb|kib|bytes?|b|m|mb)?\b(?: up| and (?:up|above|more))?,? (?:it |they |all )?(?:hangs?|stalls?|stuck|fails?|times? out|dies)",
                r"(?:freez\w*|stalls?|hangs?|stops?) after (?:the )?(?:first )?(?:few |\d+ )?(?:kilobytes|kb|kib|bytes|packets|k)\b",
                r"(?:get|list|ping|small|short|status|login)\w* .{0,30}(?:works?|fine|ok).{0,24}\b(?:but|yet|while)\b.{0,40}(?:logs|big|large|large[r]?|full|bulk|exec|pull|push|clone).{0,40}(?:hang|stall|freez|stuck|time)",
                r"(?:clone|push|scp|rsync)s? (?:hangs?|stalls?|freez\w*|(?:is |gets )?stuck)\b",
                r"(?:\d+ ?(?:b|kb|kib|bytes)\b|short|small|tiny).{0,24}(?:ok|works?|fine|pass\w*).{0,40}(?:\d+ ?(?:mb|mib|kb|gb)\b|long|large|big).{0,24}(?:stall|hang|stuck|freez|never|time)",
                r"(?:small|short|tiny).{0,24}(?:answer\w*|repl\w+|served|fine|ok).{0,30}\d+ ?[km]i?b .{0,20}(?:never|not|hang|time)|(?:large|big|long) (?:responses?|replies|answers|pages?) (?:freeze|hang|stall|never)",
                r"(?:payload|size|packets? of|frames? of)\W{1,3}(?:1[3-9]\d\d|[2-9]\d{3}) ?b?\w*\b.{0,24}(?:100 ?% ?(?:packet )?loss|lost|fail\w*|no (?:reply|answer)|times? out|never)",
                r"(?:post|put|upload|body|request)s? (?:of|over|above|with) (?:more than )?\d+ ?[km]i?b\w*\b.{0,24}(?:hang|stall|freez|never|time|stuck)",
            ),
            negatable=False,
        ),
        "large-frames-unanswered": Topic(
            wordings=(
                r"(?:packets?|segments?|frames?|payload).{0,60}(?:leav|sent|transmit).{0,60}(?:no|without|never).{0,20}(?:ack|answer|reply|response)",
                r"(?:not|never) (?:be )?seen on the wire",
                r"(?:encapsulat|after encap).{0,60}(?:drop|lost|not seen|exceed)",
                r"retransmi\w+ (?:of )?(?:seq )?\S{0,12}\b1[2345]\d\d\b|(?:same|identical|full[- ]size\w*|1[2345]\d\d)[ -].{0,30}(?:segments?|packets?|frames?).{0,40}(?:retransmit|resent|unacked|never|lost|again)",
                r"(?:segments?|packets?|frames?) (?:of|with|larger than|over|above|longer than) (?:about )?1[2345]\d\d\b.{0,60}(?:lost|drop|never|vanish|disappear|retransmi|no )",
                r"-s ?(?:1[4-9]\d\d|[4-9]\d{3})\b.{0,40}(?:100 ?% (?:packet )?loss|no (?:reply|answer)|fails?|lost|never)",
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
                r"(?:type 3|code 4|frag(?:mentation)?[- ]needed|packet[- ]too[- ]big|unreachables?)\b.{0,40}(?:block|drop|filter|denied|never|not)",
                r"-M do\b.{0,40}(?:no (?:reply|answer|response)|time|lost|nothing|fails?).{0,60}-s ?1[0-4]\d\d",
                r"\bmss\b.{0,20}1460.{0,60}(?:vxlan|tunnel|vpn|wireguard|overlay|geneve|ipsec|pppoe)",
                r"(?:drop|block|filter)\w*.{0,8}\"?frag(?:mentation)?[ -]needed",
            ),
            negatable=False,
        ),
        "mtu-probing-helps": Topic(
            wordings=(
                r"tcp_mtu_probing.{0,40}(?:fix|help|work|recover|solv)",
                r"mss[ -]?clamp\w*.{0,40}(?:fix|help|work|solv)",
                r"(?:tcpmss|clamp[- ]mss|mss[- ]clamp\w*|clamp-mss-to-pmtu)",
                r"(?:lower|reduc|decreas|sett|chang)\w* (?:the )?(?:\w+ )?mtu (?:to|from|down).{0,24}(?:helps?|fix\w*|works?|solve\w*|cures?)",
                r"(?:works?|fixed|ok|fine|solved|cured) (?:after|with|by|when|once).{0,30}\bmtu\b.{0,8}\d{4}",
            )
        ),
        "packet-loss": Topic(
            wordings=(
                r"(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>%)\s*(?:packet |frame )?loss\b(?! (?:in|of) (?!packets|frames))",
                r"packet loss|packets? (?:are |were |get |being )?(?:lost|dropped|missing)|losing packets|drops packets",
                r"(?:crc|fcs|symbol|bit) errors?",
                r"(?:high|many|lots of|constant|growing|increasing) (?:tcp )?(?:retransmi\w+|retrans\b)",
                r"(?:bad|damaged|faulty|dirty|broken|defective) (?:cable|optic|transceiver|fib(?:er|re)|sfp|qsfp|dac|port|link)(?!s?\?)",
                r"\b[1-9]\d{2,} (?:tcp )?(?:retransmits?|retransmissions|retrans|retr)\b|retransmi\w+ (?:rate|ratio)\W{1,4}(?:of |is |at )?(?:[1-9]|0\.[1-9])",
                r"(?:lost|losing|loses|lose|dropp\w+|drops?) (?:about |roughly |some )?(?:\d+ (?:in|of|out of) \d+ |\w+ )?(?:packets|frames|segments|datagrams)|lost segments",
                r"\b(?:ber|bit error rate)\b.{0,30}(?:high|bad|rising|above)|(?:fec|symbol|crc|fcs)\b.{0,24}(?:uncorrect\w+|errors?|rising|grow)",
                r"(?:replac\w*|chang\w*|swap\w*|new|clean\w*) (?:the |a |that )?(?:\w+ )?(?:cable|optics?|transceiver|sfp\w*|qsfp\w*|dac|fib(?:er|re))\b.{0,40}(?:fix|solv|cure|gone|help|full|normal)",
                r"\b(?:rto|retransmission time-?outs?)\b.{0,40}(?:200|lost|loss|ms)|(?:throw\w*|threw) (?:away )?(?:packets|frames)",
                r"(?P<value>\d+(?:\.\d+)?)\s?(?P<unit>%) (?:of (?:the |all )?(?:packets|datagrams|frames) )?(?:is |are |were |was )?(?:lost|dropped|missing)",
                r"\d+(?:\.\d+)? ?% loss\b(?! (?:in|of) (?!packets|frames))|\d{4,} segments? (?:re-?transmitted|lost)|giants",
                r"(?:symbolerror\w*|portrcverrors\w*|link_?integrity\w*)\W{1,6}[1-9]\d|\brx power\b.{0,16}-(?:[1-9]\d|40)|(?:low|high) (?:rx )?(?:power )?(?:alarm|warning)\b.{0,40}(?:transceiver|module|optic|port|lane|cable)|(?:eye|snr)\b.{0,24}(?:low|poor|below|bad)",
                r"\bloss ?%\W{0,3}[1-9]|\b(?:lost|drop\w*)\W{1,2}\d+ ?/ ?\d{2,}|tcpretranssegs\W{1,4}\d{4,}",
                r"\b(?:0\.[1-9]\d?|[1-9]\d?(?:\.\d+)?) ?% (?:tcp )?(?:retrans\w*|re-?sent|resends?)|retrans\w*\W{1,3}(?:rate )?(?:of |is |at |about )?(?:0\.[1-9]|[1-9]\d?(?:\.\d+)?) ?%",
                r"\b\d+(?:\.\d+)? ?% of (?:the |all |our )?(?:pings?|probes?|packets?|segments?|frames?)\b.{0,12}(?:lost|drop|missing|vanish)|every (?:tenth|\w+th|few) (?:ping|packet)\w* (?:is |gets )?(?:lost|dropped|missing)",
            )
        ),
        "loss-only-mid-hop": Topic(wordings=(r"loss at (?:hop|an? intermediate|the middle)",)),
        "spread-by-packet": Topic(
            wordings=(
                r"\bload[- ](?:sharing|balanc\w+) per[- ]packet|\bper[- ]packet (?:load[- ]?)?(?:balanc\w+|shar\w+|spray\w+|distribut\w+|round[- ]?robin)",
                r"\bpacket[- ]spray\w*|\bspray\w* (?:the |all |its )?packets\b|\bbalance-rr\b|\badaptive routing\b.{0,40}\b(?:tcp|reorder\w*|out of order)",
                r"\bround[- ]?robin (?:over|across|between|on|among) (?:the |all |both |our |two |four |several )*(?:links?|circuits?|lines?|paths?|members?|uplinks?|tunnels?|ports?|interfaces?)\b",
                r"\b(?:each|every|single|consecutive) packets?\b.{0,24}\b(?:another|a different|the next|alternat\w+|different) (?:link|path|circuit|line|member|tunnel|uplink)s?\b",
            ),
        ),
        "overtaken-packets": Topic(
            wordings=(
                r"\bspurious (?:re-?transmi\w+|fast re-?transmi\w+)|\bTCP Out-Of-Order\b|\bdsacks?\b|\breorder(?:ed|ing)\b.{0,24}\b(?:packets?|segments?|seen|metric|counter)",
                r"\b(?:packets?|segments?|frames?)\b.{0,24}\b(?:arriv\w+|com\w+|received|delivered|get there)\b.{0,16}\bout[- ]of[- ](?:order|sequence)|\bovertak\w+ (?:each other|one another)",
                r"\b(?:every|each|all) (?:byte|packet|segment)s? (?:that (?:was|were|is) )?sent (?:arrives?|arrived|is there|is received|got through)\b",
            ),
        ),
        "handshake-repeated": Topic(
            wordings=(
                r"\bsyns?\b(?: packets?)?.{0,30}\b(?:is|are|was|were|gets?|being)? ?(?:repeated|resent|re-?transmitted|sent again|retried)\b",
                r"\b(?:re-?transmit\w*|resend\w*|repeat\w*|retries|retry\w*|re-?sent) (?:of )?(?:the |its |of the )?(?:first )?syns?\b|\bsyn (?:re-?transmi\w+|retries|resends?)\b",
                r"\b(?:connect\w*|handshake|first (?:byte|packet))\b.{0,40}\b(?:1, ?3(?:,| and| or) ?7|3(?:,| and| or) ?7(?:,| and| or) ?15|31(?:,| and| or) ?63|63(?:,| and| or) ?127)\b",
                r"\b(?:always|exactly|constant(?:ly)?|every time|each time|precisely) (?:about |after )?(?:31|63|127)(?:\.\d)? ?s(?:ec(?:ond)?s?)?\b|\b(?:31|63|127)(?:\.\d)? ?s(?:ec(?:ond)?s?)?\b.{0,20}\b(?:always|exactly|every time|each time|constant\w*)",
            ),
            negatable=False,
        ),
        "link-flaps": Topic(
            wordings=(
                r"(?:link|port|interface|nic)s?.{0,30}(?:flap\w*|bounc\w+|goes? (?:down|up) and|went down|keeps? going down)",
                r"flapping|link (?:goes|went|going) down",
                r"(?:drops? out|disappear\w*) and (?:comes?|came|return)\w*",
                r"(?:link|port|nic|interface|carrier|uplink|cable)s?\b.{0,24}(?:drops?|lost|loses|goes|went|resets?) (?:out |away |down |itself )?(?:for (?:a|some|\d|two|three)|every(?! packet)|randomly|again|several times|once|\d+ times)",
                r"(?:down/up|up/down)\b|(?:link|port|carrier|interface|nic|uplink)s?\b.{0,24}\bup and down\b|(?:los(?:es|ing|t)|drops?) (?:the )?(?:carrier|link)|link (?:loss|resets?)|port (?:error|active) (?:/|and|then) port",
                r"netdev watchdog|transmit queue .{0,12}timed out|reset adapter|carrier_changes?.{0,12}\d{2,}",
                r"(?:module|transceiver|optics?|sfp|qsfp)\b.{0,30}(?:over-?heat|hot|too warm|temperature).{0,50}(?:link|port|drop|down)",
                r"changed (?:its )?state to down|link_downed\b.{0,12}[1-9]\d",
                r"(?:loses?|lost|losing|drops?) (?:the )?(?:signal|light|link|carrier)\b|definitely down\b|(?:every|each) (?:few |\d+ |ten |five )?(?:minutes|hours?).{0,20}(?:link|port)",
                r"(?:disappear|vanish|drop)\w* (?:out )?(?:for (?:a|some|several|\d+) (?:\w+ )?(?:seconds?|moments?|minutes?)|(?:several|many|\d+) times|now and then)",
                r"link[_ -]?downed?\b.{0,24}\b[1-9]\d*\b|link (?:failure|retrain\w*) (?:count|event)s?\b.{0,12}[1-9]|(?:relink\w*|re-?train\w*|re-?negotiat\w*) (?:every|several|many|again|\d+)",
                r"(?:port|link|interface)s?\b.{0,24}\bchanged (?:its )?(?:state|status)\b.{0,24}(?:times|often|again|several|\d)|(?:nic|interface|port|adapter|device)\b.{0,24}(?:disappears?|vanish\w*|gone|goes missing|drops out)\b.{0,40}(?:now and then|seconds|moments?|again|comes? back|returns?|times)|async event\W{1,3}port error",
            )
        ),
        "pfc-not-set": Topic(
            wordings=(
                r"\b(?:switch(?:es)?|nics?|adapters?|ports?)\b.{0,24}\b(?:(?:as (?:it|they) (?:came|come|comes)|straight|right|fresh|still) )?(?:out of the box|from the factory|as delivered|as shipped)\b(?! (?:config|settings?|profile))",
                r"\b(?:pfc|priority flow control|flow control|ecn|dcqcn|lossless|qos)\b.{0,50}(?:not (?:been )?(?:set|configured|enabled|active)|missing|off\b|disabled|absent|never|inconsistent|default)",
                r"(?:no|without|missing|lacks?|never (?:configured|enabled)) (?:any )?(?:pfc|ecn|dcqcn|flow control|lossless|qos)",
                r"(?:not|never) (?:configured|enabled|set up) (?:pfc|ecn|flow control|lossless)",
                r"enabl\w+ (?:pfc|ecn|dcqcn|flow control|global pause).{0,60}(?:fix|solv|help|resolv|doubl|restor)",
                r"lossy (?:roce|ethernet|fabric|network)",
                r"(?:pfc|priority flow control|ecn|dcqcn|lossless)\b.{0,24}(?:isn'?t|aren'?t|wasn'?t|never|only|nowhere|missing|zero|0 0 0 0)",
                r"(?:dscp|traffic class|tos)\b.{0,40}(?:not (?:trusted|mapped|marked|set|matched|classif\w+)|mismatch|missing|unmapped|default (?:queue|class|profile))",
                r"lossy (?:queue|class|profile)|no qos\b|(?:switch|nic|port)\W{1,3}default (?:profile|config\w*)|IB_TC\s*=\s*\d+.{0,30}(?:gave|help|fix|faster|solv|\dx)",
                r"(?:mapped|lands?|goes|carried|runs?) (?:\w+ )?(?:in|into|on|to|as) (?:the )?(?:(?:default|best[- ]effort|lossy) (?:queue|class|priority|tc)|queue 0|prio(?:rity)? 0)",
                r"(?:pfc|flow control|lossless|ecn)\b.{0,40}(?:do i|should i|must i|need(?:ed)?|required|necessary)|(?:do|should|must) (?:i|we) .{0,30}(?:pfc|flow control|lossless|ecn)\b",
                r"(?:switch|arista|cisco|nexus|cumulus|sonic|juniper|dell|huawei)\b.{0,24}(?:default|out of the box|factory|stock) (?:config\w*|settings?|profile)|trust(?: mode| state)?\W{1,3}(?:pcp|none|port|cos)\b|lossy class",
            ),
            negatable=False,
        ),
        "many-to-one-collapses": Topic(
            wordings=(
                r"incast|many[- ]to[- ]one",
                r"(?:one pair|two nodes|single pair|point[- ]to[- ]point|pairwise|few nodes).{0,60}(?:fine|ok|full|line rate|good|fast|works).{0,90}(?:more|all|many|larger|scale|all-to-all|alltoall|incast|8 nodes|16|32)",
                r"(?:collaps\w*|drops? sharply|falls? apart|degrad\w*) (?:under|with|at|when).{0,30}(?:load|incast|scale|more (?:nodes|senders|flows)|all-?to-?all)",
                r"small (?:switch )?buffers?|shallow buffers?|tail[- ]drops?",
                r"(?:fails?|collaps\w*|breaks?|drops?|dies|errors?|retransmi\w+|slow).{0,50}(?:as soon as|when|with|once|from|if) .{0,20}(?:many|all|several|more|multiple|every) (?:than \w+ )?(?:process\w*|cores|ranks|nodes|senders|hosts|clients|flows|qps)",
                r"(?:up to|with|at|until) (?:~|about )?\d+ (?:\w+ ){0,3}(?:ok|fine|works?|good|clean)\b.{0,40}(?:all|more|every|beyond|above|\d+).{0,24}(?:fail|collaps|error|drop|hang|break)",
                r"(?:many|all|several|multiple) (?:\w+ )?(?:senders?|hosts?|nodes?|process\w*|ranks?|clients?) .{0,24}(?:to|into|at|towards?|onto) (?:one|a single|the same) (?:node|host|receiver|server|port|target)",
                r"\b(?:two|three|four|several|many|all|both|[2-9]|\d\d) (?:\w+ )?(?:flows?|streams?|transfers?|writers?|qps?|queue pairs|connections?)\s(?:\w+ ){0,2}?(?:in)?to (?:1|one|a single|the same) (?:\w+ )?(?:node|host|receiver|server|port|target|machine|nic|link)",
                r"\b(?:two|three|four|several|many|all|both|[2-9]|\d\d) (?:\w+ )?(?:senders?|hosts?|nodes?|clients?|workers?|servers?|machines?)\s(?:\w+ ){0,2}?(?:in)?to (?:1|one|a single|the same) (?:\w+ )?(?:node|host|receiver|server|port|target|machine)?",
                r"as soon as (?:two|three|several|more|a second)\s?(?:\w+ )?(?:hosts?|senders?|nodes?|clients?|machines?)?\s?(?:\w+ )?(?:send|write|push|talk|blast)\w*\s.{0,12}(?:one|the same|a single)",
                r"only (?:if|when|with|above|beyond|from) (?:more than |over |above )?\d+ (?:gpus|nodes|hosts|ranks|senders|servers)",
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
                r"rx_(?:prio\d_)?(?:global_)?pause\w*|(?:rx|link)_(?:flow_control_)?xo(?:n|ff)\w*|xo(?:n|ff) (?:frames?|all the time|sent|received|storm)|(?:sends?|sending|sent) xoff",
                r"(?:802\.3x|flow control|pause)\b.{0,40}(?:off|disabl\w+).{0,30}(?:fix|help|faster|solv|full|cure)|turn\w* off (?:802\.3x|flow control|pause).{0,40}(?:fix|help|faster|solv|full|cure)?",
                r"slow receiver|head[- ]of[- ]line block\w*.{0,40}(?:port|switch|fabric|host)|(?:stalls?|freezes?|stops?) the (?:entire |whole )?(?:switch|port|rack|fabric)",
                r"(?:switch|port|leaf|tor)\w*\b.{0,30}\b(?:tx|sends?|sent|transmit\w*) pauses?\b|\brx_(?:prio\d_)?pause\w*\b.{0,16}[1-9]\d{2,}",
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
                r"(?:ib|infiniband|hca|mlx5?_?\d|port|link)\w* (?:led|light) (?:is )?(?:off|dark)|no-carrier|(?:no|without) (?:link )?(?:light|carrier)",
                r"(?:one|a|second|the) (?:cable|port|hca|rail) (?:is |was )?(?:unplugged|down|dead|not connected)",
                r"(?:only|just) \d (?:of|out of) (?:the )?\d (?:rails|ports|hcas)\b|shows? (?:disabled|polling)\b",
                r"(?:has|have|had|shows?|with) no (?:link|carrier)\b|\bled (?:is )?(?:dark|off)|==> \S+ \(down\)",
                r"(?:stays?|stuck|remains?|sits?|hangs?) (?:in|at) (?:polling|disabled|down)\b",
                r"\b(\d{1,2}) (?:of|out of) (?:the |its )?(?!\1\b)\d{1,2} (?:hcas?|ib ports|infiniband ports|rails|mlx5 (?:devices|ports))\b",
                r"no active ports?\b|\bled\b.{0,12}(?:dark|off|unlit)\b|(?:port|link)s? (?:never|won'?t|doesn'?t|not) come? up",
            )
        ),
        "subnet-manager-missing": Topic(
            wordings=(
                r"(?:no|without|missing|lost|two|wrong|second|not running).{0,25}(?:subnet manager|opensm|\bsm\b)",
                r"(?:subnet manager|opensm).{0,40}(?:not (?:running|started|active|found)|stopped|died|down|missing|crash)",
                r"(?:start|restart)\w* (?:opensm|the subnet manager|ufm).{0,40}(?:fix|solv|help|active|work)",
                r"port.{0,30}\binit(?:ializ\w+)?\b(?: state)?",
                r"\b(?:who|what|which|where) (?:runs?|is running|starts?) (?:the )?(?:opensm|subnet manager|sm)\b|sminfo\b.{0,30}(?:fail|error|iberror|time)",
                r"back[- ]to[- ]back\b.{0,60}(?:ib|infiniband)|(?:ib|infiniband).{0,40}back[- ]to[- ]back.{0,60}(?:ping|fail|init|not|sm\b|opensm)",
                r"ports? .{0,20}(?:stuck|stays?|remain\w*|sits?) (?:in|at) init\w*|\bPORT_INIT\b|sm[_ ]?lid:? ?0\b",
                r"(?:two|second|double|multiple|competing) (?:opensm|subnet managers?|masters?)|lids? (?:get|are|keep) (?:re-?assign|chang)\w*",
                r"(?:ib|infiniband|ipoib|connectx\S*)\b.{0,60}(?:direct(?:ly)? (?:cabl\w+|connect\w+|attach\w+|link\w*)|no switch|without (?:a )?switch|dac between)|(?:direct(?:ly)? (?:cabl\w+|connect\w+)|no switch|without (?:a )?switch)\b.{0,60}(?:infiniband|\bib\b)",
                r"\bstate\W{1,3}init\w*|\blids?\b.{0,16}(?:65535|0xffff)\b",
            ),
            negatable=False,
        ),
        "link-slower-than-thought": Topic(
            wordings=(
                r"negotiat\w+.{0,30}(?:down|to|at|only) .{0,20}(?:\d+\s*(?:g|m|gb|mb))",
                r"(?:linked?|connects?|comes? up|runs?|negotiated?) (?:at|with|as) (?:only )?(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>[GM](?:b(?:it|ps)?)?(?:/s)?)\b.{0,60}(?:instead|but|expected|although|should|of)",
                r"(?:instead of|should be|expected|supposed to be|rated|believed|assumed|thought).{0,25}\b(?:10|25|40|50|100|200|400|800)\s*g(?!b/s|ib|b\b|pu)",
                r"(?:traffic|copy|training|storage|data).{0,40}(?:over|through|via|uses?) (?:the )?(?:1 ?g|gigabit|management|1000base)",
                r"(?:wrong|cheap|old|cat ?5e?|copper|fallback) (?:cable|splitter|transceiver|module)",
                r"half duplex",
                r"(?:usb ?2(?:\.0)?|wi-?fi|wlan|802\.11|powerline)\b.{0,60}(?:rather than|instead|only|max|not|wired|limit|slow|used)|(?:over|via|on|through) (?:the )?(?:wi-?fi|wlan|usb ?2)",
                r"\b(?:switch(?: port)?|port|cable|splitter|module|optics?)\b.{0,40}(?:configured|set|fixed|forced|rated|only|limited) (?:at|to|for|as)? ?(?:\d+ ?g\b|fdr|edr|qdr|hdr)",
                r"\b(?:fdr|qdr|edr|hdr|ddr)\b.{0,40}(?:cable|splitter|switch|port)\b.{0,60}(?:hdr|ndr|edr|200|400|card|hca)|(?:ndr|hdr|edr|200g?|400g?)\b.{0,16}(?:card|hca|nic|adapter)s?.{0,60}\b(?:edr|fdr|qdr|rate:? ?(?:40|56|100)|100)\b",
                r"\b[12]x instead of 4x|lanes? (?:is |are )?(?:degraded|lost|missing|down)|(?:degraded|reduced) (?:width|speed|lanes)",
                r"link (?:is )?up at \d+(?:\.\d)? ?[mg]bps\b.{0,40}(?:expected|should|instead|not)|speed: ?\d+ ?mb/s.{0,60}(?:support|capable|card|should|expected|10000)",
                r"rate:? ?\d{2,3}\b.{0,16}(?:mlx5|ib\d|hca|port|gb/sec).{0,40}\b\d{2,3}\b",
                r"(?:ordered|bought|paid for|sold|purchased).{0,30}\b(?:10|25|40|50|100|200|400|800) ?g(?:b(?:it)?(?:ps|e)?)?\b(?!/s)",
                r"\b[12]x (?:edr|hdr|ndr|xdr)\b.{0,60}\b4x\b|negotiat\w+ (?:only |just )?(?:to |at )?(?:10|100) ?mb|941 ?mb\w*/?s?.{0,60}(?:10|25|40|50|100) ?g|paid for (?:10|25|40|50|100|200|400) ?g",
                r"link (?:is )?up (?:at )?(?:100|1000|10) ?mb\w*|link is up (?:100|1000) mbps|(?:4x )?(?:fdr|edr|hdr|qdr)\b.{0,40}(?:while|but|though|yet|on an?) .{0,24}(?:edr|hdr|ndr|xdr)|rate:? ?\d{2,3}\b.{0,30}\b(?:ndr|hdr|xdr)\b|old switch",
                r"(?:comes?|came) up (?:with|at|as) (?:only |just )?\d+(?:\.\d)? ?[gm](?:b\w*)?\b|wrong (?:sfp|qsfp|dac|optics?)",
                r"(?:supposed(?:ly)?|alleged(?:ly)?|advertised|so-called) (?:\w+ )?\d+ ?g(?:b(?:e|it\w*|ps)?)?\b|link (?:is )?up,? (?:at )?\d+ ?[gm]bps\b.{0,40}\d{2,3} ?g\b|\bothers?\b.{0,24}\brate:? ?\d{2,3}\b",
                r"\b(?:runs?|came|comes|links?|trained|up) (?:\w+ )?(?:as|at|with) [12]x\b|\b[12]x\b.{0,12}(?:instead of|not|rather than) 4x|speed\W{1,3}\d+ ?mb/s\b.{0,40}\b(?:10|25|40|50|100)g(?:base|b?e|bit)?",
                r"(?:linked|links|connected|connects|syncs?|trains?|negotiates?|came up|comes up|runs) (?:up )?(?:at|with|as|to|only) (?:only |just )?(?:10|100|1000)? ?(?:1 ?g(?:b\w*|ig\w*)?|100 ?mb?\w*|2\.5 ?g\w*|5 ?g\w*|10 ?mb\w*)(?![\w/])|broken (?:pair|wire|lane)|(?:qsfp28|sfp28|sfp\+|cat ?5e?|cat ?6|aoc|dac)\b.{0,40}(?:port|cable|slot|cage).{0,60}\b(?:rate|speed|only|instead|paid|expected|limits?)",
            )
        ),
        "bonded": Topic(
            wordings=(
                r"\b(?:bond(?:ed|ing)?\d*|lacp|lag|802\.3ad|link aggregation|port[- ]channel|team(?:ed|ing))\b",
                r"dual[- ](?:port|plane) .{0,30}(?:bond|lag)",
                r"_bond_?\d\b|\b(?:roce|rdma) lag\b",
                r"bonding mode|xmit_hash_policy|transmit hash policy",
                r"(?:ports|links|nics|interfaces|cables) (?:are |is )?aggregated|aggregated? (?:link|port|interface)s?\b",
                r"\bbalance-(?:xor|rr|alb|tlb)\b|active-backup\b|\bmlag\b|\bmc-lag\b|etherchannel|portchannel",
            )
        ),
        "one-member-only": Topic(
            wordings=(
                r"(?:only )?(?:one|a single|half)\b.{0,25}\b(?:member|leg|port|slave|link|physical port|cable)\b.{0,40}(?:used|busy|carr|traffic|active|idle)",
                r"(?:other|second) (?:member|leg|port|slave|link).{0,30}(?:idle|unused|no traffic|empty)",
                r"(?:half|50 ?%) of the (?:bond|lag|aggregate)",
                r"all (?:traffic|bytes|packets) (?:on|over|through) (?:one|a single) (?:member|leg|port|link)",
                r"(?:only|just) (?:one|1|a single) (?:of (?:the |its |both )?(?:two |2 |four )?)?(?:slave|member|leg|cable|port|link|nic)s?\b",
                r"(?:second|other) (?:\w+ )?(?:port|cable|link|nic) (?:is |stays? |sits? )?(?:idle|unused|dark|empty|dead)",
                r"(?:hash policy|xmit_hash_policy|hash(?:es|ing)?)\W{0,3}(?:is |by |on )?(?:layer ?2|l2|mac\w*)\b(?! ?\+)",
                r"(?:aggregat|bond|lag|lacp|team)\w*\b.{0,60}(?:exactly|never (?:more|above|over)|at most|only (?:ever )?|same) .{0,16}(?:one|a single|\d+)\b|-P ?\d+ (?:\w+ ){0,2}(?:the )?same\b",
                r"(?:does|do|did|can)(?:n'?t| ?not) (?:exceed|go (?:above|over|beyond)|get (?:above|over|past)) (?:about )?(?:one|a single|the (?:rate|speed) of|10|25|40|50|100)\b|(?:same|one|single) (?:leg|member|slave)\b|(?:layer ?2|l2|mac)[ -](?:hash\w*|policy)|balance-(?:xor|rr|alb|tlb)\b",
            ),
            negatable=False,
        ),
        "more-flows-scale": Topic(
            wordings=(
                r"(?:several|more|multiple|many|parallel|\d+) (?:qps?|flows?|streams?|connections?|threads).{0,50}(?:full|scale|reach|line|faster|better|\d{2,3} ?g|double|higher)",
                r"(?:single|one) (?:flow|stream|qp|connection|tcp).{0,60}(?:stuck|cap|limit|only|max|never|tops? out|half|reaches)",
                r"(?:qps_per_connection|-q \d|-P \d+).{0,50}(?:help|fix|full|scale|double|reach|higher)",
                r"(?:one|1|single) (?:stream|flow|qp|connection|thread)\b.{0,20}\d.{0,40}(?:-P ?\d+|\d+ (?:streams|flows|qps|connections)|parallel|more).{0,24}\d",
                r"depending on luck|one (?:iperf3? )?(?:stream|flow) \d+(?:\.\d+)?\b.{0,12}(?:two|four|eight|\d+) (?:streams|flows)",
                r"qps_per_connection\W{0,3}\d+\b.{0,30}\b(?:gives?|gave|reach\w*|gets?|makes?|yields?|brings?)\b|\b(?:one|1|a single|single) (?:tcp |iperf3? |rdma )?(?:stream|flow|qp|connection|thread)\b.{0,16}\d.{0,40}\b(?:two|four|eight|several|many|\d+)\b.{0,20}\d",
            )
        ),
        "few-flows-hash": Topic(
            wordings=(
                r"\becmp\b|equal[- ]cost|hash(?:es|ing)? (?:collision|polari[sz]|onto|to the same)|hash collisions?|flow collisions?|static(?:ally)? rout",
                r"adaptive routing.{0,40}(?:off|not|disabled|unset|fix|help|raise)",
                r"(?:uplinks?|spines?|paths?) (?:are |is )?(?:uneven|unbalanced|skewed|one .{0,10}full)",
                r"low entropy|few (?:large |elephant )?flows",
                r"adaptive_routing(?:\s+|=)(?:unset|0)",
                r"hash (?:polari[sz]\w*|imbalance|bucket|algorithm|seed)|(?:elephant|large|big|long) flows?\b.{0,40}(?:share|same|collid|one|single)",
                r"(?:two|\d|several|most|both|flows?).{0,24}(?:share|on|onto|hit|land on|use) (?:one|the same|a single) (?:spine|uplink|path|link|member)\b",
                r"(?:puts?|places?|maps?|sends?) \d of \d (?:flows|connections|qps)|re-?dial\w*|different (?:source|udp) ports?|(?:changes|depends|varies|moves) (?:with|on|by) (?:the )?(?:source|udp) port",
                r"QPS_PER_CONNECTION\s*=\s*\d+.{0,30}(?:stable|fix|help|full|makes|gives|cures)",
                r"depend\w* on (?:the )?(?:udp |tcp )?(?:source |src )?ports?\b|uplinks?\b.{0,12}\d+ ?%.{0,8}\d+ ?%.{0,8}\d+ ?%",
                r"(?:only|just) \d+ of (?:the )?\d+ (?:spine |up)?links?\b|hash(?:es|ing)? (?:uses|on|by) (?:only |just |the )?(?:dst|src|destination|source|ip|ports?|mac|l[234]|layer)",
                r"some (?:\w+ )?(?:uplinks?|links?|paths?) (?:are )?(?:full|busy|hot).{0,24}(?:others?|rest) (?:are |is )?(?:empty|idle|unused)",
                r"(?:spine|uplink|core|trunk|lag|member|path)s?\b.{0,24}\b9\d ?%.{0,16}\b[0-9] ?%|\b[0-9] ?%.{0,16}\b9\d ?%.{0,24}(?:spines?|uplinks?|trunks?)|qps_per_connection\b.{0,12}\d.{0,30}(?:rais|from|lift|improv|doubl|went|goes|gives?|better)\w*",
                r"(?:source|src|udp) ports?\b.{0,24}(?:chang\w+|var\w+|decid\w+|alter\w*|matter\w*)|chang\w+ (?:the )?(?:udp |tcp )?(?:source|src) port|flow[- ]?labels?\b",
                r"(?:one|a single|two) (?:spine|uplink|core|fabric)? ?(?:links?|port|path)s?\b.{0,12}\b(?:hot|full|overloaded|congested|saturated)\b|\belephants?\b|(?:spine|uplink)s?\b.{0,24}(?:counters?|graphs?|utili[sz]ation)\b.{0,40}(?:one|uneven|skew|imbalance|hot|single)|(?:load|traffic) (?:is )?(?:not|un)(?:evenly)? ?(?:spread|balanced|distributed) (?:over|across|on) (?:the )?(?:spines?|uplinks?|paths?|links?)",
                r"polari[sz]\w*|(?:uplink|spine|link|path|port)s? ?#?\d\b.{0,24}\b(?:line rate|full|100 ?%|9\d ?%|saturated)\b.{0,40}\b(?:others?|seven|rest|three|remaining)\b",
            ),
            negatable=False,
        ),
        "varies-run-to-run": Topic(
            wordings=(
                r"(?:varies|vary|different|fluctuat\w*|random\w*|bimodal|unstable|inconsistent).{0,40}(?:run to run|each run|every run|between runs|from run|runs?\b|reruns?|same nodes)",
                r"(?:sometimes|some runs).{0,30}(?:half|full|slow|fast).{0,40}(?:sometimes|others?|half|full)",
                r"half (?:the |of the )?(?:bandwidth|speed|rate) (?:in|on) some (?:runs|pairs)",
                r"\d+ (?:in )?(?:one|some|the first) runs?,? .{0,20}\d+ (?:in )?(?:the )?(?:next|other|another|second)",
                r"results? (?:vary|varies|differ|change|jump)\w*|(?:between|from) (?:one )?runs? (?:to|and) (?:the )?(?:run|next|another)",
                r"\b\d+(?:\.\d+)? or \d+(?:\.\d+)? ?g\w*(?:/s)?\b|(?:\b\d{2,3}, ){2,}\d{2,3} ?g\w*/s|re-?submitted|only sometimes|\d+ or \d+ each time",
                r"between (?:identical|equal|repeated|the same) runs",
                r"(?:repeat\w*|reruns?|\bruns\b|same (?:test|job)|each time|again)\b.{0,30}(?:\b\d{2,3}(?:\.\d+)?(?:,| and| or|/)? ?){3,}",
                r"(?:speed|rate|bandwidth|busbw|throughput|performance)s? (?:varies|vary|differs?|changes?|jumps?|fluctuates?|alternates?)|depending on (?:the )?(?:launch|start|run|luck|day|attempt|seed)|\b\d{2,3} ?/ ?\d{2,3}\b.{0,30}(?:each|every|depending|per) (?:run|launch|start|time)?",
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
                r"\d+ (?:nodes?|hosts?) (?:on|under|in|at) (?:leaf|rack|tor|pod) \S{1,6}, ?\d+ (?:\w+ )?(?:on|under|in|at) (?:leaf|rack|tor|pod)",
            )
        ),
        "oversubscribed": Topic(
            wordings=(
                r"over-?subscri\w+",
                r"(?:[2-9]|1\d)\s*:\s*1\b.{0,20}(?:ratio|blocking|subscription|uplink)?|blocking (?:factor|ratio)",
                r"(?:uplinks?|spine links?|inter-?switch links?|trunk|isl).{0,40}(?:full|saturat|100 ?%|bottleneck|congest|limit|too (?:few|small|narrow))",
                r"(?:few|only \w+|\d+) uplinks? (?:for|per|shared)",
                r"(?:share|shares|sharing|behind) (?:just |only )?(?:a|one|the same|a single|two) (?:single |shared |common )?\d+ ?g\w*(?:/s)? (?:uplink|exit|link|port|trunk|line|connection)|(?:through|over|have|has|with) (?:just |only )?(?:one|a single|a) (?:shared |common )?\d+ ?g\w*(?:/s)? (?:uplink|exit|trunk)",
                r"(?:discards?|drops?|full|saturat\w*) .{0,30}(?:at|on|in) (?:the |its |our )?(?:uplinks?|exit|trunk|egress|isl|spine|provider|inter-?switch)",
                r"(?:port|link|exit|egress|uplinks?) (?:to|towards?|of) (?:the |our )?(?:provider|spine|core|router|internet|upstream|site|leaf|agg\w*)\b.{0,60}(?:discards?|drops?|full|saturat|9\.\d|100 ?%|9\d ?%)",
                r"\d+ ?x ?\d+ ?g\w*(?:/s)? (?:down|access|hosts?|server)\w*.{0,24}\d+ ?x ?\d+ ?g\w*(?:/s)? up|(?:just|only) (?:one|two|1|2) .{0,12}(?:uplink|trunk)s?\b",
                r"no (?:machine|host|node|server)\b.{0,30}(?:above|over|full|more than).{0,40}(?:drop|discard)|(?:sum|total|together|combined).{0,40}(?:exceed|fill|more than|saturat).{0,24}(?:uplink|exit|trunk|link)",
                r"\d+ ?x ?\d+ ?g\w*.{0,20}(?:hosts?|down\w*|servers?|blades?|nodes?|access).{0,24}\d+ ?x ?\d+ ?g\w*.{0,16}(?:up|spine|core|agg)|\d+ (?:\w+ )?(?:blades?|hosts?|nodes?|servers?|machines|boxes) (?:behind|on|share|over) (?:just |only )?(?:a |one |\d ?x ?)\d+ ?g",
                r"(?:when|if|once) (?:everyone|everybody|all(?: of them)?) (?:sends?|talks?|transmits?|runs?)|all at once.{0,30}(?:1/\d|quarter|third|half|fraction)|up-?links? (?:out[- ]?)?(?:discards?|drops?)",
                r"(?:uplink|trunk|po\d+|port-channel\d*|isl)\b.{0,24}(?:at )?9\d(?:\.\d)? ?%.{0,40}(?:server|host|node|access)|\d ?x ?\d+ ?g\w* up\b|(?:[2-9]|1\d) ?: ?1 (?:blocking|oversub\w*|contention)",
                r"\b(?:to|towards) (?:the )?(?:spines?|core|agg\w*|uplinks?)\b.{0,60}(?:\b400 ?g\w*\b.{0,24}\b3[89]\d|\b200 ?g\w*\b.{0,24}\b19\d|\b100 ?g\w*\b.{0,24}\b9[4-9]|\b9\d ?%)|(?:uplink|trunk|isl)\w*\b.{0,16}\b\d{2,3} ?g\b.{0,12}(?:at|carries|runs?|doing|shows?) ",
                r"\b\d+ (?:servers|hosts|nodes|machines|gpus)\b.{0,24}\b(?:with|over|through|behind|on|share)\b.{0,16}\b(?:one|two|three|four|[1-8]) ?x? ?\d+ ?g\w* (?:uplink|trunk|spine)",
            )
        ),
        "same-switch-fast-across-slow": Topic(
            wordings=(
                r"(?:same|within (?:a|one|the)|intra|inside) ?-?(?:rack|leaf|switch|tor|pod).{0,60}(?:fine|fast|full|ok|good|line).{0,80}(?:across|between|different|inter|cross|two|other)",
                r"(?:across|between|different|inter-?|cross-?) ?(?:racks?|leaf|leaves|switch(?:es)?|tors?|pods?).{0,50}(?:slow|half|drop|low|third|quarter|worse|fall)",
                r"(?:within|inside|in|same) (?:a |one |the )?(?:same )?(?:rack|leaf|switch|tor|pod)\b.{0,24}\d.{0,40}(?:between|across|to other|different) (?:racks?|lea(?:f|ves)|switches|tors?|pods?)",
                r"(?:adding|add|with|second|another) (?:a |the )?(?:second |third |another |more )?(?:racks?|lea(?:f|ves)|pods?|switch)\b.{0,40}(?:cuts?|halves|drops?|slows?|third|half|quarter|worse)",
                r"(?:across|between|spann?ing) (?:two |several |both |more )?(?:racks?|lea(?:f|ves)|pods?|tors?)\b.{0,40}(?:degrad|sever|bad|poor|fraction)",
                r"(?:inside|within|in|under) (?:a |one |the |each )?(?:leaf|rack|switch|tor|pod)\b.{0,16}\d.{0,30}(?:over|across|between) (?:two|several|more|both|the)? ?(?:lea(?:f|ves)|racks?|switches|tors?|pods?)",
            )
        ),
        "scales-badly": Topic(
            wordings=(
                r"(?:more|adding|with \d+|beyond|past|larger|increasing).{0,25}(?:nodes|hosts|gpus|servers|ranks).{0,50}(?:slow|drop|worse|fall|degrad|not scale|stops? scaling|decreas)",
                r"(?:bandwidth|busbw|throughput|performance) (?:drops|falls|decreases|degrades) (?:with|as|when|at|beyond|from).{0,30}(?:nodes|scale|ranks|gpus)",
                r"all-?to-?all.{0,60}(?:quarter|third|half|fraction|fifth)\b.{0,30}(?:pair|peak|rate|bandwidth|line)",
            )
        ),
        "same-subnet-twice": Topic(
            wordings=(
                r"(?:two|both|several|multiple|all|\d+) (?:nics?|interfaces?|ports?|addresses|ips).{0,60}(?:same|one|identical) (?:subnet|network|/\d+|ip range|prefix)",
                r"(?:same|overlapping|identical) (?:subnets?|prefix(?:es)?|routes?|networks?).{0,40}(?:two|both|several|nics?|interfaces?|on)",
                r"overlapp\w+ (?:routes?|prefix\w*|subnets?|networks?)",
                r"arp flux|asymmetric rout\w+|rp_filter|reverse path",
                r"(?:wrong|other|different|random|unexpected) (?:source (?:address|ip)|nic|interface).{0,40}(?:repl|answer|used|chosen|route)",
                r"(?:both|two|all) .{0,24}(?:ports|nics|interfaces).{0,24}(?:have addresses|are|sit|live|configured) (?:in|on) (?:the )?(?:same|one|\d+\.\d+)",
                r"\basymmetric(?:al)? (?:path|traffic|return|rout\w+)|\(asymmetric|\bmartian\b|out (?:of|on|over|via) (?:eth|en|ib)\w+.{0,40}(?:repl(?:y|ies)|answers?|back|return\w*).{0,24}(?:on|via|over|through|arrive) ",
                r"two default (?:gateways?|routes?)|(?:second|duplicate|multiple|several) default (?:gateways?|routes?)|dev (?:eth|en|ib)\w+ .{0,40}dev (?:eth|en|ib)\w+.{0,24}(?:same|equal) metric",
                r"(?:wi-?fi|wlan) and (?:ethernet|wired|lan)\b.{0,40}(?:same|both)|(?:network|subnet|range|pool|172\.\S+|10\.\S+|192\.168\S+)\b.{0,30}(?:clash\w*|collid\w*|overlap\w*|conflicts?) with",
                r"(?:two|three|four|six|eight|\d+|several|all|both) (?:\w+ )?(?:ports|nics|interfaces|addresses)\b(?: all)?.{0,16}(?:in|on) (?:the same|one|a single) (?:/\d+|subnet|network|lan|vlan)|(?:all|every)\b.{0,40}(?:leaves?|goes?|exits?) (?:via|over|through|on|by) the first",
                r"(?:repl(?:y|ies)|answers?|returns?|comes? back|leaves?) .{0,24}(?:wrong|other|different|first) (?:nic|interface|port|address|ip)\b|arp_(?:ignore|announce|filter)\b",
                r"(?:addresses|ips?) (?:\w+ )?(?:from|in|of) (?:the )?same (?:\w+ )?(?:pool|range|dhcp|subnet|network|block|vlan)|(?:goes|go|leaves?|sent|traffic)\b.{0,40}\b(?:out )?(?:by|via|through|over|on) the (?:first|wrong|other|default) (?:nic|port|interface|one|adapter|card)?\b|(?:both|two) (?:interfaces|nics|ports|uplinks)\b.{0,24}\bdefault (?:gateway|route)",
            )
        ),
        "address-claimed-twice": Topic(
            wordings=(
                r"duplicate (?:ip|address|ipv4|ipv6)|ip (?:address )?conflict|same ip (?:address )?(?:on|twice|assigned|used)|address (?:already )?in use by another (?:host|machine)",
                r"two (?:machines|hosts|nodes|mac addresses|macs).{0,40}(?:same|one) (?:ip|address)",
                r"(?:mac|arp).{0,30}(?:flips?|changes|alternat\w+) (?:between|back)",
                r"(?:two|2|several) macs? .{0,20}(?:answer|repl|claim|for)|(?:answer\w*|repl\w+|arp\w*|claim\w*)\b.{0,30}\b(?:two|2|both|different|several|another|alternat\w+|changing) (?:macs?\b|mac address\w*|hardware address\w*|ethernet address\w*)|(?:identical|duplicate\w*|cloned?|same) (?:ips?|macs?|addresses|guids?|node guids?|mac address\w*)\b|\(?DUP!",
                r"(?:arp|mac|neighbou?r)\b.{0,40}(?:keeps? changing|flaps?|flips?|moves? between|alternat\w+)|split[- ]brain.{0,40}(?:vip|address|ip)|(?:vip|address|ip)\b.{0,40}(?:announced|held|claimed|answered|owned|used) (?:by|on) (?:two|both|several)",
                r"(?:lands?|ends? up|connects?|goes) alternat\w+ (?:on|at|to)",
                r"arping\b.{0,90}(?:and \d|two|2|several|both|different)|(?:two|2|both|different) (?:lladdr|hardware address\w*)|(?:dhcp|laptop|someone|somebody)\b.{0,60}(?:static|same|our) (?:ip|address)",
                r"is using my ip|same machine-id|gave both|(?:two|both) (?:vms|machines|hosts|nodes).{0,40}(?:same|one) (?:address|ip|lease)",
                r"(?:moved|changed) from (?:[0-9a-f]{2}:){5}[0-9a-f]{2} to|host identification has changed\b.{0,40}(?:every|each|second|other|again|alternat)|\bdupaddr\b",
                r"address conflict|same (?:hostname|name) and (?:the same )?(?:ip|address)|(?:second|another|rogue) (?:host|machine|device|server|vm|container) (?:with|has|uses|using|holds|took) (?:the same|our|its|this|that) (?:ip|address)",
                r"(?:someone|somebody|another|other|a (?:printer|laptop|phone|vm|container|camera))\b.{0,24}\b(?:took|takes|grabbed|stole|uses?|using|has|got|claims?|answers? (?:for|to)) (?:the |our |its |my |this )?(?:same )?(?:ip|address|vip)\b",
            )
        ),
        "goes-through-router": Topic(
            wordings=(
                r"(?:through|via|over|crosses|traverses|hairpins?|passes) (?:the |a |an )?(?:router|gateway|firewall|l3|layer ?3|core|vpn|nat|wan)\b",
                r"(?:different|wrong|another|other|separate) vlans?\b",
                r"(?:routed|detour|extra hops?|longer path|hairpin\w*)",
                r"inter-?vlan",
                r"in between (?:is |sits |are )?(?:a |the )?(?:\d+ ?g\w* )?(?:firewall|router|gateway)|(?:in|on) (?:the |a )?\w+ vlan\b.{0,40}(?:in|on) (?:the |a )?\w+ vlan",
            )
        ),
        "latency-grows-under-load": Topic(
            wordings=(
                r"(?:latency|rtt|ping|delay).{0,40}(?:grows?|rises?|jumps?|increas\w+|climbs?|spikes?|goes up).{0,50}(?:load|busy|transfer|upload|download|copy|bulk|saturat|traffic|backup)",
                r"buffer-?bloat|deep (?:buffers?|queues?)|standing queue",
                r"(?:during|while|when).{0,25}(?:copy|upload|download|transfer|backup|checkpoint|bulk).{0,40}(?:latency|ping|rtt|stream|token)",
                r"(?:ping|rtt|latency|delay)\w* .{0,12}(?:goes|jumps?|climbs?|rises?|grows?|from) .{0,24}\d.{0,24}(?:to|->) ?\d.{0,40}(?:while|during|when|as soon|under|with)",
                r"(?:p9\d|tail|latency|choppy|stutter\w*|jerky)\b.{0,50}(?:whenever|while|during|each time|every time|as soon as) .{0,50}(?:rsync|backup|upload|download|cop(?:y|ies)|saturat|transfer)",
                r"(?:huge|deep|oversized|bloated) (?:\w+ )?buffers?|fq_codel|\bsqm\b|\bcake\b.{0,30}(?:fix|help|qdisc)|txqueuelen \d{4,}|backlog \d+(?:\.\d+)? ?mb",
                r"(?:router|modem|wan|uplink|link|switch|nic)\b.{0,12}queues? (?:for |up to |of )?(?:about )?\d+(?:\.\d+)? ?m?s\b|late during (?:the )?(?:backup|upload|copy|transfer)s?",
                r"(?:ping|rtt|latency|delay)\w* (?:during|under|while|with|in) (?:an? |the |our |full )?(?:\w+ )?(?:upload|download|copy|backup|load|transfer|sync)\w*\b.{0,12}\d|(?:unloaded|idle|quiet)\b.{0,30}\d ?ms.{0,40}(?:loaded|busy|load|upload|transfer)\w*.{0,30}\d ?ms",
                r"\b\d{1,2}(?:\.\d+)? ?ms ?(?:->|=>|→|to) ?(?:about |over )?\d{3,}(?:\.\d+)? ?ms\b|(?:stutter|chopp?y|jerk|lag|freez)\w*\b.{0,50}(?:when|while|whenever|as soon as|each time|if|during)\b.{0,40}(?:rsync|sync\w*|backs? up|backup|upload\w*|download\w*|cop(?:y|ies|ying)|transfer\w*)",
                r"\d ?ms (?:when )?(?:idle|quiet|unloaded|at night|normally)\b.{0,24}\d{2,}.{0,24}\b(?:when|while|during|under|with|once|as)\b",
            )
        ),
        "icmp-prohibited": Topic(wordings=(r"admin(?:istratively)?[- ]prohibited|host prohibited",)),
        "handshake-hangs": Topic(
            wordings=(
                r"(?:tls|ssl|https|handshake|certificate|kex|key exchange|client ?hello|server ?hello|ecdh_reply)\b.{0,60}(?:hangs?|stalls?|stuck|freez\w*|times? out|silen\w+|never|for ?ever|abort)",
                r"(?:hangs?|stalls?|stuck|freez\w*|silen\w+)\b.{0,60}(?:tls|ssl|https|handshake|certificate|kex|key exchange|client ?hello|server ?hello)",
                r"(?:ssl|tls) (?:connection|handshake) time-?out",
                r"(?:stops?|ends?|stays?|halts?) (?:after|at|with).{0,60}(?:client hello|handshake)",
                r"client ?hello\b.{0,24}\b(?:then|and) (?:nothing|silence|it (?:stops|ends|waits))|(?:no|without|never (?:gets?|sees?|receives?)) (?:a |the |any )?(?:server ?hello|certificate)",
            ),
            negatable=False,
        ),
        "tunnel-in-path": Topic(
            wordings=(r"\b(?:vxlan|geneve|wireguard|vpn|ipsec|pppoe|gre|tunnels?|tunnelled|tailscale|openvpn|overlay|wg\d)\b",)
        ),
        "uses-roce-counters": Topic(
            wordings=(r"local_ack_timeout\w*|packet_seq_err|out_of_sequence|roce_slow_restart|roce_adp_retrans",)
        ),
        "cloud-cap": Topic(
            wordings=(
                r"(?:burst|network) credits?\b|baseline bandwidth|(?:bandwidth|network|pps|packet|connection) (?:allowance|quota|entitlement)|(?:pps|bw_\w+|conntrack|linklocal)_allowance_exceeded",
                r"(?:instance|vm|azure|gcp|gce|ec2|aws|cloud|egress|flavou?r|sku)\b.{0,40}(?:caps?|capped|limits?|limited|throttl\w*|shap\w*|allows?|maxes out) .{0,24}\d+(?:\.\d+)? ?[mg]b(?:it)?(?:ps|/s)",
                r"(?:egress|per-vm|per[- ]instance|instance|vm) (?:bandwidth |network |egress )?(?:limit|cap|quota|ceiling)\b",
                r"\b(?:t2|t3a?|t4g|c[4-8]\w{0,3}|m[4-8]\w{0,3}|r[4-8]\w{0,3}|g[4-6]\w{0,2}|p[2-5]\w{0,2}|i[34]\w{0,2}|n[12]-\w+|e2-\w+|standard_\w+)\b\.?\S*.{0,60}(?:first|few|some) (?:minutes|gbs?|seconds|gigabytes).{0,40}(?:then|falls?|drops?|after|settle)",
                r"(?:first|few|some|\d+) (?:min(?:ute)?s?|hours?|gbs?|gigabytes)\b.{0,24}\bthen (?:\w+ ){0,2}\d+(?:\.\d+)? ?[mg]b|(?:first|few|some) (?:minutes|gbs?|gigabytes)\b.{0,24}(?:fast|full|10 ?g|25 ?g).{0,24}then\b|(?:falls?|drops?|settles?|goes) (?:back |down )?to \d+(?:\.\d+)? ?[mg]b\w*(?:/s)? after (?:some |a few |about |\d+ )?(?:minutes|hours?)",
                r"\d ?[mg]b?\w*(?:/s)? for (?:a|the first|some|about|\d+) .{0,12}(?:minutes?|seconds?|hours?)\b.{0,16}(?:then|after|before)|bursts? (?:allowed|balance|bucket|budget|above)",
                r"(?:instance|vm|machine) (?:type|size|class|flavou?r)\b.{0,40}(?:guarantees?|offers?|allows?|limited|capped|baseline|up to)",
                r"(?:expected|documented|advertised|published) (?:network )?bandwidth (?:limit )?of the (?:size|instance|vm|sku)|(?:first|initial) (?:\w+ )?minutes\b.{0,16}then (?:steady |constant |only |down to |about )?\d+(?:\.\d+)? ?[mg]b|standard_\w+.{0,40}(?:never|limit|cap|max)",
                r"\b(?:t2|t3a?|t4g|c[4-8]\w{0,3}|m[4-8]\w{0,3}|r[4-8]\w{0,3}|g[4-6]\w{0,2}|[nec]\d\w?-(?:standard|highmem|highcpu|micro)\S*|standard_\w+|vm\.\S+)\b.{0,40}(?:never (?:exceeds?|more|above|over|gets?)|stays?|stuck|caps?|capped|tops? out|stops?|limited|max\w*|no more than|peaks?) .{0,24}\d+(?:\.\d+)? ?[mg]b",
                r"(?:network|burst|bandwidth|cpu|instance|large) credits?\b.{0,16}(?:gone|used up|exhausted|empty|run out|spent|depleted)|\d+ ?g\w*(?:/s)? (?:burst|peak)\w*\b.{0,24}\b(?:then|after|baseline|sustained)",
            ),
            negatable=False,
        ),
        "neighbours-full": Topic(
            wordings=(
                r"(?:neighbou?r|arp|ndp)(?: cache| table)?.{0,20}(?:is |was )?(?:full|overflow\w*|exhaust\w*)|gc_thresh\d",
                r"no buffer space available\b.{0,60}(?:hosts?|nodes?|ping|neighbou?r|subnet|/1\d)|(?:ping|arp|connect)\w*\b.{0,24}no buffer space available",
            ),
            negatable=False,
        ),
        "takes-a-detour": Topic(
            wordings=(
                r"(?:tailscale|derp|zerotier|openvpn|relay)\b.{0,60}(?:lan|same|local|between|instead)|(?:out|goes|go|leaves?) (?:to|via|over|through) (?:the |our |its )?public (?:ip|address|internet|side)\b",
                r"(?:hair-?pins?|trombon\w*|u-turn)|(?:inspection|transit|egress) (?:vpc|gateway|firewall)|(?:default gateway|gateway) (?:for|to reach|towards?) (?:the |its )?(?:peers?|neighbou?rs?|other)",
                r"\bttl ?=? ?(?:5\d|6[0-3]|12[0-7])\b.{0,40}(?:neighbou?r|same|rack|local|between|lan)|\d+ hops\b.{0,40}(?:same|rack|between|local|firewall|instead)",
                r"same rack\b.{0,60}(?:route|vpn|hops?|router|core)|public (?:dns )?(?:name|ip|address|endpoint|url)\b.{0,40}(?:inside|within|from (?:the|our) (?:cluster|vpc|network))|(?:internet|nat) gateway and back|route points? to the (?:vpn|gateway|wan)",
                r"neighbou?rs?\b.{0,40}(?:core router|up to the|over the core|\d hops)",
                r"\brelay \W[a-z]{2,5}\W|\bvia derp\b|(?:each other|internal\w*|siblings?|pods?|neighbou?rs?)\b.{0,40}(?:by|through|via|over|use|using) (?:the |our |its )?(?:public|external) (?:load[- ]?balancer|lb|name|hostname|ip|address|endpoint|url)\b",
                r"traceroute\b.{0,60}(?:same|local|neighbou?r\w*|two) .{0,40}(?:firewall|router|gateway|core|\d hops)|(?:between|from) (?:two |both )?(?:\w+ )?(?:nodes|hosts|machines|servers) (?:in|of|on|at) (?:the |one )?same (?:rack|switch|room|site|subnet|row)\b.{0,40}(?:firewall|router|gateway|vpn|core|wan)",
                r"(?:same (?:rack|switch|room|leaf|tor))\b.{0,60}(?:through|via|over|across|travel\w*|pass\w*|cross\w*) (?:the |a |our )?(?:\w+ )?(?:firewall|router|gateway|vpn|core|wan)\b",
            ),
            negatable=False,
        ),
        "rdma-retry-exceeded": Topic(
            wordings=(
                r"(?:transport )?retry (?:count(?:er)?s? )?exceeded|retries exceeded|vendor err(?:or)? (?:129|0x81)|vend 0x81|\b(?:transport_)?retry_exc(?:eeded)?(?:_err)?\b|\bruns? out of retries\b",
            ),
            negatable=False,
        ),
        "mtu-named": Topic(
            wordings=(r"\bmtu\b[ :=]{1,3}(?:of |is )?(?P<value>\d{4,5})\b",),
            negatable=False,
        ),
    },
)
