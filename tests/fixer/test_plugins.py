"""Rules of others, of a folder, of rows in TOML and of installed packages: the whole way, and what is not loaded."""

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
from fixer.fleet.asked import read_fleet
from fixer.fleet.tasks import arguments_of
from fixer.plugins import TRUST
from tests.codemods.support import notebook
from tests.fixer.command import ROOT, Ask, old_project, process
from tests.fixer.git_repos import Repo

PLUGINS = Path(__file__).parent / "plugins"
INSTALLED = PLUGINS / "installed"
TRAIN = b"""\
import acme
from acme.training import FastTrainer

acme.fit(FastTrainer(n_gpus=2), half=True)
acme.seed(1)
"""
FIXED = b"""\
import acme
from acme.trainers import Trainer

acme.fit(Trainer(devices=2), precision="16-mixed")
acme.seed(1)
"""
BOTH = '[tool.fixer]\nplugins = ["tools/folder", "tools/renames.toml"]\n'
RULE = """\
from pathlib import Path

from codemods.api import Example, Rule, calls_of, finding

{before}


def check(file, facts):
    for call in calls_of(file, "acme.fit"):
        yield finding(file, call.node, "{message}", "look at it.")


TEXT = "import acme\\n\\nacme.fit(model)\\n"
OTHER = "import acme\\n\\nacme.seed(1)\\n"
RULE = Rule(
    code="{code}",
    name="fit",
    summary="calls of fit",
    why="they changed",
    fix="manual",
    versions="before acme 3.0",
    triggers=(b"acme",),
    check=check,
    examples=({examples}),
)
"""
EXAMPLES = "Example(TEXT, TEXT), Example(OTHER, OTHER)"


def written(code: str = "ACM301", message: str = "it changed", before: str = "", examples: str = EXAMPLES) -> str:
    return RULE.format(code=code, message=message, before=before, examples=examples)


@pytest.fixture(autouse=True)
def no_word_of_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the CI that these tests run in out of them."""
    for name in (
        "GITHUB_EVENT_PATH",
        "GITHUB_EVENT_NAME",
        "CI_MERGE_REQUEST_PROJECT_ID",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID",
        TRUST,
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository that has rules of its own in both forms."""
    made = tmp_path / "project"
    shutil.copytree(PLUGINS, made / "tools")
    return old_project(made, {"train.py": TRAIN, "pyproject.toml": BOTH.encode()})


def one_rule(folder: Path, text: str, train: bytes = TRAIN) -> Path:
    """A repository with one Python file of rules."""
    files = {"train.py": train, "own.py": text.encode(), "pyproject.toml": b'[tool.fixer]\nplugins = ["own.py"]\n'}
    return old_project(folder, files)


def codes(said: Any) -> list[str]:
    return sorted({finding["code"] for finding in said.report()["findings"] if finding["code"].startswith("ACM")})


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
    said = ask("check", made, "--trust-plugins", "--output-format", "json").report()
    assert {item["path"] for item in said["findings"]} == {"train.py"}


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
    assert {item["path"] for item in said.report()["findings"]} == {"other.py", "train.py"}


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
        found = [item["message"] for item in said["findings"] if item["code"] == "ACM301"]
        assert found == ["2 seeds in the project"] * 2


def test_several_processes_know_what_is_not_loaded(planted: Path, ask: Ask, several_processes: None) -> None:
    said = ask("check", planted, "--jobs", "2", "--output-format", "json").report()
    assert said["findings"] == []


# Code of a repository is not run unasked

MARK = "Path({place!r}).touch()"


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A repository whose rules say that they ran."""
    text = written(before=MARK.format(place=str(tmp_path / "ran")))
    return one_rule(tmp_path / "project", text, TRAIN + b"x = 1  # fixer: ignore[ACM301]\n")


@pytest.mark.parametrize(
    "words", [("check",), ("diff",), ("fix",), ("run", "--no-verify"), ("run", "--dry-run", "--no-verify")]
)
def test_python_of_a_repository_is_not_loaded_unasked(planted: Path, ask: Ask, words: tuple[str, ...]) -> None:
    (planted / "pyproject.toml").write_text('[tool.fixer]\nplugins = ["own.py"]\nignore = ["ACM302"]\n')
    said = ask(words[0], planted, *words[1:], "--output-format", "json").report()
    (told,) = [message for message in said["messages"] if "own.py" in message]
    assert "--trust-plugins" in told and TRUST in told
    assert [item for item in said["findings"] if item["code"] in ("IGN001", "ACM301")] == []
    assert not (planted.parent / "ran").exists()


@pytest.mark.parametrize("words", [("rules",), ("explain", "TBP001"), ("config",)])
def test_nor_to_list_rules(planted: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(planted)
    assert ask(*words).code == 0
    assert not (planted.parent / "ran").exists()


def test_a_person_allows_it_for_one_time_or_for_one_project(
    planted: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes(ask("check", planted, "--trust-plugins", "--output-format", "json")) == ["ACM301"]
    assert codes(ask("check", planted, "--output-format", "json")) == []
    monkeypatch.setenv(TRUST, str(planted.parent))
    assert codes(ask("check", planted, "--output-format", "json")) == []
    monkeypatch.setenv(TRUST, f"/nowhere:{planted}")
    assert codes(ask("check", planted, "--output-format", "json")) == ["ACM301"]


def test_what_is_named_on_the_command_line_takes_the_place_of_the_settings(planted: Path, ask: Ask) -> None:
    assert codes(ask("check", planted, "--plugins=", "--trust-plugins", "--output-format", "json")) == []
    rows = f"--plugins={PLUGINS / 'renames.toml'}"
    assert codes(ask("check", planted, rows, "--output-format", "json")) == ["ACM101", "ACM102"]
    assert not (planted.parent / "ran").exists()


@pytest.mark.parametrize("asked", [("--trust-plugins",), ("--plugins=own.py",)])
@pytest.mark.parametrize("ci", ["pull_request", "workflow_run", "gitlab"])
def test_a_pull_request_from_elsewhere_gets_no_code_run(
    planted: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, ci: str, asked: tuple[str, ...]
) -> None:
    monkeypatch.chdir(planted)
    event = planted.parent / "event.json"

    def comes_from(name: str, number: str) -> None:
        repo = {"full_name": name}
        what = {"head_repository": repo} if ci == "workflow_run" else {"head": {"repo": repo}}
        event.write_text(json.dumps({ci: what, "repository": {"full_name": "acme/project"}}))
        if ci == "gitlab":
            monkeypatch.setenv("CI_MERGE_REQUEST_PROJECT_ID", "1")
            monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", number)
        else:
            monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))

    comes_from("stranger/project", "2")
    said = ask("check", planted, *asked, "--output-format", "json").report()
    assert any("pull request from another repository" in message for message in said["messages"])
    assert not (planted.parent / "ran").exists()
    comes_from("acme/project", "1")
    assert codes(ask("check", planted, *asked, "--output-format", "json")) == ["ACM301"]


@pytest.mark.parametrize(
    "event", [None, "{", "[]", '{"pull_request": {}}', '{"pull_request": {"head": {"repo": null}}, "repository": {}}']
)
def test_where_ci_does_not_say_whence_it_comes_no_code_is_run(
    planted: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, event: str | None
) -> None:
    (planted.parent / "event.json").write_text(event or "")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(planted.parent / ("event.json" if event else "nowhere")))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    ask("check", planted, "--trust-plugins")
    assert not (planted.parent / "ran").exists()
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    (planted.parent / "event.json").write_text('{"repository": {"full_name": "acme/project"}}')
    ask("check", planted, "--trust-plugins")
    assert (planted.parent / "ran").exists()


def test_verify_looks_for_no_rules(planted: Path, ask: Ask) -> None:
    (planted / "own.py").unlink()
    assert ask("verify", planted, "--conforms").code in (0, 1)


def test_a_repository_cannot_pass_for_an_installed_package(tmp_path: Path) -> None:
    made = old_project(tmp_path / "project", {"train.py": TRAIN})
    shutil.copytree(INSTALLED, made, dirs_exist_ok=True)
    (made / "acme_rules.py").write_text(written(code="ACM201", before=MARK.format(place=str(tmp_path / "ran"))))
    assert codes(process(made, "check", "--output-format", "json")) == []
    assert not (tmp_path / "ran").exists()


def test_a_fleet_goes_by_its_own_file_alone(planted: Path, tmp_path: Path, ask: Ask) -> None:
    shutil.copy(PLUGINS / "renames.toml", tmp_path / "ours.toml")
    (tmp_path / "FLEET.toml").write_text(
        f'[fleet]\nplugins = ["ours.toml"]\n[defaults]\nselect = ["ACM101"]\n[[repository]]\naddress = "{planted}"\n'
    )
    (one,) = read_fleet([str(tmp_path / "FLEET.toml")]).repositories
    given = arguments_of(one.options, plan=True)
    assert f"--plugins={tmp_path / 'ours.toml'}" in given
    plain = arguments_of(read_fleet([str(planted)]).repositories[0].options, plan=True)
    assert "--plugins=" in plain
    (planted / "pyproject.toml").write_text('[tool.fixer]\nplugins = ["own.py"]\nignore = ["ACM302"]\n')
    said = ask("run", planted, *plain, "--trust-plugins", "--output-format", "json")
    assert codes(said) == []
    assert any("own.py: not loaded, since --plugins takes its place" in told for told in said.report()["messages"])
    (tmp_path / "ours.toml").write_text((tmp_path / "ours.toml").read_text().replace("3.0", "3.1"))
    (other,) = read_fleet([str(tmp_path / "FLEET.toml")]).repositories
    assert other.options.of_result != one.options.of_result


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
    found = {item["path"]: item for item in said["findings"] if item["code"] == "ACM301"}
    failed = part in ("check", "collect")
    assert ("could not look" in found["train.py"]["message"]) == failed
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
