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
            ),
        ),
        "gpu-throttled": Topic(
            negatable=False,
            wordings=(
                r"(?:gpus?|clocks?|cards?)\b.{0,60}(?:throttl|power[- ]?cap|overheat|thermal|too hot|power brake|downclock"
                r"|lower(?:ed|s)? (?:its |the )?clocks?|clock(?:s)? (?:drop|fall|low))",
                r"(?:thermal|power)\s(?:throttl|slowdown|brake|cap|limit)\w*",
                r"\d{2,3} ?°?C\b.{0,40}(?:gpu|throttl|hot|clock)|(?:fan|cooling|airflow)\b.{0,40}(?:fail|broken|dead|block|dust)",
                r"(?:power limit|clocks?)\b.{0,40}(?:lower|below|reduced|half|only)\b",
                r"\bpersistence mode\b.{0,30}(?:off|disabled)",
            ),
        ),
        "slower-as-it-heats": Topic(
            negatable=False,
            wordings=(
                r"(?:decays?|degrad\w*|slow\w*|falls?|drops?|sinks?)\s.{0,40}(?:over time|through the run|with time"
                r"|after (?:some|a few|\d+) (?:min|hour)|gradually|as it (?:heats|warms))",
                r"restart\w*\s.{0,20}(?:restores?|helps?|recovers?|fast again)",
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
                r"\bdynamic (?:batch\w*|shape\w*|padding)|without (?:length )?bucketing|(?:length )?bucketing",
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
            ),
        ),
        "ranks-disagree": Topic(
            negatable=False,
            wordings=(
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
            ),
        ),
        "hang": Topic(wordings=(r"\bhangs?\b|\bhung\b|\bstuck\b|\bdeadlock\w*|\bfreez\w+|\bstalls? for ?ever",)),
        "watchdog-limit": Topic(
            negatable=False,
            wordings=(
                r"(?:watchdog|collective|nccl|process ?group|barrier|store|ddp|init\w*)\s.{0,30}time-?d?[- ]?outs?",
                r"(?:dies|killed|aborts?|fails?|crash\w*|times? out)\s(?:after|at)\s(?:exactly |about )?(?:30|10|60) ?min",
                r"time-?outs? (?:of|after|at|=|\()\s?.{0,8}(?:30 min|1,?800|10 min|600|5 min|300|1 ?h)",
            ),
        ),
        "legal-long-wait": Topic(
            negatable=False,
            wordings=(
                r"(?:rank ?0|main process|one rank|master|first rank)\b.{0,80}(?:download|preprocess|tokeni|load|saves?"
                r"|writes?|checkpoint|evaluat|convert|compil|merg|cache|index|generat|consolidat)",
                r"(?:download\w*|preprocess\w*|tokeni\w*|checkpoint\w*|evaluat\w*|saving|loading|compil\w*|dataset map"
                r"|consolidat\w*|validation|generation|cach\w*)\b.{0,80}(?:takes?|took|lasts?|needs?|longer|over|more than"
                r"|about|for)\s.{0,16}(?:\d+ ?(?:min|h\b|hours?|s\b)|an? hour|half an hour|the time-?out|minutes|hours)",
                r"time-?outs?\b.{0,40}(?:preprocess|data processing|tokeni|download|checkpoint|sav(?:e|ing)\b|evaluat|loading)",
                r"Running tokenizer on dataset|main_process_first|\bMap(?: \(num_proc=\d+\))?: +\d+%",
                r"(?:rais\w*|increas\w*|longer|larger|higher|set\w*)\s.{0,20}(?:time-?out|NCCL_TIMEOUT|ddp_timeout"
                r"|timedelta)\b.{0,60}(?:fix|help|works?|solv|pass|runs|finish|gone)?",
            ),
        ),
        "process-gone": Topic(
            negatable=False,
            wordings=(
                r"(?:rank|process|worker|node|pod|actor|instance)s?\b.{0,50}(?:died|dies|crash\w*|was killed|been killed"
                r"|is gone|exited|segfault\w*|aborted|preempted|evicted|restarted|rebooted)",
                r"\bOOM[- ]?kill\w*|out of (?:host )?memory\b.{0,30}kill|\bSIGKILL\b|signal 9\b|exit ?code (?:-9|137|-11|139)"
                r"|\bsegmentation fault\b|\bspot (?:instance|interruption)",
                r"(?:first|earlier|real|original)\s(?:error|exception|traceback|failure)\b.{0,60}(?:rank|node|other|another"
                r"|elsewhere|worker)",
                r"(?:dmesg|kernel log)\b.{0,40}(?:kill|oom)",
            ),
        ),
    },
)
