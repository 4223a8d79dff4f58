"""Rules of others: which hold for a project, and which of them may be loaded.

A package that is installed beside fixer is there because somebody installed it, and a file of rows is data. Python that
a repository brings is neither: it is loaded only where a person says so, and never for a pull request from elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from codemods.plugins import Loaded, RulesError, RulesOrigin, at, installed, load, together
from codemods.rule import Rule, others_rules, take_others
from fixer.config import read_config
from fixer.errors import UsageError
from fixer.in_force import NAME, on_disk

TRUST = "FIXER_TRUST_PLUGINS"
"""The variable that names the projects, by their roots, whose Python rules are loaded without being asked for."""
_SETTING = f"{NAME}: [tool.fixer] plugins"
_ELSEWHERE = "CI says that this is a pull request from another repository, whose Python is not run"


@dataclass(frozen=True)
class AskedRules:
    """What is asked for: the plugins of the settings, those of the command line in their place (None: not given), and
    whether Python of the settings' may be loaded."""

    named: tuple[str, ...] = ()
    given: tuple[str, ...] | None = None
    trusted: bool = False

    def paths(self, root: Path) -> tuple[str, ...]:
        """Where they lie below a root: they speak of what is to be rewritten, and are not rewritten themselves."""
        named = (root / text for text in self.named)
        places = named if self.given is None else (Path(text).absolute() for text in self.given)
        inside = (place.resolve() for place in places if place.resolve().is_relative_to(root.resolve()))
        return tuple(place.relative_to(root.resolve()).as_posix() for place in inside)


def is_within(path: str, places: Sequence[str]) -> bool:
    """Whether a path is one of some places, or below one."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def put_in_force(root: Path, asked: AskedRules, *, held: bool = True) -> None:
    """Loads the rules of others that hold for a project, and puts them beside fixer's own. With `held`, their examples
    have to hold. Raises UsageError for what cannot be loaded, with the place and the remedy."""
    try:
        origins, left_out = _origins(root, asked)
        every = [load(origin) for origin in origins]
        found = together(every, left_out)
    except RulesError as error:
        raise UsageError(str(error)) from None
    if found.state != others_rules().state:
        before = others_rules()
        take_others(found)
        try:
            _hold(every if held else ())
        except UsageError:
            take_others(before)
            raise


def of_folder(path: Path, given: tuple[str, ...] | None, trusted: bool, *, held: bool = True) -> None:
    """The same for the project around a folder, without a look at anything else of it."""
    root = next((one for one in (path.resolve(), *path.resolve().parents) if (one / ".git").exists()), path.resolve())
    named = read_config((on_disk(root) or b"").decode("utf-8-sig", "replace"), NAME).plugins
    put_in_force(root, AskedRules(named, given, trusted), held=held)


def _origins(root: Path, asked: AskedRules) -> tuple[list[RulesOrigin], tuple[str, ...]]:
    """Where rules are to be loaded from, and what is told of those that are not loaded."""
    found: list[RulesOrigin] = []
    left_out = [f"{_SETTING}: {text}: not loaded, since --plugins takes its place" for text in _displaced(root, asked)]
    for origin in (*installed(), *_named(root, asked)):
        refusal = _refusal(root, origin, asked)
        if refusal:
            left_out.append(f"{origin.name}: not loaded, since {refusal}")
        else:
            found.append(origin)
    return found, tuple(left_out)


def _displaced(root: Path, asked: AskedRules) -> list[str]:
    """The plugins of the settings that the command line does not name."""
    given = {Path(text).resolve() for text in asked.given or ()}
    return [text for text in asked.named if asked.given is not None and (root / text).resolve() not in given]


def _named(root: Path, asked: AskedRules) -> Iterator[RulesOrigin]:
    if asked.given is not None:
        yield from (at(Path(text).absolute(), text) for text in asked.given)
        return
    for text in asked.named:
        place, name = root / text, f"{_SETTING}: {text}"
        if not place.resolve().is_relative_to(root.resolve()):
            raise RulesError(
                f"{name}: lies outside of the project; name a folder or file in it, or give it by --plugins"
            )
        yield at(place, name)


def _refusal(root: Path, origin: RulesOrigin, asked: AskedRules) -> str:
    """Why the rules of an origin are not loaded, "" where they are."""
    if origin.kind == "rows":
        return ""
    if _is_from_elsewhere() and _is_checked_out(root, origin):
        return _ELSEWHERE
    if origin.kind == "installed" or asked.given is not None or asked.trusted or root.resolve() in _trusted():
        return ""
    return f"it is Python of this repository and would run here; load it with --trust-plugins, or {TRUST}={root}"


def _is_checked_out(root: Path, origin: RulesOrigin) -> bool:
    """Whether Python came with the repository: it lies in it, or in one around it, and was not installed there. Without
    git's own folder all that CI checked out is the repository."""
    above = [one for one in (root.resolve(), *root.resolve().parents) if (one / ".git").exists()]
    named = [os.environ.get(name) for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")] if not above else []
    homes = {root.resolve(), *above, *(Path(one).resolve() for one in named if one)}
    places = _installed_at(origin) if origin.kind == "installed" else [Path(origin.place).resolve()]
    return any(place.is_relative_to(home) for place in places for home in homes)


def _installed_at(origin: RulesOrigin) -> list[Path]:
    """Where the package of an entry point lies, if that is not where packages are installed to: it is not copied."""
    spec = find_spec(re.split(r"[.:\s]", origin.place.strip(), maxsplit=1)[0])
    places = [*(spec.submodule_search_locations or ()), spec.origin or ""] if spec else []
    libraries = [Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")]
    found = (Path(place).resolve() for place in places if place)
    return [place for place in found if not any(place.is_relative_to(library) for library in libraries)]


def _trusted() -> set[Path]:
    return {Path(one).resolve() for one in os.environ.get(TRUST, "").split(os.pathsep) if one}


def _is_from_elsewhere() -> bool:
    """Whether the variables of CI say that what is checked out is a pull request from another repository, or do not say
    where it comes from."""
    source, target = (os.environ.get(f"CI_MERGE_REQUEST_{whose}PROJECT_ID") for whose in ("SOURCE_", ""))
    if source != target:
        return True
    event = _event()
    heads = [_part(event, "pull_request", "head", "repo")] if "pull_request" in event else []
    heads += [_part(event, "workflow_run", "head_repository")] if "workflow_run" in event else []
    heads += [None] if _part(event, "issue", "pull_request") else []  # a comment on one does not say whence that is
    own = _part(event, "repository", "full_name")
    return any(own is None or _part(head, "full_name") != own for head in heads)


def _event() -> dict[str, Any]:
    """What GitHub says of why it runs; of a pull request that it says nothing more of, that it is one."""
    try:
        event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    except (KeyError, OSError, ValueError):
        event = None
    named = os.environ.get("GITHUB_EVENT_NAME", "").startswith(("pull_request", "workflow_run"))
    return event if isinstance(event, dict) else {"pull_request": None} if named else {}


def _part(event: Any, *keys: str) -> Any:
    for key in keys:
        event = event.get(key) if isinstance(event, dict) else None
    return event


def _hold(every: Sequence[Loaded]) -> None:
    """Raises UsageError for a rule of which an example does not hold; what held once is remembered."""
    from platformdirs import user_cache_path

    from codemods.engine.scan_cache import stamp

    for loaded in every:
        named = stamp() + repr(loaded.origin).encode() + loaded.state
        place = user_cache_path("fixer") / "rules" / blake2b(named, digest_size=16).hexdigest()
        if place.exists():
            continue
        for rule in loaded.rules:
            _hold_rule(loaded.origin, rule)
        with suppress(OSError):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.touch()


def _hold_rule(origin: RulesOrigin, rule: Rule) -> None:
    from codemods.testing.examples import wrong

    for number, example in enumerate(rule.examples, 1):
        if why := wrong(rule, example):
            raise UsageError(
                f"{origin.name}: {rule.code}: example {number} {why.what}; `fixer test-rules` shows it: correct the "
                "example or the rule"
            )
