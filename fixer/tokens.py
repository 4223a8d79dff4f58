"""Tokens: taken out of the environment, so that no program that fixer starts has them, and kept out of messages."""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

ForgeKind = Literal["github", "gitlab"]

NAMES: Mapping[ForgeKind, tuple[str, ...]] = {
    "github": ("GH_TOKEN", "GITHUB_TOKEN"),
    "gitlab": ("GITLAB_TOKEN", "CI_JOB_TOKEN"),
}
_USERS = {"GITLAB_TOKEN": "oauth2", "CI_JOB_TOKEN": "gitlab-ci-token"}
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+@")
_PR_SET_DUMPABLE = 4


@dataclass(frozen=True)
class Token:
    """A token, and the variable that it came from."""

    name: str
    value: str = field(repr=False)

    def header(self) -> str:
        """The header by which git shows the token to a server over http."""
        user = _USERS.get(self.name, "x-access-token")
        return f"Authorization: Basic {base64.b64encode(f'{user}:{self.value}'.encode()).decode()}"


@dataclass(frozen=True)
class Tokens:
    """The tokens that the environment held."""

    held: tuple[Token, ...] = ()

    def of(self, kind: ForgeKind) -> Token | None:
        """The token for servers of a kind."""
        by_name = {token.name: token for token in self.held}
        return next((by_name[name] for name in NAMES[kind] if name in by_name), None)

    def hidden(self, text: str) -> str:
        """A message of another program without what it may hold of a token, or of a name in an address."""
        for token in self.held:
            for secret in (token.value, token.header().rpartition(" ")[2]):
                text = text.replace(secret, "***")
        return _IN_ADDRESS.sub("", text)


def take() -> Tokens:
    """Takes the tokens out of the environment, and shuts what the system shows of it to other processes."""
    names = [name for names in NAMES.values() for name in names]
    held = tuple(Token(name, value) for name in names if (value := os.environ.pop(name, "")))
    if held and sys.platform == "linux":
        with suppress(OSError, AttributeError, ImportError):
            from ctypes import CDLL

            CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return Tokens(held)
