"""Places and edits as the protocol counts them, with characters of every size and every kind of line end."""

from __future__ import annotations

import ast
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from codemods.code.source import PythonFile, Source, TextFile
from codemods.finding import Span
from fixer.server.documents import as_bytes, as_text
from fixer.server.texts import Text
from tests.fixer.server.editor import UNIT_BYTES, applied

LETTERS = st.sampled_from(["a", "é", "字", "\U0001d54f", "😀", " ", "\t", "\x0c", "\x1c", "\u2028", "\x85"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.lists(LETTERS | LETTERS | LETTERS | ENDS, max_size=40).map("".join)
UNITS = st.sampled_from(sorted(UNIT_BYTES))


def units_of(text: str, units: str) -> int:
    return len(text.encode("utf-8" if units == "utf-8" else f"{units}-le")) // UNIT_BYTES[units]


@given(TEXTS, UNITS, st.data())
def test_a_place_leads_back(text: str, units: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    known = Text(text, units)
    place = known.position(offset)
    is_between = text[offset - 1 : offset + 1] == "\r\n"  # there is no place between the two
    assert known.offset(place) == offset - is_between
    before = text[: offset - is_between]
    assert place.line == before.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@given(TEXTS, TEXTS, UNITS)
def test_edits_make_the_other_text(before: str, after: str, units: str) -> None:
    edits = [
        {
            "range": {
                "start": {"line": edit.range.start.line, "character": edit.range.start.character},
                "end": {"line": edit.range.end.line, "character": edit.range.end.character},
            },
            "newText": edit.new_text,
        }
        for edit in Text(before, units).edits(after)
    ]
    assert applied(before, edits, units) == after


def test_edits_of_a_long_text_are_few_and_made_at_once() -> None:
    before = "".join(f"x = {number}\n" + "\n" * (number % 2) + "return\n" * (number % 3) for number in range(6000))
    after = re.sub(r"(x = \d*99)\n", r"\1  # changed\n", before)
    begun = time.process_time()
    edits = Text(before, "utf-16").edits(after)
    assert time.process_time() - begun < 1
    assert len(edits) == 60


@given(st.lists(LETTERS, max_size=8).map("".join), UNITS)
def test_a_finding_behind_wide_characters(prefix: str, units: str) -> None:
    line = f"x = '{prefix}'; y = gpus"
    text = f"# 😀\r\n{line}\n"
    start = line.index("gpus")
    file = PythonFile.parse(Source("a.py", "python", text.encode()))
    (name,) = [node for node in ast.walk(file.tree) if isinstance(node, ast.Name) and node.id == "gpus"]
    place = Text(text, units).range(file.span(name))
    assert place.start == types.Position(1, units_of(line[:start], units))
    assert place.end == types.Position(1, units_of(line, units))


@pytest.mark.parametrize("is_python", [True, False])
def test_lines_of_what_is_not_python_end_at_newlines(is_python: bool) -> None:
    text = "one\rtwo\nthree"
    span = Span(2, 1, 2, 4) if is_python else TextFile("a.txt", "other", text).span(4, 7)
    assert Text(text, "utf-16", is_python).range(span) == types.Range(types.Position(1, 0), types.Position(1, 3))


def test_places_beyond_the_text() -> None:
    known = Text("one\n", "utf-16")
    assert known.position(4) == known.position(99) == types.Position(1, 0)
    assert known.offset(types.Position(0, 99)) == 3
    assert known.offset(types.Position(9, 0)) == 4
    assert known.range(Span(1, 1, 7, 1)).start == types.Position(0, 0)
    assert Text("", "utf-16").position(0) == types.Position(0, 0)


def test_a_place_within_a_character_is_its_beginning() -> None:
    assert Text("😀x", "utf-16").offset(types.Position(0, 1)) == 0
    assert Text("😀x", "utf-16").offset(types.Position(0, 2)) == 1


@pytest.mark.parametrize(
    ("text", "on_disk"),
    [
        ("x = 'é'\n", "x = 'é'\n".encode()),
        ("x = 'é'\n", b"\xef\xbb\xbfx = 1\n"),
        ("# -*- coding: latin-1 -*-\nx = 'é'\n", None),
        ("# coding: no-such\n", None),
        ("", b""),
    ],
)
def test_the_file_of_a_document(text: str, on_disk: bytes | None) -> None:
    data = as_bytes(text, "python", on_disk)
    assert data.startswith(b"\xef\xbb\xbf") == bool(on_disk and on_disk.startswith(b"\xef\xbb\xbf"))
    assert as_text(data, "python") == text
    assert (b"\xe9" in data) == ("latin" in text)


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert as_bytes("x = '\ud83d'\n", "python", None) == b"x = '?'\n"
