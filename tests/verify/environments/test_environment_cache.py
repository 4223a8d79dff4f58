from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

import pytest

from verify.environments.building import MARKER
from verify.environments.environment_cache import DAY, SIZES, forget, kept, remove
from verify.environments.installer import STORE
from verify.environments.remembered_names import FOLDER


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Two environments, one that was never finished, and what is beside them."""
    made = tmp_path / "cache"
    for name, days, size in (("new", 1, 1000), ("old", 40, 3000)):
        (made / name / "lib").mkdir(parents=True)
        (made / name / "lib/code.py").write_bytes(b"x" * size)
        marker = made / name / MARKER
        marker.write_text(json.dumps({"asked": ["3.11.7", "linux", ["torch==2", f"lightning=={size}"]], "left": []}))
        os.utime(marker, (0, time.time() - days * DAY))
        (made / f"{name}.lock").touch()
    (made / "half/lib").mkdir(parents=True)
    (made / FOLDER).mkdir()
    os.link(made / "new/lib/code.py", made / "half/lib/code.py")
    return made


def test_what_is_kept_is_told_with_its_size_and_age(cache: Path) -> None:
    half, new, old = kept(cache)
    assert (half.folder.name, half.holds, half.size, half.shared) == ("half", (), 0, 1000)
    assert new.holds == ("Python 3.11.7", "torch==2", "lightning==1000")
    assert (old.folder.name, round(old.days)) == ("old", 40)
    assert old.size == 3000 + (cache / "old" / MARKER).stat().st_size
    assert kept(cache / "nowhere") == ()
    (cache / STORE / "uv").mkdir(parents=True)
    assert kept(cache) == (half, new, old)
    with (cache / "old.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        forget(cache)
        assert (cache / STORE).exists()
    forget(cache)
    assert not (cache / STORE).exists()


def test_sizes_are_remembered_until_something_is_removed(cache: Path) -> None:
    first = kept(cache)
    (cache / "new/lib/more.py").write_bytes(b"x" * 500)
    assert [one.size for one in kept(cache)] == [one.size for one in first]
    assert not (cache / "half" / SIZES).exists()
    (cache / "new" / SIZES).unlink()
    assert kept(cache)[1].size == first[1].size + 500
    (cache / "new" / SIZES).write_text("nonsense")
    (cache.parent / "kept").write_text("of the user")
    (cache / "half" / MARKER).touch()
    (cache / "half" / SIZES).symlink_to(cache.parent / "kept")
    assert kept(cache) and not (cache / "half" / SIZES).is_symlink()
    assert (cache.parent / "kept").read_text() == "of the user"
    (cache / "half" / MARKER).unlink()
    assert kept(cache)[1].shared == 1000
    list(remove(one for one in first if one.folder.name == "half"))
    new = next(one for one in kept(cache) if one.folder.name == "new")
    assert (new.size, new.shared) == (first[1].size + 500 + 1000, 0)


def test_what_is_removed_is_gone_with_its_lock(cache: Path) -> None:
    gone = list(remove(one for one in kept(cache) if one.days > 30))
    assert [one.folder.name for one in gone] == ["old"]
    assert sorted(place.name for place in cache.iterdir()) == ["half", FOLDER, "new", "new.lock"]


def test_what_is_being_built_stays(cache: Path) -> None:
    with (cache / "old.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        gone = [one.folder.name for one in remove(kept(cache))]
    assert sorted(gone) == ["half", "new"]
    assert (cache / "old/lib/code.py").exists()
