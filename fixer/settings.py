"""What the user asked for: the command line laid over `[tool.fixer]`, checked before any work begins."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from codemods.code.source import Source
from codemods.engine.scan import Options
from codemods.lightning.pins.stated import is_forked, pins_of
from codemods.rule import all_rows, all_rules, others_rules, select_rules
from codemods.rules.names.namespace_switch import SPACES
from fixer.errors import UnknownRow, UnknownRule, UsageError
from fixer.plugins import AskedRules, is_within, put_in_force
from fixer.project import Project

NEWEST = "2.6.6"
OLDEST = "2.0.0"
MALICIOUS = ("2.6.2", "2.6.3")
_FILE = "pyproject.toml: [tool.fixer]"
_SHORT = re.compile(r"[vV]?\d+(\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class SharedOptions:
    """The options shared by all commands; None where the command line said nothing."""

    path: Path = Path()
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    unsafe_fixes: bool = False
    target: str | None = None
    jobs: int | None = None
    check_pins: bool = False
    namespace: str | None = None
    plugins: tuple[str, ...] | None = None
    trust_plugins: bool = False

    def arguments(self, scope: str) -> tuple[str, ...]:
        """The path, from the project's root, and the options that choose rules, as a command takes them. Of rules that
        lie elsewhere on this machine the last name says enough."""
        plugins = tuple(Path(one).name if Path(one).is_absolute() else one for one in self.plugins or ()) or None
        lists = (("select", self.select), ("ignore", self.ignore), ("plugins", plugins))
        return (
            f"./{scope}" if scope.startswith("-") else scope or ".",
            *(f"--{name}={','.join(codes)}" for name, codes in lists if codes is not None),
            *(["--unsafe-fixes"] if self.unsafe_fixes else []),
            *(["--trust-plugins"] if self.trust_plugins else []),
            *([f"--namespace={self.namespace}"] if self.namespace else []),
        )


def options_for(asked: SharedOptions, project: Project) -> Options:
    """The engine's options; the rules of others that hold for the project are put in force. Raises UsageError for a
    code or release that does not exist."""
    config = project.config
    others = AskedRules(config.plugins, asked.plugins, asked.trust_plugins)
    put_in_force(project.root, others)
    select = asked.select if asked.select is not None else config.select or ()
    ignore = asked.ignore if asked.ignore is not None else config.ignore
    check_codes(select, _place("select", asked.select), rows=False)
    check_codes(ignore, _place("ignore", asked.ignore))
    check_codes([code for _, codes in config.per_file_ignores for code in codes], _place("per-file-ignores", None))
    sources, rules = sources_of(project), others.paths(project.root)
    return Options(
        rules=select_rules(select, tuple(code for code in ignore if ":" not in code)) if sources else (),
        ignored_rows=frozenset(code for code in ignore if ":" in code),
        left_out=frozenset(
            source.path
            for source in project.sources
            if not project.in_scope(source.path) or config.excludes(source.path) or is_within(source.path, rules)
        ),
        ignored_in={source.path: codes for source in project.sources if (codes := config.ignored_in(source.path))}
        if config.per_file_ignores
        else {},
        unsafe=asked.unsafe_fixes or config.unsafe_fixes,
        target=checked_target(asked.target or config.target or NEWEST, _place("target", asked.target)),
        pins=pins_of(sources),
        forked=is_forked(sources),
        jobs=asked.jobs or os.cpu_count() or 1,
        namespace=checked_namespace(asked.namespace or config.namespace, _place("namespace", asked.namespace)),
    )


def _place(key: str, asked: object) -> str:
    """Where a setting was given: on the command line, or in the file."""
    return f"{_FILE} {key}" if asked is None else f"--{key}"


def check_codes(codes: Sequence[str], place: str, *, rows: bool = True) -> None:
    """Raises UsageError for a code that no rule's begins with, and for a row that there is not; `rows` says whether
    rows may be named. Codes of the project's settings may be those of its rules that are not loaded."""
    for code in codes if not (others_rules().left_out and place.startswith(_FILE)) else ():
        rule, colon, row = code.partition(":")
        if colon and not rows:
            raise UsageError(f"{place}: '{code}' is a row of a rule, which `ignore` alone can name; give {rule}")
        named = [known.code for known in all_rules() if rule and known.code.startswith(rule)]
        if not named or (colon and rule not in named):
            raise UnknownRule(rule, place)
        if colon and row not in all_rows():
            raise UnknownRow(code, place)


def in_words() -> dict[str, str]:
    """What settings that were not given come to."""
    return {
        "select": "all rules",
        "target": f'"{NEWEST}"',
        "namespace": "the one that the project mainly takes",
        "verify.script": "the scripts that reach fit",
        "verify.timeout": "600 seconds for each tree",
        "verify.budget": "10 minutes for the whole run",
        "verify.baseline-python": "one built for the baseline",
        "pull-request.title": "fixer's own",
        "pull-request.body": "fixer's own",
        "verify.target-python": "the one that fixer runs in, or one built for the target",
    }


def checked_target(text: str, place: str = "--target") -> str:
    """The release, with all its numbers: `2.5` is the newest of 2.5. Raises UsageError for one that fixer cannot move
    to."""
    try:
        version = Version(text)
    except InvalidVersion:
        raise UsageError(f"{place} {text}: not a version; give one such as {NEWEST}") from None
    from verify.environments.releases import MINORS, minor_of

    every = [known for minor in MINORS for known in minor.versions]
    if _SHORT.fullmatch(text.strip()):
        named = (known for known in every if known.release[: len(version.release)] == version.release)
        version = max(named, default=version)
    if version in map(Version, MALICIOUS):
        raise UsageError(f"{place} {text}: a malicious release (GHSA-w37p-236h-pfx3); give {NEWEST}")
    if not Version(OLDEST) <= version <= Version(NEWEST):
        raise UsageError(f"{place} {text}: fixer moves to releases from {OLDEST} to {NEWEST}")
    if version.is_prerelease:
        raise UsageError(f"{place} {text}: no final release; give {NEWEST}")
    minor = minor_of(version)
    if minor is None or version not in every:
        newest = f"the newest of {minor.name} is {minor.version(minor.newest)}" if minor else f"give {NEWEST}"
        raise UsageError(f"{place} {text}: there is no such release; {newest}")
    return str(minor.version(version.micro))


def checked_namespace(text: str | None, place: str = "--namespace") -> str:
    """The namespace to move to, "" where none was asked for. Raises UsageError for one that Lightning has not."""
    if text and text not in SPACES:
        raise UsageError(f"{place} {text}: Lightning has {' and '.join(sorted(SPACES))}")
    return text or ""


def sources_of(project: Project) -> tuple[Source, ...]:
    """The project's files as the engine takes them."""
    return tuple(Source(source.path, source.kind, source.data) for source in project.sources)
