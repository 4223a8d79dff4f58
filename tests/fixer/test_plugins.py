"""Rules of others, of a folder, of rows in TOML and of installed packages: the whole way, and what cannot be used."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path
from typing import Any

import pytest

from codemods.code.source import Source
from codemods.engine import workers
from codemods.engine.scan_cache import Memory
from fixer import remembered
from fixer.errors import UsageError
from fixer.plugins import AskedRules, put_in_force
from fixer.reports.json_report import each_place
from tests.codemods.support import notebook
from tests.fixer.command import ROOT, Ask, old_project, process
from tests.fixer.git_repos import Repo
from tests.fixer.plugin_projects import (
    BOTH,
    FIXED,
    INSTALLED,
    TRAIN,
    codes,
    one_rule,
    with_rules,
    written,
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return with_rules(tmp_path / "project")


# Each way, from end to end


def test_check_diff_and_fix_go_by_them(project: Path, ask: Ask) -> None:
    assert codes(ask("check", project, "--trust-plugins", "--output-format", "json")) == ["ACM001", "ACM101", "ACM102"]
    said = ask("diff", project, "--trust-plugins", "--output-format", "json").report()
    assert [file["path"] for file in said["files"]] == ["train.py"]
    assert ask("fix", project, "--trust-plugins").code == 0
    assert (project / "train.py").read_bytes() == FIXED
    assert ask("check", project, "--trust-plugins").code == 0


def test_each_has_a_commit_of_its_own_on_the_branch(project: Path, ask: Ask) -> None:
    said = ask("run", project, "--no-verify", "--trust-plugins", "--branch=moved", "--output-format", "json").report()
    assert [commit["code"] for commit in said["commits"]] == ["ACM001", "ACM101", "ACM102"]
    repo = Repo(project)
    subjects = repo.git("log", "--reverse", "--format=%s", "main..moved").splitlines()
    assert subjects[0] == "ACM001: `half=` of `acme.fit` becomes `precision=`"
    assert "acme 3.0 sorted its modules" in repo.git("log", "-1", "--format=%b", "moved")
    assert repo.show("moved", "train.py") == FIXED
    again = ask("run", project, "--no-verify", "--trust-plugins", "--branch=again", "--output-format", "json").report()
    assert again["commits"][-1]["id"] == said["commits"][-1]["id"]


def test_installed_packages_bring_them(project: Path) -> None:
    said = process(project, "check", "--output-format", "json", PYTHONPATH=f"{ROOT}:{INSTALLED}")
    assert "ACM201" in codes(said)
    assert "ACM201" in process(project, "rules", PYTHONPATH=f"{ROOT}:{INSTALLED}").out
    assert "ACM201" not in process(project, "rules").out


def test_they_are_listed_explained_and_configured(project: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    listed = ask("rules", "ACM", "--trust-plugins").out
    assert [line.split()[0] for line in listed.splitlines()] == ["ACM001", "ACM101", "ACM102"]
    page = ask("explain", "ACM101:A01", "--trust-plugins").out
    assert "From:     pyproject.toml: [tool.fixer] plugins: tools/renames.toml\n" in page
    assert "acme 3.0 sorted its modules" in page and "https://wiki.acme.example/moving-to-3" in page
    assert '["tools/folder", "tools/renames.toml"]' in ask("config").out


@pytest.mark.parametrize(
    ("options", "settings", "left"),
    [
        (("--select", "ACM001"), "", ["ACM001"]),
        (("--ignore", "ACM1"), "", ["ACM001"]),
        (("--ignore", "ACM102:A02"), "", ["ACM001", "ACM101"]),
        ((), 'ignore = ["ACM001"]\n', ["ACM101", "ACM102"]),
        ((), '[tool.fixer.per-file-ignores]\n"train.py" = ["ACM1"]\n', ["ACM001"]),
    ],
)
def test_they_are_chosen_like_ours(
    project: Path, ask: Ask, options: tuple[str, ...], settings: str, left: list[str]
) -> None:
    (project / "pyproject.toml").write_text(BOTH + settings)
    assert codes(ask("check", project, "--trust-plugins", "--output-format", "json", *options)) == left


def test_a_comment_silences_them_and_is_known(project: Path, ask: Ask) -> None:
    line = b"acme.fit(FastTrainer(n_gpus=2), half=True)"
    (project / "train.py").write_bytes(TRAIN.replace(line, line + b"  # fixer: ignore[ACM001]"))
    found = ask("check", project, "--trust-plugins", "--output-format", "json")
    assert codes(found) == ["ACM101", "ACM102"]
    assert not any(item["code"] == "IGN001" for item in found.report()["findings"])


def test_reports_have_their_words(project: Path, ask: Ask) -> None:
    sarif = json.loads(ask("check", project, "--output-format", "sarif").out)
    rules = {rule["id"]: rule for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["ACM101"]["helpUri"] == "https://wiki.acme.example/moving-to-3"
    assert "acme 3.0 sorted" in ask("run", project, "--dry-run", "--no-verify", "--output-format", "html").out


def test_what_rows_say_is_text_in_a_page(project: Path, ask: Ask) -> None:
    rows = project / "tools/renames.toml"
    rows.write_text(rows.read_text().replace("acme 3.0 sorted", "<script>alert(1)</script> [a](javascript:alert(1))"))
    page = ask("check", project, "--output-format", "html").out
    assert "&lt;script&gt;alert(1)" in page and "<script>alert(1)" not in page
    assert 'href="javascript' not in page


def test_notebooks_are_read(project: Path, ask: Ask) -> None:
    (project / "try.ipynb").write_text(notebook(TRAIN.decode()))
    assert ask("fix", project / "try.ipynb", "--trust-plugins").code == 0
    assert 'precision=\\"16-mixed\\"' in (project / "try.ipynb").read_text()


def test_their_own_files_are_no_part_of_what_is_moved(tmp_path: Path, ask: Ask) -> None:
    made = one_rule(tmp_path / "project", written() + "\n\ndef never():\n    import acme\n\n    acme.fit(1)\n")
    said = ask("check", made, "--trust-plugins", "--output-format", "json")
    assert {item["path"] for item in said.places()} == {"train.py"}


@pytest.fixture(params=["fork", "spawn"])
def several_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "POOL_BYTES", 0)
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 2)
    context: Any = multiprocessing.get_context(request.param)
    monkeypatch.setattr(multiprocessing, "Process", context.Process)


def test_several_processes_go_by_them(project: Path, ask: Ask, several_processes: None) -> None:
    (project / "other.py").write_bytes(TRAIN)
    said = ask("check", project, "--trust-plugins", "--jobs", "2", "--output-format", "json")
    assert codes(said) == ["ACM001", "ACM101", "ACM102"]
    assert {item["path"] for item in each_place(said.report())} == {"other.py", "train.py"}


COLLECTING = """

@dataclass(frozen=True)
class Seeds:
    places: tuple


def collect(file):
    return Seeds(tuple(call.node.lineno for call in calls_of(file, "acme.seed"))) if "seed" in file.text else None


def check(file, facts):
    seeds = sum(len(each.places) for each in facts.collected("ACM301").values())
    for call in calls_of(file, "acme.fit"):
        yield finding(file, call.node, f"{seeds} seeds in the project", "look at them.")


TEXT"""


def test_what_they_collect_goes_between_processes_and_runs(
    tmp_path: Path, ask: Ask, several_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "SMALL", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = written(before="from dataclasses import dataclass").replace("\n\nTEXT", COLLECTING)
    text = text.replace("    check=check", "    check=check,\n    collect=collect")
    made = one_rule(tmp_path / "project", text)
    (made / "other.py").write_bytes(TRAIN)
    for _ in range(2):
        said = ask("check", made, "--trust-plugins", "--jobs", "2", "--output-format", "json").report()
        found = [item["message"] for item in each_place(said) if item["code"] == "ACM301"]
        assert found == ["2 seeds in the project"] * 2


def test_several_processes_know_what_is_not_loaded(planted: Path, ask: Ask, several_processes: None) -> None:
    said = ask("check", planted, "--jobs", "2", "--output-format", "json").report()
    assert said["findings"] == []


# What cannot be worked with

CHANGING = written(examples="Example(TEXT, OTHER), Example(OTHER, OTHER)")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import nowhere\n", "ModuleNotFoundError: No module named 'nowhere' (own.py, line 1); correct it"),
        ("x = (\n", "SyntaxError: '(' was never closed (own.py, line 1)"),
        ("raise SystemExit(3)\n", "SystemExit: 3 (own.py, line 1)"),
        ("x = 1\n", "holds no rules; set RULE, or RULES"),
        ("RULES = ()\n", "holds no rules"),
        ("RULE = 'LIT'\n", "LIT is no rule; RULE must be a `codemods.api.Rule`"),
        ("RULES = [1]\n", "1 is no rule"),
        (written(code="acm1"), "acm1: its code must be capital letters and then digits"),
        (written(code="LIT101"), "LIT101 is a rule of fixer already; give yours another code"),
        (written(code="TBP999"), "TBP999 is in a family of fixer's own"),
        (written(examples="1,"), "ACM301: examples must be a tuple of `codemods.api.Example`"),
        (written(examples='Example("x = (", "y"),'), "ACM301: an example is no Python"),
        (written().replace("(b\"acme\",)", '"acme"'), "ACM301: triggers must be a tuple of byte strings"),
        (written().replace('fix="manual"', 'fix="maybe"'), 'fix must be "safe", "unsafe" or "manual"'),
        (written().replace("check=check", "check=None"), "check must be a function"),
        (CHANGING, "ACM301: example 1 becomes something else; `fixer test-rules` shows it"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_used_are_one_message(tmp_path: Path, ask: Ask, text: str, told: str) -> None:
    made = one_rule(tmp_path / "project", text)
    complaint = ask("check", made, "--trust-plugins").complaint()
    assert complaint.startswith("fixer: pyproject.toml: [tool.fixer] plugins: own.py: ") and told in complaint


def test_a_rule_whose_example_does_not_hold_is_not_in_force_when_asked_again(tmp_path: Path) -> None:
    made = one_rule(tmp_path / "project", CHANGING)
    for _ in range(2):
        with pytest.raises(UsageError, match="ACM301: example 1 becomes something else"):
            put_in_force(made, AskedRules(("own.py",), trusted=True))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('plugins = ["nowhere"]', "plugins: nowhere: there is no such file or folder"),
        ('plugins = ["../tools"]', "plugins: ../tools: lies outside of the project"),
        ('plugins = ["empty"]', "plugins: empty: holds no Python; name the .toml files"),
        ('plugins = ["train.txt"]', "is neither a folder, a .py nor a .toml file"),
        ('plugins = "tools"', "plugins must be a list of strings, not 'tools'"),
    ],
)
def test_a_setting_that_leads_nowhere_is_told(tmp_path: Path, ask: Ask, settings: str, told: str) -> None:
    files = {"pyproject.toml": f"[tool.fixer]\n{settings}\n".encode(), "train.txt": b"", "empty/a.toml": b""}
    made = old_project(tmp_path / "project", files)
    assert told in ask("check", made, "--trust-plugins").complaint()


def test_two_plugins_cannot_have_one_code(project: Path, ask: Ask) -> None:
    shutil.copytree(project / "tools/folder", project / "tools/copy")
    (project / "pyproject.toml").write_text('[tool.fixer]\nplugins = ["tools/folder", "tools/copy"]\n')
    told = ask("check", project, "--trust-plugins").complaint()
    assert "tools/copy: ACM001 is a rule of pyproject.toml: [tool.fixer] plugins: tools/folder already" in told


def test_a_code_of_theirs_that_does_not_exist_is_an_error_where_all_are_loaded(project: Path, ask: Ask) -> None:
    assert "no rule is called 'ACM9'" in ask("check", project, "--trust-plugins", "--ignore", "ACM9").complaint()
    told = ask("check", project, "--select", "ACM001").complaint()
    assert "no rule is called 'ACM001'" in told and "--trust-plugins" in told


FAILS = """


def fails(given, *more):
    if {when} in str(getattr(given, "text", "start")):
        raise KeyError("oh")
    return {otherwise}


TEXT"""


@pytest.mark.parametrize("part", ["check", "present", "among", "collect", "context"])
def test_a_rule_that_fails_in_a_file_is_a_finding(tmp_path: Path, ask: Ask, part: str) -> None:
    """Its examples do not speak of seeds, the project does: a failure spares no look, and takes no file from others."""
    fails = FAILS.format(when="'start'", otherwise="check(given, *more)" if part == "check" else "True")
    text = written().replace("\n\nTEXT", fails).replace("acme.seed(1)", "acme.stop(1)")
    if part == "check":
        text = text.replace("    check=check", "    check=fails")
    else:
        more = "collect=lambda file: 1,\n    context" if part == "context" else part
        text = text.replace("    check=check", f"    check=check,\n    {more}=fails")
    made = one_rule(tmp_path / "project", text, b"import acme\n\nacme.fit(acme.start(1))\n")
    (made / "old.py").write_text("import pytorch_lightning as pl\nimport acme\n\nacme.start(pl.Trainer(gpus=0))\n")
    said = ask("check", made, "--trust-plugins", "--output-format", "json").report()
    found = {item["path"]: item for item in each_place(said) if item["code"] == "ACM301"}
    failed = part in ("check", "collect")
    assert ("could not check" in found["train.py"]["message"]) == failed
    assert not failed or "KeyError: 'oh'; please tell whoever wrote the rule" in found["train.py"]["reason"]
    assert any(item["code"] == "LIT101" and item["path"] == "old.py" for item in said["findings"])
    assert said["skipped"] == []


# What is remembered


def test_a_rule_that_changed_gives_no_old_answers(tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules lie outside of the project: nothing of what is looked at changes."""
    monkeypatch.setattr(remembered, "SMALL", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made, rules = old_project(tmp_path / "project", {"train.py": TRAIN}), tmp_path / "rules"
    rules.mkdir()
    looked: list[str] = []
    known = Memory.keep_checked

    def keep(memory: Memory, source: Source, *given: Any) -> None:
        looked.append(source.path)
        known(memory, source, *given)

    monkeypatch.setattr(Memory, "keep_checked", keep)

    def found() -> tuple[list[str], int]:
        looked.clear()
        said = ask("check", made, f"--plugins={rules}", "--output-format", "json").report()
        return [item["message"] for item in said["findings"] if item["code"] == "ACM301"], len(looked)

    text = written(before="from ._words import WORD", message="{WORD}").replace('"{WORD}"', "WORD")
    (rules / "own.py").write_text(text)
    (rules / "_words.py").write_text('WORD = "one"\n')
    assert found()[0] == ["one"] and found() == (["one"], 0)
    (rules / "_words.py").write_text('WORD = "two"\n')
    assert found()[0] == ["two"] and found() == (["two"], 0)
    (rules / "own.py").write_text(written(message="three"))
    assert found()[0] == ["three"]
    assert not list(rules.rglob("__pycache__"))
