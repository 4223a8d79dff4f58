"""Answers questions about the installed pytorch_lightning, in its own process: JSON in, JSON out."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from typing import Any

OWNERS = ("", ".accelerators", ".callbacks", ".core", ".loggers", ".loops", ".plugins", ".plugins.environments",
          ".plugins.precision", ".profilers", ".strategies", ".trainer.supporters", ".utilities")  # fmt: skip


def find(dotted: str) -> Any:
    """The object of a dotted name, None where there is none."""
    module, _, name = dotted.rpartition(".")
    try:
        return importlib.import_module(dotted)
    except ImportError:
        pass
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


def is_there(dotted: str) -> bool:
    """Whether a name can be imported and does more than to say that it is gone."""
    module, _, name = dotted.rpartition(".")
    found = find(dotted)
    return found is not None or name in vars(sys.modules.get(module, object))


def parameters(function: Any) -> list[str]:
    """The names of a function's parameters, without the instance."""
    return [name for name in inspect.signature(function).parameters if name != "self"]


def owner(name: str) -> Any:
    """A class of one of the packages that extensions come from."""
    places = (find(f"pytorch_lightning{package}.{name}") for package in OWNERS)
    return next((item for item in places if inspect.isclass(item) and "_graveyard" not in item.__module__), None)


def has_own(item: Any, name: str) -> bool:
    """Whether a class, or what its constructor makes, has a member that is not there only to say that it is gone."""
    if (
        inspect.isclass(item)
        and inspect.isfunction(item.__init__)
        and f"self.{name} =" in inspect.getsource(item.__init__)
    ):
        return True
    found = inspect.getattr_static(item, name, None)
    found = getattr(found, "fget", None) or getattr(found, "__func__", found)
    return hasattr(item, name) and "_graveyard" not in str(getattr(found, "__module__", ""))


def answers(asked: dict[str, Any]) -> dict[str, Any]:
    """What the release has of all that is asked for."""
    import pytorch_lightning as pl

    trainer = pl.Trainer(logger=False, enable_checkpointing=False, accelerator="cpu", enable_progress_bar=False)
    of_trainer = {*(name for name in dir(pl.Trainer) if has_own(pl.Trainer, name)), *vars(trainer)}
    members: dict[str, bool] = {}
    for name, member, parameter in asked["members"]:
        of = owner(name)
        has = has_own(of, member) if of else False
        members[f"{name} {member} {parameter}"] = has and (
            not parameter or parameter in parameters(getattr(of, member))
        )
    return {
        "version": pl.__version__,
        "names": [name for name in asked["names"] if is_there(name)],
        "attributes": [name for name in asked["attributes"] if name in of_trainer],
        "signatures": {name: parameters(getattr(pl.Trainer, name)) for name in asked["methods"]},
        "hooks": {
            kind: [name for name in asked["hooks"] if has_own(getattr(pl, kind), name)] for kind in asked["kinds"]
        },
        "members": members,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(answers(json.loads(sys.argv[1])), sys.stdout)
