"""The HTML report: everything that a result holds, nothing that is loaded, nothing of the project's that is obeyed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from email.message import Message
from html import unescape
from html.parser import HTMLParser
from importlib import resources

import pytest
from hypothesis import given, settings

from codemods.rule import all_rows
from fixer.readiness import Readiness
from fixer.reports import OutputFormat, render
from fixer.reports.chart import HEIGHT, WIDTH, chart
from fixer.reports.diff import unified
from fixer.reports.hunks import hunks
from fixer.reports.upstream import upstream_changes
from fixer.result import FileDiff, Result
from tests.fixer.reports.samples import (
    BROKEN,
    CHECK,
    DIFF,
    HOSTILE,
    NOT_READY,
    NOTHING,
    PRESERVED,
    RESULTS,
    RULES,
    RUN,
    SAFE,
    many,
)
from verify.evidence import FileCoverage, Share

READY = Readiness(True, "2.6.6")
UNSEEN = Readiness(True, "2.6.6", caveat="nothing was run")
CHANGED = replace(PRESERVED, verdict="changed", group="lightning-2.6.6")
SEEN = (FileCoverage("train.py", "executed", ("main",), ("evaluate",)), FileCoverage("src/model.py", "not loaded"))
COVERED = tuple(FileCoverage(path, "executed") for path in ("train.py", "src/model.py"))
WHOLE = replace(PRESERVED, touched=COVERED)
UNRUN = replace(PRESERVED, before=None, after=None, rung="conforms", reason="nothing that runs was changed")
OUT = replace(PRESERVED, verdict="regressed", codes=("AMP009",), group="AMP009")
IN_PART = replace(PRESERVED, touched=SEEN, shares=(Share("LIT101", "preserved in part", SEEN),))
VOID = {"meta", "link", "br", "input", "line", "polyline"}


class Page(HTMLParser):
    """Its tags in order, its text, the ids and the links; fails where tags are not closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if "style" not in self.open else ""

    def all(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name))]


def page(result: Result) -> Page:
    return Page(render(result, OutputFormat.html, RULES))


def test_it_tells_what_was_found_changed_and_proven() -> None:
    shown = page(RUN)
    text = " ".join(shown.text.split())
    assert "Lightning 1.9.5 → 2.6.6" in text and "projectspeech" in text
    assert "<title>speech: Lightning 1.9.5 → 2.6.6</title>" in render(RUN, OutputFormat.html, RULES)
    assert "failed before (TypeError at train.py:31), trains now; no numbers to compare" in text
    assert "1.5e-08 (tolerance 1e-06)" in text
    assert "trainer = Trainer(gpus=1)" in text and "trainer = Trainer(devices=1)" in text
    assert (
        "manual 1 place: `" not in text and "the class builds its optimizers in a function of another package" in text
    )
    assert "fixer run . --target 2.6.6" in text
    assert "not read: data/huge.py: larger than 1 MB" in text


def test_what_it_links_to_is_on_the_page() -> None:
    for result in (RUN, CHECK, replace(RUN, findings=many(300, "a reason"))):
        shown = page(result)
        identifiers = shown.all("id")
        assert len(identifiers) == len(set(identifiers))
        assert {link for link in shown.all("href") if link.startswith("#")} <= {f"#{one}" for one in identifiers}


def test_every_section_is_reached_from_the_top_by_its_name() -> None:
    for result in (RUN, CHECK):
        text = render(result, OutputFormat.html, RULES)
        sections = re.findall(r'<section id="(\w+)".*>\s*<h2[^>]*>([^<]*?)\s*<', text)
        top = text.partition("</nav>")[0]
        assert sections and all(f'<a href="#{name}">{title}</a>' in top for name, title in sections)


def test_it_loads_and_runs_nothing() -> None:
    shown = page(RUN)
    assert not {"script", "img", "iframe", "object", "embed", "form"} & {tag for tag, _ in shown.tags}
    assert not shown.all("src") and not shown.all("action")
    outside = [link for link in shown.all("href") if not link.startswith("#")]
    assert outside[0] == "data:,"
    assert all(link.startswith("https://") for link in outside[1:])
    assert "url(" not in render(RUN, OutputFormat.html, RULES) and "@import" not in render(
        RUN, OutputFormat.html, RULES
    )


def test_a_finding_stands_at_the_hunk_that_repairs_it() -> None:
    diff = unified("a.py", "".join(f"{n}\n" for n in range(30)), "".join(f"{n}\n" for n in range(30) if n != 24))
    near = replace(SAFE, path="a.py", span=replace(SAFE.span, line=25, end_line=25), message="near the hunk")
    far = replace(SAFE, path="a.py", span=replace(SAFE.span, line=2, end_line=2), message="far from it")
    (hunk,) = hunks(diff, (near, far))
    assert hunk.findings == (near,)
    shown = " ".join(page(replace(RUN, findings=(near, far), files=(FileDiff("a.py", diff),))).text.split())
    assert shown.index("far from it") < shown.index("near the hunk") < shown.index("2221")


def test_the_two_columns_are_the_two_files() -> None:
    before, after = "a\nb\nc\n", "a\nB\nB2\nc\n"
    rows = [row for hunk in hunks(unified("x", before, after)) for row in hunk.rows]
    assert "".join(f"{row.before.text}\n" for row in rows if row.before) == before
    assert "".join(f"{row.after.text}\n" for row in rows if row.after) == after
    assert [row.before and row.before.number for row in rows] == [1, 2, None, 3]
    assert [row.after and row.after.number for row in rows] == [1, 2, 3, 4]


def test_the_chart_holds_both_runs_and_leaves_out_what_is_not_finite() -> None:
    drawn = chart((1.0, float("nan"), 0.5), (2.0, 1.0))
    assert drawn is not None
    assert len(drawn.before.split()) == 2 and len(drawn.after.split()) == 2
    for point in (drawn.before + " " + drawn.after).split():
        x, y = map(float, point.split(","))
        assert 0 <= x <= WIDTH and 0 <= y <= HEIGHT
    assert chart((1.0,), ()) is None and chart((float("inf"),) * 3, ()) is None


def test_nothing_of_the_project_becomes_markup() -> None:
    hostile = replace(
        RUN,
        findings=(replace(SAFE, message=HOSTILE, path=HOSTILE, reason=HOSTILE),),
        files=(FileDiff(HOSTILE, DIFF.replace("fit()", HOSTILE.replace("\n", " ").replace("\r", " "))),),
        branch=HOSTILE,
        messages=(HOSTILE,),
    )
    shown = page(hostile)
    assert "script" not in {tag for tag, _ in shown.tags}
    assert "<script>alert(1)</script>" in shown.text
    assert "\x1b" not in shown.text


def test_empty_and_broken_results_are_pages_too() -> None:
    assert "nothing to do" in page(NOTHING).text
    assert "no repository here" in page(BROKEN).text


@settings(max_examples=25, deadline=None)
@given(RESULTS)
def test_every_result_is_a_page(result: Result) -> None:
    text = render(result, OutputFormat.html, RULES)
    assert re.match(r"\s*<!doctype html>", text)
    assert "script" not in {tag for tag, _ in Page(text).tags}


SHOWN = {
    "page": ("text", "dim", "link", "good", "bad", "before", "after"),
    "panel": ("text", "dim", "link"),
    "good-page": ("good",),
    "warn-page": ("warn",),
    "bad-page": ("bad",),
    "gone": ("text",),
    "new": ("text",),
}
"""Which colours of text stand on which."""


def palettes() -> list[Mapping[str, str]]:
    """The colours of the page: in light, in dark and on paper."""
    css = resources.files("fixer.reports").joinpath("report.css").read_text(encoding="utf-8")
    return [
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block)) for block in re.findall(r":root \{(.*?)\}", css, re.S)
    ]


def luminance(color: str) -> float:
    """Relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark", "paper"])
def test_every_text_can_be_read(palette: Mapping[str, str]) -> None:
    """Contrast of at least 4.5 to 1: https://www.w3.org/TR/WCAG22/#contrast-minimum"""
    for ground, texts in SHOWN.items():
        for text in texts:
            dark, light = sorted((luminance(palette[ground]), luminance(palette[text])))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


def test_paper_has_the_colours_of_light() -> None:
    light, _, paper = palettes()
    assert paper == light


def told(result: Result) -> str:
    """The text of the page on one line, with a space between two elements."""
    text = render(result, OutputFormat.html, RULES)
    return " ".join(unescape(re.sub("<[^>]+>", " ", text.partition("</style>")[2])).split())


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (replace(RUN, evidence=(WHOLE,), readiness=READY), "yes Ready to merge: the code before and after train"),
        (replace(RUN, evidence=(PRESERVED,), readiness=READY), "yes, after a look at what was not run Ready"),
        (replace(RUN, evidence=(WHOLE, OUT), readiness=READY), "yes Ready to merge: the code before and after train"),
        (replace(RUN, evidence=(WHOLE, OUT), commits=(), readiness=READY), "no Ready to merge: AMP001: "),
        (replace(RUN, evidence=(UNRUN,), readiness=UNSEEN), "not shown Ready to merge, as far as fixer knows: nothing"),
        (replace(RUN, command="verify", commits=(), evidence=(UNRUN,)), "not shown Nothing that runs was changed. "),
        (replace(RUN, command="verify", evidence=(replace(WHOLE, rung=None),)), "not shown The code before and after"),
        (replace(RUN, evidence=(CHANGED,), readiness=READY), "your decision Ready to merge: "),
        (replace(RUN, evidence=(PRESERVED, CHANGED), readiness=READY), "your decision Ready to merge: AMP001: "),
        (replace(RUN, evidence=(IN_PART,), readiness=READY), "yes, after a look at what was not run Ready"),
        (replace(RUN, evidence=(), readiness=UNSEEN), "not shown Ready to merge, as far as fixer knows: nothing was"),
        (replace(NOT_READY, evidence=(PRESERVED,)), "not yet Not ready to merge: 1 place fails on Lightning 2.6.6; "),
        (replace(NOT_READY, evidence=()), "not yet Not ready to merge: 1 place fails on Lightning 2.6.6. "),
    ],
)
def test_the_first_sentence_says_whether_to_merge(result: Result, answer: str) -> None:
    assert f"Can I merge this? {answer}" in told(result)


def test_what_was_not_run_is_said_at_the_top_at_the_file_and_at_the_hunk() -> None:
    shown = told(replace(RUN, evidence=(IN_PART,), readiness=READY))
    assert "was not run 1 of 2 changed files: src/model.py 1 changed function of files that ran: evaluate" in shown
    assert "train.py +1 -1 executed in part" in shown and "src/model.py +2 -1 not run" in shown
    assert "in the proof train.py ran: main; not called: evaluate" in shown
    idle = replace(WHOLE, touched=(replace(COVERED[0], idle=("evaluate",)), COVERED[1]))
    shown = told(replace(RUN, evidence=(idle,), readiness=READY))
    assert "yes, after a look at what was not run" in shown
    other = replace(WHOLE, group="AMP002", touched=(FileCoverage("train.py", "not loaded"),))
    shown = told(replace(RUN, evidence=(WHOLE, other), readiness=READY))
    assert "was not run 1 of 2 changed files: train.py" in shown and "train.py +1 -1 executed in part" in shown
    assert "was run none of the project's code was not run 2 of 2 changed files" in told(
        replace(RUN, evidence=(), readiness=UNSEEN)
    )


def test_a_hunk_has_the_change_in_lightning_that_led_to_it() -> None:
    diff = unified("train.py", "fit()\n" * 31, "fit()\n" * 30 + "run()\n")
    at = replace(SAFE, row="M164")
    result = replace(RUN, findings=(at,), files=(FileDiff("train.py", diff),))
    assert "why safe the same devices in Lightning Trainer(gpus=n) ( upgrade guide, from 1.9 )" in told(result)
    assert "https://lightning.ai/docs/pytorch/stable/upgrade/from_1_9.html" in page(result).all("href")
    pulled = page(replace(result, findings=(replace(at, row="G16783"),)))
    assert "https://github.com/Lightning-AI/pytorch-lightning/pull/16783" in pulled.all("href")
    assert "in Lightning" not in told(replace(result, findings=(replace(at, row=None),)))


def test_every_row_of_the_rules_is_a_change_in_lightning() -> None:
    assert {row for row in all_rows() if row not in upstream_changes()} == set()


def test_a_rule_leads_to_its_page_where_the_package_names_its_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    about = Message()
    monkeypatch.setattr("fixer.origin.metadata", lambda name: about)
    about["Project-URL"] = "Documentation, javascript:alert(1)"
    assert not any("rules/LIT101" in link for link in page(RUN).all("href"))
    about["Project-URL"] = "Documentation, https://example.org/fixer/"
    assert "https://example.org/fixer/rules/LIT101.html" in page(RUN).all("href")


def test_a_hunk_without_a_finding_says_what_it_goes_with() -> None:
    assert "Goes with the changes in other files." in told(replace(RUN, findings=()))
    far = replace(SAFE, path="src/model.py", span=replace(SAFE.span, line=90))
    assert "Goes with the changes in this file by LIT101 ." in told(replace(RUN, findings=(far,)))


def test_the_same_change_in_many_files_is_shown_once_and_listed_for_each() -> None:
    diffs = [unified(f"{n}.yaml", f"{n}\ngpus: 1\n", f"{n}\ndevices: 1\n") for n in range(30)]
    files = tuple(FileDiff(f"{n}.yaml", diff) for n, diff in enumerate(diffs))
    shown = page(replace(RUN, findings=(), files=(*files, FileDiff("other.py", DIFF))))
    assert "0.yaml +1 -1 and the same change in 29 more" in " ".join(shown.text.split())
    assert all(f"{n}.yaml" in shown.text for n in range(30))
    assert (
        len([tag for tag, given in shown.tags if tag == "details" and "open" in given and "file" in given.values()])
        == 2
    )


def test_what_is_left_is_a_list_to_tick_in_which_every_box_has_a_name() -> None:
    text = render(replace(RUN, findings=many(40, "a reason")), OutputFormat.html, RULES)
    assert len(re.findall(r'<label><input type="checkbox"> <code>src/part_\d\.py:', text)) == 40
    assert text.count("<input") == 40


def test_the_picture_of_the_losses_says_in_words_what_it_shows() -> None:
    names = [given.get("aria-label") for tag, given in page(RUN).tags if tag == "svg"]
    assert names[1] == "Loss by backward pass: before 2.312 to 0.4075 in 3; after 2.312 to 0.4075 in 3"
    assert names[0] == "Loss by backward pass: before none; after 2.312 to 0.4075 in 3"
    drawn = chart((1.0, 0.0), ())
    assert drawn is not None and drawn.up[0].label == "0"


def test_a_file_that_is_new_has_one_column_and_a_message_stands_once() -> None:
    new = unified("new.py", None, "a = 1\n")
    left = tuple(replace(one, message="told once") for one in many(3, "a reason"))
    shown = page(replace(RUN, files=(*RUN.files, FileDiff("new.py", new)), findings=left))
    assert [name for name in shown.all("class") if name.startswith("diff")].count("diff brought") == 1
    assert shown.text.count("told once") == 1


def test_a_large_result_is_a_page_of_a_size_to_send() -> None:
    old = "".join(f"{n}\n" for n in range(400))
    diffs = [unified("a.py", old, old.replace("\n", f"x{file}\n")) for file in range(60)]
    files = tuple(FileDiff(f"f{n}.py", diff) for n, diff in enumerate(diffs))
    large = replace(RUN, findings=many(300, "a reason"), files=files)
    text = render(large, OutputFormat.html, RULES)
    assert len(text) < 6_000_000
    assert 'details class="file" open' not in text
