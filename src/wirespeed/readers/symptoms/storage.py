"""What people say of files, downloads, checkpoints and input pipelines."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_NETFS = r"(?:lustre|nfs\w*|ceph\w*|gluster\w*|gpfs|weka\w*|efs|fsx|beegfs|smb|cifs|gcs ?fuse|s3fs|goofys|juicefs|blobfuse|mountpoint-s3|rclone mount|(?:bucket|s3|gcs|blob|fuse|object[- ]store) (?:mount|volume|fs)|(?:mounted|mount of (?:a|the)) bucket|network (?:storage|file ?system|drive|disk|volume|share|mount)|shared (?:storage|file ?system)|pvc|nas)"
_DOWNLOAD = r"(?:down-?load\w*|pull\w*|fetch\w*|transfer\w*|cop(?:y|ies|ying)|snapshot_download|hf_hub|hugging ?face\w*|wget|curl|scp|rsync|model hub)"

SYMPTOMS = Symptoms(
    title=Text(en="storage and downloads", zh="存储与下载"),
    topics={
        "download": Topic(wordings=(rf"\b{_DOWNLOAD}\b", r"\bhub\b", r"\b(?:bucket|object store|registry|mirror|cdn)\b")),
        "single-stream": Topic(
            wordings=(
                r"(?:one|single|1)[- ](?:tcp |http )?(?:connection|stream|thread|worker|process|flow|socket|request at a time)",
                r"(?:one|a single) (?:layer|file|blob|object|shard)\b.{0,12}(?:=|is|means|uses|per|over) (?:one|a single) (?:connection|stream|request)",
                r"(?:one|a) (?:file|shard|chunk|part|object) (?:after|at a time|by one)",
                r"\b(?:sequential(?:ly)?|serially|one by one|one after (?:the |an)?other)\b",
                r"max[_-]workers\W{1,3}1\b|max_concurrent_requests\W{1,3}1\b",
                r"(?:no|without) (?:parallel|concurren|range|multi-?part)",
                r"(?:does not|doesn't|cannot|never) (?:parallel|use range|split|use several)",
            ),
            negatable=False,
        ),
        "parallel-is-faster": Topic(
            wordings=(
                r"(?:with|using|at)\s+(?:4|8|10|16|20|32|64|several|more|many|multiple|parallel)\s*(?:parallel |concurrent |tcp )?(?:connections?|streams?|threads?|workers?|downloads?|flows?|ranges?|processes)\b.{0,70}(?:\d|fast|full|line|scale|linear|reach|times)",
                r"aria2c?\b.{0,60}(?:fast|\d+ ?[MG]|full|line|times)|-x ?16.{0,40}(?:fast|\d+ ?[MG])",
                r"(?:parallel|concurrent|multi-?connection|multi-?thread\w*|-P ?\d+).{0,50}(?:fast|full|line rate|saturat|scale|reach|times|better)",
                r"(?:second|two|several) (?:down-?loads?|copies|transfers|clients?) (?:at once|in parallel|together|at the same time).{0,50}(?:double|same|each|both|sum|twice)",
                r"(?:max_workers|workers|connections?|streams?|threads?|parallel\w*|concurren\w*) ?[=:] ?(?:[4-9]|\d{2,})\)?\W{0,4}\d",
                r"\b(?:[4-9]|1\d|2\d|32|64) (?:parallel |concurrent )?(?:connections?|streams?|threads?|workers?|scps?|copies|downloads?|curls?|transfers?)\b:? (?:gets?|give|together|reach\w*|move|in total|sum)? ?\d",
                r"(?:\d+|two|three|four|five|six|eight|ten|sixteen) (?:parallel|concurrent|simultaneous) \w+\b.{0,40}(?:each|total|together|\d ?[mg])",
                r"scales? (?:linearly )?with (?:the )?(?:number of )?(?:connections|streams|workers|threads|files)",
                r"\b(?:one|1|a single|single) (?:tcp |iperf3? )?(?:stream|flow|connection|transfer|copy|thread)\b.{0,50}\b(?:[4-9]|\d\d|four|eight|ten|sixteen|several|many|more)\b.{0,12}(?:streams?|flows?|connections?|transfers?|copies|threads|parallel)",
                r"(?:in parallel|at once|together|simultaneously)\b.{0,12}\b(?:gives?|gets?|reach\w*|makes?|do|sum|total|yields?)\b.{0,12}\d|\b(?:gives?|gets?|reach\w*) (?:\d+|two|four|six|eight|ten) ?(?:x|×|times)",
                r"(?:one|a single) (?:layer|file|blob|object|shard)\b.{0,12}(?:=|is|means|uses|per|over) (?:one|a single) (?:connection|stream|request)",
                r"\b(?:byte[- ]?ranges?|range[- ](?:reads?|requests?|gets?)|ranged (?:reads?|gets?))\b(?!.{0,30}(?:not supported|unsupported|no support))",
                r"\b(?:other|second|another|own|prototype|different|new|faster) (?:loader|down-?loader|tool|client|program|streamer)\b.{0,40}(?:\b\d(?:\.\d+)? ?(?:x|×|times)\b|faster|full)",
                r"hf_transfer|hf_xet|HF_XET_HIGH_PERFORMANCE",
            )
        ),
        "small-client-chunk": Topic(
            wordings=(
                r"(?:chunk|buffer|block|read)(?:[ _-]?size)?\W{1,6}(?:of )?(?:[1-9]\d{0,2}|1024) ?(?:ki?b|kib|k)\b",
                r"chunk_size\W{1,3}\d{3,7}\b",
            )
        ),
        "few-left-hanging": Topic(
            wordings=(
                r"(?:hang|stuck|stall|stop|freez|slow(?:s)?(?: down)?|crawl)\w*.{0,30}\b(?:at|near|around|after)\s+(?:8[5-9]|9\d)(?:\.\d+)? ?%",
                r"(?:sits|stays|remains|waits|stands|idles)\b.{0,20}\b(?:8[5-9]|9\d|100)(?:\.\d+)? ?%|(?:one|single|last) (?:connection|range|part|chunk|stream|shard|file) (?:is )?left",
                r"(?:8[5-9]|9\d)(?:\.\d+)? ?%.{0,50}(?:hang|stuck|stall|stop|freez|crawl|forever|hours|\b\d+(?:\.\d+)? ?(?:[kK]i?B|B)(?:/s|ps))",
                r"\b(?:minutes?|hours?|ages?|long|ever) for (?:the )?(?:very )?last\b|\blast (?:per ?cent|%|percents?|few \w+|chunks?|parts?|shards?|segments?|pieces?)\b.{0,30}\b(?:takes?|took|needs?|\d+ ?min|hours?)",
                r"\b(?:great|fast|fine|full speed|quick\w*|good|ok|flies|normal\w*)\b.{0,30}\b(?:until|till|up to|except|but)\b.{0,30}\b(?:last|end|final|finish|few (?:per ?cent|%|mb|files)|9\d ?%)",
                r"\b(?:last|final) (?:few |couple of )?(?:per ?cent|%|megabytes?|mb|bit|piece|minutes)\b.{0,60}(?:slow|stuck|hang|crawl|forever|take|drop|fall)|(?:slow|stuck|hang|crawl|drop|fall)\w*.{0,30}\b(?:at|near|towards?|before) the (?:very )?end\b",
                r"last (?:shard|file|part|range|chunk|layer|few|one|bytes|percent|\d+ ?%).{0,60}(?:hang|stuck|slow|stall|hours|minutes|crawl|[kK]?B/s)",
                r"(?:one|single|a few|range \d+|part \d+|shard \d+|connection \d+)\b.{0,60}(?:\d+ ?[kK]?B/s|for hours|crawl|stuck|much slower|stalls?|hangs?)",
                r"\b(?:1[0-9]|[2-9]|\d{2,}) (?:of \d+ )?(?:done|finished|complete).{0,60}(?:left|remain|one|stuck|hang)",
            )
        ),
        "fresh-connection-is-fast": Topic(
            wordings=(
                r"\b(?:second|next|2nd|another|repeated) (?:try|attempt|run|pull|download)\b.{0,60}(?:\b\d+ ?s(?:ec\w*)?\b|fast|full (?:speed|rate)|fine|normal|quick)",
                r"\b(?:parallel|separate|concurrent|side|manual) (?:curl|wget|download|request|fetch|pull)\b.{0,50}\b(?:fast|full (?:speed|rate)|normal|fine|at once|\d+ ?MB/s)",
                r"(?:fresh|new|another|second|other|re-?opened) (?:tcp |http )?(?:connection|request|session|curl|wget|download)\b.{0,70}(?:\d|fast|full|normal|fine)",
                r"(?:restart|kill\w* (?:it|and)|re-?try(?!ing in)|paus(?:e|ing)|resum\w+|abort\w*|cancel\w*|ctrl-?c|reconnect\w*|re-?run|start (?:it |the \w+ )?again)\w*.{0,60}(?:fast|full speed|resum|completes?|finish|fixes|helps|again|normal|seconds|\d+ ?s\b)",
            )
        ),
        "origin-throttles": Topic(
            wordings=(
                r"(?<![\d.,])(?<!0x)\b429\b(?! ?(?:[munµ]?s\b|[kmgt]i?b|%|mb|tok|req|w\b|files?|steps?|it/s))(?![.,]\d)|too many requests|toomanyrequests|rate[- ]?limit\w*",
                r"\bslow ?down\b.{0,40}(?:503|request rate|reduce)|(?:503|error|exception|code|s3)\W{1,12}slow ?down|reduce your request rate",
                r"(?:requests?|GET|HEAD|PUT)\b.{0,60}per (?:s|second|sec)\b.{0,60}(?:prefix|bucket|key|partition|limit)",
                r"(?:5[,.]?500|3[,.]?500) (?:GET|PUT|req)",
                r"\b503\b.{0,60}(?:s3|bucket|object|prefix|blob|gcs|answers|loading|read)",
                r"(?:registry|docker hub|hub|origin|bucket|mirror|cdn|server|provider)\b.{0,50}(?:throttl|quota|rate[- ]?limit|limits? (?:us|each|every|the|per))",
                r"throttl\w* (?:by|at|from) (?:the )?(?:registry|hub|origin|bucket|server|provider|s3|cdn)",
                r"pull rate limit|bandwidth quota|egress quota|quota exceeded|ServerBusy|ProvisionedThroughputExceeded|Ratelimit-Remaining",
                r"exactly the same (?:rate|speed).{0,40}(?:every|each|all)",
            )
        ),
        "network-storage": Topic(wordings=(rf"\b{_NETFS}\b",)),
        "storage-is-limit": Topic(
            wordings=(
                r"(?:save|saving|write|writing|flush\w*|stor\w+|dump\w*) .{0,30}check-?points?.{0,60}(?:\d+ ?(?:s|sec|min|minutes)|slow|block|stall|hang|takes)",
                r"check-?point\w*.{0,60}(?:takes|took|stall|slow|block|pause|freez|minutes|\d+ ?(?:s|min)\b)",
                r"(?:disk|nvme|ssd|hdd|array|volume|storage|ebs|pvc|raid|nas|filer)\b.{0,50}(?:100 ?%|util\w*\W+(?:9\d|100)|saturat|at (?:its|the) limit|full speed|maxed|bottleneck|slow|only \d+|limit|iops)",
                r"\b(?:nas|nfs(?: server)?|filer|volume|disks?|hdds?|storage|array|ebs|ceph|lustre|raid)\b.{0,20}(?:delivers?|gives?|reads? at|writes? at|manages?|tops? out|peaks?|does|only)\b.{0,10}\d",
                r"(?:i/?o[- ]?wait|\biowait|%wa\b|\bwa\b)\W{0,12}(?:[3-9]\d|of [3-9]\d|is high|high|at [3-9]\d)",
                r"\b(?:fio|dd|hdparm|iostat)\b.{0,60}(?:only|same (?:slow )?(?:rate|speed)|just|\d+ ?M[Bi])",
                r"nfs: server \S+ not responding|blocked for more than \d+ seconds",
                rf"{_NETFS}\b[^.;]{{0,40}}(?<![\d.])\d{{1,3}}(?:\.\d+)? ?M(?:i?B)(?:/s|ps)",
                rf"{_NETFS}\b.{{0,60}}(?:slow|saturat|limit|bottleneck|overload|only \d+|not responding|full|busy)",
                r"(?:same|equal(?:ly)?) (?:slow|speed|rate).{0,40}(?:dd|local|direct)",
                r"\bosts?\b.{0,20}(?:full|9\d ?%|busy|slow|unbalanced)|(?:volume|ebs|gp3|disk) (?:throughput|iops|bandwidth) (?:limit|cap|of)",
                r"throughput (?:limit|cap|of the volume)|burst (?:credit|balance)s?\b",
            )
        ),
        "fast-then-collapses": Topic(
            wordings=(
                r"\b(?:fast|great|glorious|full (?:speed|rate)|fine|good)\b.{0,24}\bfor (?:the )?(?:first )?(?:half a minute|a minute|\d+ ?(?:s\b|sec\w*|min\w*|GB)|a few (?:seconds|minutes|GB))|\bfirst (?:half (?:a )?minute|\d+ ?(?:s\b|sec\w*|min\w*|GB)|few (?:seconds|minutes|GB)|minutes?)\b.{0,30}\b(?:fast|great|glorious|full (?:speed|rate)|fine|flies)\b",
                r"\b(?:then|after that|afterwards)\b.{0,16}\b(?:collapses?|drops?|falls?|crawls?|slows?)\b.{0,30}\b(?:fraction|tenth|half|third|crawl|few|\d)",
            ),
            negatable=False,
        ),
        "random-reads": Topic(
            wordings=(
                r"\bmmap\w*|memory[- ]map\w*|safetensors?.{0,40}(?:slow|page|lazy|mmap|nfs|lustre|\bviews?\b)",
                r"(?:major )?page[- ]?faults?",
                r"random (?:reads?|access|i/?o)|(?:small|tiny|many|millions? of|thousands? of) (?:\w+ )?(?:files|reads|objects|images|jpegs?)\b",
                r"\b4 ?(?:k|ki?b) (?:reads?|blocks?|random)|\b4096[- ]bytes?\b|seek(?:s|ing)?\b.{0,30}(?:back|jump|forth|random|each|every)|offsets? (?:jump|back|random|scatter)",
                r"(?:from_pretrained|from_single_file|load_file|safe_open|load_state_dict|torch\.load|np\.load|h5py|parquet|arrow|webdataset|lazy load\w*)\b.{0,60}(?:slow|not\b|hang|minutes|forever|takes|crawl|hours|\d ?min\b)",
                r"(?:metadata|stat|open|getattr|lookup)s? (?:calls?|ops|operations|server|storm|rate|heavy|bound)",
                r"\bmds\b.{0,40}(?:busy|load|100|limit)",
            )
        ),
        "slower-with-more-readers": Topic(
            wordings=(
                r"\b(?:all|every|\d+) (?:\w+ )?(?:nodes?|workers?|ranks?|pods?|hosts?|jobs?|machines?|servers?|gpus?)\b.{0,30}(?:at once|at the same time|together|in parallel|simultaneous\w*|concurrent\w*)\b.{0,50}(?:\d|slow|longer|forever)",
                r"(?:one|single|1) (?:node|worker|host|pod|machine|reader)\b.{0,20}\b(?:alone )?(?:is |takes |needs |reads? )?(?:fine|fast|quick|\d).{0,60}\b(?:all|\d+) (?:nodes|workers|hosts|pods|machines|readers)",
            ),
            negatable=False,
        ),
        "sequential-is-fast": Topic(
            wordings=(
                r"\b(?:dd|cp|cat|fio|pv|rsync|gsutil|sequential(?:ly)?|streaming|iozone|vmtouch)\b.{0,60}\b(?:several|fast|quick(?:ly)?|full (?:speed|rate)|(?<![\d.])[1-9][\d.]* ?G(?:i?B)?/s|line rate|fine|ok|good|(?:only )?(?:a few )?seconds|instant\w*|\d+ ?s\b|half a minute|(?:under|less than|in) a minute)",
                r"\b(?:plain|simple|straight|raw) (?:copy|read|cat|cp|dd)\b.{0,50}(?:fast|quick|full|fine|ok|good|\d)",
                r"(?:cop(?:y|ied|ying)|staged?|moved?) (?:it |them |the (?:files?|model|data) )?(?:first )?to (?:local|nvme|/dev/shm|ram|tmpfs|ssd|scratch).{0,60}(?:fast|fix|second|times|normal|fine|full)",
                r"(?:cat|pre-?fetch|warm|read(?:ing)? once).{0,30}(?:> ?/dev/null|page cache).{0,50}(?:fast|fix|second|times)",
            )
        ),
        "input-pipeline-waits": Topic(
            wordings=(
                r"data[- ]?load(?:er|ing)s?\b.{0,60}(?:slow|wait|bottleneck|bound|limit|starv|takes|\d+ ?%|cannot keep|too few|worker|time)",
                r"(?:wait\w*|block\w*|stuck|time (?:spent )?in|idle|starv\w*)\b.{0,40}\b(?:data|batch|input|next\(|dataloader|__next__)\b",
                r"\d ?m?s\b.{0,12}(?:in|for|on|of|is|was) (?:the )?(?:data ?-?load\w*|__next__|next\(|batch (?:fetch|load)|_next_data|input)",
                r"data[- ]?load\w*\b.{0,12}\d+(?:\.\d+)? ?(?:s|ms)\b|_next_data|DataLoader\.__next__",
                r"num[_-]?workers\W{1,3}[0-2]\b",
                r"(?:decod\w*|augment\w*|tokeni[sz]\w*|preprocess\w*|collate\w*|jpeg)\b.{0,60}(?:cpu|slow|bottleneck|limit|100 ?%|takes|bound)",
                r"\bcpus?\b.{0,20}(?:decod|augment|tokeni[sz]|preprocess|collat)\w*",
                r"\bdata[ _](?:time|wait|fetch\w*)\W{0,5}(?:is )?(?:[\d.]+ ?s|[3-9]\d ?%|most|dominat|high|grow)",
                r"page cache.{0,40}(?:full|runs? out|evict|exceed|cold|no longer)",
                r"fast for the first .{0,40}(?:steps|epoch|batches|minutes)",
            )
        ),
        "synthetic-data-is-fast": Topic(
            wordings=(
                r"(?:synthetic|dummy|fake|random|cached) (?:data|input|batch(?:es)?|tensors?|images?)\b.{0,50}(?:fast|full|double|times|fine|normal|\d|never (?:happens?|occurs?|pauses?|stalls?|drops?)|does(?: not|n't) (?:happen|occur|pause|stall|drop)|(?:goes|is|are) (?:away|gone)|disappears?|vanish\w*|no (?:pauses?|stalls?|such)|smooth|steady|flat|constant)",
                r"(?:only|just) (?:happens?|occurs?|with|on) (?:\w+ ){0,2}real (?:data|input|images|samples)",
                r"(?:fast|full|fine|normal|\d ?%)\b.{0,30}(?:with|on|using) (?:synthetic|dummy|fake|random|cached) (?:data|input|batch|tensor|image)",
            )
        ),
        "sender-pauses-without-loss": Topic(
            wordings=(
                r"\b(?:sender|client|it|tcp|upload|server)\b.{0,12}\b(?:stops?|pauses?|halts?|stalls?)\b.{0,40}\b(?:waits?|then (?:nothing|waits?)|for (?:an? )?(?:ack|round trip|rtt)|and goes on|until (?:the |an )?acks?)\b(?!.{0,20}\blost\b)",
                r"\bno (?:loss|retransmi\w+)\b.{0,60}\b(?:sender|client|it)\b.{0,16}\b(?:stops?|pauses?|idles?|waits?)\b",
            ),
            negatable=False,
        ),
        "window-limited": Topic(
            wordings=(
                r"\b(?:tcp |receive |send |rcv|snd)?(?:window|cwnd|rwnd|rmem|wmem|tcp_[rw]mem|socket buffer|so_rcvbuf|so_sndbuf|receive buffer)\b.{0,60}(?:limit|max|too small|default|64 ?k|\d+ ?(?:ki?b|mi?b)|212992|small|cap|full|scal)",
                r"(?:window|bdp|bandwidth[- ]delay)\b.{0,60}(?:rtt|round trip)",
                r"(?:high|long|\d{2,3} ?ms) (?:rtt|latency|round trip|distance).{0,60}(?:one|single) (?:flow|stream|connection)",
                r"rwnd_limited|sndbuf_limited",
            )
        ),
        "window-size-named": Topic(
            wordings=(
                r"\b(?:window|rwnd|cwnd|rcvbuf|sndbuf|so_rcvbuf|so_sndbuf|(?:receive|send|socket) buffers?)\b[^.;\d]{0,40}(?P<value>\d{4,9})\b(?! ?[kmgtbx%.])",
            ),
            negatable=False,
        ),
        "offset-reads": Topic(
            wordings=(
                r"\b(?:readfile|pread(?:64|v)?|read(?:at|_at|range)?)\b\W.{0,80}\b(?:offset|off|pos)\W{0,3}\d+",
                r"\bpread(?:64)?\(\d+,.{0,60}, \d+, \d+\)",
            ),
            negatable=False,
        ),
        "far-away": Topic(
            wordings=(
                r"(?:cross|inter|between|other|different|another|two)[- ](?:regions?|continents?|countr(?:y|ies)|data ?cent(?:er|re)s?|sites?|dcs?|cit(?:y|ies)|campus\w*|availability zones?)",
                r"(?:trans-?(?:atlantic|pacific)|overseas|intercontinental|\bwan\b|long[- ](?:haul|distance)|thousands? of (?:km|kilomet|miles)|\d{3,5} ?(?:km|miles)\b)",
                r"\b(?:us|eu|ap|asia|europe|america|tokyo|frankfurt|virginia|singapore|sydney|london|oregon|mumbai|ohio|ireland)[-\w]*\b.{0,40}(?:to|from|->|<->|and|in|-|–|/) (?:us|eu|ap|asia|europe|america|tokyo|frankfurt|virginia|singapore|sydney|london|oregon|mumbai|ohio|ireland)\b",
            )
        ),
        "round-trip": Topic(
            wordings=(
                r"\b(?:rtt|round[- ]?trip(?: time)?|ping|latency)\b\W{0,4}(?:time |is |of |between \w+ and \w+ |avg |about |around |~|≈|=|:|to (?:the )?\w+(?: is)?|\()*\s*(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms)\b",
                r"\b(?:europe|asia|us|eu|apac|america)[-–/](?:us|eu|asia|europe|apac|america)\b.{0,12}?(?P<value>\d{2,3}(?:\.\d+)?) ?(?P<unit>ms)\b",
                r"(?P<value>\d+(?:\.\d+)?) ?(?P<unit>ms) (?:rtt|round[- ]?trip|ping|away|apart)",
            )
        ),
    },
)
