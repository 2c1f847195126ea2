"""What people say of inference servers: queues, caches, cold starts, remote back ends."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

SYMPTOMS = Symptoms(
    title=Text(en="inference servers", zh="推理服务"),
    topics={
        "kv-preempted": Topic(
            wordings=(
                r"\bpreempt(?:ed|ion|ions|s|ing)?\b",
                r"_preemptions?(?:_total)?\b\W{0,3}(?:\{[^}]*\}\s*)?(?:[1-9]|.{0,20}\b(?:goes up|rises?|rising|grows?|growing|climbs?|increas\w+|jumps?|non-?zero))",
                r"kv cache (?:pool )?is full|not enough kv cache|retract(?:ed|ing|ion)? \w*|sequence group \S+ is preempted|recompute mode|evict\w*.{0,30}(?:sequence|request|kv)",
                r"(?:no|not enough) (?:free )?(?:kv )?(?:cache )?blocks|swapped (?:out|requests?)",
            )
        ),
        "kv-cache-full": Topic(
            wordings=(
                r"(?:gpu )?(?:kv|token)[-_ ]?(?:cache)?[-_ ]?(?:cache )?(?:usage|utili[sz]ation|use|occupancy|usage_perc)\W{0,4}(?:\{[^}]*\}\s*)?(?:is |at |of |: ?|= ?)*(?:9[3-9](?:\.\d+)? ?%|100(?:\.0+)? ?%|0\.9[3-9]\d*|1\.0+\b|full)",
                r"gpu_cache_usage(?:_perc)?\W{1,4}(?:\{[^}]*\}\s*)?(?:9[3-9](?:\.\d+)? ?%|100 ?%|0\.9[3-9]\d*|1\.0+\b|1\b)",
                r"kv[- ]?cache\b.{0,30}(?:full|exhaust|9[3-9](?:\.\d+)? ?%|100(?:\.0)? ?%|overflow|runs? out|thrash)",
                r"token usage: (?:0\.9[3-9]|1\.0)",
            )
        ),
        "server-queue-grows": Topic(
            wordings=(
                r"(?:num_requests_waiting|waiting requests?|#queue-req|requests? waiting|queue(?:d| depth| length| size)?|pending)\W{1,8}(?:is |at |of |up to |grows? to |= ?)*(?:[1-9]\d{1,4})\b",
                r"(?:queue|waiting|backlog|pending)\b.{0,40}(?:grow|rise|increas|climb|pile|long|never drain|keeps)",
                r"waiting: [1-9]\d* reqs",
            )
        ),
        "throughput-flat": Topic(
            wordings=(
                r"(?:throughput|tok(?:en)?s?/s|rps|req/s|requests?/s|goodput)\b.{0,50}(?:flat|plateau|constant|stays|saturat|does not (?:rise|grow|increase)|no (?:more|higher|longer)|same|stops|levels)",
                r"offered\b.{0,20}\d.{0,30}(?:completed|served|handled|goodput|achieved|finished)\b.{0,12}\d",
                r"(?:plateau|saturat|flat)\w*\b.{0,40}(?:throughput|tok|rps|req|at \d)",
                r"(?:offered|arrival|incoming|request) (?:load|rate)\b.{0,50}(?:above|exceed|higher|more|greater|over)\b.{0,40}(?:capacity|service|served|handle|rate)?",
                r"(?:overload|over capacity|beyond capacity|above capacity|at capacity|model is overloaded|server (?:is )?(?:busy|overloaded|saturated))",
            )
        ),
        "gpu-busy": Topic(
            wordings=(
                r"\bgpus?\b.{0,40}(?:9[0-9](?:\.\d+)? ?%|100 ?%|saturat|fully|full(?:y)? (?:load|busy|used)|maxed|busy|at (?:the )?power limit|pegged)",
                r"(?:compute|flops|\bmfu\b|sm (?:util|active|occupancy)|tensor core|memory bandwidth|hbm|power (?:draw|limit))\b.{0,40}(?:9\d ?%|100 ?%|limit|saturat|full|high|max|[4-9]\d ?%)",
            )
        ),
        "more-load-slower": Topic(
            wordings=(
                r"(?:under|with|at|as|when|higher|more|increas\w*|heavy|peak)\b.{0,20}\b(?:load|users|concurren\w*|rps|requests|traffic|clients)\b.{0,60}(?:slow|late|latency|ttft|wait|grow|rise|degrad|seconds|time)",
                r"(?:slow|late|latency|ttft|ttfa|wait|delay)\w*\b.{0,40}(?:under|at|with) (?:higher |high |more |heavy |peak )?(?:load|concurren\w*|users|traffic)",
            )
        ),
        "server-says-overloaded": Topic(
            wordings=(
                r"\bmodel is overloaded\b|\"error_type\"\W{1,3}\"overloaded\"|\boverloaded_error\b|\bserver (?:is )?(?:overloaded|too busy|at capacity)\b|\b(?:queue|waiting queue|request queue) is full\b|\bmax(?:imum)? (?:queue|pending|concurrent) \w+ (?:reached|exceeded)\b",
            ),
            negatable=False,
        ),
        "kv-store-shared": Topic(
            wordings=(
                r"\b(?:redis|valkey|infinistore|mooncake store|shared (?:kv )?cache|remote (?:kv )?cache|kv store|lmcache server)\b",
            ),
            negatable=False,
        ),
        "kv-transfer": Topic(
            wordings=(
                r"(?:kv|cache)(?:[- _]cache)?[-_ ](?:transfer|transmission|migration|send|recv|receive|move|copy|load|pull|push)\w*",
                r"(?:transfer|send|mov|copy|migrat|ship|pull|push)\w* (?:the |of the |of )?kv(?:[- ]?cache)?",
                r"(?:nixl|mooncake|lmcache|disaggregat\w*|pd[- ]?(?:separation|disagg)|\bp/?d\b split|kv[_ ]connector)\b.{0,70}(?:transfer|slow|latency|ms|wait|takes|Gb|GB)",
            )
        ),
        "prefill-decode-split": Topic(
            wordings=(
                r"disaggregat\w*|prefill[- /]?(?:and[- ])?decode|\bpd[- ]?(?:separation|disagg\w*)|(?:prefill|decode) (?:node|instance|worker|pool|server)s?|nixl|mooncake|kv[_ ]connector",
            )
        ),
        "kv-transfer-dominates": Topic(
            wordings=(
                r"(?:kv|cache)(?:[- _]cache)?[-_ ](?:transfer|transmission|migration|copy|move)\w*.{0,60}(?:dominat|most|longer than|bottleneck|[3-9]\d ?%|exceed|more than|half|bound|grows? with|proportional|linear)",
                r"(?:ttft|first token|decode)\b.{0,60}(?:wait\w*|dominated|spent|limited|bound|grows?)\b.{0,40}(?:kv|cache|transfer)",
                r"(?:transfer|kv)\b.{0,40}\b(?:at only|only|just|at)\s+\d+(?:\.\d+)? ?[GM](?:i?B|b)(?:it)?(?:/s|ps)",
            )
        ),
        "first-is-slow": Topic(
            wordings=(
                r"\b(?:very )?(?:first|1st|initial)\b(?! (?:\d{3,}|\w+ (?:hundred|thousand)|hundreds?|thousands?|half|(?:half )?(?:a )?minutes?)\b).{0,30}\b(?:requests?|calls?|quer(?:y|ies)|prompts?|inference|answers?|message|tokens? after|run|batch|step|iteration)s?\b.{0,60}(?:slow|takes?|took|\d+ ?(?:s|sec|seconds|min|minutes)\b|time ?out|504|minute|long)",
                r"after (?:a )?(?:restart|deploy\w*|scale[- ](?:up|out|from)|pause|idle|cold start|a while)\b.{0,60}(?:first|slow|\d+ ?(?:s|seconds|min))",
            )
        ),
        "later-is-fast": Topic(
            wordings=(
                r"\b(?:second|subsequent|later|following|next|further|after ?wards|warm)\b.{0,40}(?:fast|quick|normal|fine|instant|under a second|\d+ ?ms|[\d.]+ ?s\b)",
                r"(?:then|after that|thereafter|from then on)\b.{0,20}(?:fast|quick|normal|fine|instant|[\d.]+ ?m?s\b)",
            )
        ),
        "loads-or-compiles": Topic(
            wordings=(
                r"min(?:imum)?[- ]?replicas?\W{1,4}0\b|knative|\bactivator\b|time to ready|cold[- ]?starts?|scale[sd]?[- ](?:to|from)[- ]?zero|warm-?up|not (?:yet )?(?:loaded|warm)|lazy load",
                r"(?:load(?:ing|s|ed)?|read(?:ing)?) (?:the )?(?:model|weights|checkpoint|shards|safetensors)",
                r"load_duration\W{1,4}\d|(?:model|weights) (?:load\w*|unload\w*|swap\w*)|keep_alive\W{1,4}(?:5m|0)|unloaded after",
                r"(?:torch\.?compile|cuda graphs?|graph captur\w*|jit|autotun\w*|triton kernel|engine build|inductor)\b.{0,50}(?:compil|captur|build|first|takes|took|\d+ ?s|warm)?",
                r"(?:pod|replica|instance|container|lambda|function)s? (?:start\w*|spin\w*|boot\w*|provision\w*|schedul\w*)",
            )
        ),
        "buffers-on-cpu": Topic(
            wordings=(
                r"\bcpu(?:_mapped)? +(?:kv |model |compute )?buffer size *= *(?!0\.)\d{3,}",
                r"\bllama_kv_cache\w*:.{0,40}\bcpu\b",
            ),
            negatable=False,
        ),
        "buffers-on-gpu": Topic(
            wordings=(
                r"\b(?:cuda|rocm|vulkan|sycl|hip|musa|cann|metal)\d?(?:_\w+)? +(?:kv |model |compute )?buffer size *= *\d",
                r"offloaded [1-9]\d*/\d+ layers to gpu",
            ),
            negatable=False,
        ),
        "remote-on-cpu": Topic(
            wordings=(
                r"offloaded 0/\d+ layers to GPU",
                r"(?:\brpc\b|rpc-server|remote|second (?:node|machine)|worker node|backend)\b.{0,60}(?:on (?:the |its )?cpu|cpu (?:backend|build|only|fallback)|built without (?:cuda|gpu|metal|vulkan|rocm)|no (?:gpu|cuda)|without (?:gpu|cuda))",
                r"(?:compiled|built) without (?:gpu|cuda|cublas|metal|vulkan|rocm)|not compiled with (?:gpu|cuda)",
                r"\d ?gb\s+100 ?% cpu\b|processor\W{0,6}100 ?% cpu|ollama.{0,60}100 ?% cpu|library=cpu|no compatible gpus? (?:were )?(?:discovered|found)|no (?:cuda )?gpus? (?:detected|found|available)|using device:? cpu|fall(?:ing|s)? back to cpu|using (?:the )?cpu\b(?: (?:backend|instead|only))?|no cuda-capable device|create_backend: using CPU backend",
                r"\bgpu\b.{0,30}(?:0 ?%|idle|unused|not used)\b.{0,60}\bcpu\b.{0,30}(?:9\d|100) ?%",
            ),
            negatable=False,
        ),
    },
)
