"""Markdown: read by a Markdown parser, it has the structure that was meant, whatever the texts hold."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from fixer.reports import OutputFormat, render
from fixer.reports.diff import unified
from fixer.reports.markdown import LIMIT, code, escape, fence
from fixer.reports.words import comparison, reproduction
from fixer.result import Commit, FileDiff, Result, Skipped
from tests.fixer.reports.samples import (
    BROKEN,
    CHECK,
    HARD_TEXT,
    HOSTILE,
    MANUAL,
    REPAIRED,
    RESULTS,
    RULES,
    RUN,
    SAFE,
    many,
)

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")
OWN_HTML = ("<details>", "</details>", "<br>")


def report(result: Result) -> str:
    return render(result, OutputFormat.markdown, RULES)


def tokens(text: str) -> list[Token]:
    found = PARSER.parse(text)
    return [*found, *(child for token in found for child in token.children or ())]


def shown(text: str) -> str:
    """What a reader sees of one line: text and code, without markup."""
    kinds = ("text", "code_inline", "softbreak")
    return "".join(token.content for token in tokens(text) if token.type in kinds).replace("\u200b", "")


def test_the_body_tells_the_whole_run() -> None:
    body = report(RUN)
    assert body.startswith(
        "## fixer: Lightning 1.9.5 → 2.6.6\n\n`fixer/lightning-2.6.6`: 1 commit, 1 finding repaired;"
    )
    assert "| `lightning-2.6.6` | TBP001, LIT101 | **repaired** | trains | - |" in body
    assert "| `AMP001` | AMP001 | **preserved** | same | 1.5e-08 (tolerance 1e-06) |" in body
    assert "| ended | TypeError at train.py:31 | trained |" in body
    assert "| losses | 2.312 → 0.4075 | 2.312 → 0.4075 |" in body
    assert "- `bbbbbbbbbb` LIT101: `Trainer(gpus=...)` becomes `accelerator=` (1 finding)" in body
    assert "<details><summary><code>src/model.py</code> +2 -1</summary>\n\n```diff\n" in body
    assert "- `src/model.py:40:9` [TBP001](https://lightning.ai" in body
    assert "<br>by hand: the class builds its optimizers" in body
    assert "- not read: `data/huge.py`: larger than 1 MB" in body
    assert "- uncommitted changes in 1 file are left out" in body
    assert "fixer run . --target 2.6.6\ngit diff 3f2a1bc49d..fixer/lightning-2.6.6\n" in body


def test_what_was_not_there_has_no_section() -> None:
    assert report(BROKEN) == (
        "## fixer: To Lightning 2.6.6\n\nerror: no repository here: run fixer inside a git repository\n\n"
        "Made by fixer 0.1.0.\n"
    )


@given(HARD_TEXT | st.text(alphabet="`\\|*_[]<>&#@-1. a!~$(\n", max_size=30))
def test_escaped_text_is_seen_as_it_was(text: str) -> None:
    line = f"- x {escape(text)}"
    seen = tokens(line)
    assert not [token.type for token in seen if token.type in ("html_inline", "html_block", "link_open", "em_open")]
    assert "strong_open" not in [token.type for token in seen]


def test_code_between_backticks_stays_code_and_the_rest_is_shown_literally() -> None:
    assert escape("use `a|b` and *c*") == "use `a|b` and \\*c\\*"
    assert shown(escape("a <b> [x](y) `c` & _d_ \\ ~~e~~")) == "a <b> [x](y) c & _d_ \\ ~~e~~"


def test_nobody_is_mentioned_and_no_issue_linked() -> None:
    assert escape("@org fixes #12") == "@&#8203;org fixes #&#8203;12"
    assert escape("`@property`") == "`@property`"


@given(st.text(alphabet="`| a\\", max_size=12))
def test_code_spans_hold_any_text(text: str) -> None:
    spans = [token.content for token in tokens(f"x {code(text)} y") if token.type == "code_inline"]
    assert [span.strip() for span in spans] == [text.strip()]


@given(st.text(alphabet="`~ab\n", max_size=40))
def test_no_text_ends_its_code_block(text: str) -> None:
    blocks = [token for token in tokens(fence(text, "diff") + "\nend\n") if token.type == "fence"]
    assert [block.content.rstrip("\n") for block in blocks] == [text.rstrip("\n")] or not text.strip("\n")
    assert len(blocks) == 1


@settings(max_examples=40, deadline=None)
@given(RESULTS)
def test_texts_bring_no_markup_of_their_own(result: Result) -> None:
    found = tokens(report(result))
    inline = {token.content for token in found if token.type == "html_inline"}
    blocks = [token.content for token in found if token.type == "html_block"]
    assert inline <= set(OWN_HTML)
    assert all(block.startswith(("<details><summary><code>", "</details>")) for block in blocks)
    assert sum(token.type == "fence" and token.info == "diff" for token in found) == len(result.files)
    assert sum(token.type == "heading_open" for token in found) == report(result).count("\n### ") + 1
    compared = [item for item in result.evidence if item.environments or item.before or item.after]
    assert sum(token.type == "table_open" for token in found) == len(compared) + bool(result.evidence)
    cells = [token.type for token in found if token.type in ("td_open", "th_open")]
    rows = [len(comparison(item)) + 1 for item in compared]
    assert len(cells) == 3 * sum(rows) + 5 * (len(result.evidence) + bool(result.evidence))


def test_hostile_texts_stay_in_their_table() -> None:
    evidence = replace(REPAIRED, group="a|b", codes=("c|`d|e`",), reason=HOSTILE)
    found = tokens(report(replace(RUN, evidence=(evidence,))))
    cells = [token for token in found if token.type in ("td_open", "th_open")]
    assert len(cells) == 2 * 5 + 9 * 3
    assert "a|b" in [token.content for token in found if token.type == "code_inline"]


def test_paths_and_messages_of_hostile_projects_are_only_text() -> None:
    finding = replace(MANUAL, path="a`b|<i>\n.py", message=HOSTILE, reason=HOSTILE)
    file = FileDiff("</code></summary><b>", unified("x", "````\n</details>\n", "`````\n"))
    body = report(replace(RUN, findings=(finding,), files=(file,), skipped=(Skipped(HOSTILE, HOSTILE),)))
    html = [token.content for token in tokens(body) if token.type == "html_inline"]
    assert html == ["<br>"]
    assert "<b>" not in body
    assert "``````diff\n" in body
    assert "\n::error" not in body and "\x1b" not in body


def test_diffs_that_do_not_fit_are_left_out_with_a_note() -> None:
    small, large = unified("a.py", "", "x\n"), unified("b.py", "", "x = 1\n" * 20_000)
    body = report(replace(RUN, files=(FileDiff("a.py", small), FileDiff("b.py", large))))
    assert len(body) <= LIMIT
    assert "<code>a.py</code>" in body and "<code>b.py</code>" not in body
    note = "1 more diffs are left out, since a pull request holds 65,536 characters: "
    assert f"{note}`git diff 3f2a1bc49d..fixer/lightning-2.6.6` shows them." in body
    assert "### Left for you" in body and "### Reproduce" in body


def test_nothing_makes_the_body_too_long() -> None:
    result = replace(
        RUN,
        findings=tuple(replace(item, code=f"TBP{at}") for at, item in enumerate(many(3000, "é" * 5000))),
        files=tuple(FileDiff(f"{index}.py", unified(f"{index}.py", "", "é\n" * 900)) for index in range(200)),
        evidence=tuple(replace(REPAIRED, group=f"g{index}", reason="r" * 9000) for index in range(100)),
        commits=tuple(Commit(f"{index:040x}", "A", "g", "s" * 3000, ()) for index in range(100)),
        skipped=tuple(Skipped(f"{index}.py", "n" * 5000) for index in range(500)),
        messages=("m" * 70_000,),
    )
    body = report(result)
    assert len(body.encode()) <= LIMIT
    for told in ("more groups.", "more commits.", "more diffs", "more findings.", "more notes and files."):
        assert told in body


def test_the_findings_of_check_are_all_left() -> None:
    body = report(replace(CHECK, findings=(replace(SAFE, applied=True), MANUAL)))
    assert body.count("\n- `") == 2


def test_what_a_check_finds_is_not_left_by_it() -> None:
    assert "### Found" in report(CHECK) and "### Left for you" not in report(CHECK)
    assert "### Left for you" in report(RUN) and "### Found" not in report(RUN)


def test_the_same_branch_is_asked_for_with_the_same_options() -> None:
    assert "\nfixer run . --target 2.6.6\n" in report(RUN)
    asked = replace(RUN, arguments=("my code", "--ignore=GRD", "--unsafe-fixes"))
    assert "\nfixer run 'my code' --ignore=GRD --unsafe-fixes --target 2.6.6\n" in report(asked)


def test_a_path_that_is_called_like_a_value_of_an_option_is_kept() -> None:
    asked = replace(RUN, arguments=("reproduced", "--branch=mine"))
    again = "fixer run reproduced --target 2.6.6 --branch reproduced"
    assert reproduction(asked, "--branch", "reproduced")[1] == again
