"""A project on the network: HTTP around the engine.

    POST /join {name, kind}            -> {host, token}       GET  /work              what is to be done, as data
    POST /ask                          -> a unit, or 204      GET  /weights/{t}       float32, with a checksum
    POST /report/{unit}/{copy}         weights as bytes       GET  /status            what the page shows
    POST /error/{unit}/{copy}          a sentence             GET  /drift/{unit}      what a strategy asks beyond them
    POST /admin/pause, /admin/resume
Hosts say who they are by `Authorization: Bearer TOKEN`. Every refusal is a status and a sentence. Nothing that comes in
is a path, a pickle or a piece of SQL; sizes are known before a body is read, and every body has a deadline.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import socket
import sqlite3
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from dlmini.volunteer.described import fingerprint
from dlmini.volunteer.engine import Engine, Refused
from dlmini.volunteer.guards import Budget, Patient
from dlmini.volunteer.looker import Looker
from dlmini.volunteer.names import KIND, NAME, RULE

BODY = 60.0  # seconds in which a body must have come
SMALL = 2000  # bytes of a body that is not weights
LONGEST = 200  # letters of a path
IDLE = 20  # idle hosts that may ask in a second
PAGE = Path(__file__).with_name("page.html")


class Server:
    """The requests, one method each. body: seconds; rate: requests a second of one host, and of one address."""

    def __init__(self, engine: Engine, body: float = BODY, rate: float = 200.0, strangers: float = 20.0):
        self.engine, self.body, self.time = engine, body, clock(engine.it.now)
        self.hosts = Budget(rate, max(10, 2 * rate))
        self.strangers = Budget(strangers, max(40, 40 * strangers))

    def app(self) -> Shortcut:
        routes = [
            Route("/", self.page),
            Route("/work", self.work),
            Route("/status", self.status),
            Route("/join", self.join, methods=["POST"]),
            Route("/ask", self.ask, methods=["POST"]),
            Route("/weights/{iteration:int}", self.weights),
            Route("/drift/{unit:int}", self.drift),
            Route("/report/{unit:int}/{copy:int}", self.report, methods=["POST"]),
            Route("/error/{unit:int}/{copy:int}", self.error, methods=["POST"]),
            Route("/admin/{order}", self.admin, methods=["POST"]),
        ]
        handlers = {Refused: refused, HTTPException: unknown, ClientDisconnect: gone, sqlite3.Error: disk}
        return Shortcut(self, Starlette(routes=routes, exception_handlers=handlers, lifespan=self.lifespan))

    def lifespan(self, app):
        return Ticking(self)

    # ---- requests ----

    async def page(self, request: Request) -> Response:
        self.stranger(request)
        policy = "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors *"
        return HTMLResponse(PAGE.read_text(encoding="utf-8"), headers={"content-security-policy": policy})

    async def work(self, request: Request) -> Response:
        self.stranger(request)
        return JSONResponse(self.engine.work.plain())

    async def status(self, request: Request) -> Response:
        self.stranger(request)
        return JSONResponse(self.engine.status(self.time()))

    async def join(self, request: Request) -> Response:
        self.stranger(request)
        said = await self.words(request)
        name, kind = said.get("name"), said.get("kind", "")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise Refused(400, RULE)
        if not isinstance(kind, str) or not KIND.fullmatch(kind):
            raise Refused(400, "the kind of a host has at most 80 letters, digits, spaces or . ( ) @ - _")
        number, token = self.engine.join(self.time(), name, kind)
        return JSONResponse({"host": number, "token": token})

    async def ask(self, request: Request) -> Response:
        host = self.known(request)
        send = self.engine.ask(self.time(), host)
        if send is None:
            again = {"retry-after": str(min(60, 1 + len(self.engine.names) // IDLE))}
            return Response(status_code=204, headers=again | ({"x-finished": "1"} if self.engine.finished else {}))
        iteration = self.engine.rounds.base(send.unit)
        left = send.deadline - self.time()
        return JSONResponse({"unit": send.unit, "copy": send.copy, "iteration": iteration, "seconds": left})

    async def weights(self, request: Request) -> Response:
        self.known(request)
        data = self.engine.store.weights(request.path_params["iteration"] % 2**62)
        if data is None:
            raise Refused(410, "the weights of this iteration are not kept; ask for new work")
        return numbers(data)

    async def drift(self, request: Request) -> Response:
        """What a federation's strategy asks of this unit's client beyond the weights; 204: nothing."""
        self.known(request)
        data = self.engine.drift(request.path_params["unit"])
        return Response(status_code=204) if data is None else numbers(data)

    async def report(self, request: Request) -> Response:
        host = self.known(request)
        digest = request.headers.get("x-checksum", "")
        data = await self.bytes(request, 4 * self.engine.size)
        self.engine.report(self.time(), host, *place(request), data, digest)
        return JSONResponse({"thanks": "the answer is kept"})

    async def error(self, request: Request) -> Response:
        host = self.known(request)
        why = (await self.bytes(request, SMALL)).decode("utf-8", "replace")
        self.engine.report_error(self.time(), host, *place(request), "".join(c for c in why if c.isprintable())[:200])
        return JSONResponse({"thanks": "noted"})

    async def admin(self, request: Request) -> Response:
        self.stranger(request)
        if not secrets.compare_digest(token(request).encode(), self.engine.admin.encode()):
            raise Refused(403, "changes need the admin token, which stands in the server's terminal")
        order = request.path_params["order"]
        if order not in ("pause", "resume"):
            raise Refused(404, "the admin may pause or resume")
        self.engine.pause(order == "pause")
        return JSONResponse({"paused": self.engine.paused})

    # ---- guards ----

    def stranger(self, request: Request) -> None:
        if not self.strangers.spend(request.client and request.client.host, self.time()):
            raise Refused(429, "too many requests from this address; wait a little")

    def known(self, request: Request) -> int:
        """Who asks; strangers spend their address's budget, so that tokens cannot be guessed at speed."""
        at = self.time()
        try:
            host = self.engine.host(at, token(request))
        except Refused:
            self.stranger(request)
            raise
        if not self.hosts.spend(host, at):
            raise Refused(429, "too many requests from this host; wait a little")
        return host

    async def bytes(self, request: Request, most: int) -> bytes:
        """The body, if it says how long it is, is not too long, and comes in time. In chunks it could be longer than it
        says, so it must not come in chunks."""
        length = request.headers.get("content-length", "")
        if not re.fullmatch(r"[0-9]{1,12}", length) or "transfer-encoding" in request.headers:
            raise Refused(411, "the request must say how long its body is (content-length)")
        if int(length) > most:
            raise Refused(413, f"the body has {int(length)} bytes; at most {most} are taken")
        try:
            return await asyncio.wait_for(request.body(), self.body)
        except TimeoutError:
            raise Refused(408, "the body did not come in time") from None

    async def words(self, request: Request) -> dict:
        try:
            said = json.loads(await self.bytes(request, SMALL))
        except (ValueError, RecursionError) as error:
            if isinstance(error, Refused):
                raise
            raise Refused(400, "the body is no JSON") from None
        if not isinstance(said, dict):
            raise Refused(400, 'the body must be a JSON object, such as {"name": "my laptop"}')
        return said


class Shortcut:
    """What volunteers ask all the time goes straight to its method; everything else through the framework, which takes
    longer than the dispatcher and the disk together."""

    report = re.compile(r"/report/([0-9]{1,18})/([0-9]{1,9})")

    def __init__(self, server: Server, app: Starlette):
        self.server, self.app = server, app

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "http" and len(scope["path"]) > LONGEST:  # the framework would make numbers of it
            return await sentence(404, "there is nothing here")(scope, receive, send)
        method = self.method(scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        if method is None:
            return await self.app(scope, receive, send)
        request = Request(scope, receive)
        try:
            reply = await method(request)
        except Refused as error:
            reply = await refused(request, error)
        except ClientDisconnect as error:
            reply = await gone(request, error)
        except sqlite3.Error as error:
            reply = await disk(request, error)
        return await reply(scope, receive, send)

    def method(self, scope):
        if scope["path"] == "/ask":
            return self.server.ask
        if found := self.report.fullmatch(scope["path"]):
            scope["path_params"] = {"unit": int(found[1]), "copy": int(found[2])}
            return self.server.report
        return None


class Ticking:
    """Deadlines pass also while nobody asks, and weights are tried. (What `async with` wants of a lifespan.)"""

    def __init__(self, server: Server):
        self.server = server

    async def __aenter__(self):
        self.task = asyncio.get_running_loop().create_task(self.ticks())
        self.looker = Looker(self.server.engine.store.file.parent)

    async def __aexit__(self, *error):
        self.task.cancel()
        self.looker.end()

    async def ticks(self):
        while True:
            with suppress(sqlite3.Error):  # a full disk: nothing has happened, and the next tick tries again
                self.server.engine.tick(self.server.time())
            await asyncio.sleep(1.0)


def clock(least: float) -> Callable[[], float]:
    """Seconds that never go back, nor jump: whoever sets this machine's clock moves no deadline and empties no budget.
    least: when the project's last event was: a server that begins anew with a clock behind it goes on from there."""
    ahead = max(time.time(), least) - time.monotonic()
    return lambda: time.monotonic() + ahead


def token(request: Request) -> str:
    kind, _, found = request.headers.get("authorization", "").partition(" ")
    return found if kind.lower() == "bearer" else ""


def place(request: Request) -> tuple[int, int]:
    unit, copy = request.path_params["unit"], request.path_params["copy"]
    if unit >= 2**62 or copy >= 2**31:
        raise Refused(404, "there is no such unit")
    return unit, copy


def numbers(data: bytes) -> Response:
    return Response(data, media_type="application/octet-stream", headers={"x-checksum": fingerprint(data)})


def sentence(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status, headers={"retry-after": "2"} if status in (429, 503) else None)


async def refused(request: Request, error: Refused) -> Response:
    return sentence(error.status, str(error))


async def unknown(request: Request, error: HTTPException) -> Response:
    words = {404: "there is nothing here", 405: "this cannot be asked in this way"}
    return sentence(error.status_code, words.get(error.status_code, error.detail))


async def gone(request: Request, error: ClientDisconnect) -> Response:
    return sentence(400, "the connection ended before the body did")


async def disk(request: Request, error: sqlite3.Error) -> Response:
    return sentence(503, f"the project's file cannot be written ({error}); nothing was taken, try again later")


class Ending(uvicorn.Server):
    """uvicorn's, but it always ends in good order: that takes some seconds at most, also for who presses twice."""

    def handle_exit(self, sig: int, frame) -> None:
        super().handle_exit(sig, frame)
        self.force_exit = False


def serve(engine: Engine, host: str, port: int, tls: tuple = (), ready=None) -> None:
    """Until KeyboardInterrupt. port 0: any; ready(port) is told which. tls: certificate and key file."""
    try:
        engine.hold()
        server = http(Server(engine), tls)
        with listening(host, port) as sock:
            if ready:
                ready(sock.getsockname()[1])
            server.run(sockets=[sock])
    finally:
        engine.store.close()


def http(server: Server, tls: tuple = (), protocol=Patient) -> uvicorn.Server:
    """What speaks HTTP for it. TLS files that do not fit are refused here, before anybody is told an address."""
    certificate, key = tls or (None, None)
    if tls:
        demand_pair(certificate, key)
    config = uvicorn.Config(
        server.app(),
        http=protocol,
        log_level="error",  # of what strangers send nothing is shown
        ws="none",
        access_log=False,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,  # who does not answer is not waited for when the server ends
        server_header=False,
    )
    return Ending(config)


def demand_pair(certificate, key) -> None:
    """A certificate and its key that a server can begin with, without asking anybody for a password."""

    def locked():
        raise ValueError("it has a password, and a server that begins anew by itself has nobody to ask")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, locked)
    except (OSError, ValueError) as error:
        why = f"{error.strerror or error}" if isinstance(error, OSError) else error
        raise OSError(f"{certificate} and {key} are no TLS certificate and its key, as PEM files ({why})") from error


def listening(host: str, port: int):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, proto=socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle's delay on
    if os.name == "posix":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(f"port {port} of {host} cannot be used ({error.strerror}); choose another, or 0") from error
    sock.listen(1024)
    return sock
