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

    def checked(self, told: str) -> Token:
        """The token itself, which came from what is told. Raises UsageError for a value that is no token."""
        if not _SHOWABLE.fullmatch(self.value):
            raise UsageError(f"{told} holds a blank, a line end or another character that no token has")
        return self


@dataclass(frozen=True)
class Tokens:
    """The tokens that the environment held."""

    held: tuple[Token, ...] = ()

    def of(self, kind: ForgeKind) -> Token | None:
        """The token for servers of a kind. Raises UsageError for a value that is no token."""
        by_name = {token.name: token for token in self.held}
        found = next((by_name[name] for name in NAMES[kind] if name in by_name), None)
        return found and found.checked(found.name)

    def and_of(self, token: Token) -> Tokens:
        """With one more token, which did not come from the environment."""
        return self if token in self.held else Tokens((*self.held, token))

    @contextmanager
    def hiding(self) -> Iterator[None]:
        """Takes the tokens out of what is said by an error that leaves the block, and by those that led to it."""
        try:
            yield
        except Exception as error:
            queue: list[BaseException | None] = [error]
            seen = set[int]()
            while queue:
                if (told := queue.pop()) and id(told) not in seen:
                    seen.add(id(told))
                    queue += [told.__cause__, told.__context__]
                    self._hide(told)
            raise

    def _hide(self, error: BaseException) -> None:
        """Takes the tokens out of one error: its arguments, and what it has besides."""
        error.args = tuple(map(self._without, error.args))
        of_system = ("strerror", "filename", "filename2") if isinstance(error, OSError) else ()
        for name in (*vars(error), *of_system):
            held = getattr(error, name, None)
            if (shown := self._without(held)) is not held:
                with suppress(AttributeError, TypeError):
                    setattr(error, name, shown)

    def _without(self, value: object) -> object:
        """A value without what it shows of a token: the very same where it shows none."""
        text = value if isinstance(value, str) else repr(value)
        if (hidden := self.hidden(text)) == text:
            return value
        if isinstance(value, dict):
            return {self._without(key): self._without(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._without(each) for each in value]
        return hidden

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
