"""The HTML report: everything that a result holds, nothing that is loaded, nothing of the project's that is obeyed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources

import pytest
from hypothesis import given, settings

from fixer.reports import OutputFormat, render
from fixer.reports.chart import HEIGHT, WIDTH, chart
from fixer.reports.diff import unified
from fixer.reports.hunks import hunks
from fixer.result import FileDiff, Result
from tests.fixer.reports.samples import BROKEN, CHECK, DIFF, HOSTILE, NOTHING, RESULTS, RULES, RUN, SAFE, many

VOID = {"meta", "link", "br", "line", "polyline"}


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
    assert not shown.all("src")
    assert [link for link in shown.all("href") if not link.startswith("#")] == ["data:,"]
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


@settings(max_examples=40, deadline=None)
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


def test_a_file_that_is_new_has_one_column_and_a_message_stands_once() -> None:
    new = unified("new.py", None, "a = 1\n")
    left = tuple(replace(one, message="told once") for one in many(3, "a reason"))
    shown = page(replace(RUN, files=(*RUN.files, FileDiff("new.py", new)), findings=left))
    assert [name for name in shown.all("class") if name.startswith("diff")].count("diff brought") == 1
    assert shown.text.count("told once") == 1


def test_a_large_result_is_a_page_of_a_size_to_send() -> None:
    diff = unified("a.py", "".join(f"{n}\n" for n in range(400)), "".join(f"{n}x\n" for n in range(400)))
    large = replace(RUN, findings=many(300, "a reason"), files=tuple(FileDiff(f"f{n}.py", diff) for n in range(60)))
    text = render(large, OutputFormat.html, RULES)
    assert len(text) < 6_000_000
    assert 'details class="file" open' not in text
