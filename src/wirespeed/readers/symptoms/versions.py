"""What people say of versions: which release works, which does not, and which nodes differ."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_SOFTWARE = (
    r"\b(?:NCCL|RCCL|torch|pytorch|CUDA|driver|container|image|release|version|plugin|vllm|sglang|OFED|ucx|libfabric"
    r"|aws-ofi-nccl|firmware|ray|python|rocm|deepspeed|megatron|open ?mpi|hpc-?x)"
)
_GOOD = r"(?:fix|cure|help|works?|solv|pass|runs|fine|fast|full|goes away|resolve[sd]|disappear|normal|gone|ok\b)"
_BAD = r"(?:fails?|hangs?|hung\b|freez|froze|deadlock|stall|slow|crash|broke|breaks|regress|worse|drops?|abort|error|segfault|stuck|never finish|time[sd]? out)"

SYMPTOMS = Symptoms(
    title=Text(en="versions", zh="版本"),
    topics={
        "other-release-helps": Topic(
            negatable=False,
            wordings=(
                rf"(?:upgrad\w*|downgrad\w*|updat\w*|roll\w* back|revert\w*|replac\w*|switch\w*|mov\w*"
                rf"|go\w* back)\s.{{0,60}}{_SOFTWARE}.{{0,80}}{_GOOD}",
                rf"{_SOFTWARE}.{{0,60}}(?:upgrad\w*|downgrad\w*|updat\w*|roll\w* back|revert\w*|replac\w*).{{0,60}}{_GOOD}",
                rf"(?:older|old|previous|earlier|newer|newest|latest|last)\s.{{0,30}}{_SOFTWARE}.{{0,60}}{_GOOD}",
                rf"(?:with|under|using|on|in)\s.{{0,10}}{_SOFTWARE} v?\d+\.\d+\S*.{{0,30}}\b{_GOOD}",
                rf"{_SOFTWARE}\s.{{0,24}}\d+\.\d+(?:\.\d+)?.{{0,40}}{_GOOD}.{{0,80}}{_BAD}",
                rf"\d+\.\d+\.\d+.{{0,40}}\b{_BAD}.{{0,80}}\d+\.\d+\.\d+.{{0,40}}\b{_GOOD}",
                rf"\b{_GOOD}\s(?:\w+ ){{0,2}}{_SOFTWARE}[ =-]?v?\d+\.\d+\S*.{{0,40}}\d+\.\d+.{{0,40}}\b{_BAD}",
                rf"\d+\.\d+\.\d+.{{0,40}}\b{_GOOD}.{{0,80}}\d+\.\d+\.\d+.{{0,40}}\b{_BAD}",
                r"\d+\.\d+\.\d+\b.{0,24}\d+ ?[GM]b(?:ps|/s).{0,40}\d+\.\d+\.\d+\b.{0,24}\d+ ?[GM]b(?:ps|/s)",
                rf"{_SOFTWARE}[ =-]?v?\d+\.\d+\S*\W{{0,3}}\d+ ?[GM]b.{{0,40}}\d+\.\d+\S*\W{{0,3}}\d+ ?[GM]b",
                rf"(?:pip3?|conda|apt(?:-get)?|yum|dnf|uv pip) install\s.{{0,60}}\d+\.\d+.{{0,24}}\b{_GOOD}",
                r"only the (?:library|nccl|release|version|image) (?:changed|differs)",
                r"\d+\.\d+(?:\.\d+)?\b.{0,40}(?:does ?n.t|do(?:es)? not|did ?n.t|did not|never|no longer|free of|without)\s(?:\w+ )?(?:show|have|hang|fail|crash|happen|reproduce|exhibit|suffer|the (?:problem|issue|hang|error))",
                rf"(?:upgrad\w*|downgrad\w*|updat\w*|roll\w* back|revert\w*|pinn?(?:ed|ing)?|bump\w*|swapp?\w*|preload\w*|LD_PRELOAD)\s.{{0,50}}(?:\blib\w+|{_SOFTWARE})\b.{{0,60}}(?:cure|{_GOOD}|restor|back to|vanish|stops?\b)",
                rf"(?:same|identical) (?:hosts?|nodes?|script|code|hardware|machines?)\b.{{0,60}}(?:older|newer|other|different|previous)\s.{{0,20}}{_SOFTWARE}",
                rf"\bfixed (?:in|by|with|since)\s.{{0,24}}(?:{_SOFTWARE}|v?\d+\.\d+\.\d+)|(?:known (?:bug|issue|regression)|release notes?)\b.{{0,60}}(?:{_SOFTWARE}|\d+\.\d+)",
                r"(?:went away|goes away|gone|disappear\w*|stopp\w*|vanish\w*|fixed|solved|resolved|cured)\s.{0,16}(?:with|in|on|under|after|by|using|from)\s.{0,24}v?\d+\.\d+(?:\.\d+)?|(?:came back|comes back|return\w*|reappear\w*|back again)\s.{0,40}\d+\.\d+\.\d+",
                r"only the (?:\w+ )?(?:library|nccl|release|version|image|tag|container|wheel|driver|firmware)(?: \w+)? (?:changed|differs|is different)",
                r"\b(?:so does|so did|as does|also|same with)\s(?:\w+ )?v?\d+\.\d+\.\d+|v?\d+\.\d+(?:\.[\dx]+)?\s(?:is|are)\s(?:not )?(?:affected|broken|bad|buggy|unaffected|immune|clean)",
                r"\d+\.\d+\.\d+\s?(?:->|=>|:|=|gives|→)\s?\d+(?:\.\d+)? ?[GM]b.{0,24}\d+\.\d+\.\d+\s?(?:->|=>|:|=|gives|→)\s?\d+",
            ),
        ),
        "since-upgrade": Topic(
            negatable=False,
            wordings=(
                rf"(?:since|after|once|began|started|only with|only in|only on)\s.{{0,40}}(?:upgrad\w*|updat\w*|new(?:er|est)?"
                rf"|mov\w*|bump\w*|switch\w*)\s.{{0,40}}{_SOFTWARE}",
                rf"(?:new(?:er|est)?|latest)\s.{{0,30}}{_SOFTWARE}.{{0,60}}{_BAD}",
                rf"regression\b.{{0,60}}{_SOFTWARE}|{_SOFTWARE}.{{0,60}}\bregression",
                rf"only (?:the )?(?:new|newest|latest)\s.{{0,20}}{_SOFTWARE}",
                rf"(?:since|after|once|ever since|began|started|only with|only on)\s.{{0,40}}{_SOFTWARE}\s?v?\d+\.\d+",
                rf"(?:newer than|later than|above|from|beyond|>=?)\s.{{0,10}}(?:{_SOFTWARE} )?v?\d+\.\d+\.\d+\b.{{0,60}}{_BAD}|{_BAD}\s.{{0,40}}(?:newer than|later than|and (?:newer|later|above|up)|>=?)",
                rf"(?:was|worked|ran)\s(?:\w+ )?(?:fine|ok|fast|well|good)\s.{{0,40}}(?:before|until|with)\s.{{0,40}}(?:upgrad|updat|{_SOFTWARE}|\d+\.\d+)",
            ),
        ),
        "versions-differ": Topic(
            negatable=False,
            wordings=(
                rf"(?:different|mismatch\w*|unequal|incompatible|mixed|not the same|inconsistent)\s.{{0,40}}{_SOFTWARE}s?\b",
                rf"{_SOFTWARE}s?\b.{{0,50}}(?:differ|mismatch|do(?:es)? not match|not the same|incompatible|inconsistent)",
                r"(?:one|first|head|some|old)\s(?:\w+\s)?(?:nodes?|hosts?|machines?|ranks?|workers?"
                r"|half)\b.{0,60}\d+\.\d+.{0,60}(?:other|second|worker|rest|new|while|and)\b.{0,40}\d+\.\d+",
                rf"{_SOFTWARE} ?=? ?v?\d+\.\d+.{{0,70}}\b(?:the )?(?:others?|rest|remaining|second|newer|older) (?:\w+ ){{0,4}}{_SOFTWARE} ?=? ?v?\d+\.\d+",
                r"undefined symbol|symbol lookup error|built (?:for|against|with)\s(?:.{0,40}(?:but|while|not|instead)|(?:an? )?(?:current|newer|older|other|another|different|more recent|later)\b)",
                r"driver\s.{0,20}(?:too old|older than|insufficient)",
                rf"(?:head|driver|server|master|prefill|one|first|old|local|client|rank ?0|node[- ]?\w+)\b.{{0,40}}{_SOFTWARE} ?=? ?v?\d+\.\d+.{{0,70}}(?:worker|other|second|rest|client|new|container|another|decode|remote|node[- ]?\w+|rank ?\d+)\b.{{0,40}}\d+\.\d+(?! ?[GMkTu%m])",
                r"(?:header|library|runtime|compile[d]?|link\w*)\b.{0,30}\d+\.\d+.{0,40}(?:runtime|library|header|loaded|but)\b.{0,30}\d+\.\d+\.?\d*(?! ?[GMkTu%m])|cluster was started with",
                r"(?:nodes?|hosts?|ranks?|images?|pods?|workers?)\s.{0,30}(?:run|have|use|carry|load)\w*\s(?:a )?(?:different|other|another|older|newer|not the same)\s.{0,24}(?:version|release|build|nccl|driver|image|torch|cuda)",
                rf"(?:that|this|a single|only one|which)\s(?:\w+\s)?(?:node|host|machine|rank|worker|server|image|pod)\b.{{0,30}}{_SOFTWARE} ?=? ?v?\d+\.\d+.{{0,40}}\b(?:others?|rest|remaining)\b.{{0,30}}\d+\.\d+(?! ?[GMkTu%m])",
                r"(?:half|part|some) of (?:the |our )?(?:fleet|nodes|cluster|hosts|ranks)\b.{0,40}(?:still|runs?|has|have|use)\b.{0,60}(?:rest|others?|new)\b",
                rf"{_SOFTWARE}\s?v?\d+(?:\.\d+)* on (?:nodes?|hosts?|ranks?|half|some|one|the (?:old|new|first|head))\b.{{0,30}}\d+(?:\.\d+)* on\b",
                rf"{_SOFTWARE}\b.{{0,24}}\bv?\d+\.\d+ (?:vs\.?|versus|against) v?\d+\.\d+",
                r"version \W?\w+_\d[\w.]*\W? not found|(?:newer|older)\s.{0,24}(?:rdma-core|ofed|driver|librar\w+|libibverbs|firmware|runtime|toolkit)\s.{0,12}than\b",
                rf"{_SOFTWARE}\b.{{0,24}}\bv?\d+\.\d+\.\d+ (?:and|vs\.?|versus|against|with|next to) v?\d+\.\d+\.\d+",
            ),
        ),
        "groups-do-not-mix": Topic(
            negatable=False,
            wordings=(
                r"(?:mix\w*|any of|combin\w*)\s.{0,60}(?:hangs?|fails?|stuck|abort|error|timeout)",
                r"(?:hangs?|fails?|stuck)\b.{0,60}(?:when|if|only)\s.{0,20}(?:mixed|mixing|together|combined)",
                r"(?:both|two|each)\s.{0,20}(?:groups?|sets?|pools?|halves|partitions?)\s.{0,30}(?:work|pass|run)",
            ),
        ),
        "plugin-differs": Topic(
            negatable=False,
            wordings=(
                r"(?:different|mismatch\w*|other|not the same|only some|part of|some)\s.{0,40}(?:net(?:work)? ?plugins?"
                r"|nccl plugins?|libnccl-net\S*|sharp plugin|ofi plugin|tuner plugin)",
                r"(?:net(?:work)? ?plugins?|libnccl-net\S*|NCCL_NET_PLUGIN|hpc-?x)\b.{0,60}(?:only on|differ|mismatch|one node"
                r"|some nodes|not on|missing on|=?none)",
                r"(?:libnccl-net\S*|net(?:work)? ?plugin|nccl plugin|hpc-?x|ofi[- ]nccl|sharp plugin|rdma-sharp)\b.{0,80}\b(?:(?:node|host|image|rank|pool|group|container|half)s? ?[-_]?\w{1,3}|another|others?|second|old|rest|half)\b.{0,30}(?:does ?n.t|do(?:es)? not|not|without|lack\w*|missing|none|no\b|internal|built-?in)",
                r"(?:one|some|new|half|only)\s(?:\w+ )?(?:images?|nodes?|hosts?|pools?|containers?|ranks?)\s.{0,30}(?:has|have|load\w*|ship\w*|with|carr\w*|us\w+)\s.{0,24}(?:libnccl-net|plugin|hpc-?x|ofi|sharp)",
            ),
        ),
        "feature-off-helps": Topic(
            negatable=False,
            wordings=(
                r"NCCL_(?:NVLS|CUMEM|MNNVL|PXN|GRAPH|LAUNCH|WIN|CTA|GIN|RAS|COLLNET|DMABUF|SYM|NVLSTREE|IB_SPLIT|IB_MERGE)\w*\s?=\s?\S+.{0,24}(?:avoid|work\w* ?around|help|fix|hide|cure|works?|gone|goes|solv|prevent|pass)|(?:disabl\w*|without|turn\w* off)\s.{0,16}(?:nvls|cumem|mnnvl|pxn|cuda graphs?|ll128|nvlink sharp)\b.{0,40}(?:avoid|help|fix|works?|gone|goes|solv|pass|cure)",
            ),
        ),
    },
)
