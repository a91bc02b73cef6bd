"""Under which address a board may be reached from a phone."""

from __future__ import annotations

import ipaddress
import socket
from typing import Final
from urllib.parse import urlsplit

ANSWER_S: Final = 2  # a machine reaches itself in a millisecond


def phone_address(host: str, port: int) -> str:
    """The address of a board that listens on `host`: as a phone in the same network may call it."""
    name = host
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not bound
        name = _own() or f"{socket.gethostname()}.local"
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


def operator_address(base: str, token: str) -> str:
    """The operator's page with the token behind a `#`, which no browser ever sends to anybody."""
    return f"{base.rstrip('/')}/operator#{token}"


def answers(base: str) -> bool:
    """Whether anybody listens at an address of ours."""
    url = urlsplit(base)
    try:
        socket.create_connection((url.hostname or "", url.port or 80), timeout=ANSWER_S).close()
    except OSError:
        return False
    return True


def is_local(host: str) -> bool:
    """Whether an address is this machine's own: what asks from there sits at the board."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _own() -> str | None:
    """The address by which this machine would reach others. Nothing is sent: a datagram socket only picks a route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address kept for documentation (RFC 5737)
        except OSError:
            return None
        own = str(probe.getsockname()[0])
    return None if own.startswith("127.") else own
