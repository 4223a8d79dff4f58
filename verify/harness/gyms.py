"""Lets environments that gym and gymnasium make begin alike in both trees, and those of gym answer as they did before
0.26, to files that are written for that: an older gym cannot be installed for the Pythons of today.

Runs in the target's interpreter, beside the harness: both trees get the same, and it is told.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import sys
from pathlib import Path
from typing import Any

from .trackers import Changed

_PLACES = ("gym.envs.registration", "gymnasium.envs.registration")
_BEFORE, _SINCE = 4, 5
"""How many values a step gives."""


def lend(root: str, seed: int, used: dict[str, None]) -> None:
    """Have it so, with answers for the files below `root`; which modules asked for these is added to `used`."""

    def change(module: Any) -> None:
        make = module.make

        @functools.wraps(make)
        def made(*args: Any, **kwargs: Any) -> Any:
            env = _begun(make(*args, **kwargs), seed)
            return _answering(env, root, used) if module.__name__ == _PLACES[0] else env

        module.make = made

    sys.meta_path[:0] = [Changed(place, change) for place in _PLACES]


def _begun(env: Any, seed: int) -> Any:
    """An environment that is told where its random numbers begin, unless the project does that."""
    original, seeds = env.reset, [seed]

    @functools.wraps(original)
    def reset(*args: Any, **kwargs: Any) -> Any:
        own = {"seed": seeds[0]} if seeds and not args and kwargs.get("seed") is None else {}
        seeds.clear()
        return original(*args, **{**kwargs, **own})

    with contextlib.suppress(Exception):
        env.action_space.seed(seed)
    env.reset = reset
    return env


def _answering(env: Any, root: str, used: dict[str, None]) -> Any:
    """An environment whose `step` gives four values, and `reset` what is seen alone, to files that take them so."""
    step, reset = env.step, env.reset

    def is_asked(name: str) -> bool:
        frame = sys._getframe(2)
        if not frame.f_code.co_filename.startswith(root) or not is_old(frame.f_code.co_filename):
            return False
        used[f"{name} of an environment as gym had it before 0.26 to {frame.f_globals.get('__name__')}"] = None
        return True

    @functools.wraps(step)
    def four(*args: Any, **kwargs: Any) -> Any:
        found = step(*args, **kwargs)
        if len(found) != _SINCE or not is_asked("step"):
            return found
        seen, reward, ended, cut, told = found
        return seen, reward, ended or cut, {**told, "TimeLimit.truncated": not ended} if cut else told

    @functools.wraps(reset)
    def first(*args: Any, **kwargs: Any) -> Any:
        found = reset(*args, **kwargs)
        is_pair = isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], dict)
        return found[0] if is_pair and is_asked("reset") else found

    def seed(number: Any = None) -> list[Any]:
        reset(seed=number)
        return [number]

    env.step, env.reset = four, first
    if not hasattr(env, "seed"):
        env.seed = seed
    return env


@functools.cache
def is_old(path: str) -> bool:
    """Whether a file takes four values of a `step` and nowhere five, nor two of a `reset`."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    taken = {
        (node.value.func.attr, len(target.elts))
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        for target in node.targets
        if isinstance(target, ast.Tuple | ast.List)
    }  # fmt: skip
    return ("step", _BEFORE) in taken and not taken & {("step", _SINCE), ("reset", 2)}
