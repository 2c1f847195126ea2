"""What people say of proxies, balancers, keep-alive, streams and connection limits."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_PROXY = r"(?:prox(?:y|ies)|nginx|ingress|gateway|load[- ]?balancer|\blb\b|\balb\b|\belb\b|haproxy|envoy|traefik|caddy|apache|cloudflare|relay|\bcdn\b|istio|kong|litellm|router|ztunnel|waypoint|sidecar|oauth2-proxy|waf|mesh)"

SYMPTOMS = Symptoms(
    title=Text(en="gateways", zh="网关"),
    topics={
        "through-proxy": Topic(wordings=(rf"\b{_PROXY}\b", r"\b(?:cloudflared|ngrok|tunnel|waf|web tier|bff|edge)\b")),
        "direct-is-fine": Topic(
            wordings=(
                r"\b(?:direct(?:ly)?|bypass\w*|port-forward\w*|without (?:the |a |any )?(?:proxy|nginx|ingress|gateway|balancer|tunnel|cdn|waf|middleware)|straight)\b.{0,70}(?:fine|works?|ok|stream|fast|at once|normal|immediate|smooth|(?:token|word|letter|line)s? (?:by|after) |\btypes\b|(?:one|a) (?:chunk|event|token)|(?:chunk|event|token) every|good|no (?:problem|delay))",
                r"(?:fine|works?|streams?|fast|smooth|ok)\b.{0,40}\b(?:direct(?:ly)?|when bypassing|without (?:the )?(?:proxy|nginx|ingress|gateway))\b",
            ),
            negatable=False,
        ),
        "no-proxy-between": Topic(
            wordings=(
                r"(?:no|without(?: any| a)?|not behind (?:a|any)|there is no) (?:reverse )?(?:prox(?:y|ies)|gateway|nginx|load balancer)\b",
                r"direct(?:ly)? to the (?:server|app)",
            ),
            negatable=False,
        ),
        "stream-in-one-piece": Topic(
            wordings=(
                r"(?:one|a single|1) (?:piece|batch|chunk|block|go|burst|lump|big chunk)\b",
                r"\b(?:pops?|shows?|appears?|comes?|arrives?|dump\w*|lands?|delivered|displayed)\b.{0,20}\b(?:up )?(?:at once|in one go|all together|as a whole|in a single)|(?:holds?|keeps? back|retains?|delays?|swallows?)\b.{0,20}\b(?:sse|events?|stream|tokens?|chunks?)\b",
                r"all at once|at once at the end|everything at the end|only at the end|(?:until|when) (?:the )?(?:whole |entire |full |complete )?(?:response|answer|generation|output|stream) (?:is )?(?:complete|done|finish|ends?|ready)",
                r"(?:tokens?|events?|chunks?|words?|text|output|stream\w*|sse)\b.{0,60}(?:bursts?|batch(?:es|ed)?|clump|buffer(?:s|ed|ing)\b|blocks of|lumps|chunky|in groups|together)",
                r"stream\w*.{0,40}(?:does not|doesn't|not|no longer|never|stops?|broken) (?:work|stream\w*)",
                r"\b(?:all|everything|whole|entire|complete|full)\b.{0,40}\b(?:only |just )?(?:at|on|after|upon|with|once) (?:completion|the end|it (?:is|has) (?:finish|done|complet)\w*|finish)",
                r"\b(?:1|one|a single|few big) (?:read|packet|write|frame|flush)s? of \d|after (?:it|generation|the model) (?:has )?(?:finish|complet|end)\w*",
                r"\b(?:browser|client|user|page|ui|front ?end|reader|it)\b.{0,12}\b(?:saw|sees|gets?|got|receive[sd]?|had|has) (?:none of (?:it|them)|nothing(?: of (?:it|them))?|no (?:byte|event|token|chunk)s?)\b.{0,12}\b(?:before|until|till)\b",
                r"not (?:actually |really )?stream(?:ing|ed)|no (?:incremental|streaming|token[- ]by[- ]token)",
                r"\d+ (?:events?|tokens?|chunks?) (?:per|in (?:one|each|a)) (?:read|burst|packet)|(?:gaps?|intervals?)\b.{0,30}(?:alternat\w*|bimodal)",
                r"\b(?:ttfb|first byte|waiting)\b\W{0,3}(?:is |of |after )?\d+(?:\.\d+)? ?s\b.{0,30}\b(?:download|content|body|transfer|receiv\w+)\b.{0,16}?\b\d{1,3}(?:\.\d+)? ?ms\b",
                r"\b(?:nothing|blank|empty|silence)\b.{0,40}\b(?:then|until|followed by|before)\b.{0,20}\b(?:everything|the whole|the full|all of it|the complete)\b",
                r"\b(?:in|as) (?:packs?|groups?|batches|clumps|lumps|bundles|blocks?) of (?:about |~ ?)?\d+",
                r"nothing (?:for|until|at all)\b.{0,30}then (?:the )?(?:full|whole|entire|everything|all|complete)|\b(?:every|each) (?:token|chunk|event)s?\b.{0,20}(?:late|delayed|held)",
                r"(?:sse|event-stream|server-sent|streaming).{0,60}(?:buffer|delay|held|late|end|hang)",
                r"(?:ttfb|ttft|first (?:token|byte|event))\b.{0,50}(?:equals?|same as|≈|close to|almost|nearly|as long as) (?:the )?(?:total|whole|full|end)",
            ),
            negatable=False,
        ),
        "proxy-buffers": Topic(
            wordings=(
                r"(?:response|request|proxy|upstream)[-_ ]?buffering\b.{0,12}(?:\bon\b|enabled|true|default)|http-no-delay|proxy_buffering\W{1,3}on|proxy[-_]request[-_]buffering",
                r"(?:upstream|proxy|response|nginx|gateway)\b.{0,40}\bbuffer(?:s|ed|ing)\b",
                r"\bbuffer(?:s|ed|ing)? (?:middleware|filter|plugin|policy|stage)\b|max(?:Response|Request)BodyBytes",
                r"x-accel-buffering|\bbuffering\b.{0,30}(?:default|on\b|enabled|proxy|nginx)",
                r"a(?:n upstream)? response is buffered to a temporary file",
            )
        ),
        "compression-on": Topic(
            wordings=(
                r"content-encoding\W{1,3}(?:gzip|br|deflate|zstd)",
                r"enable_compression|gzip ?middleware|compression\(\)|app\.use\(compress|\bcompress\w* (?:middleware|filter)|\bgzip on\b|gzip_types.{0,80}(?:event-stream|\*)|flate|brotli on|encode (?:gzip|zstd)",
                r"(?:gzip|brotli|deflate|zstd|compress\w*)\b.{0,50}(?:enabled|on\b|stream|event|middleware|sse|active|response)",
                r"(?:without|disabling|removing|no|off|identity)\b.{0,20}(?:gzip|compression|accept-encoding|brotli).{0,60}(?:stream|fine|works?|immediate|at once|ok)",
                r"\bcompress(?:ion)?\W{1,3}(?:false|off|true)\b|(?:without|disabling|turning off|removing) (?:gzip|compress\w*|brotli)\b.{0,30}(?:fix|help|solv|work|fine)",
                r"--compressed\b|accept-encoding\W{1,3}(?:gzip|br)",
            ),
            negatable=False,
        ),
        "heartbeat-every": Topic(
            wordings=(
                r"\b(?:heart-?beats?|keep-?alive (?:comments?|events?|messages?)|comment (?:events?|lines?)|ping (?:events?|frames?|messages?|comments?)|sse (?:comments?|pings?)|signs? of life)\b.{0,24}\bevery (?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|min|minutes?)\b",
                r"\bevery (?P<value>\d+(?:\.\d+)?) ?(?P<unit>s|sec|seconds?|min|minutes?)\b.{0,24}\b(?:heart-?beats?|pings?|comments?|keep-?alives?)\b",
                r"\b(?:heart-?beat|ping|keep-?alive)[-_ ](?:interval|period)\W{1,4}(?:is |of )?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>s|sec|seconds?|min|minutes?)\b",
            ),
            negatable=False,
        ),
        "stream-ends-early": Topic(
            wordings=(
                r"\b(?:event )?(?:streams?|sse|responses?|bodies|answers?|generations?)\b.{0,16}\b(?:ends?|breaks?|stops?|is cut|are cut|cut off|dies?|die|truncated|close[sd]?)\b.{0,50}\b(?:mid-?\w*|early|before|while|although|without (?:an )?error|in the middle|half-?way)\b",
            ),
            negatable=False,
        ),
        "sporadic-reset": Topic(
            wordings=(
                r"(?:now and then|rare(?:ly)?|random(?:ly)?|sporadic(?:ally)?|occasional(?:ly)?|intermittent(?:ly)?|some(?:times)?|few|a fraction|\d(?:\.\d+)? ?%)\b.{0,60}\b(?:50[234]s?|resets?|econnreset|broken pipe|bad gateway|disconnect|connection (?:closed|reset)|fail)",
                r"\b(?:50[24]s?|econnreset|connection (?:reset|closed)|remote end closed|server disconnected|socket hang up|bad gateway|remotedisconnected|broken pipe)\b.{0,60}\b(?:now and then|rare|random|sporadic|occasional|intermittent|some|few|\d(?:\.\d+)? ?%)",
                r"socket hang up|server disconnected without sending|RemoteDisconnected|NoHttpResponseException|\bfailed to respond\b|ServerDisconnectedError|stale (?:pooled )?connections?|unexpected EOF|remote end closed connection without response|other side closed|upstream prematurely closed|recv\(\) failed \(104|reset by peer.{0,30}(?:while reading|upstream)",
                r"\bECONNRESET\b|connection reset by peer",
                r"\b(?:type)?error: terminated\b|\b(?:typeerror: )?fetch failed\b|\bsays? (?:only )?[\"'`]?terminated\b",
                r"HTTP/1\.1 502|\b502 bad gateway|\b502s?\b",
            )
        ),
        "after-silence": Topic(
            wordings=(
                r"\b(?:rested|sat (?:unused|idle)|lain idle|had been (?:idle|quiet|unused))\b|\b(?:first|next) (?:re-?)?use of (?:a|the|an|each) (?:\w+ )?(?:pooled|kept|cached|idle|old|warm)?\s*(?:connection|socket)",
                r"after (?:idling|being idle|an idle|the idle|a (?:longer |long |short )?(?:break|pause|gap))|\bidling\b|idle for (?:an?|one|two|half an|several|some|more) ",
                r"after (?:some |a few |several |\d+ ?)?(?:seconds?|s|minutes?|min|hours?|h|a while)?\s*(?:of )?(?:silence|idle(?:ness| time)?|inactivity|being idle|no traffic|pause|quiet)",
                r"after (?:an?|\d+|several|some|a few) (?:hours?|min\w*|seconds?) (?:of )?(?:no|without|idle|silence|inactivity)\b",
                r"(?:idle|inactive|quiet|unused|silent|paused?) (?:for|connections?|more than|longer|period|time|over|phase|session)\b",
                r"(?:first|next) request after\b",
                r"\b(?:pauses?|rests?|idles?|thinks?|waits?) (?:a while |some time |for \w+ )?between (?:requests?|calls?|turns?|messages?|steps?|prompts?)\b|\bbetween (?:two )?turns\b",
                r"\bafter\b.{0,30}\b(?:was|were|is|been) (?:busy|away|waiting|occupied|computing|working)\b.{0,40}\b(?:for )?(?:some|a few|several|\d+) ?(?:s\b|sec\w*|min\w*)",
                r"low traffic|at night|over (?:the )?(?:night|weekend|lunch)|in the morning",
                r"idle (?:for )?(?:more than |over |about |~)?\d+ ?(?:s|sec|min|minutes|h|hours)",
            )
        ),
        "app-never-saw-it": Topic(
            wordings=(
                r"(?:application|app|backend|server|upstream|service)\b.{0,40}(?:no trace|no log|never (?:saw|sees|got|receiv)|nothing|does not (?:see|log)|not (?:see|log|reach)|no record)",
                r"(?:request|it)s? (?:never|does not|do not|doesn't) (?:reach|arrive|show up)",
            ),
            negatable=False,
        ),
        "server-keepalive": Topic(
            wordings=(
                r"(?:uvicorn|gunicorn|node(?:\.?js)?|express|server|backend|app\w*|upstream|hypercorn|tomcat|puma|apache|jetty)\b.{0,40}keep-?_?alive.{0,30}?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|min|minutes?)\b",
                r"keep-?alive-?timeout.{0,16}?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?)\b",
                r"timeout[-_]keep[-_]alive\W{1,3}(?P<value>\d+)()",
            )
        ),
        "server-keepalive-default": Topic(
            wordings=(
                r"\b(?:uvicorn|node(?:\.?js)?|express|fastapi|nest(?:js)?)\b.{0,50}\b(?:default(?:s| settings?| config\w*)?|without (?:any )?(?:options|flags|keep-?alive)|untuned|unchanged|out of the box)\b",
                r"\bdefault\b.{0,40}(?:timeout[-_]keep[-_]alive|keepAliveTimeout|keep-?alive)",
            ),
            negatable=False,
        ),
        "long-idle": Topic(
            wordings=(
                r"(?:after|for|idle|inactiv\w*|silence|quiet|unused|untouched)\b.{0,30}\b(?:[4-9]|[1-9]\d+|several|a few|some) ?(?:min(?:ute)?s?|h|hours?)\b.{0,30}\b(?:idle|inactiv\w*|silence|quiet|without|no traffic|nothing)",
                r"(?:idle|idling|inactiv\w*|silen\w+|quiet|no traffic|unused)\b.{0,30}\b(?:[4-9]|[1-9]\d+|several|an?|one|two|half an|a few) ?(?:min(?:ute)?s?|h|hours?)\b",
                r"(?:thinks?|thinking|reason\w*|generat\w+|prefill\w*|takes?|runs?|needs?)\b.{0,20}\b(?:longer|more) than\b.{0,16}\b(?:[4-9]|[1-9]\d|four|five|six|ten|fifteen|thirty) ?min",
                r"\b(?:calls?|requests?|jobs?|quer(?:y|ies)|answers?|generations?|posts?|runs?|ones|prompts?)\b.{0,12}\b(?:that )?(?:take|takes|taking|finish(?:es|ing)?|last(?:s|ing)?|run(?:s|ning)?|longer|over|above|under|within|shorter)\b.{0,16}\b(?:[3-9]|[1-9]\d|four|five|six|ten|fifteen|thirty)(?: to \d+)? ?min",
                r"\bsends? (?:nothing|no (?:bytes?|data|byte))\b.{0,24}\b(?:until|till|before|for|while)|\bno (?:bytes?|data|traffic) (?:at all )?(?:until|till|flows? (?:until|for|while))",
                r"(?:idle|inactiv\w*|silen\w+)\b.{0,20}\b(?:350|[2-9]\d\d|[1-9]\d{3}) ?s(?:ec\w*)?\b|\b(?:350|[2-9]\d\d|[1-9]\d{3}) ?s(?:ec\w*)? (?:of )?(?:idle|inactiv|silen)",
                r"(?:first|next) (?:\w+ )?(?:request|call|query|message)s? (?:in|of) the (?:morning|day|week)|over ?night|(?:after|over) (?:the )?(?:lunch|weekend)",
            )
        ),
        "balancer-idle": Topic(
            wordings=(
                r"(?:\balb\b|\belb\b|\bnlb\b|balancer|nginx|ingress|proxy|gateway|envoy|haproxy|firewall|nat|\blb\b)\b.{0,50}\b(?:idle|keep-?alive)\b.{0,30}?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|min|minutes?)\b",
                r"\bidle (?:\w+ )?connections? (?:for |up to |open (?:for )?){1,2}(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|min|minutes?)\b",
                r"\bidle_timeout\.timeout_seconds\W{1,4}(?P<value>\d+)()",
                r"\bidle[- _]?time-?out\b.{0,24}?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|min|minutes?)\b",
            )
        ),
        "stateful-device": Topic(
            wordings=(
                r"\b(?:private subnet|nat ?gw|sg and nacl|firewall|nat(?: gateway)?|stateful|security appliance|nlb|network load balancer|vpc peering|transit gateway|azure (?:load balancer|lb)|conntrack|palo ?alto|fortigate|asa|vpn|masquerade)\b",
            )
        ),
        "silent-idle-drop": Topic(
            wordings=(
                r"(?:firewall|nat|nlb|balancer|stateful|conntrack|azure|appliance|vpn)\b.{0,70}(?:drops? (?:the |all |our |my |any |long |old )*(?:idle|quiet|silent|inactive|connections?|sessions?|flows?|entr\w+|state)|forgets?|removes?|expires?|evicts?|ages? out|kills?|silently|idle time-?out of)",
                r"conn(?:ection)? idle time-?out|(?:session|xlate|flow) (?:idle )?time-?out",
                r"(?:client|socket|connection|session)\b.{0,40}(?:stays?|still|remains?|shows?|looks?)\b.{0,12}(?:estab\w*|open|connected|alive)\b.{0,50}(?:nothing|never|no (?:data|response|answer|bytes|reply|traffic)|hang|forever|dead)",
                r"(?:firewall|\bnat\b|vpn|appliance|peering|transit gateway)\b.{0,60}\b(?:never (?:returns?|answers?|arrives?|comes? back|gets? (?:a|an|the) (?:answer|response|reply))|hangs?\b|stalls?\b)",
                r"retransmi\w+.{0,30}(?:nobody|no ?one|nothing) (?:answers?|replies|responds?|comes back)|(?:response|answer|reply) (?:is |was )?(?:sent|written)\b.{0,60}never (?:arrives?|reache\w+|comes?|received)",
                r"(?:hangs?|stuck|blocks?|waits?)\b.{0,20}(?:for )?(?:about |exactly |~ ?)?(?:1[0-9]) ?min\w*\b",
                r"\b(?:server|service|backend|worker|it|app|upstream|gpu side)\b.{0,40}\b(?:says? (?:it )?(?:has )?(?:answered|responded|sent|finished|200)|logs? (?:a )?(?:200|ok|success|response)|(?:answered|responded|finished|wrote|written|sent)\b).{0,100}\b(?:client|caller|we|user|browser|consumer|it)\b.{0,40}\b(?:never (?:gets?|got|receives?|sees?|saw|arriv\w+)|waits? (?:for ?ever|on|until)|hangs?|still waits?|keeps waiting|no answer)",
                r"\b(?:client|caller|consumer|browser)\b.{0,24}\b(?:waits? for ?ever|never (?:gets?|receives?|sees?) (?:it|the (?:answer|response|reply|result)))",
                r"(?:idle|quiet|silent|inactive|long-?lived)\b.{0,60}(?:hang|silently|dropped|dead|time[sd] out|no (?:answer|reply|fin|rst)|blackhole|lost|stale|half-open|torn down)",
                r"(?:hang|time ?out|reset|dead|stall|fail)\w*.{0,50}after (?:about |exactly |~ ?)?(?:4|5|10|15|30|60|350|900|1|2) ?(?:s|sec|seconds|min|minutes|h|hours?) (?:of )?(?:idle|inactiv|silence|without|no)",
                r"(?:established|ESTAB)\b.{0,60}(?:other (?:side|end)|peer|far end|remote).{0,40}(?:gone|none|no (?:entry|socket|connection)|closed|nothing|not there)",
                r"tcp_keepalive_time\W{1,4}7200|keep-?alive (?:probes?|interval).{0,30}(?:2 h|7200|never|off|not (?:set|enabled))",
                r"keep-?alives? (?:every|of|at) .{0,20}(?:fix|help|cure|solve)|(?:fix|help|cure|solve)\w* .{0,40}(?:keep-?alives?|heartbeats?|pings?)\b",
                r"no (?:FIN|RST)\b",
            ),
            negatable=False,
        ),
        "cut-at-round-time": Topic(
            wordings=(
                r"\b(?:always|exactly|every time|consistently|precisely|reliably|invariably)\b.{0,40}\b(?:at|after|around|about)?\s*(?P<value>10|15|20|29|30|45|60|90|100|120|180|240|300|600|900|3600)(?:\.0\d*)? ?(?P<unit>s|sec|seconds?)\b",
                r"\b(?:after|at)\s+(?:exactly |about |almost |just over |~ ?)?(?P<value>15|30|60|90|100|120|180|300|600)(?:\.[0-9]+)?[- ]?(?P<unit>s|sec|seconds?)\b.{0,60}(?:time ?-?out|504|502|524|408|cut|abort|clos|disconnect|error|reset|drop|fail|protocol)",
                r"(?:time ?-?out|504|502|524|cut|abort|clos\w+|disconnect\w*|error|reset|drop\w*|fail\w*)\b.{0,40}\b(?:after|at)\s+(?:exactly |about |almost |just over |~ ?)?(?P<value>15|30|60|90|100|120|180|300|600)(?:\.[0-9]+)?[- ]?(?P<unit>s|sec|seconds?)\b",
                r"\b(?:after|at) (?:exactly |about )?(?:one|1|two|2|five|5|ten|10) ?min(?:utes?)?\b.{0,60}(?:time ?-?out|504|502|524|cut|abort|clos|disconnect|error|reset|drop|fail)",
                r"(?:504|524)\b.{0,60}\b(?:after|at|exactly) ",
                r"\b(?:after|at) (?:exactly )?(?:one|1|two|2|five|5|ten|10|a|the) ?min(?:utes?)?(?: mark)?,? (?:sharp|flat|exactly|on the dot|precisely|to the second|mark)\b|\b(?:after|at) (?:exactly )?(?P<value>15|29|30|60|90|100|120|180|300|600)[- ]?(?P<unit>s|sec|seconds?) (?:sharp|flat|exactly|on the dot|precisely|mark)\b",
            )
        ),
        "gateway-timed-out": Topic(
            wordings=(
                r"APITimeoutError|ReadTimeout\b|request timed out|\b504\b|\b524\b|gateway time-?out|upstream (?:request )?time(?:d )?-?out|upstream timed out|stream timeout|\bUT\b response flag|response_flags.{0,6}UT",
                r"reset reason: (?:\w+ )?time-?out|disconnect/reset before headers|context deadline exceeded|\bH12\b|deadline_exceeded",
                r"ERR_HTTP2_PROTOCOL_ERROR|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_CLOSED|incomplete chunked read|peer closed connection without sending complete message",
                r"(?:proxy|ingress|nginx|gateway|balancer|lb|cdn|cloudflare)\b.{0,50}(?:cuts?|closes|aborts|gives up|times out|kills)",
            )
        ),
        "server-finishes-anyway": Topic(
            wordings=(
                r"(?:server|backend|model|upstream|engine|generation|request)\b.{0,50}(?:finish|complet|200\b|succeed|keeps? (?:running|generating|going)|continues|still (?:running|generating))",
                r"(?:finish|complet)\w+.{0,40}(?:after|later|anyway|normally|200)",
            ),
            negatable=False,
        ),
        "slow-first-byte": Topic(
            wordings=(
                r"(?P<value>\d+(?:\.\d+)?) ?(?P<unit>s|sec|seconds?|min|minutes?) (?:to|until|till|before|for) (?:the )?first (?:token|byte|chunk)",
                r"(?:ttft|ttfb|first (?:token|byte)|prefill|time to first (?:token|byte))\b.{0,30}?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>s|sec|seconds?|min|minutes?)\b",
                r"(?:request|generation|answer|inference|completion|job|prompt)\b.{0,40}(?:takes|took|needs|lasts|runs|in)\W{0,3}(?:about |around |~)?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>s|sec|seconds?|min|minutes?)\b",
            )
        ),
        "proxy-read-timeout": Topic(
            wordings=(
                r"(?:proxy|read|response|request|upstream|backend|route|stream|server|gateway|idle|client)[-_ ](?:read[-_ ])?time-?out\b.{0,20}?(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|seconds?|min|minutes?|m)?\b",
            )
        ),
        "connection-limit": Topic(
            wordings=(
                r"worker_connections are not enough|max(?:imum)?[-_ ]?conn\w*\b.{0,40}(?:\breached|\blimit|\bexceed)|too many (?:open )?connections|connection limit",
                r"pool ?timeout|connection pool is full|pool (?:is |was )?(?:exhaust|full|limit)|queue ?pool limit|timeout waiting for (?:a )?connection|exhausted (?:the )?(?:connection )?pool|no available connections?",
                r"limit_conn|limiting connections|\bUO\b|upstream_rq_pending_overflow|upstream_cx_overflow|circuit ?break\w*|max_pending_requests|max_requests\b|overflow(?:ed)? .{0,20}(?:pending|connections)",
                r"(?:qcur|scur|queue)\b.{0,40}(?:maxconn|limit|slim)|haproxy.{0,40}queue",
                r"never (?:sees?|has|had|gets?|goes|exceeds?|above|more)\b.{0,20}\d+ (?:requests?|connections?|concurrent|running|in flight|at (?:once|a time|the same time))|default (?:pool )?limits?\b|_wait_for_available_connection",
                r"(?:exactly|never more than|only|at most|stuck at|capped at|plateau\w* at|limited to|no more than|sits at|stays at)\s+(?:about )?\d+\s+(?:\w+ )?(?:concurrent|parallel|simultaneous|in[- ]flight|running|active|requests|connections|users|reqs)",
                r"\d+ (?:\w+ )?(?:concurrent|parallel|simultaneous|in[- ]flight|running|active)\b.{0,20}(?:never more|at most|no more|and not more|is the ceiling|then (?:it|they|the rest) (?:waits?|queues?|stalls?))",
                r"(?:rest|others?|remaining|further|next) (?:\w+ )?(?:requests?|ones|users|calls|tasks)?\b.{0,20}(?:waits?|queues?|hangs?|pends?|pending|stalls?)\b.{0,40}(?:client|gateway|proxy|pool|connection|slot)",
            )
        ),
        "connection-limit-set": Topic(
            wordings=(
                r"(?:limit|max(?!imum request concurrency)\w*|pool)\b.{0,30}\b(?:connections?|conns?|sockets?|in[- ]flight|concurren\w*)\W{1,6}(?:of |to |at )?\d+",
                r"TCPConnector\(|max_connections\W{1,3}\d+|max_keepalive_connections\W{1,3}\d+|maxsize\W{1,3}\d+|pool_maxsize|max_parallel_requests|limit_per_host|default (?:connection )?pool",
            ),
            negatable=False,
        ),
        "backend-idle": Topic(
            wordings=(
                r"(?:backend|server|gpus?|upstream|engine|replicas?)\b(?: (?!100)[\w/-]+){0,4} (?:is |are |at |~)*(?:idle|not busy|has room|no queue|bored|under-?used|free|(?<![\d.])[1-4]?\d(?:\.\d+)? ?%(?! of))",
                r"(?:num_requests_waiting|queue|waiting)\b\S{0,40}\W{1,6}0(?:\.0)?(?![\d.])",
            ),
            negatable=False,
        ),
        "parallel-wanted": Topic(
            wordings=(
                r"\b(?P<value>\d{2,5})() (?:[\w-]+ ){0,2}(?:parallel|concurrent|simultaneous|in[- ]flight|at once|at a time|at the same time)\b",
                r"\b(?:parallel|concurren\w*|simultaneous|in[- ]flight|num[-_ ]?workers|tasks|users)\W{1,3}(?:of |is |= ?)?(?P<value>\d{2,5})\b()(?! ?(?:ms|s\b|%|[kmg]i?b))",
                r"\b(?:fire|send|start|launch|run|issue|open)s? (?P<value>\d{2,5})() (?:[\w-]+ ){0,2}(?:tasks|requests|calls|prompts|users|coroutines|threads|streams)\b",
            ),
            negatable=False,
        ),
        "surcharge-constant": Topic(
            wordings=(
                r"\b(?:fixed|constant|same|flat|steady)\b.{0,20}\b(?:surcharge|overhead|penalty|extra|addition|delay|latency|cost|premium)\b",
                r"\b(?:surcharge|overhead|penalty|delay|cost)\b.{0,40}\b(?:each and every|every|each|per) (?:call|request|prompt|query)",
                r"\bload does not matter\b|\b(?:independent|regardless|irrespective) of (?:the )?(?:load|size|length|prompt)",
            ),
            negatable=False,
        ),
        "new-connection-each": Topic(
            wordings=(
                r"(?:new|fresh|separate|own) (?:tcp |tls |https? |ssl )*(?:connection|client|session|socket|handshake|channel)s?\b.{0,30}(?:per|for (?:each|every)|each|every)",
                r"(?:per|each|every)[- ](?:request|call|prompt|token|query)\b.{0,40}\b(?:opens?|connects|handshakes?|(?:new|creates?|builds?|makes?|sets? up).{0,20}(?:connection|client|session|socket|handshake|channel))\b",
                r"(?:handshake|tls|ssl|connect)\w*\b.{0,50}(?:each|every|per) (?:request|call|time)",
                r"(?:no|without|not|missing|disabled?) (?:\w+ )?(?:connection (?:reuse|pool\w*)|session|http keep-?alive|upstream keep-?alive|keep-?alive (?:to|towards|on the) (?:the )?(?:upstream|backend|server))",
                r"requests\.(?:get|post)\(|connection: close|http/1\.0|connections? (?:is|are) not re-?used|closing connection 0|left intact.{0,10}never",
                r"(?:handshake|connect(?:ion)?(?: setup)?|tls)\b.{0,40}(?:(?:[3-9]\d) ?%|half|most|two thirds|majority) of",
                r"(?:creat\w*|new|instantiat\w*|construct\w*|opens?)\b.{0,24}(?:client|session|channel|connection)\b.{0,30}(?:inside|in (?:the|each|every)|per|each|every)\b",
                r"(?:SYN|client ?hello|handshake)s?\b.{0,40}(?:for|per) (?:each|every)",
                r"\b(?:re-?connects?|opens? (?:a |its |another )?connections?|new sockets?|tcp and tls)\b.{0,24}\b(?:for|per|on|with|before) (?:each|every|all)\b",
                r"\b(?:lines?|they|these|handshakes?|connect\w*|set-?ups?)\b.{0,16}\b(?:again|repeat\w*|comes?|appears?|shows? up|happens?|is there)\b.{0,16}\b(?:for|with|on|at|in) (?:each|every) (?:\w+ )?(?:polls?|calls?|requests?|quer(?:y|ies)|messages?|pages?|tr(?:y|ies)|tokens?|chunks?)\b",
                r"SYN\b.{0,40}(?:per|each|every) request|as many (?:SYN|connections|handshakes) as requests",
            ),
            negatable=False,
        ),
        "stream-limit": Topic(
            wordings=(
                r"max[_-]?concurrent[_-]?streams?|concurrent streams?|http2_max_concurrent_streams|stream (?:limit|quota|concurrency)|REFUSED_STREAM",
                r"(?:100|128|250|1000|256) (?:concurrent |parallel |open |active |simultaneous )?(?:h2 |http/?2 |grpc |token |bidi(?:rectional)? )?streams?\b",
                r"\b(?:long[- ]lived|token|bidi\w*|grpc|h2|http/?2) streams?\b.{0,80}\b(?:nothing|stall\w*|waits?|hangs?|pend\w*|stuck|limit\w*)",
                r"streams?\b.{0,40}(?:per|on (?:a|one|the|each) (?:single )?) ?(?:tcp )?(?:connection|channel)",
            )
        ),
        "wall-at-hundred": Topic(
            wordings=(
                r"(?:above|beyond|over|more than|past|after|exceed\w*)\s+(?:about |exactly )?(?:100|128|200|250|256|400|1,?000)\s+(?:\w+ )?(?:concurrent|parallel|simultaneous|in[- ]flight|open|requests|rpcs?|calls?|streams?|users|clients|workers|generations)",
                r"\b(?:from|at)\s+(?:about |exactly )?(?:100|128|250|256|1,?000)\s+(?:concurrent |parallel |simultaneous |open |in[- ]flight )?(?:rpcs?|streams?|grpc|h2)\b",
                r"(?:second|another|more|several|two|\d) (?:grpc )?(?:channels?|connections?).{0,50}(?:double|fix|help|solv|scale|twice|remov|fine)",
                r"\b(?:101|129|201|251|1001)(?:st|th)?\b.{0,40}(?:wait|queue|block|hang|stall|nothing|never|no answer|stuck|fail|silent)",
                r"(?:limit\w*|cap(?:s|ped)?|stops?|stuck|max\w*|freez\w*|ceiling|wall)\b.{0,24}\b(?:to|at|of|after) (?:exactly |about |around )?(?:a hundred|one hundred|100|128|250|256)\b(?! ?(?:%|[kmg]?b|ms|s\b|w\b))",
                r"\b(?:100|128|250|256|a hundred)\b.{0,12}(?:streams?|calls?|rpcs?|requests?)?\W{0,2}(?:per|for each|on each|on one|on a single|each) (?:core|worker|connection|channel|thread)",
                r"rq_active\W{1,3}(?:100|128|250|256)\b|rq_pending_active\W{1,3}[1-9]",
            )
        ),
        "forty-milliseconds": Topic(
            wordings=(
                r"\b(?:second|next|following|later|last|other) (?:\w+ )?(?:part|half|piece|write|send|packet|segment|message|chunk|byte|line|field)s?\b.{0,50}(?<![\w.])(?:3[89]|4[0-5])(?:\.\d+)? ?(?:ms|milli-?seconds?)\b",
                r"\b(?:body|payload|answer|reply|response|data)\b.{0,24}\b(?:comes?|arrives?|follows?|needs?|takes?|is there|received|read)\b.{0,24}(?<![\w.])(?:3[89]|4[0-5])(?:\.\d+)? ?(?:ms|milli-?seconds?)\b",
                r"(?:\b(?:about|exactly|almost|around|roughly|always|fixed|constant|extra|plus|adds?|costs?|takes?|waits?|delay(?:s|ed)?(?: of| by)?|gaps?(?: of)?|stalls?(?: of)?|pauses?(?: of)?|every|each|another|least|just) (?:an? |the |about |extra |exactly |always |some )*|[~≈+] ?)(?:3[89]|4[0-8])(?:\.\d+)?(?: ?(?:-|to|\.\.|–) ?4\d(?:\.\d+)?)? ?(?:ms|milli-?seconds?)\b(?!\s{2})",
                r"(?<![\w.])(?:3[89]|4[0-8])(?:\.\d+)?(?: ?(?:-|to|\.\.|–) ?4\d(?:\.\d+)?)?[ -]?(?:ms|milli-?seconds?)\b.{0,16}\b(?:more|extra|delays?|gaps?|stalls?|pauses?|later|late|longer|slower|waits?|penalty|surcharge|overhead|latency|floor|steps?|apart|each|every|per|for (?:a|the|each|every|tiny|small)|always|constant\w*)\b",
                r"\b(?:steps?|multiples?) of (?:about |~ ?)?40\b|\bthe same (?:40|41|42)\b",
                r"\bforty[- ]?(?:ms|milli-?seconds?)\b",
                r"(?:^|[\s(])(?:00:00:0)?0\.04[0-4]\d{1,7}\b.{0,80}\back\b",
                r"\back\b.{0,40}\b(?:3[89]|4[0-8])(?:\.\d+)? ?ms (?:later|after|late)",
                r"\b(?:about |exactly |almost |around |~ ?|always |fixed |constant |extra |\+)(?:200|20\d) ?ms\b.{0,60}(?:small|each|every|write|message|ack|packet|stall|gap|token)",
            )
        ),
        "nagle": Topic(
            wordings=(
                r"\bnagle\b|tcp_?no_?delay|set_?no_?delay|delayed[- ]?acks?|tcp_quickack|\bMSG_MORE\b|tcp_cork|tcp_nopush",
                r"\bno (?:setsockopt|socket options?)\b",
                r"(?:header|length|prefix|status line)s? and (?:the )?(?:body|payload|data)\b.{0,30}\b(?:(?:in )?(?:two|separate|different) (?:small )?(?:writes?|sends?|syscalls?|segments?|packets?)|(?:written|sent|flushed) (?:separately|one after|apart|on their own))",
                r"(?:two|several|many|separate|multiple|small) (?:small )?(?:writes?|sends?|write\(\)s?)\b",
            ),
            negatable=False,
        ),
        "small-slower-than-big": Topic(
            wordings=(
                r"\b(?:bod(?:y|ies)|payloads?|messages?|requests?|answers?|responses?|ones|writes?|kB|bytes)\b.{0,40}\b(?:faster|quicker|less time) than (?:the )?(?:small|tiny|short)",
                r"\bsmall(?:er)?\b.{0,50}\bslower\b.{0,30}\b(?:big|large|long)|(?:big|large|long)\w*\b.{0,40}\b(?:faster|quicker)\b.{0,30}\bsmall",
                r"(?:inverts?|inverse|paradox|the smaller the slower)",
            )
        ),
        "source-ports-gone": Topic(
            wordings=(
                r"cannot assign requested address|EADDRNOTAVAIL|address not available|errno 99\b|os error 99|can't assign requested address",
                r"(?:ephemeral|source|local|snat)[- ]?ports?\b.{0,50}(?:exhaust|run out|ran out|used up|gone|all (?:in use|used)|none left|deplet|full|limit)",
                r"(?:exhaust|run(?:s|ning)? out|ran out|deplet)\w* .{0,20}(?:ephemeral|source|local|snat)? ?ports?\b",
                r"WSAEADDRINUSE|\b10048\b|only one usage of each socket address|dynamic ?port range|ip_local_port_range",
                r"no (?:free|available) (?:local |source |ephemeral )?ports?",
                r"OUT_OF_RESOURCES|nat_allocation_failed|min(?:imum)? ports per (?:vm|instance)|allocated[_ ]ports|ports? per (?:vm|node|instance|ip)\b",
                r"port ?exhaustion|ErrorPortAllocation|PortAllocation\w*|snat\b.{0,30}(?:fail|exhaust|error|limit|full)",
            ),
            negatable=False,
        ),
        "outbound-fails": Topic(
            wordings=(
                r"\b(?:outbound|egress|outgoing)\b.{0,60}\b(?:fail\w*|time ?-?outs?|timed out|drop\w*|errors?|refused|lost|hang\w*|cannot|intermittent\w*)",
                r"\b(?:fail\w*|time ?-?outs?|timed out|drop\w*|errors?|hang\w*)\b.{0,60}\b(?:outbound|egress|outgoing)\b",
            ),
            negatable=False,
        ),
        "more-instances-worse": Topic(
            wordings=(
                r"\b(?:doubl\w*|tripl\w*|more|add(?:ed|ing)|scal(?:ed|ing) (?:out|up)|scale-?out|bigger)\b.{0,50}\b(?:instances?|nodes?|pods?|vms?|machines?|workers?|pool|replicas?|clients?|scale)\b.{0,40}\b(?:worse|more (?:errors?|failures?|time-?outs?)|even more often)",
                r"\bworse\b.{0,40}\b(?:after|since|when|with)\b.{0,30}\b(?:scal\w+|doubl\w+|more|add\w+)\b.{0,30}\b(?:instances?|nodes?|pods?|vms?|machines?|workers?|out)\b",
            ),
            negatable=False,
        ),
        "few-destinations": Topic(
            wordings=(
                r"\b(?:same|single|one|few|handful of)\b.{0,16}\b(?:address(?:es)?|destinations?|endpoints?|ips?|hosts?|upstreams?|target)\b",
            ),
            negatable=False,
        ),
        "time-wait-many": Topic(
            wordings=(
                r"(?P<value>\d{2,3},?\d{3})\s+(?:sockets? |connections? )?(?:are )?(?:in )?time[-_ ]?wait()",
                r"time[-_ ]?wait\W{1,6}(?:sockets?\W{1,3}|count\W{1,3}|about )?(?P<value>\d{2,3},?\d{3})\b()",
                r"(?:thousands?|tens of thousands|many|full|lots|pile\w*|flood) .{0,20}time[-_ ]?wait",
            )
        ),
        "accept-queue": Topic(
            wordings=(
                r"listen ?(?:overflows|drops)|times the listen queue of a socket overflowed|SYNs to LISTEN sockets dropped",
                r"(?:accept|listen|syn|backlog)[- ]?(?:queue|backlog)?\b.{0,40}(?:overflow|full|drop|too (?:small|short)|exceed)",
                r"(?:possible )?SYN flooding on port|syn cookies",
                r"somaxconn\W{1,4}128\b|backlog\W{1,4}(?:5|10|50|100|128)\b",
                r"Recv-Q\b(?!\s+Send-Q\s+Local).{0,40}\b(?:backlog|greater|larger|exceed\w*|full|above|over|fills?|stuck at|equals?)\b|Recv-Q\W{1,3}(?:is |at |= ?)?[1-9]\d\d+\b",
            )
        ),
        "connect-slow-in-bursts": Topic(
            wordings=(
                r"connect\w*\b.{0,40}(?:1|3|7|1\.0\d|3\.0\d) ?s\b",
                r"(?:new )?connections?\b.{0,60}(?:time ?out|refused|hang|stall|slow|drop)\w*.{0,40}(?:burst|spike|peak|load|start|deploy|rush)",
                r"(?:burst|spike|peak|thundering|rush|start of).{0,60}connect",
            )
        ),
        "many-hops": Topic(
            wordings=(
                r"\b(?:[3-9]|three|four|five|six|seven|several|many|multiple|too many) (?:\w+ )?(?:hops|layers|proxies|gateways|sidecars|tiers|levels)\b",
                r"(?:->|→|=>|—>)[^,;]{1,40}(?:->|→|=>|—>)[^,;]{1,40}(?:->|→|=>|—>)",
                rf"\b{_PROXY}\b[^.;]{{0,24}}(?:\+|,|>|/|and|then)[^.;]{{0,16}}\b{_PROXY}\b[^.;]{{0,24}}(?:\+|,|>|/|and|then)[^.;]{{0,16}}\b{_PROXY}\b",
                r"each (?:hop|layer|proxy|sidecar|tier)\b.{0,50}(?:adds?|costs?|\d|ms)",
                r"(?:chain|stack) of (?:prox|gateways|hops|layers)",
                r"(?:sidecar|mesh|gateway)s?\b.{0,60}(?:adds?|overhead|costs?)\b.{0,20}\d",
            )
        ),
        "layer-adds-latency": Topic(
            wordings=(
                r"(?:adds?|added|adding|extra|overhead|more)\W{1,3}(?:about |another |~ ?)?\d+(?:\.\d+)? ?(?:ms|us|µs|s|%)\b.{0,40}(?:per|each|hop|layer|proxy|sidecar|gateway)",
                r"(?:per|each|every) (?:hop|layer|proxy|sidecar|gateway)\b.{0,40}\d+(?:\.\d+)? ?(?:ms|us|µs|%)",
                r"(?:without|skipping|bypass\w*|removing|direct)\b.{0,50}\d+(?:\.\d+)? ?ms\b.{0,40}(?:instead|less|with|vs|against|through)",
            )
        ),
        "blind-policy": Topic(
            wordings=(
                r"round[- ]?robin|\brandom (?:policy|balanc\w+|choice|replica)|least[-_ ]?conn\w*|ip[_-]hash|consistent hash|ClusterIP service",
            )
        ),
        "balancing-blind": Topic(
            wordings=(
                r"\b(?:round[- ]?robin|random|least[-_ ]?conn\w*|hash)\b.{0,60}(?:queue|long|uneven|hot|wait|some|overload|imbalance|prompts?|cache|idle)",
                r"(?:queue|long|uneven|hot|waiting|overload\w*|imbalance|idle)\b.{0,60}\b(?:round[- ]?robin|balancer|random)\b",
                r"\b(?:one|some|a few|two|\d+ of) (?:of (?:the )?|the )?(?:\w+ )?(?:replicas?|pods?|instances?|servers?|workers?|engines?)\b.{0,60}(?:queue|waiting|kv|full|overload|behind|saturat|9\d ?%|100 ?%)",
                r"(?:\b(?:replicas?|pods?|instances?|backends?|engines?|servers?)\b.{0,60}\bothers|(?:other|remaining|neighbou?ring) (?:replicas?|pods?|instances?|servers?|workers?|engines?|backends?|ones))\b.{0,30}\b(?:idle|empty|free|no queue|have room|bored|nothing to do|waiting 0|near 0)",
                r"waiting\W{0,3}[1-9]\d+\b.{0,60}\bwaiting\W{0,3}\d\b|\bwaiting\W{0,3}\d\b.{0,60}\bwaiting\W{0,3}[1-9]\d+\b",
                r"\b(?:replica|pod|instance|backend|server|engine|upstream)[- ]?\w{1,8}\b[^.;]{0,24}\d+(?:\.\d+)? ?(?:ms\b|s\b|%|waiting|queued)\W.{0,16}\b(?:replica|pod|instance|backend|server|engine|upstream)[- ]?\w{1,8}\b[^.;]{0,24}\d",
                r"waiting\W{1,3}\d+ ?(?:and|vs\.?|against|,|/) ?\d+|(?:queue|queues|kv cache|cache)\b.{0,20}(?:differs?|uneven|far apart|very different)",
                r"(?:balancer|router|gateway|proxy)\b.{0,50}(?:does not|doesn't|ignores?|unaware|knows? nothing|blind|no idea|cannot see)\b.{0,50}(?:queue|load|cache|batch|length|kv|replica)?",
                r"(?:prefix|kv|cache)\b.{0,16}\bhit\w*\b.{0,40}(?:drop\w*|fell|falls|down|low\w*|only|\d+ ?%).{0,60}\b(?:second|another|two|three|four|more|adding|added|instances?|replicas?|pods?|with one|balanc\w+)\b",
                r"\b(?:several|multiple|many|[2-9]|two|three|four) (?:replicas|instances|backends|workers|pods|engines)\b.{0,80}\b(?:no|without|lacks?|says? nothing|not) .{0,16}\b(?:affinity|stick\w*|session|which one|cache[- ]aware)",
                r"\bturns?\b.{0,30}\b(?:land|go|end up|arrive|hit)\b.{0,24}\b(?:different|other|another|random|any) (?:replicas?|instances?|backends?|pods?|workers?)\b",
                r"prefix cache (?:hit|miss)\w*.{0,60}(?:drop|low|fell|after|balanc|replica|round)",
            ),
            negatable=False,
        ),
        "bound-to-loopback": Topic(
            wordings=(
                r"(?:running|listen\w*|serving|bound|binds?|started|available|up)\b.{0,30}\b(?:on|at|to)\s+(?:https?://)?(?:127\.0\.0\.1|localhost|\[::1\]|loopback)",
                r"--?(?:host|bind|listen|address)[= ](?:127\.0\.0\.1|localhost)",
                r"OLLAMA_HOST\W{1,3}127\.0\.0\.1|OLLAMA_HOST (?:is )?(?:not set|unset)|host\W{1,3}\"?(?:127\.0\.0\.1|localhost)\"?(?!:\d+/)",
                r"\bLISTEN\b.{0,30}\s(?:127\.0\.0\.1|\[::1\]):\d+",
            ),
            negatable=False,
        ),
        "port-published": Topic(
            wordings=(
                r"(?:(?:0\.0\.0\.0|\[?::\]?|127\.0\.0\.1):)?\d{2,5}->\d{2,5}/tcp|\bport (?:is )?(?:published|mapped|forwarded)\b|\bpublished port\b",
            ),
        ),
        "local-works-remote-refused": Topic(
            wordings=(
                r"(?:curl |from |on )?(?:localhost|127\.0\.0\.1|the host|the same (?:host|machine)|locally|inside the (?:pod|container))\S*\b.{0,40}(?:works?|fine|ok|answers?|200|succeed|responds?)",
                r"\b(?:docker|kubectl|podman|nerdctl|crictl|compose)? ?exec\b.{0,60}(?:works?|fine|ok\b|answers?|\b200\b|succeeds?|responds?|->|→|tokens|returns|good)|\b(?:inside|within|in) (?:it|the (?:container|pod)|there)\b.{0,24}\b(?:works?|fine|ok|answers?|200|succeeds?|responds?|good)\b",
                r"(?:works?|fine|ok)\b.{0,30}\b(?:locally|from (?:the )?(?:localhost|same (?:host|machine)|host itself)|on (?:the )?(?:localhost|host))",
                r"(?:other|another|remote|second|different) (?:machine|host|node|pc|container|computer|laptop)s?\b.{0,50}(?:refused|cannot|can't|fail|unreachable|no access|not reach)",
            ),
            negatable=False,
        ),
        "connection-refused": Topic(
            wordings=(
                r"connection refused|econnrefused|errno 111|\bconnect: refused|failed to connect|actively refused|os error 111",
            )
        ),
    },
)
