"""TOML as plain values: by the standard library where it can (3.11), which starts faster than tomlkit."""

from __future__ import annotations

import sys
from typing import Any


class Unparsable(Exception):
    """A manifest that is no TOML; the text says why."""


def parse(text: str) -> dict[str, Any]:
    """Raises Unparsable."""
    if sys.version_info >= (3, 11):
        import tomllib

        try:
            return tomllib.loads(text)
        except ValueError as error:
            raise Unparsable(str(error)) from None
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError) as error:
        raise Unparsable(str(error)) from None
