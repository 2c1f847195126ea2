"""What people say of stragglers, hangs, time-outs, crashes and ranks that disagree."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_NODE = r"(?:node|host|machine|server|worker|rank|box|gpu|device)"

SYMPTOMS = Symptoms(
    title=Text(en="stragglers, hangs and desynchronised ranks", zh="慢节点、挂起与不同步"),
    topics={
        "one-node-slow": Topic(
            negatable=False,
            wordings=(
                rf"(?:one|a single|same|particular|specific|certain|this|bad|some|that)\s(?:\w+\s)?{_NODE}s?\b.{{0,30}}\b(?:is"
                rf"|are|was|runs?|has|takes?|lags?|reaches|gives|shows|stays|gets|at)\b.{{0,30}}(?:slow|late\b|behind|lower"
                rf"|half|straggl|lag|\d+ ?%)",
                rf"(?:without|exclud\w*|remov\w*|drain\w*|swap\w*|replac\w*|leav\w* out|cordon\w*"
                rf"|blacklist\w*)\s(?:\w+\s){{0,3}}{_NODE}\b.{{0,60}}(?:fast|fix|normal|full|recover|restor|back|fine|help"
                rf"|solv|good|expected|improv|\d+ ?[GMT]b)",
                r"(?:with|includ\w*|contain\w*|whenever)\s(?:\w+\s){0,2}(?:node|host|machine|server"
                r"|worker)[-_ ]?\w*\d\b.{0,40}(?:slow|drop|half|fall|degrad|\d+ ?[GMT]b)",
                rf"\bstraggler\b|\bslow(?:est)? {_NODE}s?\b",
                rf"\b{_NODE}[- ]?[\w-]*\d+\b.{{0,30}}\b(?:is|was|runs?|takes?|arrives?|always|comes)\b.{{0,24}}(?:slow|late\b"
                rf"|last\b|longer|behind)",
                r"(?:with|includ\w*|contain\w*|whenever|if|when|any \w+ with)\s(?:\w+\s){0,2}[a-z]+[-_]?[a-z]*\d+\b.{0,60}(?:without|exclud\w*|remov\w*|drop\w*|take\w* out|leav\w* out)",
                rf"(?:one|a single|a|this|that|which)\s(?:\w+\s)?{_NODE}(?:.?s)?\b.{{0,70}}\d.{{0,24}}\b(?:all (?:the )?)?(?:others?|rest|remaining|siblings?|peers?)\b.{{0,20}}\d",
                rf"\b{_NODE}[- ]?[\w-]*\d+\b.{{0,20}}\b(?:enters?|joins?|reaches|shows? up|finish\w*|starts?|gets? there|lands)\b.{{0,40}}\b(?:last|late|later|behind)\b",
                rf"(?:pair(?:wise|s)?(?: of)?\s(?:tests?|runs?|bench\w*|{_NODE}s?)|bisect\w*|binary search|{_NODE}s?\s(?:one by one|in turn))\b.{{0,80}}(?:slow|low\b|half|bad|culprit|\d)|(?:find|spot|identif\w*|which)\s.{{0,24}}(?:(?:slow\w*|bad|faulty|weak\w*)\s{_NODE}|culprit|outlier)",
                rf"(?:with|once|after)\s(?:the |that )?(?:{_NODE}[-_ ]?)?[\w-]*\d (?:is |was )?(?:cordoned|drained|excluded|removed|replaced|out\b|gone|off\b|left out)",
                rf"(?:fast\w*|speed\w*|jump\w*|recover\w*|back to|improv\w*|doubl\w*|ris\w+|normal|full)\b.{{0,40}}\b(?:when|if|once|after|as soon as)\s(?:we |i |you )?(?:leave|take|took|drop|exclud|remov|drain|cordon|replac|swap|kick|pull)\w*\s(?:\w+ )?(?:{_NODE}|\S{{0,20}}\d)",
                rf"\b(?:one|1)\s(?:of|out of|in)\s(?:the |our |my |these |all )?(?:\d+ )?{_NODE}s\b.{{0,40}}(?:slow|drag|lag|\blate\b|behind|half|worse|longer|holds?\b)",
                rf"\b{_NODE}[- ]?\w*\d(?:.s)?\b.{{0,40}}\d ?m?s\b.{{0,24}}\b(?:all )?(?:the )?(?:others?|rest|remaining)\b.{{0,16}}\d.{{0,40}}\b(?:same|always|every)\b",
                rf"(?:with|adding|add\b|includ\w*|once|when|as soon as)\s(?:the |a |one |our )?(?:\w+ )?(?:\d+(?:th|rd|nd)|fourth|third|fifth|last|new|extra|additional)\s{_NODE}\b.{{0,60}}(?:half|slow|drop|falls?|worse|less|degrad)",
                r"\bwithout (?:it|that one|this one|him)\b.{0,30}(?:good|fine|fast|full|normal|ok\b|as expected)",
                rf"(?:a|the|that|this)\s(?:\w+ )?{_NODE}\b.{{0,30}}\b(?:drags|holds|slows|pulls)\s.{{0,16}}(?:job|ring|others|everyone|everybody|down|back|whole|cluster|run\b)",
                r"(?:h2d|d2h|pcie|host[- ]to[- ]device|bandwidthtest)\b.{0,60}(?:\bothers\b|the rest|siblings|other (?:gpus|nodes|hosts|cards|machines))",
                r"(?:exact )?same (?:script|job|code|experiment|run)\b.{0,20}\bon\b.{0,60}\d|(?:some|these|those|certain) (?:nodes?|node sets?|hosts?|allocations?)\b.{0,60}(?:slow|times|\d ?x)",
                r"(?:taking|take|leaving|leave|kicking|kick|removing|throwing|pulling|pull)\s\S+\s(?:\w+ )?(?:out|off|away)\b.{0,60}(?:back|old|full|normal|fast|gives|restor|recover|fine)",
                r"(?:iteration|step|everyone|everybody|all|job|whole|ring|throughput|pace)\b.{0,40}(?:dictated|limited|bounded|held (?:back|up)|paced|dragged|determined|set)\s(?:by|down)\s.{0,30}(?:it\b|that|one|node|rank|gpu|slowest)",
            ),
        ),
        "gpu-throttled": Topic(
            negatable=False,
            wordings=(
                r"(?:gpus?|clocks?|cards?)\b.{0,60}(?:throttl|power[- ]?cap|overheat|thermal|too hot|power brake|downclock"
                r"|lower(?:ed|s)? (?:its |the )?clocks?|clock(?:s)? (?:drop|fall|low))",
                r"(?:thermal|power)\s(?:throttl|slowdown|brake|cap\b|capp)\w*|thermal limit\w*",
                r"\d{2,3} ?°?C\b.{0,40}(?:gpu|throttl|hot|clock)|(?:fan|cooling|airflow)\b.{0,40}(?:fail|broken|dead|block|dust)",
                r"(?:power limit|clocks?)\b.{0,40}(?:lower|below|reduced|half|only)\b",
                r"\bpersistence mode\b.{0,30}(?:off|disabled)",
                r"(?:gpus?|cards?|devices?)\b.{0,40}(?:reach\w*|hit\w*|at|run\w*)\s.{0,10}[89]\d ?(?:°|deg|c\b)",
                r"(?:reduc\w*|drop\w*|lower\w*|cut\w*|limit\w*|fall\w*|lock\w*|stuck at|held at)\s.{0,24}(?:frequenc\w*|clocks?|\d{3,4} ?MHz|power (?:limit|cap))",
                r"(?:clocks?|frequenc\w*|power limit|power cap)\b.{0,40}(?:reduc\w*|drop\w*|lock\w*|capped|limit\w*|stuck|left at|held|set to|instead of|while)",
                r"(?:clocks?|frequenc\w*)\b.{0,24}\b(?:falls?|fell|drops?|dropped|sinks?|sank|(?:goes|went|is|are) down)\b",
                r"\b(?:run\w*|stuck|sits?|clock\w*|held|stays?|capped|gpus?)\s(?:\w+ )?at (?:only )?\d(?:[.,]\d+)? ?ghz\b.{0,40}(?:instead|rather|not|while|others?|usual|should)|power[- ]?brake|\b(?:psu|power supply)\b.{0,30}(?:fail|dead|missing|lost)",
                r"nvidia-smi -(?:lgc|pl|ac)\b|application clocks?\b|(?:hot|warm) (?:aisle|room|spot)|overheat\w*",
                r"(?:one|a single|this|that) (?:card|gpu|device)\b.{0,16}\d{2,4} ?(?:w|mhz)\b.{0,60}\d{2,4} ?(?:w|mhz)\b",
            ),
        ),
        "slower-as-it-heats": Topic(
            negatable=False,
            wordings=(
                r"(?:decays?|degrad\w*|slow\w*|falls?|drops?|sinks?)\s.{0,40}(?:over time|through the run|with time"
                r"|after (?:some|a few|\d+) (?:min|hour)|gradually|as it (?:heats|warms))",
                r"restart\w*\s.{0,20}(?:restores?|helps?|recovers?|fast again)",
                r"(?:decay\w*|degrad\w*|slow\w*|fall\w*|drop\w*|sink\w*|creep\w*|decreas\w*|declin\w*)\s.{0,40}(?:after|within|over|during|the longer)\s.{0,20}(?:minutes?|min\b|hours?|run|time|while)",
            ),
        ),
        "work-uneven": Topic(
            negatable=False,
            wordings=(
                r"(?:variable|different|uneven|unequal|imbalanc\w*|skew\w*|longer|unbalanced|varying"
                r"|ragged)\s.{0,40}(?:lengths?|sequences?|batch\w*|work|load|samples?|shards?|shapes?|resolution\w*|data"
                r"|compute|tokens?|stages?|layers?)",
                r"(?:sequence|sample|batch|prompt|image)\s?(?:lengths?|sizes?)\s.{0,30}(?:vary|varies|differ|uneven|spread)",
                r"(?:load|compute|work\w*|pipeline|stage)[- ](?:im|un)balanc\w*",
                r"(?:more|extra|heavier)\s(?:\w+\s){0,3}(?:layers?|work|compute|embedding|tokens|samples)\b.{0,40}(?:stage"
                r"|rank|first|last|gpu)",
                r"\d+ ?m?s on (?:rank|gpu) ?\d+.{0,40}\d+ ?m?s on (?:rank|gpu)",
                r"time is taken\b.{0,60}(?:around|synchron|python)|wait\w*\sfor the (?:last|slowest)\s(?:rank|gpu|worker)",
                r"\bdynamic (?:batch\w*|shape\w*|padding)|\b(?:length|sequence|size)[- ]bucket\w*|bucket\w* by (?:length|size|duration)",
                r"(?:different|unequal|varying|uneven|longer|shorter|random|mixed)\s(?:\w+\s){0,2}(?:durations?|frames?|documents?|videos?|images?|inputs?|samples?|lengths?|clips?|crops?|graphs?|molecules?)",
                r"(?:videos?|samples?|documents?|sequences?|batches|clips?|inputs?|images?|graphs?)\s(?:of|with|have|has)\s(?:\w+\s)?(?:different|unequal|varying|uneven|very different|other|random)",
                r"(?:some|one|those|certain)\s(?:ranks?|gpus?|workers?|of them)?\s?(?:\w+ )?(?:finish|done|ready|complete)\w*\s.{0,40}(?:earlier|before|sooner|first|ahead)\b",
                r"(?:sits?|waits?|idles?|spins?)\s(?:in|inside|at|on)\s(?:the )?(?:nccl|all-?_?reduce|all-?_?gather|barrier|collective|reduce-?_?scatter)\b.{0,60}(?:for|until|because)",
                r"(?:last|first)\s(?:pipeline )?stage\b.{0,60}(?:longer|heavier|more|slow|lm[- ]?head|embedding|loss|vocab)",
                r"(?:shortest|smallest|least)\s(?:bar|time|kernel|duration)\b.{0,60}(?:rank|gpu|card|job)|(?:same|identical) (?:all-?_?reduce|operation|collective)\b.{0,60}\d+ ?ms.{0,40}\d+ ?ms",
                r"\d+ ?ms\b.{0,16}\b(?:on|for|at|in)\s(?:one|a|some|rank|gpu|the).{0,40}\d+ ?ms\b.{0,16}\b(?:on|for|at|in)\s(?:the )?(?:others?|rest|another|rank|gpu|all)",
                r"\b(?:rank|gpu|worker) ?\d+\b.{0,12}\b(?:has|gets|holds|takes|receives|always has)\s.{0,12}(?:largest|longest|biggest|heaviest)\b",
                r"(?:changes|differs|varies|another|different|not the same)\s(?:\w+ )?(?:rank|gpu|card|worker)?\s?(?:\w+ )?(?:per|every|each|from|between)\s(?:step|job|iteration|batch)",
                r"(?:by|per|on) samples?(?: count)?,? (?:and )?not (?:by )?(?:tokens|frames|length|pixels)|(?:tokens?|frames?|pixels?) (?:count|number)s?\b.{0,20}(?:var|differ|uneven)",
                r"(?:from|between)\s\d[\d,.]* ?k?\s(?:to|and|-)\s\d[\d,.]* ?k?\s(?:tokens|frames|pixels|samples|words|atoms|points)|(?:no|without|lacks?)\s(?:sequence )?(?:packing|length[- ]?bucket\w*|length sorting)",
                r"\brank ?\d+\S*\s.{0,30}(?:\d(?:\.\d)? ?x|twice|times|longer)\s.{0,24}(?:long|since|because|as it|also|than)|(?:also|additionally) (?:runs?|holds?|computes?|has)\s.{0,30}(?:encoder|embedding|head|loss|tower)",
            ),
        ),
        "late-for-other-reasons": Topic(
            negatable=False,
            wordings=(
                r"(?:garbage collect\w*|\bgc\b|python gc)\b.{0,60}",
                r"(?:only|just)?\s?rank ?0\b.{0,60}(?:saves?|writes?|logs?|evaluat|checkpoint|download|preprocess|compile"
                r"|tokeni|valid|extra)",
                r"(?:checkpoint\w*|evaluation|logging|print\w*|\.item\(\)|wandb|tensorboard)\b.{0,60}(?:rank ?0|one rank|stall"
                r"|pause|spike|every \d+|late)",
                r"(?:jitter|os noise|daemons?|cron|background (?:process|job)|another (?:job|process|user)|monitoring agent"
                r"|dcgm)\b.{0,60}(?:gpu|cpu|step|rank|slow|spike|period|late|core)",
                r"(?:jit|autotun\w*|compil\w*|kernel cach\w*|recompil\w*|cudaMalloc|allocator)\b.{0,60}(?:rank|step|spike|late"
                r"|stall|different|first)",
                r"(?:periodic|every \d+ (?:steps?|s|sec|min))\b.{0,40}(?:spikes?|stalls?|slow|pause)",
                r"(?:cron\w*|updatedb|backup agent|monitoring|exporter|node_exporter|dcgm\w*|antivirus|log(?:rotate|ging) (?:agent|daemon)|systemd timer|kubelet|kswapd|numa balanc\w*|transparent huge|khugepaged)\b.{0,80}(?:node|host|core|cpu|hour|minute|second|rank|hiccup|spike|pause|steal)",
                r"(?:late|pause\w*|stall\w*|stop\w*|delay\w*|hiccup\w*|spike\w*)\s.{0,40}(?:once (?:per|every|in)|every \d+|periodic\w*|at regular|at the same minute|each hour|on the hour)",
                r"(?:long-lived|millions? of|many) (?:python )?objects|gc\.(?:freeze|collect|disable)|stop[- ]the[- ]world|gen(?:eration)? ?2 collect",
                r"(?:save|checkpoint\w*|evaluat\w*|validat\w*|logging|upload\w*|wandb)\b.{0,50}(?:others?|everybody|everyone|the rest|all ranks)\s.{0,20}(?:wait|idle|sit|hang)",
                r"gc\.collect|spikes?\b.{0,40}(?:each|every) \d+ ?(?:min|s\b|sec|steps?)",
                r"(?:agent|exporter|daemon|collector|scraper|watchdog script|health ?check)s?\b.{0,40}(?:polls?|scrapes?|runs?|wakes?|then|every|each|samples?)",
                r"(?:every|each)\s(?:\d+|few|couple of) ?(?:s|sec|seconds|min|minutes|steps?|iterations?)\b.{0,30}(?:step|iteration|doubl|spike|slow|long|pause|stall|hiccup)",
            ),
        ),
        "size-cannot-explain": Topic(
            negatable=False,
            wordings=(
                r"\d+ (?:bytes?|B)\b.{0,60}\d+ ?ms\b",
                r"(?:tiny|small|few bytes|single (?:scalar|float|element)|one (?:scalar|element))\s.{0,40}(?:slow|ms\b|takes"
                r"|times|longer)",
                r"(?:slow\w*|longer|times)\s.{0,30}(?:in|during) training\b.{0,60}(?:benchmark|nccl-tests|alone|isolat)",
                r"(?:benchmark|nccl-tests|alone|isolat\w*)\b.{0,60}(?:fast|fine|normal|full)\b.{0,60}training",
                r"(?:tiny|single|scalar|one-?element|few[- ]byte)\s.{0,12}(?:broadcast|all-?_?reduce|barrier|gather|collective)\b.{0,60}(?:wait|slow|\d ?m?s\b|takes|stretch|long|every)|waits? in (?:a )?(?:tiny|small|scalar)",
            ),
        ),
        "ranks-disagree": Topic(
            negatable=False,
            wordings=(
                r"\branks? \d[\d, -]*(?:and \d+ )?(?:shows?|shown|is|are|sits?|stands?|stuck|waits?|hangs?|in|at|:)?\b.{0,40}\b(?:backward|forward|all_?reduce|all_?gather|reduce_?scatter|broadcast\w*|barrier|optimizer|step)\b.{0,30}\b(?:rank \d+|ranks \d|the (?:others?|rest|last)\b).{0,40}\b(?:forward|backward|validation|eval\w*|next epoch|all_?reduce|all_?gather|broadcast\w*|barrier|checkpoint|save|optimizer)\b",
                r"\b(?:last|one|some|first|other) ranks?\b.{0,30}\b(?:gets?|has|have|receives?|sees?|runs?|does|is given)\b.{0,16}\b(?:fewer|less|more|one more|one less)\b.{0,24}\b(?:samples?|batch\w*|steps?|iterations?|items?|examples?|microbatch\w*)",
                r"(?:mismatch\w*|desync\w*|out of sync|not in sync)\s?.{0,30}(?:collectives?|ranks?|order|sequence|all_?reduce"
                r"|shapes?|sizes?)",
                r"(?:ranks?|gpus?|processes|workers)\b.{0,60}(?:different|unequal|fewer|more|another|not the same"
                r"|extra)\s.{0,24}(?:collectives?|number of|order|keys?|batches|steps|shapes?|sizes?|branch|parameters?"
                r"|iterations?|samples)",
                r"(?:different|unequal|uneven)\s.{0,20}(?:order|number|numbers) of\s.{0,20}(?:collectives?|batches|steps|calls"
                r"|samples|iterations)",
                r"(?:only|if)\s.{0,12}(?:rank ?(?:==)? ?0|one rank|some ranks|main process|is_main)\b.{0,40}(?:calls?|enters?"
                r"|runs?|reach|logs?|barrier|reduce|broadcast|gather)",
                r"per[- ]rank (?:different )?(?:keys?|shapes?|conditions?)|one key per\b|unused parameters"
                r"|find_unused_parameters|last (?:incomplete )?batch|uneven inputs|drop_last|conditional branch",
                r"(?:two|several|both) threads?\b.{0,40}(?:collectives?|communicator|nccl)|concurrent (?:collectives"
                r"|communicators)",
                r"(?:skip\w*|bypass\w*|omit\w*|leav\w* out|never (?:use|call|enter|reach)\w*|do(?:es)? ?n.?o?t (?:use|call|run|enter|touch|reach))\s.{0,40}(?:tower|branch|module|encoder|adapter|layers?|heads?|experts?|path|barrier|collective|all-?_?reduce|backward|step)\b.{0,60}(?:rank|process|gpu|some|only|that|those|worker)",
                r"(?:some|one|those|certain|only)\s(?:of the )?(?:ranks?|process\w*|gpus?|workers?|batches|samples)\b.{0,60}(?:skip\w*|without (?:an? )?(?:image|label|mask|expert)|early (?:return|exit|stop)|continue|break\b|never (?:enter|reach|call)|raise|leave)",
                r"(?:rank|process|gpu|worker) ?\d+\b.{0,40}\b(?:one|two|\d+) (?:more|fewer|less|extra)\b|(?:one|fewer|less|more) (?:batch\w*|samples?|steps?|iterations?)\s.{0,20}(?:less|than|on|for)\s.{0,16}(?:others?|rank|gpu|process)",
                r"\b(?:others?|ranks? \d[\d,\- ]*|workers?|the rest|remaining ranks)\s(?:had |have |has |were |was |are |is )?(?:already )?(?:exited|finished|ended|left|returned|done|gone)\s(?:cleanly|normally|without error|already|long ago|before)",
                r"\b(?:is|are|was|gets?)\s(?:only )?(?:called|executed|run|reached|logged|invoked|entered|computed)\s(?:only )?(?:if|when|on|for|by|inside)\b.{0,40}(?:batch|rank|sample|process|gpu|main|condition|has\b|have\b)",
                r"(?:multi|two|2|several|many)[- ]?gpus?\b.{0,24}(?:hang|freez|stuck|deadlock|stall)\w*.{0,40}(?:one|1|single)[- ]?gpu\b.{0,24}(?:fine|works?|ok\b|passes|no problem)",
                r"\branks? ?\d+\b.{0,30}(?:\bmore|twice|double|\b2 ?x|\* ?2|fewer|less|different|another|larger|smaller)\b.{0,30}(?:elements?|numel|tensors?|sizes?|shapes?|batch\w*|keys?)",
                r"not divisible|(?:does ?n.t|not) divide evenly|IterableDataset|Join\(|join context|static_graph|(?:early stopping|best model)\b.{0,40}(?:rank|process)",
                r"if\s.{0,24}(?:rank|is_main_process|local_rank)\b.{0,16}[:=].{0,40}(?:all_?reduce|broadcast|barrier|gather|reduce|dist\.)",
                r"(?:sequence|seq|opcount|op count|collective) ?(?:numbers?|num|ids?|counts?)\b.{0,40}(?:differ|not the same|ahead|behind|lag|mismatch)",
                r"\b(?P<value>\d+) (?:batches|samples|steps|iterations|calls)\b.{0,30}\b(?:ranks?|gpus?|process\w*|workers?)\b.{0,30}\b\d+ (?:batches |samples |steps )?(?:on|for|in) (?:the )?(?:rank|gpu|others?|process|rest|last)",
                r"\branks? ?\d.{0,40}\b(?:barrier|broadcast|all-?_?gather|reduce-?_?scatter)\b.{0,60}\b(?:others?|ranks?|rest)\b.{0,40}\b(?:all-?_?reduce|all-?_?gather|broadcast|reduce)|\b(?:all-?_?reduce|broadcast)\b.{0,40}\bothers?\b.{0,20}\b(?:barrier|all-?_?gather)|\[rank ?\d+\] barrier",
                r"(?:stops?|finish\w*|ends?|exits?|leaves?|returns?|done)\s(?:\S+ )?(?:early|first|sooner|after different|at different)\b.{0,40}(?:rank|process|gpu|worker|number|token|step)",
            ),
        ),
        "branch-on-rank": Topic(
            negatable=False,
            wordings=(
                r"^\s*(?:el)?if\s.{0,60}\b(?:get_rank\(\)|(?:get_|global_|world_|my_)?rank|is_global_zero|is_main_process|is_world_process_zero|is_local_main_process|is_master|is_rank_?(?:0|zero)|process_index|local_rank|is_chief)(?!\w).{0,24}:",
                r"@rank_zero_only|\brank_zero_only\b",
                r"(?:inside|in|under|behind|within)\s(?:an? |the )?(?:if|rank[- ]?(?:0|zero)[- ](?:only )?(?:branch|block|guard|if))\b.{0,40}(?:rank|barrier|collective|reduce|gather)?",
            ),
        ),
        "hang": Topic(
            wordings=(
                r"\bhangs?\b|\bhung\b|\bstuck\b|\bdeadlock\w*|\bfreez\w+|\bstalls? for ?ever",
                r"nothing (?:moves|happens)\b|no progress\b|stands? still\b|never (?:returns?|finish\w*|completes?|ends)\b|waits? for ?ever\b|without (?:making )?a step\b",
            )
        ),
        "watchdog-limit": Topic(
            negatable=False,
            wordings=(
                r"\b(?:dist|distributed|pg|rendezvous|rdzv)[ _-]time-?outs?\b",
                r"(?:watchdog|collective|nccl|process ?group|barrier|store|ddp|init\w*)\s.{0,30}time-?d?[- ]?outs?",
                r"(?:dies|died|killed|aborts?|aborted|fails?|crash\w*|times? out|ends?|stops?)\s(?:after|at)\s(?:exactly |about |almost )?(?:(?:30|10|60|thirty|ten) ?min|half an hour|an hour|1,?800 s|600 s)",
                r"time-?outs? (?:of|after|at|=|\()\s?.{0,8}(?:30 min|1,?800|10 min|600|5 min|300|1 ?h)|[Tt]imed out waiting \d+ ?ms",
                r"(?:barrier|time-?out|watchdog)\b.{0,16}(?:kills?|ends?|aborts?|hits?|strikes?|expires?|fires?)\b",
            ),
        ),
        "done-on-purpose": Topic(
            negatable=False,
            wordings=(
                r"\bon purpose\b|deliberate\w*|intentional\w*|\bto (?:test|try|provoke|simulate|see) (?:the )?(?:error|failure|fault|what happens|hang|time-?out)",
            ),
        ),
        "legal-long-wait": Topic(
            negatable=False,
            wordings=(
                r"(?:rank[- ]?(?:0|zero)|main process|one rank|master|first rank|local[_ ]rank[ =]*0)\b.{0,80}(?:download|preprocess|tokeni|load|saves?"
                r"|writes?|checkpoint|evaluat|convert|compil|merg|cache|index|generat|consolidat)",
                r"(?:download\w*|preprocess\w*|tokeni\w*|checkpoint\w*|evaluat\w*|saving|loading|compil\w*|dataset map"
                r"|consolidat\w*|validation|generation|cach\w*)\b.{0,80}(?:takes?|took|lasts?|needs?|longer|over|more than"
                r"|about|for)\s.{0,16}(?:\d+ ?(?:min|h\b|hours?|s\b)|an? hour|half an hour|the time-?out|minutes|hours)",
                r"(?:takes?|took|lasts?|needs?)\s.{0,12}(?:\d+|forty|thirty|twenty|an?) ?(?:min\w*|h\b|hours?)\s(?:on|for|in)\s(?:the )?(?:rank ?0|main process|one rank|first rank|master)",
                r"time-?outs?\b.{0,40}(?:preprocess|data processing|tokeni|download|checkpoint|sav(?:e|ing)\b|evaluat|loading)",
                r"(?:weights|checkpoint\w*|shards|model|dataset)\b.{0,60}(?:takes?|took|needs?|lasts?)\s.{0,16}(?:\d+ ?(?:min|h\b|hour)|an? hour|half an hour)",
                r"\bstill\s(?:\w+ )?(?:reads?|reading|loads?|loading|download\w*|cop(?:ies|ying)|convert\w*|pull\w*|tokeni\w*|preprocess\w*|processing|writ\w+|saving|compil\w*|warm\w*|build\w*|index\w*)",
                r"(?:group|tokeni[sz]|mapp?|filter|pack|process|generat|load|read|build|convert|download|sav|concatenat|sort|shuffl|cach|evaluat|validat|extract|index|prepar|encod)\w*\b[^|%]{0,80}\b\d{1,2}% ?\|",
                r"Running tokenizer on dataset|main_process_first|\bMap(?: \(num_proc=\d+\))?: +\d+%",
                r"(?:rais\w*|increas\w*|longer|larger|higher|set\w*)\s.{0,20}(?:time-?out|NCCL_TIMEOUT|ddp_timeout"
                r"|timedelta)\b.{0,60}(?:fix|help|works?|solv|pass|runs|finish|gone)?",
                r"(?:rank ?0|one rank|main process|master|head|first node|second node|other node)\b.{0,60}(?:pull\w*|export\w*|push\w*|upload\w*|cop(?:y|ies)\w*|unpack\w*|shard\w*|quanti\w*|filter\w*|warm\w*)",
                r"(?:merg\w*|push\w*|upload\w*|export\w*|pull\w*|download\w*|convert\w*|index\w*|tokeni\w*|shuffl\w*|preprocess\w*|decod\w*)\b.{0,60}(?:needs?|takes?|took|lasts?|for)\s.{0,16}(?:forty|thirty|twenty|fifty|sixty|an|\d+) ?(?:min|h\b|hour|s\b)",
                r"(?:everybody|everyone|others?|the rest|all other|remaining)\s.{0,30}(?:sits?|waits?|idle\w*|blocked|parked)\s.{0,20}(?:barrier|all-?_?reduce|broadcast|collective|wait)",
                r"(?:as|because|while|since|when|until)\s.{0,30}(?:downloads?|loads?|pulls?|tokeni[sz]es?|preprocess\w*|saves?|uploads?|converts?)\b.{0,16}(?:for|takes?|in)\s\d+",
            ),
        ),
        "process-gone": Topic(
            negatable=False,
            wordings=(
                r"(?:rank|process|worker|node|pod|actor|instance)s?\b.{0,50}(?:died|dies|crash\w*|was killed|been killed"
                r"|is gone|exited|segfault\w*|aborted|preempted|evicted|restarted|rebooted)",
                r"\b(?:reclaim|terminat|preempt|evict)\w*\s(?:\w+ ){0,2}(?:nodes?|instances?|vms?|hosts?|machines?|pods?)\b|\b(?:nodes?|instances?|vms?|hosts?|machines?)\s(?:\w+ ){0,2}(?:reclaimed|terminated|shut ?down|powered off|lost power|rebooted|vanished)",
                r"\bOOM[- ]?kill\w*|out of (?:host )?memory\b.{0,30}kill|\bSIGKILL\b|signal 9\b|exit ?code (?:-9|137|-11|139)"
                r"|\bsegmentation fault\b|\bspot (?:instance|interruption)",
                r"(?:first|earlier|real|original)\s(?:error|exception|traceback|failure)\b.{0,60}(?:rank|node|other|another"
                r"|elsewhere|worker)",
                r"(?:dmesg|kernel log)\b.{0,40}(?:kill|oom)",
                r"\bkilled\b.{0,30}(?:terminal|rank|process|pod|worker|log|screen|by)|(?:evict\w*|preempt\w*|oomkilled|node ?not ?ready)\b",
                r"(?:rank|worker|process|node|gpu) ?\d+\b.{0,30}(?:raised|raises|threw|throws|died|dies|exits?|exited|crash\w*|stopp\w*|fails? first|assert\w*)",
                r"(?:others?|all other|remaining|rest)\s.{0,20}(?:only|just|merely|then|afterwards)\s.{0,20}(?:say|report|print|see|complain|show)\w*\s.{0,30}(?:broken pipe|connection|closed|reset|remote|timeout|nccl)",
                r"(?:ram|memory|swap)\s(?:was |is |were )?(?:full|exhausted|used up)|cgroup\b.{0,24}(?:oom|limit)|(?:index|value|key|assertion|runtime|type) ?error\b.{0,60}(?:rank|worker|one)",
            ),
        ),
    },
)
