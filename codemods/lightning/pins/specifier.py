"""Version specifiers as text: what they admit, and the nearest one that admits a release.

A text is in PEP 440's language, Poetry's (`^1.6`, `~1.9`, `1.9.5`, `*`; Pipenv's is a part of it) or conda's
(`=1.9`, `2.*`). A result keeps the clauses, their order and their spacing; only versions that have to
change do, and clauses that have to be there are added. 2.6.2 and 2.6.3 were malicious (GHSA-w37p-236h-pfx3): no
result admits them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

MALICIOUS = ("2.6.2", "2.6.3")
NEWEST = (2, 6)
Language = Literal["pep440", "poetry", "conda"]
_OPERATOR = "=<>!~^"
_UPPER = ("<", "<=", "!=")
_EXACT = ("==", "===", "=", "")


@dataclass(frozen=True)
class Goal:
    """What a requirement has to admit: `target`; nothing below `floor`, where there is one, and none of `never`.

    `upper` is what an upper bound that is in the way becomes, `caret` what Poetry's `^` starts from.
    """

    target: Version
    upper: tuple[int, ...]
    caret: tuple[int, ...]
    floor: tuple[int, ...] | None = None
    never: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clause:
    """One condition of a specifier, with the spaces around its parts."""

    operator: str
    version: str
    before: str = ""
    gap: str = ""
    after: str = ""

    def __str__(self) -> str:
        return self.before + self.operator + self.gap + self.version + self.after

    @property
    def wildcard(self) -> bool:
        return self.version.endswith("*")

    @property
    def release(self) -> tuple[int, ...]:
        """The numbers of its version, without a wildcard."""
        return Version(self.version.removesuffix(".*")).release


def clauses(text: str) -> tuple[Clause, ...]:
    """The conditions of a specifier, in order."""
    return tuple(_clause(part) for part in text.split(",")) if text.strip() else ()


def _clause(part: str) -> Clause:
    core = part.strip()
    version = core.lstrip(_OPERATOR)
    operator = core[: len(core) - len(version)]
    gap = version[: len(version) - len(version.lstrip())]
    start = len(part) - len(part.lstrip())
    return Clause(operator, version.strip(), part[:start], gap, part[start + len(core) :])


def pep440(text: str, language: Language = "pep440") -> SpecifierSet:
    """What a specifier means. Raises ValueError where it means nothing."""
    if language == "pep440":
        return SpecifierSet(text)
    translated = _from_poetry if language == "poetry" else _from_conda
    try:
        return SpecifierSet(",".join(filter(None, (translated(clause) for clause in clauses(text)))))
    except InvalidVersion as error:
        raise InvalidSpecifier(str(error)) from None


def _from_conda(clause: Clause) -> str:
    """A condition of conda's in PEP 440's language: `=1.9` admits 1.9.5."""
    if clause.version == "*":
        return ""
    version = re.sub(r"(?<=[0-9])\*$", ".*", clause.version)
    if clause.operator == "=" and not version.endswith("*") and not Version(version).is_prerelease:
        return f"=={version}.*"
    return f"{'==' if clause.operator in _EXACT else clause.operator}{version}"


def _from_poetry(clause: Clause) -> str:
    """A Poetry condition in PEP 440's language."""
    if not clause.operator and clause.version == "*":
        return ""
    if clause.operator not in ("^", "~"):
        return f"{'==' if clause.operator in _EXACT else clause.operator}{clause.version}"
    release = clause.release
    kept = min(2, len(release)) - 1
    if clause.operator == "^":
        kept = next((index for index, number in enumerate(release) if number), len(release) - 1)
    upper = (*release[:kept], release[kept] + 1)
    return f">={clause.version},<{_dotted(upper)}"


@cache
def admits(text: str, version: str, language: Language = "pep440") -> bool:
    """Whether a release satisfies a specifier."""
    return pep440(text, language).contains(version, prereleases=True)


def raised(text: str, target: str, language: Language = "pep440", floor: str = "2.0") -> str | None:
    """The nearest specifier that admits a release of Lightning, nothing below `floor` and no malicious release.

    None where there is none: it asks for a newer release, or the user excluded `target`. Of a target that is not of
    the newest minor, an upper bound goes up to the next minor only: the code is not rewritten for what is later.
    """
    version, least = Version(target), _short(Version(floor).release)
    upper = (version.major + 1,) if version.release[:2] >= NEWEST else (version.major, version.minor + 1)
    return _reached(text, Goal(version, upper, least, least, MALICIOUS), language)


def lifted(
    text: str, floor: str, exact: str, language: Language = "pep440", upper: tuple[int, ...] | None = None
) -> str | None:
    """The nearest specifier that admits a release from `floor` on; an exact one becomes `exact`, an upper bound that is
    in the way `upper`, or else the next major release.

    None where there is none.
    """
    version = Version(exact)
    if not version.major:
        return _reached(text, Goal(version, (0, version.minor + 1), version.release), language)
    least = Version(floor)
    base = _short(least.release if least.major == version.major else version.release)  # a caret admits one major alone
    return _reached(text, Goal(version, upper or (version.major + 1,), base), language)


def floored(text: str, floor: str, language: Language = "pep440") -> str | None:
    """The nearest specifier that admits nothing below `floor`, of one that admits releases from there on; None where
    there is none."""
    least = _short(Version(floor).release)
    named = (clause.version for clause in clauses(text) if "*" not in clause.version)
    known = map(Version, (floor, *OLDER, *_MINORS_2, *named))
    target = next((item for item in known if item >= Version(floor) and admits(text, str(item), language)), None)
    open_end = (
        clause.operator == "^" or (clause.operator == "~=" and len(clause.release) == 2) for clause in clauses(text)
    )
    lifted = (
        replace(clause, version=_like(least, clause)) if is_open and clause.release < least else clause
        for clause, is_open in zip(clauses(text), open_end, strict=True)
    )
    text = ",".join(map(str, lifted))
    result = _reached(text, Goal(target, (target.major + 1,), least, least), language) if target else None
    below = [item for item in (*OLDER, *_MINORS_2) if Version(item) < Version(floor)]
    return None if result is None or any(admits(result, old, language) for old in below) else result


def from_python(text: str, floor: str, language: Language = "pep440") -> str | None:
    """The nearest requirement on Python that admits none below `floor`; None where it would have to be another one."""
    least = Version(floor).release
    moved = []
    for clause in clauses(text):
        open_end = clause.operator in (">", ">=", "^") or (clause.operator == "~=" and len(clause.release) == 2)
        if open_end and clause.release < least:
            operator = ">=" if clause.operator == ">" else clause.operator
            clause = replace(clause, operator=operator, version=_like(least, clause))
        moved.append(clause)
    result = ",".join(map(str, _with_floor([item for item in moved if item.version != "*"], text, least)))
    below = (f"3.{minor}" for minor in range(Version(floor).minor))
    if not admits(result, floor, language) or any(admits(result, old, language) for old in below):
        return None
    return result


def _reached(text: str, goal: Goal, language: Language) -> str | None:
    moved = [_raise(clause, goal, language) for clause in clauses(text)]
    kept = [clause for clause in moved if clause.version != "*" or clause.operator]
    kept = _with_floor(kept, text, goal.floor) if goal.floor else kept
    result = _guard(kept, text, goal.never, language)
    if not admits(result, str(goal.target), language) or any(admits(result, bad, language) for bad in goal.never):
        return None
    return result


def guarded(text: str, target: str, language: Language = "pep440") -> str | None:
    """The specifier without the malicious releases; an exact one on such a release becomes `target`.

    None where other clauses forbid that.
    """
    if not any(admits(text, bad, language) for bad in MALICIOUS):
        return text
    kept = [clause for clause in clauses(text) if clause.version != "*" or clause.operator]
    exact = [clause for clause in kept if clause.operator in _EXACT and not clause.wildcard]
    exact = [clause for clause in exact if len(clause.release) > 2]
    if not exact:
        return _guard(kept, text, MALICIOUS, language)
    result = ",".join(str(replace(clause, version=target) if clause in exact else clause) for clause in kept)
    return result if admits(result, target, language) else None


def _raise(clause: Clause, goal: Goal, language: Language) -> Clause:
    operator = clause.operator
    if clause.version == "*" or operator == "!=":
        return clause
    fits = admits(str(clause), str(goal.target), language)
    if operator in (">", ">="):
        below = goal.floor is not None and Version(clause.version) < Version(_dotted(goal.floor))
        return replace(clause, operator=">=", version=_like(goal.floor or (), clause)) if below else clause
    if fits:
        return clause
    return replace(clause, version=_moved(clause, goal, language))


def _moved(clause: Clause, goal: Goal, language: Language) -> str:
    """The version that makes a clause of this kind admit the target."""
    target = goal.target
    numbers, length = target.release, 3 if clause.operator == "===" else len(clause.release)
    if clause.wildcard:
        return f"{_dotted(numbers[: min(length, 2)])}.*"
    if clause.operator == "=" and language == "conda" and length < 3:
        return _dotted(numbers[:length])
    if clause.operator in (*_EXACT, "<="):
        return str(target)
    if clause.operator == "<":
        return _like(goal.upper, clause)
    if clause.operator == "^":
        return _like(goal.caret, clause) if clause.release < goal.caret else clause.version
    return _dotted(numbers[:length]) if length < 3 else str(target)


def _with_floor(kept: list[Clause], text: str, floor: tuple[int, ...]) -> list[Clause]:
    """The clauses with a lower bound in front, where none of them is one."""
    if any(clause.operator not in _UPPER for clause in kept):
        return kept
    first = Clause(">=", _dotted(floor), gap=kept[0].gap if kept else "")
    rest = [replace(kept[0], before=_space(text)), *kept[1:]] if kept else []
    return [first, *rest]


def _guard(kept: list[Clause], text: str, never: tuple[str, ...], language: Language) -> str:
    """The clauses as text, with the exclusions that are missing at the end."""
    result = ",".join(map(str, kept))
    for bad in never:
        if admits(result, bad, language):
            added = Clause("!=", bad, _space(text), kept[0].gap if kept else "")
            result = f"{result},{added}" if result else str(replace(added, before=""))
    return result


def _space(text: str) -> str:
    """The space that follows the commas of a specifier."""
    return next((clause.before for clause in clauses(text)[1:]), "")


def _like(numbers: tuple[int, ...], clause: Clause) -> str:
    """A version of as many numbers as the clause has, or as it needs."""
    length = max(len(clause.release), len(_short(numbers, 1)))
    return _dotted((*numbers, 0, 0, 0)[:length])


def _short(numbers: tuple[int, ...], least: int = 2) -> tuple[int, ...]:
    """The numbers of a release without the zeros at its end, but for the first `least` numbers."""
    while len(numbers) > least and not numbers[-1]:
        numbers = numbers[:-1]
    return numbers


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _minors(*majors: int) -> tuple[str, ...]:
    return tuple(f"{major}.{minor}.{patch}" for major in majors for minor in range(60) for patch in range(4))


_MINORS_2 = _minors(2)
OLDER = _minors(0, 1)
"""A release of each minor before 2.0."""


@cache
def admits_older(text: str, language: Language = "pep440") -> bool:
    """Whether a specifier admits a release before 2.0."""
    return any(admits(text, old, language) for old in OLDER)


def releases(*stated: tuple[str, Language]) -> Iterator[str]:
    """The releases that there may be, those that specifiers name and the next ones after them included."""
    named = {
        clause.version for text, _ in stated for clause in clauses(text) if "*" not in clause.version and clause.version
    }
    after = (f"{version}.post1" for version in named if "post" not in version and "+" not in version)
    return iter(dict.fromkeys((*named, *after, *_MINORS_2, *OLDER, "3.0.0", "4.0.0")))


@cache
def admits_from(text: str, floor: str, language: Language = "pep440") -> bool:
    """Whether a specifier admits any release from `floor` on."""
    least = Version(floor)
    named = [clause.version for clause in clauses(text) if "*" not in clause.version and clause.operator != "==="]
    own = _minors(least.major) if least.major > 2 else ()
    candidates = (*_usual(), *((Version(item), str(Version(item))) for item in (*own, *named)))
    return any(version >= least and admits(text, said, language) for version, said in candidates)


@cache
def _usual() -> tuple[tuple[Version, str], ...]:
    """The releases that there may be whatever a specifier names, each with its text."""
    versions = map(Version, (*OLDER, *_MINORS_2, "3.0.0", "4.0.0"))
    return tuple((version, str(version)) for version in versions)


_LAST_PATCHES = {"1.5": 10, "1.6": 5, "1.7": 7, "1.8": 3}
_REFUSED = tuple(f"{minor}.{patch}" for minor, last in _LAST_PATCHES.items() for patch in range(last + 1))
_ACCEPTED = ("1.4.9", "1.8.4", "1.8.5", "1.8.6", *(f"1.9.{patch}" for patch in range(6)), *_MINORS_2)


def only_refused(text: str, language: Language = "pep440") -> bool:
    """Whether all that a specifier admits of pytorch-lightning has metadata that pip >= 24.1 refuses.

    That is 1.5.0 to 1.8.3, as run with pip 26.
    """
    return any(admits(text, version, language) for version in _REFUSED) and not any(
        admits(text, version, language) for version in _ACCEPTED
    )
