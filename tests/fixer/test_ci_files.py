"""`fixer init`, and the files for CI: they are what their schemas admit, and their steps run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import tomlkit
import yaml  # type: ignore[import-untyped]

from fixer import __version__
from tests.fixer.command import NEW, OLD, ROOT, Ask, environment
from tests.fixer.forges import BRANCH, bare, clone, commit, head
from tests.fixer.git_repos import Repo
from tests.fixer.world import SECRET, standing

SCHEMAS = "check_jsonschema.builtin_schemas.vendor"


def admitted(text: str, schema: str) -> Any:
    """A YAML text, which the published schema of its kind must admit."""
    loaded = {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}
    described = json.loads(resources.files(SCHEMAS).joinpath(f"{schema}.json").read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(described)(described).validate(loaded)
    return loaded


# action.yml


def action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def test_the_sdist_whose_tests_a_release_runs_has_every_file() -> None:
    held = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8")).unwrap()
    included = held["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    by_itself = ["pyproject.toml", ".gitignore", "PKG-INFO"]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tops = {path.partition("/")[0] for path in tracked.splitlines()}
    assert {top for top in tops if not any(fnmatch(top, each) for each in (*included, *by_itself))} == set()


def test_the_action_is_what_its_schema_admits() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    described = json.loads(resources.files(SCHEMAS).joinpath("github-actions.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(described).validate(action())
    used = set(re.findall(r"inputs\.([a-z-]+)", text))
    assert used == set(action()["inputs"])


def test_no_input_is_part_of_a_script() -> None:
    assert not [step for step in action()["runs"]["steps"] if "${{" in step["run"]]


def steps(folder: Path, place: Path, given: dict[str, str]) -> tuple[int, dict[str, str], str]:
    """Runs the steps of the action as the runner does: exit code, outputs of the last step and what was printed."""
    defaults = {name: one.get("default", "") for name, one in action()["inputs"].items()}
    inputs = {**defaults, "token": "", **given}
    place.mkdir()
    path = with_fixer(place)
    code, outputs, told = 0, "", ""
    for number, step in enumerate(action()["runs"]["steps"]):
        if "if" in step and inputs["install"] != "true":
            continue
        files = {name: place / f"{name}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
        for file in files.values():
            file.touch()
        asked = {name: filled(value, inputs) for name, value in step.get("env", {}).items()}
        script = place / f"step-{number}.sh"
        script.write_text(step["run"])
        more = {name: str(file) for name, file in files.items()} | {"RUNNER_TEMP": str(place)}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder,
            env=environment({**asked, **more, "PATH": path}),
            capture_output=True,
            text=True,
        )
        code, outputs, told = done.returncode, files["GITHUB_OUTPUT"].read_text(), done.stdout + done.stderr
    return code, dict(line.split("=", 1) for line in outputs.splitlines()), told


def with_fixer(place: Path) -> str:
    """A PATH with this fixer on it."""
    shim = place / "bin" / "fixer"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m fixer "$@"\n')
    shim.chmod(0o755)
    return f"{shim.parent}{os.pathsep}{os.environ['PATH']}"


def filled(value: str, inputs: dict[str, str]) -> str:
    """An expression of the action, as the runner works it out."""
    if "&&" in value:
        return inputs["token"] if inputs["push"] or inputs["pr"] == "true" else ""
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: inputs[match[1]], value)


def test_its_steps_lead_from_a_broken_project_to_a_pushed_branch(tmp_path: Path) -> None:
    origin = bare(tmp_path / "forge" / "project.git")
    repo = clone(origin, tmp_path / "project")
    given = {"push": "origin", "no-verify": "true", "install": "false", "select": "LIT, PIN", "token": "ghs_secret"}
    code, outputs, told = steps(repo.path, tmp_path / "run", given)
    assert code == 0, told
    assert (outputs["branch"], outputs["findings"], outputs["repaired"], outputs["left"]) == (BRANCH, "1", "1", "0")
    assert head(origin) == repo.git("rev-parse", BRANCH)
    assert Repo(origin).show(BRANCH, "train.py") == NEW
    assert json.loads((tmp_path / "run" / "fixer.sarif").read_text())["version"] == "2.1.0"
    assert "LIT101" in (tmp_path / "run" / "GITHUB_STEP_SUMMARY-2").read_text()
    assert "::notice file=train.py" in told
    names = {one["value"].split(".")[-1].removesuffix(" }}") for one in action()["outputs"].values()}
    assert names - {"sarif"} <= set(outputs)


def test_inputs_are_arguments_and_nothing_more(tmp_path: Path) -> None:
    repo = clone(bare(tmp_path / "forge" / "project.git"), tmp_path / "project")
    given = {"command": "check", "install": "false", "select": "$(touch here); `touch here`"}
    code, _, told = steps(repo.path, tmp_path / "run", given)
    assert code == 2
    assert "no rule is called '$(touch here); `touch here`'" in told
    assert not (repo.path / "here").exists()


def test_what_it_installs(tmp_path: Path) -> None:
    step = action()["runs"]["steps"][1]
    (tmp_path / "fixer" / "bin").mkdir(parents=True)
    for place in (tmp_path / "python", tmp_path / "fixer" / "bin" / "python"):
        place.write_text('#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/asked"\n')
        place.chmod(0o755)
    for command, extras in (("run", "bot,verify"), ("check", "bot")):
        variables = {"COMMAND": command, "NO_VERIFY": "false", "SOURCE": "/action", "RUNNER_TEMP": str(tmp_path)}
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        more = {"GITHUB_PATH": str(tmp_path / "path"), "PATH": path}
        subprocess.run(["bash", "-e", "-c", step["run"]], env=environment({**variables, **more}), check=True)
        asked = (tmp_path / "asked").read_text().splitlines()[-2:]
        assert asked == [f"-m venv {tmp_path}/fixer", f"-m pip install --quiet /action[{extras}]"]


# pre-commit


def test_the_hooks_run_with_and_without_files_that_match(tmp_path: Path) -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert sorted(hooks) == ["fixer-check", "fixer-fix"]
    assert all(hook["pass_filenames"] is False and hook["language"] == "python" for hook in hooks.values())
    repo = clone(bare(tmp_path / "forge" / "project.git", {"notes.md": b"notes\n"}), tmp_path / "project")
    for files, codes in (({}, (0, 0)), ({"train.py": OLD}, (1, 0))):
        repo.write(files)
        for name, code in zip(("fixer-check", "fixer-fix"), codes, strict=True):
            command = [sys.executable, "-m", *hooks[name]["entry"].split()]
            assert subprocess.run(command, cwd=repo.path, env=environment({}), capture_output=True).returncode == code
    assert (repo.path / "train.py").read_bytes() == NEW


# init


@pytest.mark.parametrize(
    ("url", "path", "schema"),
    [
        ("git@github.com:a/b.git", ".github/workflows/fixer.yml", "github-workflows"),
        ("https://gitlab.com/a/b.git", ".gitlab-ci.yml", "gitlab-ci"),
    ],
)
def test_init_writes_what_fits(ask: Ask, folder: Path, url: str, path: str, schema: str) -> None:
    Repo(folder).git("remote", "add", "origin", url)
    said = ask("init", folder)
    assert "new pyproject.toml" in said.out
    assert f"new {path}" in said.out
    assert "nothing is written; --yes writes it" in said.out
    assert not (folder / "pyproject.toml").exists()
    said = ask("init", folder, "--yes")
    assert f"written: pyproject.toml, {path}" in said.out
    text = (folder / path).read_text()
    admitted(text, schema)
    assert f'pip install "fixer[verify,bot]=={__version__}"' in text
    assert "@" not in re.sub(r"@v\d", "", text)
    assert "target  " in ask("config", folder).out
    before = Repo(folder).fingerprint()
    again = ask("init", folder, "--yes")
    assert Repo(folder).fingerprint() == before
    assert "it is left as it is" in again.out


def test_what_strangers_write_is_checked_and_not_run() -> None:
    starters = ROOT / "fixer" / "starters"
    github, gitlab = (yaml.safe_load((starters / f"{kind}.yml").read_text()) for kind in ("github", "gitlab"))
    assert set(github[True]) == {"pull_request", "schedule", "workflow_dispatch"}
    check, migrate = github["jobs"]["check"], github["jobs"]["migrate"]
    assert (check["if"], check["permissions"]) == ("github.event_name == 'pull_request'", {"contents": "read"})
    assert migrate["if"] == "github.event_name != 'pull_request'"
    assert not [step for step in check["steps"] if "env" in step]
    for one in (check, migrate):
        assert one["steps"][0]["with"] == {"persist-credentials": False}
    assert [rule["if"] for rule in gitlab["fixer-check"]["rules"]] == ['$CI_PIPELINE_SOURCE == "merge_request_event"']
    assert not [rule for rule in gitlab["fixer-migrate"]["rules"] if "merge_request" in rule["if"]]
    for lines in ([step.get("run", "") for step in check["steps"]], gitlab["fixer-check"]["script"]):
        assert [line.split()[1] for line in lines if line.startswith("fixer ")] == ["check"]


def test_the_jobs_for_gitlab_lead_to_a_report_and_a_merge_request(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = yaml.safe_load((ROOT / "fixer" / "starters" / "gitlab.yml").read_text())
    with standing("gitlab", ask, tmp_path, monkeypatch) as world:
        commit(world.origin, {"pyproject.toml": b"[tool.fixer.verify]\nenabled = false\n"})
        repo = world.clone()
        repo.git("switch", "--quiet", "--detach")
        variables = {"PATH": with_fixer(tmp_path), "GITLAB_TOKEN": SECRET, "CI_COMMIT_BRANCH": "main"}
        for name, code in (("fixer-check", 1), ("fixer-migrate", 0)):
            install, *lines = jobs[name]["script"]
            assert install.startswith("pip install ")
            command = ["bash", "-eo", "pipefail", "-c", "\n".join(lines)]
            done = subprocess.run(command, cwd=repo.path, env=environment(variables), capture_output=True, text=True)
            assert done.returncode == code, done
        (finding,) = json.loads((repo.path / "gl-code-quality-report.json").read_text())
        assert finding["check_name"] == "LIT101"
        assert (world.pull().head, world.pull().base) == (BRANCH, "main")
        outputs = (repo.path / jobs["fixer-migrate"]["artifacts"]["reports"]["dotenv"]).read_text().splitlines()
        assert f"pull_request={world.address}/someone/project/-/merge_requests/1" in outputs
        assert all((repo.path / name).is_file() for name in jobs["fixer-migrate"]["artifacts"]["paths"])


def test_the_image_is_made_of_what_is_there() -> None:
    lines = (ROOT / "Dockerfile").read_text()
    settings = tomlkit.parse((ROOT / "pyproject.toml").read_text()).unwrap()["project"]
    (extras,) = re.findall(r"src/fixer\[(.*)\]", lines)
    assert set(extras.split(",")) <= set(settings["optional-dependencies"])
    assert all((ROOT / name).is_file() for name in re.findall(r"/usr/local/src/fixer/(\S+)", lines))
    left_out = (ROOT / ".dockerignore").read_text().split()
    assert not {*settings["license-files"], settings["readme"], "fixer", "codemods", "verify"} & set(left_out)
    assert list(settings["scripts"]) == ["fixer"] and 'ENTRYPOINT ["fixer"]' in lines


GIT = {"vcs": "git", "commit_id": "a" * 40}
PLAIN = f"fixer[verify,bot]=={__version__}"


@pytest.mark.parametrize(
    ("direct", "asked"),
    [
        (None, PLAIN),
        ({"url": "file:///home/me/fixer", "dir_info": {"editable": True}}, PLAIN),
        (
            {"url": "https://me:secret@git.example.org/fixer.git", "vcs_info": GIT},
            f"fixer[verify,bot] @ git+https://git.example.org/fixer.git@{'a' * 40}",
        ),
        (
            {"url": "https://files.example.org/fixer-0.1.0-py3-none-any.whl", "archive_info": {}},
            "fixer[verify,bot] @ https://files.example.org/fixer-0.1.0-py3-none-any.whl",
        ),
        ({"url": 'https://x.org/"; curl x', "archive_info": {}}, PLAIN),
        (
            {"url": "ssh://git:secret@x.org/many.git", "vcs_info": GIT, "subdirectory": "tools/fixer"},
            f"fixer[verify,bot] @ git+ssh://git@x.org/many.git@{'a' * 40}#subdirectory=tools/fixer",
        ),
        ({"url": "https://x.org/fixer.zip?token=secret", "archive_info": {}}, PLAIN),
        (
            {"url": "https://x.org/fixer-0.1.0+local.1-py3-none-any.whl", "archive_info": {}},
            "fixer[verify,bot] @ https://x.org/fixer-0.1.0+local.1-py3-none-any.whl",
        ),
        ({"url": "https://x.org/a.whl#sha256=1&token=secret", "archive_info": {}}, PLAIN),
        ({"url": "https://x.org/f.git", "vcs_info": GIT, "subdirectory": 'a"; curl x'}, PLAIN),
        ({"url": "https://x.org/f.git", "vcs_info": GIT, "subdirectory": "a&token=secret"}, PLAIN),
        ({"url": "http://localhost:8000/f.whl", "archive_info": {}}, PLAIN),
        ({"url": "http://127.0.0.1/f.git", "vcs_info": GIT}, PLAIN),
        ({"url": "http://[::1]/f.git", "vcs_info": GIT}, PLAIN),
        ({"url": "https://x.org/f.git", "vcs_info": {"vcs": "git"}}, PLAIN),
        ({"url": "https://x.org/f.git", "vcs_info": GIT | {"commit_id": "a; b"}}, PLAIN),
        ({"url": "https://[x.org/fixer.zip", "archive_info": {}}, PLAIN),
    ],
)
def test_the_jobs_install_fixer_from_where_it_came(
    ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch, direct: object, asked: str
) -> None:
    held = SimpleNamespace(read_text=lambda name: None if direct is None else json.dumps(direct))
    monkeypatch.setattr("fixer.origin.distribution", lambda name: held)
    Repo(folder).git("remote", "add", "origin", "https://gitlab.com/a/b.git")
    said = ask("init", folder, "--yes")
    script = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["fixer-migrate"]["script"]
    assert script[0] == f'pip install "{asked}"'
    assert ("from the package index: see that it is yours there" in said.out) is ("==" in asked)


def test_init_adds_to_settings_and_overwrites_nothing(ask: Ask, folder: Path) -> None:
    Repo(folder).git("remote", "add", "origin", "https://gitlab.com/a/b.git")
    (folder / "pyproject.toml").write_text('[project]\nname = "x"')
    (folder / ".gitlab-ci.yml").write_text("test:\n  script: pytest\n")
    assert "include it in .gitlab-ci.yml" in ask("init", folder, "--yes").out
    assert (folder / "pyproject.toml").read_text().startswith('[project]\nname = "x"\n\n[tool.fixer]\n')
    assert (folder / ".gitlab-ci.yml").read_text() == "test:\n  script: pytest\n"
    assert (folder / ".gitlab" / "fixer.gitlab-ci.yml").exists()
    assert ask("check", folder).code == 1


def test_init_where_nothing_is_known_of_the_server(ask: Ask, folder: Path) -> None:
    assert "no remote on GitHub or GitLab is known" in ask("init", folder).out
    (folder / "pyproject.toml").write_text("[tool\n")
    assert "not valid TOML" in ask("init", folder).complaint()
