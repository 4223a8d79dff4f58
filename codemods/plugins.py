"""Rules that are not fixer's own: where they come from, how they are loaded, and what they must be."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from codemods.plugin_rules import RulesError as RulesError
from codemods.plugin_rules import checked
from codemods.rule import OthersRules, Rule, own_rules

GROUP = "fixer.rules"
"""The group of entry points that installed packages name their rules in."""
ROWS_LIMIT = 1_000_000
_SUFFIXES = frozenset({".py", ".csv", ".json", ".toml", ".txt", ".yaml", ".yml"})
_KNOWN = frozenset({*sys.stdlib_module_names, "codemods", "fixer", "verify"})


@dataclass(frozen=True)
class RulesOrigin:
    """Where rules come from: an `installed` package's object (`package.module:name`), `python` of a file or folder, or
    `rows` of a TOML file. `name` is what people know it by."""

    kind: Literal["installed", "python", "rows"]
    place: str
    name: str


@dataclass(frozen=True)
class Loaded:
    """The rules of an origin, and a digest of what they were made of."""

    origin: RulesOrigin
    rules: tuple[Rule, ...]
    state: bytes


def installed() -> list[RulesOrigin]:
    """What the packages beside fixer name as rules, in order."""
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=GROUP):
        whose = f"{point.dist.name} {point.dist.version}" if point.dist else "an installed package"
        found.append(RulesOrigin("installed", point.value, f"{point.name} of {whose}"))
    return sorted(found, key=lambda origin: (origin.name, origin.place))


def at(path: Path, name: str) -> RulesOrigin:
    """The origin that a path is: a TOML file of rows, a file or a folder of Python. Raises RulesError."""
    if path.suffix == ".toml" and path.is_file():
        return RulesOrigin("rows", str(path), name)
    if path.is_dir() and not any(path.rglob("*.py")):
        raise RulesError(f"{name}: holds no Python; name the .toml files in it themselves")
    if path.is_dir() or (path.suffix == ".py" and path.is_file()):
        return RulesOrigin("python", str(path), name)
    what = "is neither a folder, a .py nor a .toml file" if path.exists() else "there is no such file or folder"
    raise RulesError(f"{name}: {what}; name a folder or file of rules")


def together(every: Iterable[Loaded], left_out: tuple[str, ...] = ()) -> OthersRules:
    """The rules of all origins. Raises RulesError where two rules have one code, or one that may become fixer's."""
    every = list(every)
    owners = {rule.code: "fixer" for rule in own_rules()} if every else {}
    families = {_letters(code) for code in owners}
    digest = blake2b(repr(left_out).encode(), digest_size=16)
    found, again = [], {}
    for loaded in every:
        digest.update(repr(loaded.origin).encode() + loaded.state)
        for rule in loaded.rules:
            where = f"{loaded.origin.name}: {rule.code}"
            if rule.code in owners:
                raise RulesError(f"{where} is a rule of {owners[rule.code]} already; give yours another code")
            if _letters(rule.code) in families:
                raise RulesError(
                    f"{where} is in a family of fixer's own; begin it with letters of yours, such as ACM001"
                )
            owners[rule.code] = loaded.origin.name
            found.append(rule)
            again[rule.code] = (rule_from, loaded.origin)
    return OthersRules(tuple(found), again, digest.digest() if found or left_out else b"", left_out)


def _letters(code: str) -> str:
    return code.rstrip("0123456789")


def rule_from(origin: RulesOrigin, code: str) -> Rule:
    """The rule of that code from where it came, in another process."""
    return next(rule for rule in load(origin).rules if rule.code == code)


def load(origin: RulesOrigin) -> Loaded:
    """The rules of an origin; what has not changed since this process loaded it is not loaded again. Raises
    RulesError."""
    if origin.kind == "rows":
        if Path(origin.place).stat().st_size > ROWS_LIMIT:
            raise RulesError(f"{origin.name}: larger than {ROWS_LIMIT // 1_000_000} MB; part it")
        return _rows(origin, Path(origin.place).read_bytes())
    if origin.kind == "installed":
        return _installed(origin)
    place = Path(origin.place)
    return _python(origin, digest_of(_files(place)))


@cache
def _rows(origin: RulesOrigin, data: bytes) -> Loaded:
    from codemods.rules.names.read_rows import RowsError, rules_of_rows

    try:
        found = rules_of_rows(data)
    except RowsError as error:
        raise RulesError(f"{origin.name}: {error}") from None
    return Loaded(origin, checked(origin.name, found), data)


@cache
def _installed(origin: RulesOrigin) -> Loaded:
    module, _, name = origin.place.partition(":")
    before = set(sys.modules)
    with _failures(origin):
        found: Any = importlib.import_module(module.strip())
        for part in name.split("[")[0].strip().split(".") if name else ():
            found = getattr(found, part)
        rules = _of_module(found) if isinstance(found, ModuleType) else _listed(found)
    home = sys.modules[module.strip()]
    place = Path(home.__file__ or "")
    place = place.parent if hasattr(home, "__path__") else place
    return Loaded(origin, checked(origin.name, rules), digest_of(_files(place)) + _imported(before))


@cache
def _python(origin: RulesOrigin, state: bytes) -> Loaded:
    """Made anew for each state: modules of a folder that changed have another name."""
    place = Path(origin.place)
    name = f"fixer_rules_{blake2b(origin.place.encode() + state, digest_size=8).hexdigest()}"
    before = set(sys.modules)
    with _failures(origin), _no_bytecode():
        rules = _of_module(_module(name, place / "__init__.py" if place.is_dir() else place, place))
    return Loaded(origin, checked(origin.name, rules), state + _imported(before))


def _module(name: str, file: Path, place: Path) -> ModuleType:
    """The module of a file, or the package of a folder, which need not have an `__init__.py`."""
    if name in sys.modules:
        return sys.modules[name]
    folders = [str(place)] if place.is_dir() else None
    if place.is_dir() and not file.exists():
        module = ModuleType(name)
        module.__path__ = folders or []
        sys.modules[name] = module
        return module
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _of_module(module: ModuleType) -> tuple[object, ...]:
    """What a module has as `RULE` or `RULES`; of a package without either, what its modules have."""
    for name in ("RULES", "RULE"):
        if hasattr(module, name):
            return _listed(getattr(module, name))
    if not hasattr(module, "__path__"):
        return ()
    found: list[object] = []
    for info in pkgutil.iter_modules(module.__path__):
        if not info.name.startswith(("_", "test_")) and info.name != "conftest":
            found += _of_module(importlib.import_module(f"{module.__name__}.{info.name}"))
    return tuple(found)


def _listed(found: object) -> tuple[object, ...]:
    return tuple(found) if isinstance(found, list | tuple) else (found,)


@contextmanager
def _failures(origin: RulesOrigin) -> Iterator[None]:
    """Tells of a module that cannot be imported, with the line of it that failed."""
    try:
        yield
    except (Exception, SystemExit) as error:
        where = ""
        if isinstance(error, SyntaxError) and error.filename:
            where = f" ({Path(error.filename).name}, line {error.lineno})"
        else:
            own = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
            where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        remedy = "correct it, or take it out of `plugins`"
        if origin.kind == "installed":
            remedy = "correct or uninstall that package"
        what = error.msg if isinstance(error, SyntaxError) else error
        raise RulesError(
            f"{origin.name}: cannot be imported: {type(error).__name__}: {what}{where}; {remedy}"
        ) from error


def _is_ours(filename: str) -> bool:
    return filename == __file__ or "importlib" in filename


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Leaves no compiled files in a folder of the project."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _files(place: Path) -> list[Path]:
    """What rules may be made of: a file, or all below a folder."""
    if place.is_file():
        return [place]
    return sorted(path for path in place.rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def _imported(before: Iterable[str]) -> bytes:
    """The state of the other modules that were imported since then, but for Python's and fixer's own."""
    names = {name for name in sys.modules if name not in before and name.partition(".")[0] not in _KNOWN}
    places = {file for name in names if (file := getattr(sys.modules[name], "__file__", None)) and Path(file).exists()}
    stats = [(file, Path(file).stat()) for file in sorted(places)]
    return repr([(file, stat.st_mtime_ns, stat.st_size) for file, stat in stats]).encode(errors="surrogateescape")


def digest_of(files: Iterable[Path]) -> bytes:
    """A digest of what is in these files; one that went meanwhile is left out."""
    digest = blake2b(digest_size=16)
    for path in sorted(files):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        digest.update(f"\0{path}\0{len(data)}\0".encode(errors="surrogateescape") + data)
    return digest.digest()
