"""Whose rules are loaded: Python of a repository is not run unasked, nor for a fork, nor by a fleet."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fixer.fleet.asked import read_fleet
from fixer.fleet.state import opened
from fixer.fleet.tasks import arguments_of
from fixer.plugins import TRUST
from tests.fixer.command import ROOT, Ask, old_project, process
from tests.fixer.plugin_projects import (
    INSTALLED,
    MARK,
    PLUGINS,
    TRAIN,
    codes,
    written,
)


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


def from_a_fork(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write_text('{"pull_request": {"head": {"repo": {"full_name": "a/b"}}}, "repository": {"full_name": "c/b"}}')
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(place))


def test_a_comment_on_a_pull_request_does_not_say_whence_it_comes(
    planted: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = planted.parent / "event.json"
    event.write_text('{"issue": {"pull_request": {"url": "x"}}, "repository": {"full_name": "acme/project"}}')
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    ask("check", planted, "--trust-plugins")
    assert not (planted.parent / "ran").exists()
    event.write_text('{"issue": {"number": 1}, "repository": {"full_name": "acme/project"}}')
    ask("check", planted, "--trust-plugins")
    assert (planted.parent / "ran").exists()


@pytest.mark.parametrize("inner", ["a repository", "a folder"])
def test_a_folder_inside_does_not_part_rules_from_the_pull_request(
    planted: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    from_a_fork(planted.parent / "event.json", monkeypatch)
    (planted / "src").mkdir()
    if inner == "a repository":
        (planted / "src/.git").write_text("gitdir: ../.git\n")
    else:
        shutil.rmtree(planted / ".git")
        monkeypatch.setenv("GITHUB_WORKSPACE", str(planted))
    (planted / "src/train.py").write_bytes(TRAIN)
    monkeypatch.chdir(planted)
    ask("check", "src", "--plugins=own.py")
    assert not (planted.parent / "ran").exists()


def test_rules_that_lie_beside_the_pull_request_are_loaded(
    planted: Path, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_a_fork(tmp_path / "event.json", monkeypatch)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    (tmp_path / "own.py").write_text(written(code="ACM303"))
    said = ask("check", planted, f"--plugins={tmp_path / 'own.py'}", "--output-format", "json")
    assert codes(said) == ["ACM303"]


def test_a_package_installed_from_the_pull_request_is_its_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = old_project(tmp_path / "project", {"train.py": TRAIN})
    shutil.copytree(INSTALLED, made / "lib")
    place = tmp_path / "event.json"
    from_a_fork(place, monkeypatch)
    words = ("check", "--output-format", "json")
    said = process(made, *words, PYTHONPATH=f"{ROOT}:{made / 'lib'}", GITHUB_EVENT_PATH=str(place))
    assert codes(said) == [] and any("acme of acme" in told for told in said.report()["messages"])
    said = process(made, *words, PYTHONPATH=f"{ROOT}:{INSTALLED}", GITHUB_EVENT_PATH=str(place))
    assert "ACM201" in codes(said)


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


def test_a_list_of_repositories_is_planned_again_where_an_installed_package_of_rules_changed(tmp_path: Path) -> None:
    made, there = old_project(tmp_path / "project", {"train.py": TRAIN}), tmp_path / "site"
    shutil.copytree(INSTALLED, there)
    command = ("fleet", "run", str(made), "--no-verify", "--state", str(tmp_path / "state"))

    def plans() -> int:
        assert process(tmp_path, *command, PYTHONPATH=f"{ROOT}:{there}").code == 0
        with opened(tmp_path / "state") as held:
            return next(step.tries for step in held.steps() if step.step == "plan")

    assert (plans(), plans()) == (1, 1)
    (there / "acme_rules.py").write_text((there / "acme_rules.py").read_text() + "# changed\n")
    assert plans() == 2
