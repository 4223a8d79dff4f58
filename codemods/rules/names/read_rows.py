"""Rows of an organisation's own as they are written in TOML, without Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from keyword import iskeyword
from typing import Any, Literal

from packaging.version import InvalidVersion, Version

from codemods.code.scopes import canonical
from codemods.lightning.trainers import last_part
from codemods.rule import LEVELS, Example, Match, Rule, best_levels
from codemods.rules.names.members import MemberRows
from codemods.rules.names.rows import OwnRows, RenameRow
from codemods.rules.names.stated_releases import Since, stated

KINDS = ("rename", "keyword", "member")
"""The tables of rows."""
_KIND: Mapping[str, Literal["name", "keyword", "member"]] = {"rename": "name", "keyword": "keyword", "member": "member"}
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SINCE = re.compile(r"([A-Za-z0-9][\w.-]*)\s+v?([0-9][\w.!+-]*)")
_FORM = """\
[rule]
code = "ACM001"
[[rename]]
old = "acme.training.FastTrainer"
new = "acme.trainers.Trainer"
since = "acme 3.0\""""


class RowsError(ValueError):
    """A file of rows that cannot be worked with; the text says where and what to do."""


def rules_of_rows(data: bytes) -> tuple[Rule, ...]:
    """The rules that a TOML file of rows is: one of its names, one of its keywords, one of the members of classes.
    Raises RowsError."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: dict[str, Any] = tomlkit.parse(data.decode("utf-8-sig")).unwrap()
    except (TOMLKitError, ValueError) as error:
        raise RowsError(f"not valid TOML: {error}; correct it") from None
    _allow(document, ("rule", "rename", "keyword", "member", "example"), "the file")
    head = document.get("rule", {})
    _allow(head, ("code", "keyword-code", "member-code", "name", "summary", "why", "url"), "[rule]")
    said = {key: _text(head, key, "[rule]") for key in head}
    rows = {kind: [_row(values, f"[[{kind}]] {number}", kind) for number, values in _listed(document, kind)]
            for kind in KINDS}  # fmt: skip
    examples = [_example(values, number) for number, values in _listed(document, "example")]
    present = [kind for kind in KINDS if rows[kind]]
    if not present:
        raise RowsError(f"it has no rows; write each as a [[rename]], [[keyword]] or [[member]]:\n{_FORM}")
    if not said.get("code"):
        raise RowsError(f"[rule] has no code; a file of rows looks like this:\n{_FORM}")
    if (url := said.get("url")) and not re.fullmatch(r"https://[^\s<>()\"']+", url):
        raise RowsError(f'[rule] url must be an address such as "https://wiki.acme.example/3.0", not {url!r}')
    codes = {kind: said.get(f"{kind}-code", said["code"]) for kind in present}
    if doubled := next((kind for kind in present[1:] if list(codes.values()).count(codes[kind]) > 1), None):
        raise RowsError(
            f'[rule] has one code for two rules; give the [[{doubled}]] rows another one as "{doubled}-code"'
        )
    return tuple(_made(said, rows, codes, examples))


def _made(
    said: Mapping[str, str],
    rows: Mapping[str, list[RenameRow]],
    codes: Mapping[str, str],
    examples: list[Example],
) -> Iterator[Rule]:
    """The rules of the kinds of rows that there are; the examples are those of the first."""
    known = OwnRows(said["code"], _by_key(rows["rename"]), {})
    plain = [row for row in rows["keyword"] if not row.method]
    others = {kind: codes.get(kind, said["code"]) for kind in KINDS}
    more = tuple(sorted(root.encode() for root in known.roots))
    of_methods = _by_key(row for row in rows["keyword"] if row.method)
    members = MemberRows(others["member"], known, _by_key(rows["member"]), of_methods)
    for kind, code in codes.items():
        words, own = {**said, "code": code}, examples if kind == next(iter(codes)) else []
        if kind == "rename":
            yield _rule(words, known.check, rows[kind], own)
        elif kind == "member":
            rule = _rule(words, members.check, rows[kind], own)
            yield replace(rule, text_triggers=(*rule.text_triggers, *more))
        else:
            of_keywords = OwnRows(code, known.names, _by_key(plain))
            both = (of_keywords.check_keywords, replace(members, code=code).check_keywords)
            rule = _rule(words, partial(_each, both), rows[kind], own)
            yield replace(rule, wanted=of_keywords.wanted, text_triggers=(*rule.text_triggers, *more))


def _each(checks: tuple[Any, ...], file: Any, facts: Any) -> Iterator[Match]:
    """What several checks find."""
    for check in checks:
        yield from check(file, facts)


def _rule(said: Mapping[str, str], check: Any, rows: list[RenameRow], examples: list[Example]) -> Rule:
    packages = tuple(dict.fromkeys(row.since.package for row in rows))
    moves, kind = ", ".join(sorted({str(row.since) for row in rows})), rows[0].kind
    what = {"name": "Names", "keyword": "Keywords", "member": "Methods and attributes"}[kind]
    where = "are taken from where they are now" if kind == "name" else "go by their new names"
    roots = dict.fromkeys((row.of or row.old).partition(".")[0] for row in rows)
    return Rule(
        code=said["code"],
        name=said.get("name", "renames") + ("" if kind == "name" or f"{kind}-code" not in said else f"-of-{kind}s"),
        summary=said.get("summary", f"{what} that changed in {moves} {where}"),
        why=said.get("why") or "; ".join(map(_spelled, rows[:5])) + ".",
        fix=max((row.level for row in rows), key=LEVELS.index),
        versions=f"before {moves}",
        triggers=tuple(dict.fromkeys(last_part(row.old).encode() for row in rows)),
        text_triggers=tuple(dict.fromkeys(text.encode() for text in (*roots, *packages))),
        check=check,
        collect_text=partial(stated, packages),
        kinds=("python", "yaml", "json", "toml", "pyproject", "requirements", "other"),
        examples=tuple(examples) or _shown(rows),
        rows=partial(best_levels, tuple((row.row, row.level) for row in rows)),
        references=(said["url"],) if "url" in said else (),
    )


def _spelled(row: RenameRow) -> str:
    what = f"`{row.old}{'=' if row.kind == 'keyword' else ''}`" + (f" of `{row.owner}`" if row.of else "")
    return f"{what} is `{row.new}` since {row.since}" if row.new else f"{what} was removed in {row.since}"


def _by_key(rows: Iterable[RenameRow]) -> Any:
    known: dict[Any, RenameRow] = {}
    for row in rows:
        owner = (canonical(row.of), row.method) if row.method else (canonical(row.of),)
        key = (*owner, row.old) if row.of else row.old
        if key in known:
            raise RowsError(f"`{row.old}` has two rows; leave one")
        known[key] = replace(row, of=canonical(row.of)) if row.of else row
    return known


def _shown(rows: list[RenameRow]) -> tuple[Example, ...]:
    """An example of a row, and a trap: the same name from somewhere else."""
    row = next((row for row in rows if row.level != "manual" and row.new), rows[0])
    before = _spoken(row, row.old)
    other = re.sub(r"^(from|import) ", r"\1 somewhere_else.", before)
    left = row.level == "manual" or not row.new
    return Example(before, before if left else _spoken(row, row.new)), Example(other, other)


def _spoken(row: RenameRow, name: str) -> str:
    home, _, last = (row.of or name).rpartition(".")
    line = f"from {home} import {last}\n" if home else f"import {last}\n"
    if row.kind == "member":
        return f"{line}\nmade = {last}()\nprint(made.{name})\n"
    if row.method:
        return f"{line}\nmade = {last}()\nmade.{row.method}({name}=1)\n"
    return f"{line}\nmade = {last}({name}=1)\n" if row.of else f"{line}\nprint({last})\n"


def _example(values: Any, number: int) -> Example:
    place = f"[[example]] {number}"
    _allow(values, ("before", "after", "path"), place)
    before, path = _text(values, "before", place), _text({"path": "train.py", **values}, "path", place)
    return Example(before, _text(values, "after", place) if "after" in values else before, path)


def _row(values: Any, place: str, kind: str) -> RenameRow:
    more = {"rename": (), "keyword": ("of", "method"), "member": ("of",)}[kind]
    _allow(values, ("old", "new", "since", "level", "why", "id", *more), place)
    removed = bool(kind == "member" or values.get("method")) and "new" not in values
    needed = (*more[:1], "old", *(("why",) if removed else ("new",)), "since")
    if missing := [key for key in needed if key not in values]:
        told = ", which says what to do where there is no new" if missing[0] == "why" else ""
        raise RowsError(f"{place} has no {missing[0]}{told}; a row needs {', '.join(needed)}")
    said = {key: _text(values, key, place) for key in values}
    for key, pattern in (
        ("of", _DOTTED),
        ("method", _NAME),
        ("old", _DOTTED if kind == "rename" else _NAME),
        ("new", _DOTTED if kind == "rename" else _NAME),
    ):
        if key in said and not pattern.fullmatch(said[key]):
            raise RowsError(
                f"{place} {key} must be a {'name' if pattern is _NAME else 'dotted name'}, not {said[key]!r}"
            )
        if word := next((part for part in said.get(key, "").split(".") if iskeyword(part)), None):
            raise RowsError(f"{place} {key} holds `{word}`, which is a word of Python's own, not a name")
    since = _SINCE.fullmatch(said["since"].strip())
    if since is None or not _is_release(since[2]):
        raise RowsError(f'{place} since must be a package and a release, such as "acme 3.0", not {said["since"]!r}')
    level = next((level for level in LEVELS if level == said.get("level", "safe")), None)
    if level is None:
        raise RowsError(f"{place} level must be {', '.join(LEVELS)}, not {said['level']!r}")
    if said["old"] == said.get("new"):
        raise RowsError(f"{place}: old and new are the same; leave it out")
    return RenameRow(
        said["old"],
        said.get("new", ""),
        Since(since[1], since[2]),
        level,
        said.get("why", ""),
        said.get("id", "").upper() or None,
        said.get("of", ""),
        _KIND[kind],
        said.get("method", ""),
    )


def _is_release(text: str) -> bool:
    try:
        return bool(Version(text))
    except InvalidVersion:
        return False


def _listed(document: Mapping[str, Any], key: str) -> Iterable[tuple[int, Any]]:
    values = document.get(key, [])
    if not isinstance(values, list):
        raise RowsError(f"{key} must be written as [[{key}]]")
    return enumerate(values, 1)


def _allow(values: Any, keys: tuple[str, ...], place: str) -> None:
    if not isinstance(values, dict):
        raise RowsError(f"{place} must be a table")
    if unknown := next((key for key in values if key not in keys), None):
        raise RowsError(f"{place}: unknown key '{unknown}'; it can hold {', '.join(keys)}")


def _text(values: Mapping[str, Any], key: str, place: str) -> str:
    value = values.get(key)
    if not isinstance(value, str) or not value.strip():
        raise RowsError(f"{place} {key} must be a text, not {value!r}")
    return value
