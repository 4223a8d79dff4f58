"""The parameters of a function with their defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def with_defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, each with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(reversed(positional), reversed(arguments.defaults), strict=False)
    for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            yield item, value


def default_of_parameter(arguments: ast.arguments, name: str) -> ast.expr | None:
    """The default of a parameter, None where it has none."""
    return next((value for item, value in with_defaults(arguments) if item.arg == name), None)
