"""What people say of their load generators, test tools and expectations."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

SYMPTOMS = Symptoms(
    title=Text(en="measurements", zh="测量"),
    topics={
        "client-is-limit": Topic(
            wordings=(
                r"(?:client|load (?:generator|tester)|bench(?:mark)?(?:ing)?(?: tool| script| client)?|locust|k6|jmeter|wrk|hey|genai-?perf|guidellm|iperf3?|script|harness|tester)\b.{0,60}(?:100 ?%|one core|single (?:core|thread|process|asyncio|python)|cpu[- ]bound|saturat|bottleneck|is the limit|maxed|pegged|gil|cannot keep up|out of (?:cpu|sockets|fds))",
                r"single[- ](?:asyncio |python |threaded )?(?:process|event loop|core|thread(?:ed)?)\b.{0,60}\b(?:client|generator|buffers?|bench\w*|load (?:gen\w*|test\w*)|parses?|tester|script)",
                r"\b(?:client|generator|bench\w*|load (?:gen\w*|test\w*)|tester|script|locust|k6)\b.{0,40}\bsingle[- ](?:asyncio |python )?(?:process|event loop|core|thread(?:ed)?)\b",
                r"(?:one|1|a single) (?:core|cpu)\b.{0,40}(?:100 ?%|full|pegged|maxed).{0,60}(?:iperf|client|bench|generator|python|script)",
                r"\bGIL\b|event loop (?:lag|blocked|is busy)|default (?:http )?(?:read )?buffers?",
                r"(?:client|generator|script|tool) (?:side )?cpu",
                r"(?:python3?|client|script|generator|load\w*|bench\w*(?:\.\w+)?|locust|k6|wrk|hey|tester|iperf3?)\b.{0,40}\b(?:9\d|1\d\d)(?:\.\d+)? ?% ?(?:\w+ )?(?:cpu|core|of (?:a|one) (?:core|cpu))",
                r"\b(?:locust|client|generator|tester|bench\w*|load)\b.{0,40}\b(?:single|one|1) (?:cpu |vcpu )?(?:core|cpu|thread)\b.{0,12}\b(?:maxed|full|pegged|busy|saturated)",
                r"(?:locust|k6|jmeter|client|generator|tester|script)\b.{0,40}\bcpu\b.{0,20}(?:too high|100|9\d ?%|full|pegged|maxed|high)",
                r"(?:handshakes?|tls|parsing|json|tokeni[sz]\w+)\b.{0,30}(?:in|on|by) (?:the |my |our )?(?:client|script|generator|test(?:er| tool)?|harness)\b",
                r"(?:python3?|client|script|generator|load\w*|bench\w*|locust|k6|wrk|node)\b.{0,40}\b(?:one|1|a single|single|main) (?:thread|core|cpu|process)\b.{0,12}(?:9\d|100)(?:\.\d+)? ?%",
            )
        ),
        "load-generator": Topic(
            wordings=(
                r"\b(?:locust|jmeter|k6|wrk2?|hey|vegeta|gatling|siege|artillery|ghz|genai-?perf|guidellm|aiperf|inference-?perf|load (?:test\w*|generator|driver)|bench(?:mark)? client|test machine)\b",
            ),
            negatable=False,
        ),
        "rate-same-for-any-clients": Topic(
            wordings=(
                r"\b(?:and no more|never more|not more|the same|stays|constant)\b.{0,24}\b(?:however many|whatever|no matter how many|for any number of|regardless of)\b.{0,16}\b(?:users?|clients?|threads?|connections?|workers?|concurrency)\b",
            ),
            negatable=False,
        ),
        "client-one-at-a-time": Topic(
            wordings=(
                r"\b\w*(?:concurren|parallel|workers|in[-_]?flight|clients|users)\w*[\"']?\W.{0,24}\bdefault\W{1,3}1\b(?![\d.])",
                r"\bsemaphore\(1\)|\bmax[-_ ]?(?:concurrency|workers|in[-_]?flight)\W{1,4}1\b(?![\d.])",
                r"\b(?:script|client|harness|loop|bench\w*|generator|tester|loader|test|we|it|i)\b.{0,30}\b(?:sends?|fires?|issues?|posts?|waits?)\b.{0,40}\b(?:one (?:request |prompt |call )?(?:at a time|by one|after (?:the |an)?other)|sequential\w*|serially|in (?:a|sequence)(?: plain)? (?:for )?loop|before (?:sending )?the next)",
                r"\b(?:sequential|serial|blocking|synchronous) (?:loop|client|requests|calls|submission)\b|\bfor loop\b.{0,40}\b(?:await|requests?\.|post|create)\b|\bconcurrency (?:of )?(?:1|one)\b",
            ),
            negatable=False,
        ),
        "total-against-each": Topic(
            wordings=(
                r"\b1[,.]?000 ?/ ?\d+(?:\.\d+)?\b",
                r"(?:missing|lost|gone|unaccounted|disappear\w*|vanish\w*|rest of the)\b.{0,24}\b\d+ ?m?s\b|\d+ ?m?s\b.{0,30}\b(?:get lost|go missing|are (?:missing|lost|gone)|disappear|vanish|unaccounted)",
                r"(?:throughput|tok(?:en)?s?/s(?:ec)?|tps|tokens per second)\b.{0,60}\b(?:but|yet|while|whereas|vs\.?|versus|however|although)\b.{0,60}\b(?:per (?:user|request|stream|token)|(?:each|one|single|every|my|our|the) (?:user|request|stream|client|chat|session|prompt)|tpot|itl)\b",
                r"(?:per (?:user|request|stream|token)|(?:each|one|single|every) (?:user|request|stream|client|chat)|tpot|itl)\b.{0,60}\b(?:but|yet|while|whereas|vs\.?|versus|however|although)\b.{0,60}\b(?:throughput|tok(?:en)?s?/s(?:ec)?|tps|tokens per second|in total|aggregate)",
                r"(?:aggregate|total|overall|combined)\b.{0,30}(?:throughput|tok\w*|tps)\b.{0,60}(?:per[- ](?:user|request|stream|token)|single|individual)",
                r"(?:numbers?|figures?|metrics?|throughput and \w+|they|it)\b.{0,20}(?:do(?:es)? not|don't|doesn't|never) (?:add up|match|agree|fit|multiply)|contradict(?:s|ory)?\b|inconsistent",
            ),
            negatable=False,
        ),
        "tools-disagree": Topic(
            wordings=(
                r"(?:other|another|different|second) (?:tool|client|load generator|benchmark|tester)\b.{0,60}(?:higher|more|faster|\d|fine|better|shows|gets)",
                r"only the (?:load generator|client|tool|benchmark) differs",
                r"(?:two|three|four|several|more|second|another|\d) (?:copies|instances|runs) of (?:the |my |our )?(?:script|client|tool|benchmark|generator|test)\b|(?:script|client|tool|benchmark|generator) (?:on|from) (?:two|several|more|another|a second|different|\d) (?:hosts?|machines?|nodes?|pods?|boxes)",
                r"(?:server|serve|engine|vllm|prometheus|backend)(?:[- ]side)?\b.{0,30}(?:claims?|says?|reports?|shows?|histogram|metrics?)\b.{0,30}\d.{0,40}(?:we|i|client|script|tool|benchmark)\b.{0,20}(?:measure|see|get|report|say|show)",
                r"(?:tool|client) [AB]\b|(?:two|both) (?:tools|clients|load generators)",
                r"(?:two|several|more|2|4|multiple|distributed) (?:client|generator|load|worker)\w*\b.{0,40}(?:machines|processes|hosts|instances|in parallel)?.{0,50}(?:double|scale|sum|linear|twice|higher|more|each)",
            )
        ),
        "server-not-busy": Topic(
            wordings=(
                r"(?:server|gpus?|backend|engine|receiver|target)\b(?: (?!100)[\w/-]+){0,4} (?:is |are |at |~)*(?:idle|not (?:busy|saturated|loaded)|(?<![\d.])[1-5]?\d(?:\.\d+)? ?%(?! of)|has (?:head)?room|under-?util\w*)",
                r"(?:same|identical) server\b",
            ),
            negatable=False,
        ),
        "fd-exhausted": Topic(
            wordings=(
                r"os ?error:? ?\[?(?:errno )?24\b|ulimit\W{0,3}(?:-n\W{0,2})?1024\b",
                r"too many open files|\bEMFILE\b|\bENFILE\b|errno 24\b|os error 24|file-max limit|no file descriptors? available",
                r"(?:file descriptors?|\bfds?\b|nofile|open files|ulimit -n)\b.{0,50}(?:exhaust|limit|1024|run out|ran out|too low|reached|full|max)",
            ),
            negatable=False,
        ),
        "link-full": Topic(
            wordings=(
                r"(?:link|nic|port|interface|uplink|network|ethernet|switch|eth\d|bandwidth|tx|rx|wire|line)\b.{0,50}(?:saturat|9[0-9](?:\.\d+)? ?%|100 ?%|at line rate|line rate|(?:is|are|was|runs?|completely|nearly|almost) full\b|\d ?[gm]b(?:it)?(?:/s|ps) (?:all the time|constantly|permanently|for the whole|throughout)|fully (?:used|loaded|utili\w+|occupied)|maxed|flat at|pegged|exhaust|at (?:its|the) (?:limit|max\w*|capacity))",
                r"\b\d+(?:\.\d+)? ?[gm]b(?:it)?(?:/s|ps)?,? (?:flat|constant(?:ly)?|steady|steadily|solid|permanently|continuously|all the time|the whole time|without a dip)\b|\b(?:flat|constant|steady|solid) (?:line )?(?:at |of )?(?:about )?\d+(?:\.\d+)? ?[gm]b(?:it)?(?:/s|ps)",
                r"(?:saturat\w*|fills?|maxes? out|uses? (?:up )?all|flat-?lines?)\b.{0,30}\b(?:link|nic|uplink|network|bandwidth|ethernet|port|1 ?g|10 ?g|25 ?g)",
            )
        ),
        "link-is-slow-kind": Topic(
            wordings=(
                r"\b(?P<value>1|2\.5|5|10|25|40|50|100) ?(?:g(?:b(?:it)?)?(?:/s|ps|e)?|gige|gbase-?t|gb ethernet)\b.{0,40}(?:between|link|network|ethernet|nic|switch|only|inter-?connect|lan)()",
                r"(?:gigabit|1 ?gbe|10 ?gbe|ethernet|\blan\b).{0,40}(?:between|only|instead)",
                r"(?:only|just|have|over|via|through|on) (?:a )?(?P<value>1|2\.5|5|10|25|40) ?(?:g(?:b(?:it)?)?(?:/s|ps|e)?)\b()",
            )
        ),
        "demand-exceeds": Topic(
            wordings=(
                r"(?:need|require|demand|move|send|exchange|generate|transfer|push|sync|reduce)\w*\b.{0,40}\d+(?:\.\d+)? ?(?:[GMT]i?B|[GMT]b)\w*(?:/s|ps)?\b.{0,40}(?:per|each|every|a) (?:step|iteration|second|token|request|batch)",
                r"(?:gradients?|activations?|traffic|payload|parameters?|params|data)\b.{0,30}\d+(?:\.\d+)? ?(?:[GMT]i?B|[GMT]b\w*)\b.{0,20}(?:per|each|every|a) (?:step|iteration|second|token|request|(?:micro[- ]?)?batch|stage|layer)",
                r"\d+(?:\.\d+)? ?[gmt]i?b\b (?:per|each|every|a) (?:step|iteration|token|micro-?batch)\b",
                r"gpus? (?:are |is |sit |stay )?idle\b.{0,30}\d+ ?% of (?:the |each |every )?(?:step|time|iteration)",
                r"(?:step|iteration|epoch)s?\b.{0,40}(?:wait\w*|spent|spend\w*|dominated|most|[4-9]\d ?%)\b.{0,40}(?:comm\w*|all-?reduce|network|gradient|sync|exchange)",
                r"(?:comm\w*|all-?reduce|gradient (?:sync|exchange))\b.{0,40}(?:takes?|is|are|eats?|uses?)\b.{0,20}(?:[4-9]\d ?%|most|dominat|longer)",
                r"gpus?\b.{0,40}(?:idle|wait\w*|[1-4]?\d ?%)\b.{0,30}\b(?:for|on|during|while|until|because|due)\b.{0,30}(?:network|link|nic|comm|all-?reduce|transfer)",
            )
        ),
        "others-share": Topic(
            wordings=(
                r"(?:other|another|someone else's|neighbou?r\w*|second|different|concurrent|foreign) (?:job|tenant|team|user|workload|training|vm|customer|pod|process|cluster|backup)s?\b.{0,80}(?:run|start|active|share|same|slow|drop|traffic|stop|end|takes|when|while|on the)",
                r"(?:when|while|whenever|if|as soon as|once|until)\b.{0,40}(?:other|another|neighbou?r\w*|backup|second|their|nightly|checkpoint\w*|etl|copy)\b.{0,50}(?:run|start|activ|job|finish|stop|end|write|copy|traffic)",
                r"(?:jobs?|runs?|traffic|training|workloads?|backups?) of (?:another|some other|other|a different|someone|the other|our neighbou?rs?)\b",
                r"\b(?:another|other|different|second|neighbou?ring) (?:group|lab|project|department|cluster|rack|company|client)(?:'s|s')?\b.{0,50}(?:job|run|traffic|transfer|training|copy|backup)",
                r"nois(?:y|iest) neighbou?r|shared (?:with|by|link|uplink|switch|nic|host|tenancy|fabric|port|instance)|co-?(?:located|tenant)|multi-?tenant|oversold",
                r"(?:backup|replication|snapshot|rebalanc\w*|scrub|etl)\b.{0,50}(?:run|start|window|at \d|every|night|traffic|saturat|same)",
            )
        ),
        "time-of-day": Topic(
            wordings=(
                r"(?:at|during|between|in the|by) (?:night|day|office hours|business hours|working hours|peak hours|\d{1,2}(?::\d\d)? ?(?:am|pm|h|and|-)|\d{2}:\d{2}|evening|morning|weekend)\b",
                r"\b(?:varies|fluctuat\w*|comes and goes|good (?:runs?|days?|hours)|some (?:hours|days|runs)|bimodal|by the hour|every night|nightly)\b",
            )
        ),
    },
)
