"""Findings in a text that changed stand where their lines do, and nowhere else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.standing import standing
from codemods.finding import Finding, Span

HEAD, GONE, COME, TAIL = (st.lists(st.just(line), max_size=5) for line in ("head", "gone", "come", ""))


def at(line: int, end_line: int, code: str = "ABC001", message: str = "before") -> Finding:
    return Finding(code, "a.py", Span(line, 1, end_line, 2), message, "manual", "why")


def joined(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@given(HEAD, GONE, COME, TAIL)
def test_lines_around_a_change_keep_their_findings(
    head: list[str], gone: list[str], come: list[str], tail: list[str]
) -> None:
    old, new = [*head, *gone, *tail], [*head, *come, *tail]
    before = [at(first, last) for first in range(1, len(old) + 1) for last in range(first, len(old) + 1)]
    found = standing(before, (), joined(old), joined(new))
    places = {(finding.span.line, finding.span.end_line) for finding in found}
    for line, end_line in places:
        assert any(new[line - 1 : end_line] == old[one.span.line - 1 : one.span.end_line] for one in before)
    by = len(new) - len(old)
    for one in before:
        if one.span.end_line <= len(head):
            assert (one.span.line, one.span.end_line) in places
        elif one.span.line > len(head) + len(gone):
            assert (one.span.line + by, one.span.end_line + by) in places


def test_what_is_written_is_added_and_what_stands_knows_more() -> None:
    written = [at(1, 1, message="written"), at(2, 2, message="written"), at(1, 1, "ABC002", "written")]
    found = standing([at(1, 1)], written, b"x\n", b"x\ny\n")
    assert [(finding.code, finding.span.line, finding.message) for finding in found] == [
        ("ABC001", 1, "before"),
        ("ABC002", 1, "written"),
        ("ABC001", 2, "written"),
    ]
