"""What rules that are not fixer's own must be, and how their failures are kept to themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from packaging.version import InvalidVersion, Version

from codemods.lightning.facts import Facts
from codemods.rule import LEVELS, Example, Match, Rule

_CODE = re.compile(r"([A-Z]{2,})([0-9]{2,})")
_KINDS = frozenset({"python", "notebook", "yaml", "json", "toml", "pyproject", "requirements", "lock", "dockerfile",
                    "shell", "docs", "other"})  # fmt: skip
_RELEASES = ("breaks_in", "needs", "keeps", "torch", "torchmetrics")


class RulesError(Exception):
    """Rules of others that cannot be worked with; the text says which, why and what to do."""


def checked(name: str, found: Sequence[object]) -> tuple[Rule, ...]:
    """The rules among what was found, which must be nothing else. Raises RulesError."""
    if not found:
        raise RulesError(f"{name}: holds no rules; set RULE, or RULES, in it to what `codemods.api.Rule` makes")
    rules = []
    for each in found:
        if not isinstance(each, Rule):
            raise RulesError(
                f"{name}: {_short(each)} is no rule; RULE must be a `codemods.api.Rule`, RULES a list of them"
            )
        if wrong := next((why for is_right, why in _WHOLE if not is_right(each)), None):
            raise RulesError(f"{name}: {_short(each.code)}: {wrong}")
        rules.append(_shielded(each))
    return tuple(rules)


def _shielded(rule: Rule) -> Rule:
    """The rule, whose failures spare it no look and take no file from the others: where it is asked whether it has to
    look it looks, and where what it collects of a file fails, it says so of each file that it would have looked at."""
    present, context, check, code = rule.present, rule.context, rule.check, rule.code
    spelled = rule.spelled
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
        spelled=spelled and (lambda text: bool(_tried(spelled, text, True))),
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
