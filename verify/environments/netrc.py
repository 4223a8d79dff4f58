"""The user's passwords for servers: those that an installer may see."""

from __future__ import annotations

import contextlib
import netrc
import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit


def entries_for(told: Iterable[str]) -> str:
    """The lines of the user's netrc file on the servers among these words, some of which are addresses."""
    found = []
    with contextlib.suppress(OSError, netrc.NetrcParseError, UnicodeDecodeError, RuntimeError):
        held = netrc.netrc(os.environ.get("NETRC") or Path.home() / ".netrc").hosts
        for host in sorted(set(_hosts(told)) & held.keys()):
            login, _, password = held[host]
            found.append(f"machine {host} login {login} password {password}\n")
    return "".join(found)


def _hosts(told: Iterable[str]) -> Iterable[str]:
    for word in told:
        with contextlib.suppress(ValueError):
            if word.startswith("http") and (host := urlsplit(word).hostname):
                yield host
