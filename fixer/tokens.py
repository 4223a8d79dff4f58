"""Tokens: taken out of the environment, so that no program that fixer starts has them, and kept out of messages."""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

from fixer.errors import UsageError

ForgeKind = Literal["github", "gitlab"]

NAMES: Mapping[ForgeKind, tuple[str, ...]] = {
    "github": ("GH_TOKEN", "GITHUB_TOKEN"),
    "gitlab": ("GITLAB_TOKEN", "CI_JOB_TOKEN"),
}
_USERS = {"GITLAB_TOKEN": "oauth2", "CI_JOB_TOKEN": "gitlab-ci-token"}
_IN_ADDRESS = re.compile(r"(?<=://)[^/\s]+@")
_SHOWABLE = re.compile(r"[!-~]+")
"""What a header can hold, so that no library names a token in a complaint about its header."""
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
        """The token for servers of a kind. Raises UsageError for a value that is no token."""
        by_name = {token.name: token for token in self.held}
        found = next((by_name[name] for name in NAMES[kind] if name in by_name), None)
        if found and not _SHOWABLE.fullmatch(found.value):
            raise UsageError(f"{found.name} holds a blank, a line end or another character that no token has")
        return found

    def and_of(self, token: Token) -> Tokens:
        """With one more token, which did not come from the environment."""
        return self if token in self.held else Tokens((*self.held, token))

    @contextmanager
    def hiding(self) -> Iterator[None]:
        """Takes the tokens out of what is said by an error that leaves the block, and by those that led to it."""
        try:
            yield
        except Exception as error:
            told: BaseException | None = error
            while told:
                told.args = tuple(self.hidden(part) if isinstance(part, str) else part for part in told.args)
                told = told.__cause__ or told.__context__
            raise

    def hidden(self, text: str) -> str:
        """A message of another program without what it may hold of a token, or of a name in an address."""
        for token in self.held:
            for secret in (token.value, token.header().rpartition(" ")[2]):
                text = text.replace(secret, "***")
        return _IN_ADDRESS.sub("", text)


def take() -> Tokens:
    """Takes the tokens out of the environment, and shuts what the system shows of it to other processes."""
    names = [name for names in NAMES.values() for name in names]
    held = tuple(Token(name, value) for name in names if (value := os.environ.pop(name, "").strip()))
    if held and sys.platform == "linux":
        with suppress(OSError, AttributeError, ImportError):
            from ctypes import CDLL

            CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return Tokens(held)
