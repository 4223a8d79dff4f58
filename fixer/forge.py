"""Where a remote lies: on GitHub, on GitLab, or on neither, and who may be shown a token there."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from fixer.errors import UsageError
from fixer.tokens import ForgeKind

_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
_SERVERS: dict[ForgeKind, tuple[str, str, str]] = {
    "github": ("GITHUB_SERVER_URL", "https://github.com", "GITHUB_API_URL"),
    "gitlab": ("CI_SERVER_URL", "https://gitlab.com", "CI_API_V4_URL"),
}


@dataclass(frozen=True)
class ForgeRepository:
    """A repository on a forge: its kind, the server, the address of the API, and the path of the repository."""

    kind: ForgeKind
    server: str
    api: str
    path: str

    @property
    def owner(self) -> str:
        """The user or organisation that the repository belongs to."""
        return self.path.partition("/")[0]


def place_of(url: str) -> ForgeRepository | None:
    """The repository that an address names; None where its server is not known as one of GitHub or GitLab.

    Known are github.com, gitlab.com, and the server that the variables of a pipeline name. Raises UsageError, without
    the address, for one that cannot be read.
    """
    try:
        host, path = parts_of(url)
    except ValueError as error:
        raise UsageError(f"the address of a remote cannot be read: {error}; see `git remote -v`") from None
    for kind, (server_name, public, api_name) in _SERVERS.items():
        for server in dict.fromkeys((os.environ.get(server_name) or public, public)):
            if host and host in (urlsplit(server).hostname, urlsplit(server).netloc):
                named = os.environ.get(api_name) if server == os.environ.get(server_name, public) else None
                return ForgeRepository(kind, server.rstrip("/"), (named or _api(kind, server)).rstrip("/"), path)
    return None


def may_show_token(url: str, place: ForgeRepository) -> bool:
    """Whether git may show the server's token at an address: over http, at that very server."""
    address, server = urlsplit(url), urlsplit(place.server)
    return address.scheme == server.scheme and address.netloc.rpartition("@")[2] == server.netloc


def without_user(url: str) -> str:
    """An address over http without the name and password that it may hold, others without a password alone: who signs
    in over ssh is a part of the address. Raises ValueError for one that cannot be taken apart."""
    address = urlsplit(url) if "://" in url else None
    user, at, server = address.netloc.rpartition("@") if address else ("", "", "")
    if not (address and at):
        return url
    shown = "" if address.scheme in ("http", "https") else f"{user.partition(':')[0]}@"
    return address._replace(netloc=f"{shown}{server}").geturl()


def parts_of(url: str) -> tuple[str, str]:
    """The host and the path of a repository's address; no host where it is a folder."""
    if "://" in url:
        address = urlsplit(url)
        host = address.netloc.rpartition("@")[2] if address.scheme in ("http", "https") else address.hostname or ""
        path = address.path if address.scheme != "file" else ""
    elif match := _SCP.fullmatch(url):
        host, path = match[1], match[2]
    else:
        host = path = ""
    return host.lower(), path.strip("/").removesuffix(".git")


def _api(kind: ForgeKind, server: str) -> str:
    """Where a server has its API: https://docs.github.com/enterprise-server/rest and https://docs.gitlab.com/api/rest"""
    if kind == "gitlab":
        return f"{server.rstrip('/')}/api/v4"
    return "https://api.github.com" if urlsplit(server).hostname == "github.com" else f"{server.rstrip('/')}/api/v3"
