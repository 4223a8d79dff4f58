"""Every command in the documentation is run, page by page, as a reader would.

A block of commands is fenced as ```console, one command a line. The comment before it may say

- `<!-- not run: network -->`, with one of REASONS: then it is not run; `proof` stands for what builds environments and
  trains, which tests/fixer and tests/training do;
- `<!-- run with: run --no-verify -->`: options that are added to a command of fixer, to keep the test short.

`<!-- project: hydra -->` on a page says which of PROJECTS its commands are run in, and blocks behind
`<!-- file: PATH -->` are the files of one; else it is the demo's.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixer.cli import start
from fixer.demo import write_demo
from tests.codemods.support import notebook
from tests.support import IDENTITY, commit_all

ROOT = Path(__file__).parent.parent
REASONS = {"network", "gpu", "jq", "proof", "server", "terminal"}
FENCE = re.compile(r"(?:^<!-- (?P<marker>[^\n]*) -->\n)?^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^<!-- file: (\S+) -->\n^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/howto/*.md")])
FINDS = ("check", "diff")
PROJECTS = {
    "notebook": {
        "requirements.txt": "pytorch-lightning==1.8.6\n",
        "train.ipynb": notebook(
            "%matplotlib inline\nimport pytorch_lightning as pl", "trainer = pl.Trainer(gpus=1, max_epochs=1)"
        ),
    },
    "hydra": {
        "requirements.txt": "pytorch-lightning==1.8.6\nhydra-core\n",
        "conf/config.yaml": "trainer:\n  _target_: pytorch_lightning.Trainer\n  gpus: 1\n  max_epochs: 1\n",
        "train.py": (
            "import hydra\nimport pytorch_lightning as pl\n\n\n"
            '@hydra.main(config_path="conf", config_name="config")\ndef main(config):\n'
            "    trainer = hydra.utils.instantiate(config.trainer)\n\n\n"
            'if __name__ == "__main__":\n    main()\n'
        ),
    },
}


def blocks(page: Path) -> list[tuple[str, list[str]]]:
    """The marker and the commands of each block."""
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [(item["marker"] or "", [line for line in item["body"].splitlines() if line.strip()]) for item in found]


def commands(page: Path) -> Iterator[str]:
    """What is run of a page, in order."""
    for marker, lines in blocks(page):
        kind, _, said = marker.partition(": ")
        if kind == "not run":
            continue
        more = dict(part.strip().split(" ", 1) for part in said.split(",")) if kind == "run with" else {}
        for line in lines:
            words = shlex.split(line, comments=True)
            yield f"{line.partition(' #')[0]} {more.get(words[1], '')}".strip() if words[0] == "fixer" else line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_are_marked_as_agreed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"^```(?:sh|bash|shell)$", text, re.MULTILINE), "fence commands as ```console"
    for marker, _ in blocks(page):
        kind, _, said = marker.partition(": ")
        assert kind in ("", "run with") or said in REASONS, marker


@pytest.mark.parametrize("page", [page for page in PAGES if list(commands(page))], ids=lambda page: page.stem)
def test_commands_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    prepare(page, folder)
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "fixer").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fixer "$@"\n')
    (bin / "fixer").chmod(0o755)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    given = {
        **IDENTITY,
        "TMPDIR": str(temporary),
        "FIXER_RUNS": str(tmp_path / "runs"),
        "PYTHONPATH": str(ROOT),
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(folder)
    for command in commands(page):
        words = shlex.split(command, comments=True)
        plain = words[0] == "fixer" and not set("|&;<>$") & set(command)
        code = start(words[1:]) if plain else subprocess.run(["bash", "-c", command]).returncode
        allowed = (0, 1) if re.search(rf"fixer ({'|'.join(FINDS)})\b", command) else (0,)
        assert code in allowed, command
    if page.stem.startswith("tutorial"):
        said = capfd.readouterr().out.splitlines()
        shown = "".join(re.findall(r"^```text\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
        assert shown and [line for line in shown.splitlines() if line not in said] == []


def prepare(page: Path, folder: Path) -> None:
    """The repository that the commands of a page are run in."""
    written = page.read_text(encoding="utf-8")
    named = re.search(r"^<!-- project: (\w+) -->$", written, re.MULTILINE)
    files = PROJECTS[named[1]] if named else dict(FILE.findall(written))
    if not files:
        write_demo(folder)
        return
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    commit_all(folder)
