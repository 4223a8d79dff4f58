"""`fixer undo`: what `fix` overwrote comes back as it was, byte for byte, and nothing else is touched."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixer import in_place, undo
from fixer.errors import UsageError
from tests.fixer.command import NEW, OLD, Ask, environment, old_project

CRLF = OLD.replace(b"\n", b"\r\n")
BOM = b"\xef\xbb\xbf" + OLD
LATIN = b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + OLD


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it is kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "state" / "fixer" / "undo"


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A project without git."""
    folder = tmp_path / "plain"
    (folder / "sub").mkdir(parents=True)
    for name, data in {"train.py": OLD, "crlf.py": CRLF, "bom.py": BOM, "latin.py": LATIN, "sub/a.py": OLD}.items():
        (folder / name).write_bytes(data)
    (folder / "train.py").chmod(0o755)
    return folder


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and ".git/" not in path.as_posix()
    }


def test_all_is_as_it_was(ask: Ask, plain: Path, state: Path) -> None:
    before = files(plain)
    assert "note: `fixer undo` puts the files back as they were" in ask("fix", plain).out
    changed = files(plain)
    assert all(changed[name] != before[name] for name in before) and changed.keys() == before.keys()
    assert b"\r\n" in changed["crlf.py"][0] and changed["bom.py"][0].startswith(b"\xef\xbb\xbf")
    said = ask("undo", plain)
    assert said.code == 0 and files(plain) == before
    assert "put back: sub/a.py\n" in said.out
    assert re.search(rf"^5 files are as they were before the `fixer fix` of [-\d]+ [:\d]+ in {plain}$", said.out, re.M)
    again = ask("undo", plain)
    assert (again.code, again.out) == (0, "") and f"nothing is left to undo in {plain}" in again.err
    assert list(state.iterdir()) == []


def test_within_git_as_well(ask: Ask, folder: Path) -> None:
    said = ask("fix", folder)
    assert "`fixer undo`" not in said.out, "git is there for that"
    assert (folder / "train.py").read_bytes() == NEW
    assert ask("undo", folder).code == 0
    assert (folder / "train.py").read_bytes() == OLD


def test_runs_are_undone_one_after_the_other(ask: Ask, plain: Path) -> None:
    before = files(plain)
    ask("fix", plain / "sub" / "a.py")
    ask("fix", plain)
    ask("undo", plain)
    assert files(plain)["sub/a.py"][0] == NEW and files(plain)["train.py"] == before["train.py"]
    told = ask("undo", plain)
    assert f"the last run was in {plain / 'sub'}: `fixer undo {plain / 'sub'}`" in told.err
    assert ask("undo", plain / "sub").code == 0
    assert files(plain) == before


def test_from_a_folder_within(ask: Ask, plain: Path) -> None:
    before = files(plain)
    ask("fix", plain)
    assert ask("undo", plain / "sub").code == 0
    assert files(plain) == before


def test_a_file_that_was_changed_since_is_left(ask: Ask, plain: Path) -> None:
    before = files(plain)
    ask("fix", plain)
    fixed = files(plain)
    (plain / "train.py").write_bytes(fixed["train.py"][0] + b"# mine\n")
    (plain / "bom.py").unlink()
    said = ask("undo", plain)
    assert said.code == 2
    assert said.complaint() == (
        "fixer: left as they are: bom.py (not there any more), train.py (changed since); move your changes away and "
        "run `fixer undo` again, or keep them"
    )
    now = files(plain)
    assert now["train.py"][0].endswith(b"# mine\n") and "bom.py" not in now
    assert all(now[name] == before[name] for name in ("crlf.py", "latin.py", "sub/a.py"))
    (plain / "train.py").write_bytes(fixed["train.py"][0])
    (plain / "bom.py").write_bytes(fixed["bom.py"][0])
    assert ask("undo", plain).code == 0
    assert files(plain) == before


@pytest.mark.parametrize("file", [True, False])
def test_nothing_is_written_through_a_link(ask: Ask, plain: Path, tmp_path: Path, file: bool) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_bytes(NEW)
    (outside / ".a.py.fixer").write_bytes(b"mine\n")
    ask("fix", plain)
    (plain / "sub" / "a.py").unlink()
    if file:
        (plain / "sub" / "a.py").symlink_to(outside / "a.py")
    else:
        (plain / "sub").rmdir()
        (plain / "sub").symlink_to(outside)
    said = ask("undo", plain)
    assert said.code == 2 and "sub/a.py" in said.complaint()
    assert (outside / "a.py").read_bytes() == NEW
    assert (outside / ".a.py.fixer").read_bytes() == b"mine\n"


def test_what_lies_where_new_content_waits_is_no_way_out(ask: Ask, plain: Path, tmp_path: Path) -> None:
    """A link of the name that new content has until it takes its place is not followed, by `fix` or by `undo`."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine\n")
    for command in ("fix", "undo"):
        (plain / ".train.py.fixer").symlink_to(outside)
        assert ask(command, plain).code == 0
        assert outside.read_bytes() == b"mine\n"
        assert not (plain / ".train.py.fixer").is_symlink()


def test_read_only_files_are_left_by_both(ask: Ask, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (plain / "train.py").chmod(0o444)
    monkeypatch.setattr("fixer.replacing.os.access", lambda place, _: Path(place).stat().st_mode & 0o200)
    before = files(plain)
    said = ask("fix", plain)
    assert said.code == 2 and "train.py: not written: Permission denied" in said.complaint()
    assert files(plain)["train.py"] == before["train.py"]
    assert ask("undo", plain).code == 0
    assert files(plain) == before


def test_files_that_a_rewrite_brought_go(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"a\n")
    read = {"a.py": b"a\n"}
    assert in_place.write(tmp_path, {"a.py": b"b\n", "new.py": b"n\n"}, read) == in_place.Written()
    done = undo.put_back(undo.last_of(tmp_path))
    assert (done.restored, done.removed, done.left) == (("a.py",), ("new.py",), ())
    assert (tmp_path / "a.py").read_bytes() == b"a\n" and not (tmp_path / "new.py").exists()


BYTES = st.binary(max_size=20)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.none() | BYTES, BYTES, st.sampled_from(["kept", "edited", "deleted"])), max_size=6))
def test_whatever_became_of_the_files(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[bytes | None, bytes, str]]
) -> None:
    """Each is as it was where it is what fixer wrote, and else as it was left; the second time changes nothing."""
    root = tmp_path_factory.mktemp("project")
    files = [(was, now + b"." if was == now else now, then) for was, now, then in files]
    before = {f"{number}.py": was for number, (was, _, _) in enumerate(files)}
    read = {name: was for name, was in before.items() if was is not None}
    for name, data in read.items():
        (root / name).write_bytes(data)
    in_place.write(root, {f"{number}.py": now for number, (_, now, _) in enumerate(files)}, read)
    expected = {}
    for number, (was, now, then) in enumerate(files):
        place = root / f"{number}.py"
        if then == "edited":
            place.write_bytes(now + b"#")
        elif then == "deleted":
            place.unlink()
        left = was if then == "kept" else None if then == "deleted" else now + b"#"
        expected |= {place.name: left} if left is not None else {}
    for _ in range(2):
        if files:
            with suppress(undo.NothingToUndo):
                undo.put_back(undo.last_of(root))
        assert {place.name: place.read_bytes() for place in root.iterdir()} == expected


def test_one_that_was_changed_before_it_is_written(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_bytes(b"a\n")
    with pytest.raises(UsageError, match=r"b\.py: changed since fixer read it; run fixer again\. Nothing was changed"):
        in_place.write(tmp_path, {"a.py": b"c\n", "b.py": b"c\n"}, {"a.py": b"a\n", "b.py": b"b\n"})
    assert (tmp_path / "a.py").read_bytes() == b"a\n"


def test_an_interruption_while_files_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    read = {f"{number}.py": b"a\n" for number in range(5)}
    for name, data in read.items():
        (tmp_path / name).write_bytes(data)

    def replace(place: Path, data: bytes) -> None:
        if place.name == "3.py" and data == b"b\n":
            raise KeyboardInterrupt
        place.write_bytes(data)

    monkeypatch.setattr(in_place, "replace_file", replace)
    with pytest.raises(KeyboardInterrupt):
        in_place.write(tmp_path, dict.fromkeys(read, b"b\n"), read)
    assert {name: (tmp_path / name).read_bytes() for name in read} == read
    assert list(state.iterdir()) == []


def test_where_nothing_can_be_kept(ask: Ask, plain: Path, state: Path) -> None:
    state.parent.mkdir(parents=True)
    state.write_text("no folder")
    said = ask("fix", plain)
    assert said.code == 0 and "`fixer undo` cannot put the files back" in said.out
    assert (plain / "train.py").read_bytes() == NEW


def test_room_that_cannot_be_made_takes_nothing_away(ask: Ask, plain: Path, state: Path) -> None:
    """What is old may be forgotten by another run meanwhile, or may be another user's."""
    before = files(plain)
    ask("fix", plain / "sub" / "a.py")
    (old,) = undo.everything()
    with pytest.MonkeyPatch.context() as patched:
        gone = replace(old, place=state / "gone.undo")
        patched.setattr(undo, "everything", lambda: [old, gone])
        assert "note: `fixer undo` puts the files back as they were" in ask("fix", plain).out
    assert ask("undo", plain).code == ask("undo", plain / "sub").code == 0
    assert files(plain) == before


def test_what_is_damaged_is_not_put_back(ask: Ask, plain: Path, state: Path) -> None:
    ask("fix", plain)
    (kept,) = state.iterdir()
    kept.write_bytes(kept.read_bytes()[:-40])
    assert "damaged; what it kept cannot be put back" in ask("undo", plain).complaint()
    assert (plain / "train.py").read_bytes() == NEW


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    for number in range(undo.KEPT + 3):
        undo.keep(one, {"a": b"x" * 1000}, {"a": b"y"})
        undo.keep(two, {"a": b"x" * 1000}, {"a": b"%d" % number})
        undo.make_room()
    assert [item.root for item in undo.everything()].count(str(one)) == undo.KEPT
    monkeypatch.setattr(undo, "ROOM", 5000)
    undo.make_room()
    assert sum(place.stat().st_size for place in state.iterdir()) <= 5000
    monkeypatch.setattr(undo, "ROOM", 10)
    undo.make_room()
    assert len(undo.everything()) == 1, "the newest stays"
    assert {place.stat().st_mode & 0o777 for place in state.iterdir()} == {0o600}


def test_the_cache_lists_and_clears_it(ask: Ask, plain: Path, state: Path) -> None:
    ask("fix", plain)
    assert ask("cache").out.splitlines()[-1].startswith("kept for `fixer undo`: 1 run of `fixer fix`, 0.0 MB")
    assert "kept for `fixer undo`" not in ask("cache", "--prune", "30").out
    assert ask("cache", "--clear").out.splitlines()[-1].startswith("no more to be undone: 1 run")
    assert list(state.iterdir()) == []
    assert "nothing is left to undo" in ask("undo", plain).err


# Killed, wherever it is


MANY = 150


def begin(folder: Path, command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "fixer", command, str(folder)],
        env=environment({}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def killed(folder: Path, command: str, pause: float) -> None:
    """Kills it some seconds after it began to write."""
    started = begin(folder, command)
    names = [folder / f"m{number:03}.py" for number in range(MANY)]
    then = [place.stat().st_ino for place in names]
    while started.poll() is None and then == [place.stat().st_ino for place in names]:
        time.sleep(0.001)
    time.sleep(pause)
    started.send_signal(signal.SIGKILL)
    started.wait()


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_by_a_kill(ask: Ask, tmp_path: Path, seed: int) -> None:
    pauses = random.Random(seed)
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(MANY):
        (folder / f"m{number:03}.py").write_bytes(OLD + b"# %d\n" % number)
    before = files(folder)
    killed(folder, "fix", pauses.random() * 0.02)
    now = {name: data for name, (data, _) in files(folder).items() if not name.startswith(".")}
    assert now.keys() == before.keys()
    assert all(data.startswith((OLD, NEW)) and data.endswith(b"# %d\n" % int(n[1:4])) for n, data in now.items())
    if any(data.startswith(NEW) for data in now.values()):
        killed(folder, "undo", pauses.random() * 0.02)
    said = ask("undo", folder)
    assert said.code == 0
    left = {name: held for name, held in files(folder).items() if not name.endswith(".fixer")}
    assert left == before
    assert files(folder) == before, "nothing lies beside"


def test_undo_of_a_project_in_a_repository_that_went(ask: Ask, tmp_path: Path) -> None:
    folder = old_project(tmp_path / "project")
    ask("fix", folder)
    (folder / ".git").rename(tmp_path / "git")
    assert ask("undo", folder).code == 0
    assert (folder / "train.py").read_bytes() == OLD
