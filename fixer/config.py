"""The user's settings: `[tool.fixer]` in the pyproject.toml at the project's root."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fixer.errors import UsageError
from fixer.timing import seconds_of

_TABLE = re.compile(r"tool\s*\.\s*[\"']?fixer\b")


@dataclass(frozen=True)
class VerifyConfig:
    """`[tool.fixer.verify]`: what is run for the proof, and in what; None leaves the choice to fixer.

    `script` with `args`, or a `command`, is what is run; `env` are variables that it sees, and `setup` are Python
    command lines that are run before it. `timeout` is in seconds for each tree, `budget` (`600s`) for the whole
    proof.
    The interpreters are paths from the project's root. `torch` is "project" for a baseline on the torch that the
    project pins, "target" for one on the torch of the target. `accelerator` is "cpu" where no other is to be used,
    and `devices` how many train a script together. `packages` are requirements besides those of the project. `data` is
    a folder whose files lie in both trees as well where they have none of that name.
    """

    enabled: bool = True
    script: str | None = None
    args: tuple[str, ...] = ()
    command: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    setup: tuple[str, ...] = ()
    timeout: float | None = None
    budget: str | None = None
    baseline_python: str | None = None
    target_python: str | None = None
    torch: str = "target"
    accelerator: str = "auto"
    devices: int = 1
    packages: tuple[str, ...] = ()
    data: str | None = None


@dataclass(frozen=True)
class PullRequestConfig:
    """`[tool.fixer.pull-request]`: templates of the project's own, as paths from its root; None takes fixer's."""

    title: str | None = None
    body: str | None = None


@dataclass(frozen=True)
class Config:
    """`[tool.fixer]`. A `select`, `target` or `namespace` of None was not given: every rule, the
    newest release, the namespaces as they are.

    `per_file_ignores` are patterns with the codes or prefixes that do not count in the files that they match.
    `plugins` are folders and files of rules, as paths from the project's root.
    `given` names the keys that the file holds, those of inner tables as `verify.KEY` and `pull-request.KEY`. `origin`
    says where they were read.
    """

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    target: str | None = None
    namespace: str | None = None
    unsafe_fixes: bool = False
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    plugins: tuple[str, ...] = ()
    verify: VerifyConfig = VerifyConfig()
    pull_request: PullRequestConfig = PullRequestConfig()
    given: frozenset[str] = field(default=frozenset(), compare=False)
    origin: str = field(default="pyproject.toml", compare=False)

    def excludes(self, path: str) -> bool:
        """Whether a path is excluded, itself or by a folder that it lies in.

        A pattern without a slash matches a name at any depth; with one it matches from the root. `*` stays
        within a name, `**` does not.
        """
        return any(_matches(pattern, path) for pattern in self.exclude)

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """The codes or prefixes that do not count in a file; patterns are those of `exclude`."""
        return tuple(code for pattern, codes in self.per_file_ignores if _matches(pattern, path) for code in codes)


def read_config(text: str, path: str) -> Config:
    """Read `[tool.fixer]` from the text of a pyproject.toml, whose `path` is named in errors.

    A file that is not TOML is an error only when it speaks of fixer.
    """
    if "fixer" not in text:
        return Config()
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError) as error:
        if _TABLE.search(text):
            raise UsageError(f"{path}: not valid TOML: {error}; correct it to use [tool.fixer]") from error
        return Config()
    tool = document.get("tool", {})
    settings = tool.get("fixer", {}) if isinstance(tool, dict) else {}
    return _config(Table(settings, f"{path}: [tool.fixer]"))


def _matches(pattern: str, path: str) -> bool:
    parts = path.split("/")
    folders = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    names = folders if "/" in pattern.strip("/") or pattern.startswith("/") else parts
    return any(map(re.compile(_regex(pattern.strip("/"))).fullmatch, names))


def _config(table: Table) -> Config:
    settings = ("select", "ignore", "target", "namespace", "unsafe-fixes", "exclude", "per-file-ignores", "plugins")
    table.allow(*settings, "verify", "pull-request")
    defaults = Config()
    pull = Table(table.values.get("pull-request", {}), table.place.replace("]", ".pull-request]"))
    pull.allow("title", "body")
    proof = Table(table.values.get("verify", {}), table.place.replace("]", ".verify]"))
    each = Table(table.values.get("per-file-ignores", {}), table.place.replace("]", ".per-file-ignores]"))
    return Config(
        select=table.strings("select") if "select" in table.values else None,
        ignore=table.strings("ignore"),
        target=table.string("target"),
        namespace=table.string("namespace"),
        unsafe_fixes=table.boolean("unsafe-fixes", defaults.unsafe_fixes),
        exclude=table.strings("exclude"),
        per_file_ignores=tuple((pattern, each.strings(pattern)) for pattern in each.values),
        plugins=table.strings("plugins"),
        verify=_verify(proof),
        pull_request=PullRequestConfig(pull.string("title"), pull.string("body")),
        given=frozenset(
            {*table.values} - {"verify", "pull-request"}
            | {f"verify.{key}" for key in proof.values}
            | {f"pull-request.{key}" for key in pull.values}
        ),
    )


def _verify(table: Table) -> VerifyConfig:
    table.allow("enabled", "script", "args", "command", "env", "setup", "timeout", "budget", "baseline-python",
                "target-python", "torch", "accelerator", "devices", "packages", "data")  # fmt: skip
    variables = Table(table.values.get("env", {}), table.place.replace("]", ".env]"))
    return VerifyConfig(
        enabled=table.boolean("enabled", VerifyConfig().enabled),
        script=table.string("script"),
        args=table.strings("args"),
        command=table.string("command"),
        env=tuple((name, variables.string(name) or "") for name in variables.values),
        setup=table.strings("setup"),
        timeout=table.seconds("timeout"),
        budget=table.duration("budget"),
        baseline_python=table.string("baseline-python"),
        target_python=table.string("target-python"),
        torch=table.choice("torch", ("target", "project")),
        accelerator=table.choice("accelerator", ("auto", "cpu")),
        devices=table.count("devices", VerifyConfig().devices),
        packages=_packages(table),
        data=table.string("data"),
    )


def _packages(table: Table) -> tuple[str, ...]:
    """The requirements that are added to the project's; a line that is none is an error."""
    from packaging.requirements import InvalidRequirement, Requirement

    found = table.strings("packages")
    for line in found:
        try:
            Requirement(line)
        except InvalidRequirement:
            raise UsageError(
                f"{table.place} packages: '{line}' is no requirement; write it as pip takes it, such as 'timm==0.9.16' "
                "or 'clip @ git+https://github.com/openai/CLIP.git'"
            ) from None
    return found


class Table:
    """A TOML table whose values are taken with their type checked; `place` begins each error."""

    def __init__(self, values: object, place: str) -> None:
        self.place = place
        if not isinstance(values, dict):
            raise UsageError(f"{place} must be a table, not {_kind(values)}")
        self.values: Mapping[str, object] = values

    def allow(self, *keys: str) -> None:
        """Raises UsageError for a key that is none of these."""
        for key in self.values:
            if key not in keys:
                near = difflib.get_close_matches(key, keys, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"it can hold {', '.join(keys)}"
                raise UsageError(f"{self.place} unknown key '{key}', {hint}")

    def strings(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "a list of strings")
        return tuple(value)

    def string(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.values.get(key, choices[0])
        if value not in choices:
            raise self._wrong(key, " or ".join(f'"{choice}"' for choice in choices))
        return str(value)

    def boolean(self, key: str, default: bool) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def count(self, key: str, default: int, least: int = 1) -> int:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self._wrong(key, f"a whole number from {least} on")
        return value

    def seconds(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise self._wrong(key, "a number of seconds above 0")
        return float(value)

    def duration(self, key: str) -> str | None:
        """A time as `--budget` takes it, in seconds: `600s`."""
        value = self.values.get(key)
        if value is None:
            return None
        with suppress(ValueError):
            if isinstance(value, int | float | str) and not isinstance(value, bool):
                return f"{seconds_of(value):g}s"
        raise self._wrong(key, 'minutes, such as 10, or "10m" or "600s"')

    def _wrong(self, key: str, expected: str) -> UsageError:
        return UsageError(f"{self.place} {key} must be {expected}, not {_kind(self.values[key])}")


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | str):
        return repr(value)
    if isinstance(value, list):
        return "a list of other things"
    return "a table" if isinstance(value, dict) else type(value).__name__


def _regex(pattern: str) -> str:
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "(?s:" + "".join(known.get(token) or re.escape(token) for token in tokens) + ")"
