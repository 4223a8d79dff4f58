"""Environments that answer as those of gym did before 0.26, where a file is written for that."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from verify.harness import gyms

REGISTRATION = """
from types import SimpleNamespace

def make(name, **kwargs):
    told = {"step": 1}
    return SimpleNamespace(
        step=lambda action: ("seen", 1.0, False, action == "last", told), reset=lambda seed=None: (f"first {seed}", {})
    )
"""
OLD = """
import gym

def play(action):
    env = gym.make("CartPole-v1")
    env.seed(3)
    state = env.reset(seed=3)
    seen, reward, done, info = env.step(action)
    return state, seen, done, info
"""


@pytest.fixture
def gym(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a file of a project gets of an environment, and what is told of it."""
    package = tmp_path / "installed" / "gym" / "envs"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("from gym.envs.registration import make\n")
    (package / "__init__.py").write_text("")
    (package / "registration.py").write_text(REGISTRATION)
    project = tmp_path / "project"
    project.mkdir()
    for place in (project, tmp_path / "installed"):
        monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    used: dict[str, None] = {}

    def play(text: str, action: str) -> Any:
        for name in [name for name in sys.modules if name.split(".")[0] in ("gym", "played")]:
            monkeypatch.delitem(sys.modules, name)
        (project / "played.py").write_text(text)
        importlib.invalidate_caches()
        gyms.is_old.cache_clear()
        gyms.lend(str(project), 7, used)
        return importlib.import_module("played").play(action)

    return SimpleNamespace(play=play, used=used)


@pytest.mark.parametrize(
    ("action", "done", "info"), [("go", False, {"step": 1}), ("last", True, {"step": 1, "TimeLimit.truncated": True})]
)
def test_a_file_that_takes_four_values_gets_them(gym: Any, action: str, done: bool, info: dict[str, Any]) -> None:
    assert gym.play(OLD, action) == ("first 3", "seen", done, info)
    assert list(gym.used) == [
        "reset of an environment as gym had it before 0.26 to played",
        "step of an environment as gym had it before 0.26 to played",
    ]


@pytest.mark.parametrize(
    "text",
    [
        OLD.replace("done, info =", "done, cut, info =").replace("state, seen", "state[0], seen"),
        OLD.replace("state = env", "state, info = env").replace("seen, reward, done, info =", "seen, *_, done, info ="),
    ],
    ids=["five", "two"],
)
def test_a_file_of_today_gets_what_there_is(gym: Any, text: str) -> None:
    state, seen, *_ = gym.play(text, "go")
    assert (state, seen, gym.used) == ("first 3", "seen", {})


def test_an_environment_begins_alike_unless_the_project_says_where(gym: Any) -> None:
    unseeded = OLD.replace("    env.seed(3)\n", "").replace("seed=3", "")
    assert gym.play(unseeded, "go")[0] == "first 7"
    again = unseeded.replace("state = env.reset()", "env.reset()\n    state = env.reset()")
    assert gym.play(again, "go")[0] == "first None"
    assert gym.play(OLD.replace("seed=3", ""), "go")[0] == "first None", "it was begun by `env.seed`"


def test_a_file_that_takes_both_is_none_of_before(tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text("a, b, c, d = env.step(1)\na, b, c, d, e = env.step(1)\n")
    (tmp_path / "reset.py").write_text("a, b, c, d = env.step(1)\na, b = env.reset()\n")
    (tmp_path / "old.py").write_text("a, b, c, d = self.env.step(1)\n")
    found = [gyms.is_old(str(tmp_path / name)) for name in ("both.py", "reset.py", "old.py", "none.py")]
    assert found == [False, False, True, False]
