"""A small HTTP service, well or badly made."""

import http.server
import socket
import time
from typing import Any

REPLY_BYTES = 2048


def act(arguments: dict[str, Any]) -> None:
    """Serve on `bind` and `port` for ever.

    `think_s` is what an answer takes, `idle_s` how long a quiet connection is kept, `backlog` the accept queue, and `accept_every_s`
    makes a server that takes new connections only so often, from one thread.
    """
    backlog, accept_every_s = arguments.get("backlog", 128), arguments.get("accept_every_s", 0.0)

    class Handler(http.server.BaseHTTPRequestHandler):
        """Answers every request alike."""

        protocol_version = "HTTP/1.1"
        timeout = arguments.get("idle_s", 120.0)
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            """Read it, think, answer in one piece."""
            self.rfile.read(int(self.headers.get("content-length") or 0))
            time.sleep(arguments.get("think_s", 0.0))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(REPLY_BYTES))
            self.end_headers()
            self.wfile.write(b"{" + b" " * (REPLY_BYTES - 2) + b"}")

        do_GET = do_POST  # noqa: N815 - the name is the library's

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
            """A request more or less is no news."""

    class Server(http.server.ThreadingHTTPServer):
        """One thread a connection, accepted at its own pace."""

        request_queue_size = backlog
        daemon_threads = True

        def get_request(self) -> tuple[socket.socket, Any]:
            if accept_every_s:
                time.sleep(accept_every_s)
            return super().get_request()

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that went away is no news."""

    Server((arguments.get("bind", ""), arguments["port"]), Handler).serve_forever()
