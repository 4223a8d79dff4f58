"""Rules that are not fixer's own: where they come from, how they are loaded, and what they must be."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from packaging.version import InvalidVersion, Version

from codemods.lightning.facts import Facts
from codemods.rule import LEVELS, Example, Match, OthersRules, Rule, own_rules

GROUP = "fixer.rules"
"""The group of entry points that installed packages name their rules in."""
ROWS_LIMIT = 1_000_000
_CODE = re.compile(r"([A-Z]{2,})([0-9]{2,})")
_SUFFIXES = frozenset({".py", ".csv", ".json", ".toml", ".txt", ".yaml", ".yml"})
_KINDS = frozenset({"python", "notebook", "yaml", "json", "toml", "pyproject", "requirements", "lock", "dockerfile",
                    "shell", "docs", "other"})  # fmt: skip
_KNOWN = frozenset({*sys.stdlib_module_names, "codemods", "fixer", "verify"})
_RELEASES = ("breaks_in", "needs", "keeps", "torch", "torchmetrics")


class RulesError(Exception):
    """Rules of others that cannot be worked with; the text says which, why and what to do."""


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
    owners = {rule.code: "fixer" for rule in own_rules()}
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
    return Loaded(origin, _checked(origin, found), data)


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
    return Loaded(origin, _checked(origin, rules), digest_of(_files(place)) + _imported(before))


@cache
def _python(origin: RulesOrigin, state: bytes) -> Loaded:
    """Made anew for each state: modules of a folder that changed have another name."""
    place = Path(origin.place)
    name = f"fixer_rules_{blake2b(origin.place.encode() + state, digest_size=8).hexdigest()}"
    before = set(sys.modules)
    with _failures(origin), _no_bytecode():
        rules = _of_module(_module(name, place / "__init__.py" if place.is_dir() else place, place))
    return Loaded(origin, _checked(origin, rules), state + _imported(before))


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


def _checked(origin: RulesOrigin, found: Sequence[object]) -> tuple[Rule, ...]:
    """The rules among what was found, which must be nothing else. Raises RulesError."""
    if not found:
        raise RulesError(f"{origin.name}: holds no rules; set RULE, or RULES, in it to what `codemods.api.Rule` makes")
    rules = []
    for each in found:
        if not isinstance(each, Rule):
            raise RulesError(
                f"{origin.name}: {_short(each)} is no rule; RULE must be a `codemods.api.Rule`, RULES a list of them"
            )
        if wrong := next((why for is_right, why in _WHOLE if not is_right(each)), None):
            raise RulesError(f"{origin.name}: {_short(each.code)}: {wrong}")
        rules.append(_shielded(each))
    return tuple(rules)


def _shielded(rule: Rule) -> Rule:
    """The rule, whose failures spare it no look and take no file from the others: where it is asked whether it has to
    look it looks, and where what it collects of a file fails, it says so of each file that it would have looked at."""
    present, context, check, code = rule.present, rule.context, rule.check, rule.code
    among: Callable[[Facts], Any] | None = rule.among

    def sound(file: Any, facts: Facts) -> Iterator[Match]:
        if why := _failed(facts, code):
            raise RuntimeError(why)
        yield from check(file, facts)

    def asked(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
        assert context
        known = {path: value for path, value in collected.items() if not isinstance(value, FailedCollection)}
        found: tuple[bytes, ...] = _tried(lambda given: tuple(context(given)), known, ())
        return found

    return replace(
        rule,
        present=present and (lambda file: bool(_tried(present, file, True))),
        among=among and (lambda facts: _tried(lambda given: frozenset(among(given)), facts, facts.kinds)),
        context=context and asked,
        collect=rule.collect and partial(_collected, rule.collect),
        collect_text=rule.collect_text and partial(_collected, rule.collect_text),
        check=sound if rule.collect or rule.collect_text else check,
    )


@dataclass(frozen=True)
class FailedCollection:
    """Stands for what a rule would have collected of a file."""

    why: str


def _collected(collect: Callable[[Any], Any], file: Any) -> Any:
    try:
        return collect(file)
    except Exception as error:
        return FailedCollection(f"{type(error).__name__}: {error}")


def _failed(facts: Facts, code: str) -> str:
    """Why what a rule collects of some file is not known, "" where it is."""
    asked = f"plugins.failed.{code}"
    if asked not in facts.memo:
        every = {**facts.collected(code), **facts.collected_texts(code)}
        failed = (f"{path}: {each.why}" for path, each in every.items() if isinstance(each, FailedCollection))
        facts.memo[asked] = next(failed, "")
    why: str = facts.memo[asked]
    return why


def _tried(function: Callable[[Any], Any], given: Any, otherwise: Any) -> Any:
    try:
        return function(given)
    except Exception:
        return otherwise


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _are(kind: type, values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, kind) for value in values)


def _is_release(text: object) -> bool:
    try:
        return text is None or bool(Version(str(text)))
    except InvalidVersion:
        return False


def _parses(example: Example) -> bool:
    texts = [(example.path, example.before), (example.path, example.after), *example.files]
    try:
        return all(not path.endswith(".py") or ast.parse(text) for path, text in texts)
    except SyntaxError:
        return False


_WHOLE: tuple[tuple[Callable[[Rule], bool], str], ...] = (
    (
        lambda rule: isinstance(rule.code, str) and _CODE.fullmatch(rule.code) is not None,
        "its code must be capital letters and then digits, such as ACM001",
    ),
    (
        lambda rule: all(
            isinstance(text, str) and text.strip() for text in (rule.name, rule.summary, rule.why, rule.versions)
        ),
        "name, summary, why and versions must say something",
    ),
    (lambda rule: rule.fix in LEVELS, 'fix must be "safe", "unsafe" or "manual"'),
    (
        lambda rule: _are(bytes, rule.triggers) and any(rule.triggers),
        'triggers must be a tuple of byte strings, such as (b"acme",): a file without one of them is not looked at',
    ),
    (lambda rule: callable(rule.check), "check must be a function of a file and the facts"),
    (lambda rule: set(rule.kinds) <= _KINDS, f"kinds can be {', '.join(sorted(_KINDS))}"),
    (
        lambda rule: all(_is_release(getattr(rule, name)) for name in _RELEASES),
        f"{', '.join(_RELEASES)} must be releases such as 2.0.0",
    ),
    (
        lambda rule: _are(Example, rule.examples) and len(rule.examples) > 0,
        "examples must be a tuple of `codemods.api.Example`",
    ),
    (lambda rule: all(map(_parses, rule.examples)), "an example is no Python: correct it"),
)
"""What a rule has to be, and what is said of one that is not."""
