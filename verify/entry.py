"""Which scripts of a tree train something."""

from __future__ import annotations

import ast
import itertools
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from verify.arguments import cli_config, filled
from verify.commands import Command, commands, usable
from verify.modules import touches
from verify.sources import Sources, imports
from verify.starts import asks_for_fit, calls_fit, hands_to_cli, names_trainer, starts, trains

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

SCRIPTS, TESTS = 3, 2
_MADE_UP = re.compile(r"synth|toy|dummy|fake|mock|random_?data|made_?up", re.IGNORECASE)
"""What people call data that a program makes by itself: nothing has to be there for it."""


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


def entries(sources: Sources, changed: Iterable[str]) -> tuple[Entry, ...]:
    """What trains: the configured command, else changed scripts, those that load changed files, the rest; each as the
    project's own files start it, and by itself; then the smallest tests that train what was changed."""
    configured = _configured(sources)
    if configured:
        return (configured,)
    touched = frozenset(changed)
    found = [path for path in sources.paths() if starts(sources, path)]
    ranked = sorted(
        found, key=lambda path: (_rank(sources, path, touched), _in_tests(path), not trains(sources.tree(path)), path)
    )
    said = list(commands(sources.root)) if ranked else []
    scripts = dict.fromkeys(entry for path in ranked[:SCRIPTS] for entry in _started(sources, path, said))
    return (*scripts, *_tests(sources, touched))


def _started(sources: Sources, path: str, said: Sequence[Command]) -> Iterator[Entry]:
    """A script with arguments that somebody gives it and whose files are there, the first that name data which is made
    up and the first of all; and with those alone that it cannot do without."""
    plain = _entry(sources, path, ())
    dotted = ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__main__")
    given = []
    for command in said:
        by_path = command.script is not None and (command.script == path or path.endswith(f"/{command.script}"))
        if (by_path or command.module == dotted) and command.args and usable(sources.root, command.args):
            given.append(Entry(path, command.args, command.module or plain.module))
    yield from [each for each in given if any(map(_MADE_UP.search, each.args))][:1]
    yield from given[:1]
    if hands_to_cli(sources, path):
        config = cli_config(sources.root, path, said)
        yield replace(plain, args=("fit", "--config", config) if config else ("fit",))
    else:
        yield replace(plain, args=filled(sources, path, said))


def _tests(sources: Sources, changed: frozenset[str]) -> list[Entry]:
    """The test files that load changed files and call `fit`, and those that call what of the project does; of each the
    smallest first. Requirements alone change what any of them does."""
    near = [
        path for path in sources.paths()
        if is_test(path) and not trains(sources.tree(path)) and touches(sources.root, changed, sources.reach(path)[0])
    ]  # fmt: skip
    near.sort(key=lambda path: ((sources.root / path).stat().st_size, path))
    own = [path for path in near if (tree := sources.tree(path)) and names_trainer(tree) and calls_fit(ast.walk(tree))]
    asking = (path for path in near if path not in own and asks_for_fit(sources, path))
    found = [*own[:TESTS], *itertools.islice(asking, TESTS)]
    return [Entry(path, ("-x", "-q", "-p", "no:cacheprovider", path), "pytest") for path in found]


def conftests(sources: Sources, scripts: Iterable[str]) -> list[str]:
    """What pytest loads with those of the scripts that are tests."""
    folders = dict.fromkeys(folder for path in scripts if is_test(path) for folder in PurePosixPath(path).parents)
    known = frozenset(sources.paths())
    return [path for folder in folders if (path := (folder / "conftest.py").as_posix()) in known]


def is_test(path: str) -> bool:
    """Whether a file is one that pytest takes tests from."""
    name = PurePosixPath(path).name
    return name.startswith("test_") or name.endswith("_test.py")


def _rank(sources: Sources, path: str, changed: frozenset[str]) -> int:
    if path in changed:
        return 0
    return 1 if changed & set(sources.reach(path)[0]) else 2


def _in_tests(path: str) -> bool:
    return bool({"test", "tests"} & set(PurePosixPath(path).parts[:-1]))


def _entry(sources: Sources, path: str, args: tuple[str, ...]) -> Entry:
    tree = sources.tree(path)
    relative = tree is not None and any(found.level for found in imports(tree))
    module = ".".join(PurePosixPath(path).with_suffix("").parts) if relative else None
    return Entry(path, args, module)


def _configured(sources: Sources) -> Entry | None:
    """What `[tool.fixer.verify]` says: `script` and `args`, or a `command`; `env` and `setup` go with either. Raises
    ValueError for a script that is not in the tree, and for a command that does not start one."""
    try:
        text = (sources.root / "pyproject.toml").read_text(encoding="utf-8")
        data: Any = tomllib.loads(text)
        table = data.get("tool", {}).get("fixer", {}).get("verify", {})
        script, command = table.get("script"), table.get("command")
        args = tuple(str(arg) for arg in table.get("args", []))
        variables = tuple(sorted((str(name), str(value)) for name, value in table.get("env", {}).items()))
        first = tuple(_words(str(line)) for line in table.get("setup", []))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return None
    module = None
    if isinstance(command, str):
        words = _words(command)
        if words[:1] == ("-m",) and len(words) > 1:
            module = words[1]
            script = _file_of(sources, module)
        else:
            script = words[0] if words else ""
        args = (*words[2 if module else 1 :], *args)
    if not isinstance(script, str):
        return None
    path = PurePosixPath(script)
    inside = not path.is_absolute() and ".." not in path.parts and (sources.root / path).is_file()
    if not inside:
        raise ValueError(f"pyproject.toml: [tool.fixer.verify] names '{script}', which is not in the project")
    found = _entry(sources, path.as_posix(), args)
    return replace(found, module=module or found.module, variables=variables, setup=first)


def _words(line: str) -> tuple[str, ...]:
    """A command line without the `python` at its beginning, and what only says how that writes."""
    words = shlex.split(line)
    if words[:1] and PurePosixPath(words[0]).name.startswith("python"):
        words = list(itertools.dropwhile(lambda word: word in ("-u", "-B"), words[1:]))
    return tuple(words)


def _file_of(sources: Sources, module: str) -> str:
    base = module.replace(".", "/")
    known = set(sources.paths())
    found = (name for name in (f"{base}.py", f"{base}/__main__.py", f"src/{base}.py") if name in known)
    return next(found, f"{base}.py")
