"""Rows of an organisation's own as they are written in TOML, without Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from keyword import iskeyword
from typing import Any

from packaging.version import InvalidVersion, Version

from codemods.code.scopes import canonical
from codemods.lightning.trainers import last_part
from codemods.rule import LEVELS, Example, Rule, best_levels
from codemods.rules.names.rows import OwnRows, RenameRow
from codemods.rules.names.stated_releases import Since, stated

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
    """The rules that a TOML file of rows is: one of its names, one of its keywords. Raises RowsError."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: dict[str, Any] = tomlkit.parse(data.decode("utf-8-sig")).unwrap()
    except (TOMLKitError, ValueError) as error:
        raise RowsError(f"not valid TOML: {error}; correct it") from None
    _allow(document, ("rule", "rename", "keyword", "example"), "the file")
    head = document.get("rule", {})
    _allow(head, ("code", "keyword-code", "name", "summary", "why", "url"), "[rule]")
    said = {key: _text(head, key, "[rule]") for key in head}
    names = [_row(values, f"[[rename]] {number}", False) for number, values in _listed(document, "rename")]
    keywords = [_row(values, f"[[keyword]] {number}", True) for number, values in _listed(document, "keyword")]
    examples = [_example(values, number) for number, values in _listed(document, "example")]
    if not names and not keywords:
        raise RowsError(f"it has no rows; write each as a [[rename]] or [[keyword]]:\n{_FORM}")
    if not said.get("code"):
        raise RowsError(f"[rule] has no code; a file of rows looks like this:\n{_FORM}")
    if names and keywords and said.get("keyword-code", said["code"]) == said["code"]:
        raise RowsError('[rule] has one code for two rules; give the [[keyword]] rows another one as "keyword-code"')
    if (url := said.get("url")) and not re.fullmatch(r"https://[^\s<>()\"']+", url):
        raise RowsError(f'[rule] url must be an address such as "https://wiki.acme.example/3.0", not {url!r}')
    known = OwnRows(said["code"], _by_key(names), {})
    made = [_rule(said, known.check, names, examples)] if names else []
    if keywords:
        said |= {"code": said.get("keyword-code", said["code"])}
        of_keywords = OwnRows(said["code"], known.names, _by_key(keywords))
        rule = _rule(said, of_keywords.check_keywords, keywords, [] if names else examples)
        more = tuple(root.encode() for root in known.roots)
        made.append(replace(rule, wanted=of_keywords.wanted, text_triggers=(*rule.text_triggers, *sorted(more))))
    return tuple(made)


def _rule(said: Mapping[str, str], check: Any, rows: list[RenameRow], examples: list[Example]) -> Rule:
    packages = tuple(dict.fromkeys(row.since.package for row in rows))
    moves, are_keywords = ", ".join(sorted({str(row.since) for row in rows})), bool(rows[0].of)
    what = "Keywords" if are_keywords else "Names"
    where = "go by their new names" if are_keywords else "are taken from where they are now"
    roots = dict.fromkeys((row.of or row.old).partition(".")[0] for row in rows)
    return Rule(
        code=said["code"],
        name=said.get("name", "renames") + ("-of-keywords" if are_keywords and "keyword-code" in said else ""),
        summary=said.get("summary", f"{what} that changed in {moves} {where}"),
        why=said.get("why") or "; ".join(f"{_spelled(row)} is `{row.new}` since {row.since}" for row in rows[:5]) + ".",
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
    return f"`{row.old}=` of `{row.of}`" if row.of else f"`{row.old}`"


def _by_key(rows: Iterable[RenameRow]) -> Any:
    known: dict[Any, RenameRow] = {}
    for row in rows:
        key = (canonical(row.of), row.old) if row.of else row.old
        if key in known:
            raise RowsError(f"`{row.old}` has two rows; leave one")
        known[key] = row
    return known


def _shown(rows: list[RenameRow]) -> tuple[Example, ...]:
    """An example of a row, and a trap: the same name from somewhere else."""
    row = next((row for row in rows if row.level != "manual"), rows[0])
    before = _spoken(row, row.old)
    other = re.sub(r"^(from|import) ", r"\1 somewhere_else.", before)
    return Example(before, before if row.level == "manual" else _spoken(row, row.new)), Example(other, other)


def _spoken(row: RenameRow, name: str) -> str:
    home, _, last = (row.of or name).rpartition(".")
    line = f"from {home} import {last}\n" if home else f"import {last}\n"
    return f"{line}\nmade = {last}({name}=1)\n" if row.of else f"{line}\nprint({last})\n"


def _example(values: Any, number: int) -> Example:
    place = f"[[example]] {number}"
    _allow(values, ("before", "after", "path"), place)
    before, path = _text(values, "before", place), _text({"path": "train.py", **values}, "path", place)
    return Example(before, _text(values, "after", place) if "after" in values else before, path)


def _row(values: Any, place: str, is_keyword: bool) -> RenameRow:
    _allow(values, ("old", "new", "since", "level", "why", "id", *(("of",) if is_keyword else ())), place)
    needed = ("of", "old", "new", "since") if is_keyword else ("old", "new", "since")
    if missing := [key for key in needed if key not in values]:
        raise RowsError(f"{place} has no {missing[0]}; a row needs {', '.join(needed)}")
    said = {key: _text(values, key, place) for key in values}
    for key, pattern in (
        ("of", _DOTTED),
        ("old", _NAME if is_keyword else _DOTTED),
        ("new", _NAME if is_keyword else _DOTTED),
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
    if said["old"] == said["new"]:
        raise RowsError(f"{place}: old and new are the same; leave it out")
    row = said.get("id", "").upper() or None
    since_release = Since(since[1], since[2])
    return RenameRow(said["old"], said["new"], since_release, level, said.get("why", ""), row, said.get("of", ""))


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
