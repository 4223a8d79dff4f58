"""What a pull request remembers and decides, without a server; and how tokens are kept."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from codemods.engine.plan import Change
from fixer.errors import UsageError
from fixer.pulls import life
from fixer.pulls.body import Templates, body, title
from fixer.pulls.life import Pull, PullAction, PullRequestMemo, next_steps
from fixer.reports.markdown import LIMIT
from fixer.result import FileDiff
from fixer.settings import SharedOptions
from fixer.tokens import Token, Tokens, take
from tests.fixer.command import environment
from tests.fixer.reports.samples import RULES, RUN

WANTED = PullRequestMemo("new", "told", frozenset({"part"}), "asked", frozenset({"file"}))
FILE = "--- a/train.py\n+++ b/train.py\n@@ -{0},3 +{0},3 @@\n {1}\n-old\n+new\n"


def pull(memo: PullRequestMemo | None = WANTED, state: str = "open", text: str = "") -> Pull:
    return Pull(1, "https://example.org/1", state, f"{text}\n{memo.line() if memo else ''}\n")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("there", "people", "said", "known", "steps"),
    [
        (False, False, False, None, (PullAction.push, PullAction.open)),
        (True, False, False, None, (PullAction.push, PullAction.open)),
        (True, False, False, pull(), ()),
        (False, False, False, pull(), (PullAction.push, PullAction.rewrite)),
        (True, False, False, pull(replace(WANTED, result="old")), (PullAction.push, PullAction.rewrite)),
        (True, False, False, pull(replace(WANTED, told="other")), (PullAction.rewrite,)),
        (True, False, False, pull(None), (PullAction.push, PullAction.rewrite)),
        (True, True, False, pull(replace(WANTED, result="old")), (PullAction.comment,)),
        (True, True, True, pull(replace(WANTED, result="old")), ()),
        (True, True, False, None, ()),
    ],
)
def test_the_next_steps(
    there: bool, people: bool, said: bool, known: Pull | None, steps: tuple[PullAction, ...]
) -> None:
    assert next_steps(known, WANTED, there=there, people=people, said=said) == steps


@pytest.mark.parametrize(
    ("known", "people", "said", "steps"),
    [
        (None, False, False, ()),
        (pull(), False, False, (PullAction.comment, PullAction.close)),
        (pull(), True, False, (PullAction.comment,)),
        (pull(), True, True, ()),
    ],
)
def test_the_last_steps(known: Pull | None, people: bool, said: bool, steps: tuple[PullAction, ...]) -> None:
    assert life.last_steps(known, people=people, said=said) == steps


def test_what_is_forgotten_is_not_refused() -> None:
    text = pull(text="- [ ] A <!-- fixer:rule LIT101 -->").forgotten
    closed = Pull(1, "", "closed", text)
    assert closed.memo == PullRequestMemo("")
    assert life.switched_off([closed]) == {"LIT101"}


def test_a_memo_survives_the_editor_of_a_web_page() -> None:
    assert replace(pull(), body=pull().body.replace("\n", "\r\n")).memo == WANTED
    assert replace(pull(), body='<!-- fixer: {"result": 1} -->').memo is None
    assert replace(pull(), body="<!-- fixer: {nonsense} -->").memo is None


def test_what_was_asked_for_is_the_same_however_it_is_worked_off() -> None:
    plain = life.asked_of(SharedOptions(), "")
    assert plain == life.asked_of(SharedOptions(path=Path("elsewhere"), jobs=2, check_pins=True), "")
    others = [
        SharedOptions(select=("TBP",)),
        SharedOptions(ignore=("TBP",)),
        SharedOptions(unsafe_fixes=True),
        SharedOptions(target="2.0.0"),
    ]
    assert len({plain, life.asked_of(SharedOptions(), "part"), *(life.asked_of(one, "") for one in others)}) == 6


def test_check_boxes() -> None:
    text = "- [x] A <!-- fixer:rule LIT101 -->\n- [ ] B <!-- fixer:rule TBP001 -->\n* [ ] C\n"
    assert life.switched_off([pull(text=text.replace("\n", "\r\n"), state="merged"), pull(text="")]) == {"TBP001"}
    assert life.switched_off([]) == frozenset()


def test_a_part_is_the_same_wherever_its_lines_are() -> None:
    def change(before: bytes, after: bytes, code: str = "LIT101") -> Change:
        return Change(code, "train.py", before, after)

    here = change(b"a\nold\n", b"a\nnew\n")
    assert life.part_of(here) == life.part_of(change(b"b\nc\nold\n", b"b\nc\nnew\n"))
    assert life.part_of(here) != life.part_of(change(b"a\nold\n", b"a\nother\n"))
    assert life.part_of(here) != life.part_of(replace(here, code="LIT102"))
    closed = pull(PullRequestMemo("r", "t", frozenset({life.part_of(here)})), "closed")
    assert life.refused([closed], [here]) == {("LIT101", "train.py")}
    assert life.refused([replace(closed, state="open"), closed], [here]) == frozenset()


def test_a_result_is_another_once_the_lines_around_it_are() -> None:
    def digest(*values: object) -> str:
        return life.result_of([FileDiff("train.py", FILE.format(*values))])

    assert digest(1, "near") == digest(9, "near") != digest(1, "other")


@pytest.mark.parametrize("size", [1, 300, 3000])
def test_the_body_fits_and_remembers(size: int) -> None:
    diff = FILE.format(1, "x" * 400)
    large = replace(
        RUN,
        files=tuple(FileDiff(f"f{number}.py", diff) for number in range(size)),
        findings=tuple(replace(RUN.findings[0], path=f"f{n}.py", applied=n % 2 == 0) for n in range(size)),
    )
    text = body(large, Templates(), WANTED, {"OPT001"}, RULES)
    assert len(text.encode()) <= LIMIT
    assert pull(None, text=text).memo == WANTED
    assert ("Not all is shown" in text) == (size > 1)
    assert life.switched_off([pull(None, text=text)]) == {"OPT001"}


def test_text_of_others_has_no_effect_in_the_body() -> None:
    path = "a`|<b>@someone.py"
    hostile = replace(RUN, messages=("@everyone <script> - [ ] x <!-- fixer:rule LIT101 -->\n- [ ] y",))
    hostile = replace(hostile, findings=(*hostile.findings, replace(hostile.findings[1], path=path, applied=False)))
    text = body(hostile, Templates(), WANTED, (), RULES)
    assert "<script>" not in text
    assert "@everyone" not in text
    assert life.switched_off([pull(None, text=text)]) == frozenset()


def test_a_template_that_is_wrong_is_named() -> None:
    with pytest.raises(UsageError, match=r"\[tool.fixer.pull-request\] body: line 2:"):
        body(RUN, Templates(body="\n{% if %}"), WANTED, (), RULES)
    with pytest.raises(UsageError, match="'nothing' is undefined"):
        title(RUN, Templates(title="{{ nothing }}"))


def test_tokens_are_taken_out_and_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "one-secret")
    monkeypatch.setenv("GH_TOKEN", "two-secret")
    tokens = take()
    assert not {"GITHUB_TOKEN", "GH_TOKEN"} & set(os.environ)
    assert tokens.of("github") == Token("GH_TOKEN", "two-secret")
    assert tokens.of("gitlab") is None
    assert "secret" not in repr(tokens)
    encoded = Token("GH_TOKEN", "two-secret").header().split()[-1]
    said = f"https://me:pass@example.org one-secret two-secret {encoded}"
    assert tokens.hidden(said) == "https://example.org *** *** ***"
    assert Tokens().hidden("plain") == "plain"


class Answered(Exception):
    """An error that shows what it holds beside its arguments, as those of libraries do."""

    def __init__(self, data: object) -> None:
        super().__init__("no")
        self.data = data

    def __str__(self) -> str:
        return f"answered {self.data}"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad one-secret"),
        ValueError({"message": ["bad one-secret"]}, b"one-secret", OSError("one-secret")),
        OSError(5, "bad one-secret", "/one-secret", None, "/to/one-secret"),
        Answered({"one-secret": ("one-secret", 3)}),
    ],
)
def test_whatever_shows_a_token_in_an_error_is_hidden(error: Exception) -> None:
    tokens = Tokens((Token("GH_TOKEN", "one-secret"),))
    with pytest.raises(type(error)) as seen, tokens.hiding():
        try:
            raise KeyError(tokens.held[0].value)
        except KeyError as first:
            raise error from first
    told = "".join(traceback.format_exception(seen.value))
    assert seen.value is error and told.count("***") > 1
    assert "one-secret" not in told


def test_what_an_error_holds_besides_a_token_stays_as_it_is() -> None:
    error = Answered({"message": "bad one-secret", "errors": [{"code": 3}]})
    with pytest.raises(Answered), Tokens((Token("GH_TOKEN", "one-secret"),)).hiding():
        raise error
    assert error.data == {"message": "bad ***", "errors": [{"code": 3}]}


def test_errors_that_lead_in_a_circle_are_told() -> None:
    with pytest.raises(ValueError, match=r"^\*\*\*$"), Tokens((Token("GH_TOKEN", "one-secret"),)).hiding():
        error, other = ValueError("one-secret"), KeyError("one-secret")
        error.__cause__, other.__cause__ = other, error
        raise error


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process in /proc")
def test_the_system_does_not_show_the_environment_it_began_with() -> None:
    code = "import ctypes; from fixer.tokens import take; take(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    for token, shown in (("secret", "0"), ("", "1")):
        variables = environment({"GITHUB_TOKEN": token, "GH_TOKEN": "", "GITLAB_TOKEN": "", "CI_JOB_TOKEN": ""})
        done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == shown
