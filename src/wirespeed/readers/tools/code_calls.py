"""Calls and assignments in quoted source code (Python, Go, JavaScript, Java) that bear on the network.

`name` is the call as written (`resp.enable_compression`, `requests.get`, `http.Transport`), or the left side of an assignment
(`server.keepAliveTimeout`); `arguments` is what stands between the brackets, over several lines where the call does, or the value
assigned. Comments and sentences that only name a function (no bracket behind it) are passed over.
"""

from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import CodeCall
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_LINES_A_CALL = 16
MOST_ARGUMENT_CHARACTERS = 400
MOST_LINE_CHARACTERS = 1_000
"""Longer lines are minified or data: their calls tell nothing that can be quoted."""
MOST_OPEN_CALLS = 16

_OWNER = r"(?:[A-Za-z_$][\w$]*\.){0,4}"
_METHODS = (
    "enable_compression|setsockopt|set_nodelay|setNoDelay|SetNoDelay|setTcpNoDelay|setKeepAlive|SetKeepAlive|SetReadBuffer"
    "|SetWriteBuffer|set_tcp_nodelay|DataLoader|GZipMiddleware|CompressMiddleware|BrotliMiddleware|BaseHTTPMiddleware"
    "|add_middleware"
    "|StreamingResponse|StreamResponse|EventSourceResponse|StreamingHttpResponse|init_process_group|new_group|init_device_mesh"
    "|monitored_barrier|DistributedDataParallel|FullyShardedDataParallel|fully_shard|insecure_channel|secure_channel|createServer"
    "|TransferConfig|snapshot_download|hf_hub_download|create_task_group|iter_content|iter_lines|iter_any|iter_chunked|readuntil"
    "|newHttpClient|LengthAwarePaginator|flushHeaders|DefaultDialer|NewClientConn|gzip_static|set_device|no_sync"
)
_QUALIFIED = (
    r"requests\.(?:get|post|put|patch|delete|head|request|Session)|httpx\.(?:get|post|put|stream|request|Client|AsyncClient"
    r"|Timeout|Limits)"
    r"|aiohttp\.(?:ClientSession|TCPConnector|ClientTimeout)|urllib3\.(?:PoolManager|HTTPConnectionPool)|urllib\.request\.urlopen"
    r"|http\.(?:Client|Transport|Agent|Get|Post|Server|request|get|NewRequest|DefaultTransport)|https\.(?:Agent|request|get)"
    r"|net\.(?:Dialer|Dial|ListenConfig|connect|createConnection)|undici\.(?:Agent|Pool|fetch)|axios\.(?:create|get|post)"
    r"|grpc\.(?:Dial|NewClient|DialContext)|boto3\.(?:client|resource)|uvicorn\.run|web\.run_app|openai\.(?:OpenAI|AsyncOpenAI)"
    r"|gzip\.NewWriter|bufio\.NewReaderSize|zlib\.createGzip|asyncio\.(?:open_connection|start_server|create_connection)"
    r"|socket\.(?:create_connection|socket)|(?:torch\.distributed|dist)\.(?:all_reduce|broadcast|barrier|all_gather\w*"
    r"|reduce_scatter\w*"
    r"|all_to_all\w*|send|recv|isend|irecv)|torch\.cuda\.synchronize"
)
_CONSTRUCTORS = r"OpenAI|AsyncOpenAI|DDP|FSDP|compression|fetch|EventSource|ReadableStream|WebSocket"
_CALL = regex(rf"(?<![\w.$])(?:new\s+)?(?P<name>{_QUALIFIED}|{_OWNER}(?:{_METHODS})|(?:{_CONSTRUCTORS}))(?P<open>\(|\{{)")
_ASSIGNED = regex(
    r"(?<![\w.$])(?P<name>[A-Za-z_$][\w$]*\.(?:keepAliveTimeout|headersTimeout|requestTimeout|timeout|maxSockets|IdleTimeout"
    r"|ReadTimeout"
    r"|WriteTimeout|MaxIdleConns|MaxIdleConnsPerHost|MaxConnsPerHost|DisableCompression|DisableKeepAlives|noDelay|highWaterMark"
    r"|NODELAY|disable_nagle_algorithm))\s*=\s*(?P<value>[^=\s;][^;]{0,120})"
)
_COMMENT = regex(r"^\s*(?:#|//|\*|--\s)")
_HINT = regex(
    rf"(?:{_METHODS}|{_CONSTRUCTORS})\s*[({{]|\b(?:requests|httpx|aiohttp|urllib3?|https?|net|undici|axios|grpc|boto3|uvicorn"
    rf"|web|openai|gzip"
    r"|bufio|zlib|asyncio|socket|dist|distributed|cuda)\.\w+\s*[({]|(?:[Tt]imeout|Idle\w*|maxSockets|noDelay|Disable\w+"
    r"|PerHost)\s*=\s"
)
_CLOSING = {"(": ")", "{": "}", "[": "]"}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    waiting: list[_Open] = []
    for index, line in lines:
        still_open: list[_Open] = []
        for call in waiting:
            call.take(index, line)
            if call.is_complete or len(call.written) >= MOST_LINES_A_CALL:
                yield call.record(lines)
            else:
                still_open.append(call)
        waiting = still_open
        if len(line) > MOST_LINE_CHARACTERS or _COMMENT.match(line) or not _HINT.search(line):
            continue
        for found in _CALL.finditer(line):
            call = _Open(found["name"], found["open"])
            call.take(index, line, found.end())
            if call.is_complete:
                yield call.record(lines)
            elif len(waiting) < MOST_OPEN_CALLS:
                waiting.append(call)
        for found in _ASSIGNED.finditer(line):
            yield CodeCall(
                source=source(lines, "code"),
                quotes=(quote(lines, index, line),),
                name=found["name"],
                arguments=found["value"].strip(),
            )
    for call in waiting:
        yield call.record(lines)


class _Open:
    """A call whose closing bracket has not come yet."""

    def __init__(self, name: str, bracket: str) -> None:
        self.name = name
        self.expected = [_CLOSING[bracket]]
        self.arguments = ""
        self.written: list[tuple[int, str]] = []

    @property
    def is_complete(self) -> bool:
        return not self.expected

    def take(self, index: int, line: str, start: int = 0) -> None:
        """Go on reading at `start` up to the closing bracket; brackets in strings are not told apart."""
        self.written.append((index, line))
        for position in range(start, len(line)):
            character = line[position]
            if character in _CLOSING:
                self.expected.append(_CLOSING[character])
            elif character == self.expected[-1]:
                self.expected.pop()
                if not self.expected:
                    self._keep(line[start:position])
                    return
        self._keep(line[start:])

    def _keep(self, text: str) -> None:
        joined = f"{self.arguments} {text.strip()}".strip()
        self.arguments = joined[:MOST_ARGUMENT_CHARACTERS]

    def record(self, lines: Lines) -> CodeCall:
        return CodeCall(
            source=source(lines, "code"),
            quotes=tuple(quote(lines, index, line) for index, line in self.written),
            name=self.name,
            arguments=self.arguments,
        )


READER = Reader(
    title=Text(en="calls in source code", zh="源代码中的调用"),
    gives=(CodeCall,),
    recognises=marked(_HINT),
    read=_read,
    voice="loose",
)
