"""What a machine is called, of which kind it is, and where a server is: what strangers say and people type, made plain
or refused."""

from __future__ import annotations

import ipaddress
import platform
import re
from urllib.parse import urlsplit

from dlmini import jit
from dlmini.checks import refuse

NAME = re.compile(r"[\w][\w .()-]{0,39}")
KIND = re.compile(r"[\w .()@-]{0,80}")
RULE = "a name has 1 to 40 letters, digits, spaces or . ( ) - _, and begins with a letter"
PORT = 8642  # where a server is, if nothing else is said
WANTED = "what the server shows: http://HOST:PORT"
PAGES = re.compile(r"(/|/status|/work)*$")  # what a browser's line may end with


def name_of(text: str) -> str:
    """The nearest name that a server takes; empty if there is none."""
    return "".join(c for c in text if re.match(r"[\w .()-]", c)).lstrip(" .()-")[:40].strip()


def checked_name(name) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"name is {name!r}; {RULE}")
    return name


def own_kind() -> str:
    """Hosts of one kind compute equal bits: the system, the machine, and whether kernels are compiled or NumPy's (they
    add up in another order)."""
    said = f"{platform.system()} {platform.machine()} {jit.mode()}"
    return "".join(c for c in said if KIND.fullmatch(c))[:80]


def address_of(text) -> str:
    """What somebody typed or copied, as the server shows it: without http:// it is meant, and a page's end is left out.
    A path before that stays: it may lead through somebody's web server."""
    import httpx

    plain = text.strip().strip("<>'\" ") if isinstance(text, str) else ""
    try:
        whole = plain if "://" in plain else f"http://{bracketed(plain)}"
        parts = urlsplit(whole)
        host, port = parts.hostname, PORT if parts.port is None and whole != plain else parts.port
        if not plain.isprintable() or not host or port == 0 or re.search(r"[\s\\]|:$", parts.netloc):
            raise ValueError("it is no address")
        place = f"[{host}]" if ":" in host else host.encode("idna") and host
        found = f"{parts.scheme}://{place}{f':{port}' if port else ''}{PAGES.sub('', parts.path)}"
        httpx.URL(found)
    except (ValueError, httpx.InvalidURL):
        refuse(ValueError, "the address", text, WANTED)
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or ":/" in plain.replace("://", "", 1):
        refuse(ValueError, "the address", text, f"{WANTED}, and nothing besides")
    return found


def bracketed(plain: str) -> str:
    """An IPv6 address by itself needs brackets in a URL."""
    try:
        return f"[{ipaddress.IPv6Address(plain)}]"
    except ValueError:
        return plain
