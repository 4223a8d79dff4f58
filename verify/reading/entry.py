"""Which scripts of a tree train something."""

from __future__ import annotations

import itertools
import re
import shlex
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from verify.reading.arguments import cli_args, completed, filled
from verify.reading.commands import Command, commands, usable
from verify.reading.modules import touches
from verify.reading.names import in_tests
from verify.reading.outlines import outline_of
from verify.reading.sources import Sources, imports
from verify.reading.starts import asks_for_fit, hands_to_cli, starts, trains

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

SCRIPTS, TESTS = 3, 2
MADE_UP = re.compile(r"synth|toy|dummy|fake|mock|random_?data|made_?up", re.IGNORECASE)
"""What people call data that a program makes by itself: nothing has to be there for it."""
_ELSE = (
    r"(?:test|eval|evaluate|validate|predict|infer|inference|export|sample|visuali[sz]e"
    r"|download_(?:weights|models?|only))"
)
_NO_TRAINING = re.compile(
    rf"--?(?:do[_-])?{_ELSE}(?:[_-](?:only|phase|mode))?(?:[ =](?:1|true|yes))?"
    rf"|(?:--?)?(?:mode|phase|stage|action)[ =]{_ELSE}(?: .*)?"
    r"|-*(?:(?:[\w.]*[._-])?(?:num|max|nb|train)[_-]?(?:epochs?|steps)|(?:n[_-])?epochs?)[ =]0(?: .*)?",
    re.IGNORECASE,
)
_COMMAND = re.compile(rf"{_ELSE}(?: |$)")
_TRAINING = re.compile(r"(?:--?(?:do[_-])?)?(?:train|fit)|.*=(?:train|fit)")
"""Arguments with which a script that trains does something else, and those with which it trains all the same."""
_BY_NAME = re.compile(r"(.*[^a-z])?(?:train(?:ing|er)?|main|run|fit|fine[-_]?tune|pre[-_]?train)([^a-z].*)?")
"""What people call a script that trains, and what they add where there are several."""


@dataclass(frozen=True)
class Entry:
    """A script to run, the arguments it gets, and its module name where it is to be run by that. `variables` are set
    in its environment, and `setup` are Python command lines to run first."""

    script: str
    args: tuple[str, ...] = ()
    module: str | None = None
    variables: tuple[tuple[str, str], ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()

    @property
    def told(self) -> str:
        """What a person would type."""
        how = ["-m", self.module] if self.module else [self.script]
        return shlex.join(["python", *how, *self.args])


@dataclass(frozen=True)
class EntrySettings:
    """What is to be run, as `[tool.fixer.verify]` says it: a script or a whole command with arguments, variables, and
    Python command lines to run before."""

    script: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    setup: tuple[str, ...] = ()


def entries(sources: Sources, changed: Iterable[str], asked: EntrySettings | None = None) -> tuple[Entry, ...]:
    """What trains: the command that was asked for, else changed scripts, those that load changed files, the rest; each
    as the project's own files start it, and by itself; then the smallest tests that train what was changed. Variables
    and what is to be run before go with whatever is run. Without `asked`, what the tree's own settings say holds.

    Raises ValueError for a script that is not in the tree, and for a command that does not start one."""
    start = asked or _configured(sources) or EntrySettings()
    named = _named(sources, start)
    setup = tuple(_words(line) for line in start.setup)
    found = (named,) if named else _found(sources, changed)
    return tuple(replace(entry, variables=start.variables, setup=setup) for entry in found)


def _found(sources: Sources, changed: Iterable[str]) -> tuple[Entry, ...]:
    touched = frozenset(changed)
    found = {path: trains(outline_of(sources, path)) for path in sources.paths() if starts(sources, path)}
    ranked = sorted(
        found,
        key=lambda path: (_rank(sources, path, touched), in_tests(path), not found[path], _unlikely(path), path),
    )
    said = list(commands(sources.root)) if ranked else []
    scripts = dict.fromkeys(entry for path in ranked[:SCRIPTS] for entry in _started(sources, path, said))
    return (*scripts, *_tests(sources, touched))


def _started(sources: Sources, path: str, said: Sequence[Command]) -> Iterator[Entry]:
    """A script with arguments that somebody gives it and whose files are there, the first that name data which is made
    up and the first of all, or else the first that are so once what only their writer knows is something else; and
    with those alone that it cannot do without or does not train without, of all that run with it and of its own. Last
    of all with arguments that somebody gives it for something else than a training, where there are no others."""
    plain = _entry(sources, path, ())
    dotted = ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__main__")
    given: list[Entry] = []
    others: list[Entry] = []
    for command in said:
        by_path = command.script is not None and (command.script == path or path.endswith(f"/{command.script}"))
        if (by_path or command.module == dotted) and command.args:
            is_whole = not command.is_open and usable(sources.root, command.args)
            (given if is_whole else others).append(Entry(path, command.args, command.module or plain.module))
    said = [command for command in said if not command.is_open]
    training = [each for each in given if not _is_for_else(each.args)]
    training.sort(key=lambda each: not any(map(_TRAINING.fullmatch, each.args)))
    yield from [each for each in training if any(map(MADE_UP.search, each.args))][:1]
    yield from training[:1]
    if not training:
        ready = (replace(each, args=completed(sources, path, each.args, said)) for each in others)
        yield from itertools.islice((each for each in ready if each.args and not _is_for_else(each.args)), 1)
    if hands_to_cli(sources, path):
        yield replace(plain, args=cli_args(sources, path, said))
    else:
        yield replace(plain, args=filled(sources, path, said))
        yield replace(plain, args=filled(sources, path, said, alone=True))
    if not training:
        yield from given[:1]


def _is_for_else(args: Sequence[str]) -> bool:
    """Whether arguments have a script do something else than train: a command, an option that switches it on, one that
    names what is done, or no epoch."""
    if any(map(_TRAINING.fullmatch, args)):
        return False
    pairs = itertools.zip_longest(args, args[1:], fillvalue="")
    options = ((name, value) for name, value in pairs if name.startswith("-") or "=" in name)
    said = [f"{name} {value}".strip() if not value.startswith("-") else name for name, value in options]
    return bool(_COMMAND.match(" ".join(args))) or any(map(_NO_TRAINING.fullmatch, said))


def _tests(sources: Sources, changed: frozenset[str]) -> list[Entry]:
    """The test files that load changed files and call `fit`, and those that call what of the project does; of each the
    smallest first. Requirements alone change what any of them does."""
    near = [
        path for path in sources.paths()
        if run_by_pytest(sources, [path]) and touches(sources.root, changed, sources.reach(path)[0])
    ]  # fmt: skip
    near.sort(key=lambda path: ((sources.root / path).stat().st_size, path))
    own = [path for path in near if (said := outline_of(sources, path)) and said.trainer and said.fits]
    asking = (path for path in near if path not in own and asks_for_fit(sources, path))
    found = [*own[:TESTS], *itertools.islice(asking, TESTS)]
    return [Entry(path, ("-x", "-q", "-p", "no:cacheprovider", path), "pytest") for path in found]


def conftests(sources: Sources, scripts: Iterable[str]) -> list[str]:
    """What pytest loads with those of the scripts that it runs."""
    tests = run_by_pytest(sources, scripts)
    folders = dict.fromkeys(folder for path in tests for folder in PurePosixPath(path).parents)
    known = frozenset(sources.paths())
    return [path for folder in folders if (path := (folder / "conftest.py").as_posix()) in known]


def run_by_pytest(sources: Sources, scripts: Iterable[str]) -> list[str]:
    """Those of the scripts that are tests and do not train when they are run themselves, whatever they are called."""
    return [path for path in scripts if is_test(path) and not trains(outline_of(sources, path))]


def is_test(path: str) -> bool:
    """Whether a file is one that pytest takes tests from."""
    name = PurePosixPath(path).name
    return name.startswith("test_") or name.endswith("_test.py")


def _rank(sources: Sources, path: str, changed: frozenset[str]) -> int:
    if path in changed:
        return 0
    return 1 if changed & set(sources.reach(path)[0]) else 2


def _unlikely(path: str) -> int:
    """How little a script is called as one that trains is."""
    named = _BY_NAME.fullmatch(PurePosixPath(path).stem.lower())
    return 2 if named is None else int(any(named.groups()))


def _entry(sources: Sources, path: str, args: tuple[str, ...]) -> Entry:
    tree = sources.tree(path)
    relative = tree is not None and any(found.level for found in imports(tree))
    module = ".".join(PurePosixPath(path).with_suffix("").parts) if relative else None
    return Entry(path, args, module)


def _configured(sources: Sources) -> EntrySettings | None:
    """What `[tool.fixer.verify]` of the tree says, None where it cannot be read."""
    try:
        text = (sources.root / "pyproject.toml").read_text(encoding="utf-8")
        data: Any = tomllib.loads(text)
        table = data.get("tool", {}).get("fixer", {}).get("verify", {})
        script, command = table.get("script"), table.get("command")
        args = tuple(str(arg) for arg in table.get("args", []))
        variables = tuple(sorted((str(name), str(value)) for name, value in table.get("env", {}).items()))
        setup = tuple(str(line) for line in table.get("setup", []))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return None
    script, command = (text if isinstance(text, str) else None for text in (script, command))
    return EntrySettings(script, command, args, variables, setup)


def _named(sources: Sources, start: EntrySettings) -> Entry | None:
    script, module, args = start.script, None, start.args
    if start.command is not None:
        script, module, more = started(shlex.split(start.command), frozenset(sources.paths()))
        args = (*more, *args)
    if script is None:
        return None
    path = PurePosixPath(script)
    inside = not path.is_absolute() and ".." not in path.parts and (sources.root / path).is_file()
    if not inside:
        raise ValueError(f"pyproject.toml: [tool.fixer.verify] names '{script}', which is not in the project")
    found = _entry(sources, path.as_posix(), args)
    return replace(found, module=module or found.module)


def started(words: Sequence[str], paths: Container[str]) -> tuple[str, str | None, tuple[str, ...]]:
    """The script that a command line starts, of the `paths` that there are, its module name where it is started by
    that, and its arguments."""
    plain = _plain(words)
    if plain[:1] == ("-m",) and len(plain) > 1:
        return _file_of(paths, plain[1]), plain[1], plain[2:]
    return plain[0] if plain else "", None, plain[1:]


def _words(line: str) -> tuple[str, ...]:
    return _plain(shlex.split(line))


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    """A command line without the `python` at its beginning, and what only says how that writes."""
    if words[:1] and PurePosixPath(words[0]).name.startswith("python"):
        return tuple(itertools.dropwhile(lambda word: word in ("-u", "-B"), words[1:]))
    return tuple(words)


def _file_of(paths: Container[str], module: str) -> str:
    base = module.replace(".", "/")
    found = (name for name in (f"{base}.py", f"{base}/__main__.py", f"src/{base}.py") if name in paths)
    return next(found, f"{base}.py")
