"""Version specifiers as text: what they admit, and the nearest one that admits a release.

`poetry` says that the text is in Poetry's own language (`^1.6`, `~1.9`, `1.9.5`, `*`), else it is PEP 440's.
A result keeps the clauses, their order and their spacing; only versions that have to change do, and clauses
that have to be there are added. 2.6.2 and 2.6.3 were malicious (GHSA-w37p-236h-pfx3): no result admits them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

MALICIOUS = ("2.6.2", "2.6.3")
FLOOR = (2, 0)
_OPERATOR = "=<>!~^"
_UPPER = ("<", "<=", "!=")
_EXACT = ("==", "===", "=", "")


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


def pep440(text: str, poetry: bool = False) -> SpecifierSet:
    """What a specifier means. Raises ValueError where it means nothing."""
    if not poetry:
        return SpecifierSet(text)
    try:
        return SpecifierSet(",".join(filter(None, (_translated(clause) for clause in clauses(text)))))
    except InvalidVersion as error:
        raise InvalidSpecifier(str(error)) from None


def _translated(clause: Clause) -> str:
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


def admits(text: str, version: str, poetry: bool = False) -> bool:
    """Whether a release satisfies a specifier."""
    return pep440(text, poetry).contains(version, prereleases=True)


def raised(text: str, target: str, poetry: bool = False) -> str | None:
    """The nearest specifier that admits `target`, nothing below 2.0 and no malicious release.

    None where there is none: it asks for a newer release, or the user excluded `target`.
    """
    moved = [_raise(clause, Version(target), poetry) for clause in clauses(text)]
    kept = [clause for clause in moved if clause.version != "*" or clause.operator]
    result = _guard(_with_floor(kept, text), text, poetry)
    if not admits(result, target, poetry) or any(admits(result, bad, poetry) for bad in MALICIOUS):
        return None
    return result


def guarded(text: str, target: str, poetry: bool = False) -> str | None:
    """The specifier without the malicious releases; an exact one on such a release becomes `target`.

    None where other clauses forbid that.
    """
    if not any(admits(text, bad, poetry) for bad in MALICIOUS):
        return text
    kept = [clause for clause in clauses(text) if clause.version != "*" or clause.operator]
    exact = [clause for clause in kept if clause.operator in _EXACT and not clause.wildcard]
    if not exact:
        return _guard(kept, text, poetry)
    result = ",".join(str(replace(clause, version=target) if clause in exact else clause) for clause in kept)
    return result if admits(result, target, poetry) else None


def _raise(clause: Clause, target: Version, poetry: bool) -> Clause:
    operator = clause.operator
    if clause.version == "*" or operator == "!=":
        return clause
    fits = admits(str(clause), str(target), poetry)
    if operator in (">", ">="):
        below = Version(clause.version) < Version(_dotted(FLOOR))
        return replace(clause, operator=">=", version=_like(FLOOR, clause)) if below else clause
    if fits:
        return clause
    return replace(clause, version=_moved(clause, target))


def _moved(clause: Clause, target: Version) -> str:
    """The version that makes a clause of this kind admit the target."""
    if clause.operator in (*_EXACT, "<=") and not clause.wildcard:
        return str(target)
    numbers, length = target.release, len(clause.release)
    if clause.wildcard:
        return f"{_dotted(numbers[: min(length, 2)])}.*"
    if clause.operator == "<":
        return _like((target.major + 1,), clause)
    if clause.operator == "^":
        return _like(FLOOR, clause) if clause.release < FLOOR else clause.version
    return _dotted(numbers[:length]) if length < 3 else str(target)


def _with_floor(kept: list[Clause], text: str) -> list[Clause]:
    """The clauses with a lower bound in front, where none of them is one."""
    if any(clause.operator not in _UPPER for clause in kept):
        return kept
    first = Clause(">=", _dotted(FLOOR), gap=kept[0].gap if kept else "")
    rest = [replace(kept[0], before=_space(text)), *kept[1:]] if kept else []
    return [first, *rest]


def _guard(kept: list[Clause], text: str, poetry: bool) -> str:
    """The clauses as text, with the exclusions that are missing at the end."""
    result = ",".join(map(str, kept))
    for bad in MALICIOUS:
        if admits(result, bad, poetry):
            added = Clause("!=", bad, _space(text), kept[0].gap if kept else "")
            result = f"{result},{added}" if result else str(replace(added, before=""))
    return result


def _space(text: str) -> str:
    """The space that follows the commas of a specifier."""
    return next((clause.before for clause in clauses(text)[1:]), "")


def _like(numbers: tuple[int, ...], clause: Clause) -> str:
    """A version of as many numbers as the clause has."""
    length = max(1, len(clause.release))
    return _dotted((*numbers, 0, 0, 0)[:length])


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


_MINORS_2 = tuple(f"2.{minor}.{patch}" for minor in range(60) for patch in range(4))
_MINORS_1 = tuple(f"{major}.{minor}.{patch}" for major in (0, 1) for minor in range(20) for patch in range(4))


def admits_from(text: str, floor: str, poetry: bool = False, inclusive: bool = True) -> bool:
    """Whether a specifier admits any release from `floor` on."""
    least = Version(floor)
    named = [clause.version for clause in clauses(text) if not clause.wildcard and clause.operator != "==="]
    candidates = map(Version, (*_MINORS_1, *_MINORS_2, *named, "3.0.0", "4.0.0"))
    return any(
        (version > least or (inclusive and version == least)) and admits(text, str(version), poetry)
        for version in candidates
    )


_LAST_PATCHES = {"1.5": 10, "1.6": 5, "1.7": 7, "1.8": 3}
_REFUSED = tuple(f"{minor}.{patch}" for minor, last in _LAST_PATCHES.items() for patch in range(last + 1))
_ACCEPTED = ("1.4.9", "1.8.4", "1.8.5", "1.8.6", *(f"1.9.{patch}" for patch in range(6)), *_MINORS_2)


def only_refused(text: str, poetry: bool = False) -> bool:
    """Whether all that a specifier admits of pytorch-lightning has metadata that pip >= 24.1 refuses.

    That is 1.5.0 to 1.8.3, as run with pip 26.
    """
    return any(admits(text, version, poetry) for version in _REFUSED) and not any(
        admits(text, version, poetry) for version in _ACCEPTED
    )
