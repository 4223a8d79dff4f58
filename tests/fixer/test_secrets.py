"""No secret reaches another program, a message, a report or a branch: one is planted, and everything is searched."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixer.command import NEW
from tests.fixer.forges import BRANCH, head
from tests.fixer.world import SECRET, World
from tests.support import git

VERBS = ("ls-remote", "fetch", "push")


def test_no_secret_is_written_anywhere(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIXER_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_CURL_VERBOSE", "1")
    files = [
        part for name in ("html", "markdown", "sarif") for part in ("--output-file", f"{name}:{tmp_path}/out.{name}")
    ]
    repo = world.clone()
    calls = recording_git(tmp_path, monkeypatch)
    told = [world.say(*files, repo=repo)]
    world.commit(NEW + b"# by hand\n", BRANCH)
    told.append(world.say("--force", repo=repo))
    world.api.token = "another"
    told.append(world.say(repo=repo))
    assert [said.code for said in told] == [0, 0, 2]
    assert "401" in told[-1].complaint()
    arguments, environments = calls()
    assert len(arguments) > 20
    assert not [line for line in arguments if SECRET in line or "xtraHeader" in line]
    assert not [text for text in environments if SECRET in text]
    shown = {line.split("\t")[1] for line, text in zip(arguments, environments, strict=True) if "xtraHeader" in text}
    assert shown == {"ls-remote", "fetch", "push"}
    shutil.rmtree(tmp_path / "calls")
    hidden = [SECRET, *(shown.split()[-1] for _, shown in world.asked if shown)]
    texts = [part for said in told for part in (said.out, said.err)]
    texts += [text for one in world.api.requests for text in (one.body, one.title, *one.comments)]
    texts += [place.read_bytes().decode("latin-1") for place in tmp_path.rglob("*") if place.is_file()]
    texts += [git(place, "log", "--all", "--format=raw", "--patch") for place in (repo.path, world.origin)]
    assert len(texts) > 20
    assert not [text for text in texts if any(secret in text for secret in hidden)]
    assert not {"GITHUB_TOKEN", "GITLAB_TOKEN"} & set(os.environ)


def recording_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[list[str], list[str]]]:
    """Puts a git before git that writes down what each call of fixer's is given: its arguments, verb first, and its
    environment."""
    place, real = folder / "calls", shutil.which("git")
    (place / "bin").mkdir(parents=True)
    shim = place / "bin" / "git"
    shim.write_text(
        f"""#!{sys.executable}
import os, sys, uuid
words = sys.argv[1:]
verb = next((one for one in words if one in {VERBS!r}), "other")
place = os.path.join({str(place)!r}, uuid.uuid4().hex)
with open(place, "w") as file:
    file.write("\\t".join(["git", verb, *words]).replace("\\n", " ") + "\\n" + repr(dict(os.environ)))
os.execv({real!r}, ["git", *words])
"""
    )
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")

    def calls() -> tuple[list[str], list[str]]:
        written = [file.read_text().split("\n", 1) for file in sorted(place.iterdir()) if file.is_file()]
        mine = [(line, text) for line, text in written if "\t-c\tcore.fsmonitor=false\t" in line]
        return [line for line, _ in mine], [text for _, text in mine]

    return calls


def test_a_line_end_after_a_token_is_not_of_it(world: World) -> None:
    set_token(world, f" {SECRET}\r\n")
    assert world.ask("run", world.clone().path, "--no-verify", "--pr").code == 0
    assert world.pull().state == "open"


@pytest.mark.parametrize("value", [f"{SECRET}\nX-Other: 1", f"{SECRET} more", f"{SECRET}\u2014"])
def test_what_cannot_be_a_token_is_named_and_not_shown(world: World, value: str) -> None:
    name = set_token(world, value)
    said = world.ask("run", world.clone().path, "--no-verify", "--pr", "--output-format", "json")
    assert f"{name} holds a blank, a line end or another character that no token has" in said.complaint()
    assert SECRET not in said.out + said.err
    assert (world.asked, world.api.headers) == ([], [])


def test_a_server_that_repeats_a_token_does_not_have_it_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = f"token {SECRET}"
    answer = 400, {"message": f"no such thing as {shown}", "errors": [{"message": shown}]}
    monkeypatch.setattr(world.api, "answer", lambda *arguments: answer)
    said = world.say()
    assert "no such thing as token ***" in said.complaint()
    assert SECRET not in said.out + said.err


def test_a_library_that_complains_of_a_token_does_not_have_it_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*arguments: object) -> None:
        try:
            raise ValueError(f"invalid header {SECRET!r}")
        except ValueError as error:
            raise RuntimeError(f"{SECRET} again") from error

    monkeypatch.setattr(f"fixer.pulls.{world.kind}.connect", connect)
    said = world.say()
    assert "a bug in fixer: RuntimeError: *** again" in said.err and "invalid header '***'" in said.err
    assert SECRET not in said.out + said.err


def test_a_token_in_the_address_of_a_remote_stays_there(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIXER_RUNS", str(tmp_path / "runs"))
    repo = world.clone()
    user = "x-access-token" if world.kind == "github" else "oauth2"
    address = world.address.replace("://", f"://{user}:{SECRET}@")
    forms = [part for name in ("html", "json", "sarif") for part in ("--output-file", f"{name}:{tmp_path}/out.{name}")]
    said = []
    for path in ("someone/project.git", "someone/elsewhere.git", "pro@ject"):
        repo.git("remote", "set-url", "origin", f"{address}/{path}")
        said.append(world.ask("run", repo.path, "--no-verify", "--push", "origin", *forms))
    repo.git("remote", "set-url", "origin", f"{address.replace(SECRET, f'a@{SECRET}')}/someone/project.git")
    said.append(world.ask("run", repo.path, "--no-verify", "--push", "origin"))
    said += [world.ask("init", "--yes", repo.path), world.ask("config", repo.path)]
    assert [one.code for one in said] == [0, 2, 2, 2, 0, 0], said
    assert head(world.origin) == repo.git("rev-parse", BRANCH)
    (repo.path / ".git" / "config").unlink()
    texts = [part for one in said for part in (one.out, one.err)]
    texts += [place.read_bytes().decode("latin-1") for place in tmp_path.rglob("*") if place.is_file()]
    assert len(texts) > 20
    assert not [text for text in texts if SECRET in text]


def set_token(world: World, value: str) -> str:
    """Sets the variable of the forge's token, and returns its name."""
    name = "GITHUB_TOKEN" if world.kind == "github" else "GITLAB_TOKEN"
    world.monkeypatch.setenv(name, value)
    return name
