"""Options of a script that say how large what it trains is: how it is made smaller, as a person would."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from verify.reading.names import last_name
from verify.reading.sources import Sources

_BATCH = r"batch_?size$|^bsz?$|^batch$"
_DEPTH = r"layers?$|depth$|num_blocks$|n_blocks$"
_HEADS = r"heads?$"
_WIDTH = (
    r"^(?:dim|width|hidden|d_model|n_?embd|nf|ngf|ndf)$|(?:dim|hidden|hidden_?size|channels|features|filters|embd|ffn)$"
)
_OF_DATA = re.compile(r"^(?:in|input|out|output|num_?classes|n_?classes|img|image|vocab)(?:_|$)")
"""What data says, and not who trains."""
_MOST: tuple[tuple[str, int], ...] = ((_BATCH, 8), (_DEPTH, 2), (_HEADS, 4), (_WIDTH, 32))
_NUMBER = re.compile(r"^(\w+): *(\d+)\s*(?:#.*)?$", re.MULTILINE)
_SAFE = (_BATCH, _DEPTH)
"""Rows of sizes that nothing else has to fit."""


def smaller(script: str, *trees: Sources, changed: Iterable[str] = ()) -> tuple[tuple[str, ...], ...]:
    """Arguments that make what a script trains smaller, of the options that it and what it calls declare with a whole
    number by default: of all sizes, and of those alone that fit whatever the others are. None where nothing is less.

    Of several trees, the options that all of them declare alike, and that no line names in which a `changed` file
    differs: another one is not known to all, or hides what it is by default or by a configuration.
    """
    held = [_by_option(sources, script) for sources in trees]
    found = {name: next(iter(rows)) for name, rows in held[0].items() if all(one.get(name) == rows for one in held)
             and not any(_differs(path, name, trees) for path in changed)}  # fmt: skip
    every = tuple(f"{option}={most}" for option, (_, _, most) in found.items())
    safe = tuple(f"{option}={most}" for option, (_, row, most) in found.items() if row in _SAFE)
    return tuple(dict.fromkeys(each for each in (every, safe) if each))


def _differs(path: str, option: str, trees: Iterable[Sources]) -> bool:
    """Whether the lines of a file that name an option are others in one of these trees."""
    word = re.compile(rf"\b{re.sub('[-_]', '[-_]', option.lstrip('-'))}\b")
    said = []
    for place in (sources.root / path for sources in trees):
        lines = place.read_text(encoding="utf-8", errors="replace").splitlines() if place.is_file() else ()
        said.append(Counter(line.strip() for line in lines if word.search(line)))
    return any(lines != said[0] for lines in said)


def _by_option(sources: Sources, script: str) -> Mapping[str, Mapping[tuple[str, str, int], None]]:
    """The options that can be less, each with how it is declared and the row that says how much."""
    found: dict[str, dict[tuple[str, str, int], None]] = {}
    tree = sources.tree(script)
    for option, declared, row, most in _options(sources, script, tree) if tree else ():
        found.setdefault(option, {})[declared, row, most] = None
    return found


def _options(sources: Sources, script: str, tree: ast.Module) -> Iterator[tuple[str, str, str, int]]:
    """The options that can be less, each with its declaration and the row that says how much."""
    called = {last_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    yield from _declared(tree, _settings(sources, script, tree))
    for path in sources.reach(script)[0]:
        other = sources.tree(path) if path != script else None
        for node in other.body if other else ():
            if isinstance(node, ast.FunctionDef) and node.name in called:
                yield from _declared(node, {})
            elif isinstance(node, ast.ClassDef) and node.name in named:
                methods = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in called)
                yield from (found for each in methods for found in _declared(each, {}))


def _declared(scope: ast.AST, settings: Mapping[str, int]) -> Iterator[tuple[str, str, str, int]]:
    for node in ast.walk(scope):
        if not isinstance(node, ast.Call) or last_name(node.func) not in ("add_argument", "option"):
            continue
        if any(word.arg in ("nargs", "choices") for word in node.keywords):
            continue
        words = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        option = next((word for word in words if word.startswith("--")), None)
        default = next((word.value for word in node.keywords if word.arg == "default"), None)
        value = default.value if isinstance(default, ast.Constant) else None
        given = {option: value} if option else {f"--{name}": held for name, held in settings.items()}
        for name, held in given.items() if option or _is_of_settings(node) else ():
            if type(held) is int and (row := _row(name, held)):
                yield name, f"{ast.unparse(node)} of {held}", *row


def _row(option: str, value: int) -> tuple[str, int] | None:
    """The row of a size that is too large."""
    name = option.lstrip("-").replace("-", "_").lower()
    row = next(((row, most) for row, most in _MOST if re.search(row, name)), None)
    return row if row and row[1] < value and not _OF_DATA.search(name) else None


def _is_of_settings(call: ast.Call) -> bool:
    """Whether an option has the name of a setting: `add_argument(f"--{key}", ...)`."""
    name = call.args[0] if call.args else None
    parts = name.values if isinstance(name, ast.JoinedStr) else []
    return [type(part) for part in parts] == [ast.Constant, ast.FormattedValue] and parts[0].value == "--"  # type: ignore[attr-defined]


def _settings(sources: Sources, script: str, tree: ast.Module) -> Mapping[str, int]:
    """The whole numbers at the top of the YAML files that a script names."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    found: dict[str, int] = {}
    for text in (text for text in texts if text.endswith((".yaml", ".yml")) and "\n" not in text):
        for place in (sources.root / text, (sources.root / script).parent / text):
            if sources.root.resolve() in place.resolve().parents and place.is_file():
                read = place.read_text(encoding="utf-8", errors="replace")
                found |= {name: int(value) for name, value in _NUMBER.findall(read)}
    return found
