"""Bubblewrap, where it is installed: when it is taken, and what it is asked for. What it does is in test_hostile."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from verify.sandbox import bubblewrap
from verify.sandbox.containment import Containment, contain
from verify.sandbox.jail import OUTSIDE
from verify.sandbox.process import Limits

ROOMY = Limits(30, 2 * 2**30)
PRETENDED = """#!/bin/sh
echo "$@" >> {log}
exit {status}
"""


def test_an_installed_bubblewrap_comes_before_what_we_do_ourselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it works, which is found by trying it once."""
    program, log = tmp_path / "bin" / "bwrap", tmp_path / "log"
    program.parent.mkdir()
    program.write_text(PRETENDED.format(log=log, status=0))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    found = contain(tmp_path / "tried", (tmp_path,))
    assert found == Containment("full", (tmp_path,), str(program))
    assert found.said.startswith("run by bubblewrap without network, with nothing to read but its copy")
    assert len(log.read_text().splitlines()) == 1
    program.write_text(PRETENDED.format(log=log, status=1))
    assert contain(tmp_path / "tried").bubblewrap is None
    program.unlink()
    monkeypatch.setenv("PATH", str(program.parent))
    assert contain(tmp_path / "tried").bubblewrap is None


def pairs(words: list[str], option: str) -> list[tuple[str, str]]:
    return [(words[at + 1], words[at + 2]) for at, word in enumerate(words) if word == option]


def test_bubblewrap_is_asked_for_what_we_would_do_ourselves(tmp_path: Path) -> None:
    own, needs, data = tmp_path / "own", tmp_path / "needs", tmp_path / "data"
    for folder in (own, needs, data, needs / "deeper"):
        folder.mkdir()
    (tmp_path / "link").symlink_to(data)
    (needs / "link").symlink_to(data)
    wrapped = Containment("full", (tmp_path / "link",), "/opt/bwrap")
    command = wrapped.command(
        ["python", "x.py"], own, [str(needs), str(needs / "deeper"), str(needs / "link"), "/usr"], ROOMY
    )
    at = command.index("/opt/bwrap")
    end = command.index("--", at)
    options = command[at + 1 : end]
    assert {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--disable-userns"} <= {*options}
    assert options[options.index("--cap-drop") + 1] == "ALL"
    read, written = pairs(options, "--ro-bind"), pairs(options, "--bind")
    assert (str(needs), str(needs)) in read and (str(data), str(tmp_path / "link")) in read
    shown = {str(needs / name) for name in ("deeper", "link")}
    assert not any(place in shown for pair in read for place in pair), "they are shown already"
    assert read.count(("/usr", "/usr")) == 1
    [made] = own.iterdir()
    private = str(made / "tmp")
    kept = [(str(made / "outside" / name[1:]), name) for name in OUTSIDE]
    base = (str(made / "base"), "/")
    assert written == [base, (private, "/tmp"), (private, "/var/tmp"), *kept, (str(own), str(own))]
    assert "/" not in {place for pair in (*read, *written[1:]) for place in pair}
    assert not {place for _, place in read} & {"/etc", "/home", "/root", str(tmp_path), str(Path.home())}
    assert command[-2:] == ["python", "x.py"] and json.loads(command[-3])["level"] == "inside"
    online = wrapped.command(["python"], own, [], ROOMY, online=True)
    assert "--unshare-net" not in online and "--unshare-pid" in online


def test_bubblewrap_is_a_program_of_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(sys, "platform", "linux")
    assert bubblewrap.installed() == "/usr/bin/bwrap"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert bubblewrap.installed() is None
