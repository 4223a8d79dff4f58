"""What scripts build modules with, as descriptions that build the same."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from verify.harness.alone_arguments import ArgumentHints, starts
from verify.harness.alone_values import Builder, told
from verify.harness.built import BuiltModules

PROJECT = """
import enum
from argparse import Namespace
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import nn


class Kind(enum.Enum):
    small = 1


@dataclass
class Settings:
    width: int = 3
    kind: Kind = Kind.small
    parts: list = field(default_factory=list)
    lock: object = None

    def net(self):
        return nn.Linear(self.width, self.width)


class Net(nn.Module):
    def __init__(self, width, depth=1):
        super().__init__()
        self.layer = nn.Linear(width, depth)


class Base(nn.Module):
    def __init__(self, **kwargs):
        super().__init__()


class Task(Base):
    def __init__(self, settings, net=None, loss=None, *, rate=0.1, **more):
        super().__init__(**more)
        width = settings = None

    def training_step(self, batch):
        return batch


"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (tmp_path / "task_of_built.py").write_text(PROJECT)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "task_of_built", raising=False)
    return importlib.import_module("task_of_built")


@pytest.fixture
def built(project: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is told of the project's modules."""
    monkeypatch.setattr(torch.nn.Module, "__init__", torch.nn.Module.__init__)
    found: list[dict[str, Any]] = []

    def tell(_: str, **values: Any) -> None:
        found.append(json.loads(json.dumps(values)))

    BuiltModules(str(tmp_path), str(tmp_path / "train.py"), tell).watch()
    return found


def test_arguments_are_told_as_a_class_gets_them(project: Any, built: list[dict[str, Any]]) -> None:
    settings = project.Settings(width=5, parts=[1, (2, "x")])
    project.Task(settings, project.Net(5, depth=2), torch.nn.MSELoss(), rate=0.5, seed=None, device=torch.device("cpu"))
    (one,) = built
    assert (one["path"], one["cls"]) == ("task_of_built.py", "Task")
    made = {name: Builder().build(value) for name, value in one["arguments"].items()}
    assert made["settings"] == settings and type(made["settings"]) is project.Settings
    assert made["settings"].net().in_features == 5
    assert type(made["net"]) is project.Net and made["net"].layer.weight.shape == (2, 5)
    assert type(made["loss"]) is torch.nn.MSELoss
    assert (made["rate"], made["seed"], made["device"]) == (0.5, None, torch.device("cpu"))
    assert "settings=Settings{width: 5, kind: small, parts: [1, (2, 'x')]" in told(one["arguments"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Namespace(lr=0.1, more={'a': [1, 2]})", "{'lr': 0.1, 'more': {'a': [1, 2]}}"),
        ("{'lr': np.float32(0.5), 'sizes': np.array([1, 2])}", "{'lr': 0.5, 'sizes': array([1, 2])}"),
        ("partial(divmod, y=2)", "functools.partial(<built-in function divmod>, y=2)"),
        ("Path('data')", "data"),
        ("torch.float16", "torch.float16"),
        ("torch.tensor([1.0, 2.0])", "tensor([1., 2.])"),
        ("Kind", "<enum 'Kind'>"),
        ("float('inf')", "inf"),
    ],
)
def test_what_a_description_can_hold_is_the_same(
    text: str, said: str, project: Any, built: list[dict[str, Any]]
) -> None:
    project.Task(eval(text, vars(project)))
    assert str(Builder().build(built[0]["arguments"]["settings"])) == said


@pytest.mark.parametrize(
    "text",
    ["open(__file__)", "nn.Linear(2, 2)", "lambda x: x", "(n for n in [1])", "torch.zeros(900)", "[open(__file__)]"],
)
def test_what_it_cannot_hold_is_left_out(text: str, project: Any, built: list[dict[str, Any]]) -> None:
    project.Task(eval(text, vars(project)), rate=0.25)
    assert built[0]["arguments"] == {"net": None, "loss": None, "rate": 0.25}


OMEGACONF = """
import dataclasses
from collections.abc import Mapping

MISSING = "???"


class DictConfig(Mapping):
    def __init__(self, kind, values):
        self.kind, self.values = kind, values

    def __getitem__(self, name):
        return self.values[name]

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)


class OmegaConf:
    def get_type(held):
        return held.kind

    def is_missing(held, name):
        return held[name] == MISSING

    def to_container(held, resolve):
        return held.values

    def structured(made):
        return DictConfig(type(made), {field.name: getattr(made, field.name) for field in dataclasses.fields(made)})


DictConfig.__module__ = "omegaconf.dictconfig"
"""


def test_a_configuration_keeps_the_class_that_it_was_made_by(
    project: Any, built: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "omegaconf.py").write_text(OMEGACONF)
    monkeypatch.delitem(sys.modules, "omegaconf", raising=False)
    omegaconf = importlib.import_module("omegaconf")
    parts = [{"plain": 1}]
    given = {"width": 5, "kind": project.Kind.small, "parts": parts, "lock": omegaconf.MISSING}
    project.Task(omegaconf.DictConfig(project.Settings, given), net=omegaconf.DictConfig(dict, {"depth": 2}))
    made = {name: Builder().build(value) for name, value in built[0]["arguments"].items()}
    settings = made["settings"]
    assert (type(settings).__name__, settings.kind, made["net"]) == ("DictConfig", project.Settings, {"depth": 2})
    assert settings.values == given and type(settings["parts"][0]) is dict
    monkeypatch.delitem(sys.modules, "omegaconf")


def test_attributes_that_cannot_be_told_are_left_out_alone(project: Any, built: list[dict[str, Any]]) -> None:
    project.Task(project.Settings(lock=object()))
    assert built[0]["arguments"]["settings"]["values"] == {
        "width": 3, "kind": {"@": "named", "name": "task_of_built.Kind.small"}, "parts": [],
    }  # fmt: skip


def test_a_few_of_each_class_are_told_and_none_that_takes_no_step(project: Any, built: list[dict[str, Any]]) -> None:
    for number in range(9):
        project.Task(number)
        project.Net(2)
    assert [one["arguments"]["settings"] for one in built] == [0, 1, 2]


def test_an_object_that_cannot_be_looked_at_is_in_nobodys_way(project: Any, built: list[dict[str, Any]]) -> None:
    class Odd:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError("of the project")

    Odd.__module__ = "task_of_built"
    assert project.Task(Odd()).training_step(1) == 1
    assert not built


def test_paths_of_the_copy_are_told_from_its_root(project: Any, built: list[dict[str, Any]], tmp_path: Path) -> None:
    project.Task(str(tmp_path / "conf" / "a.yaml"))
    assert built[0]["arguments"]["settings"] == "conf/a.yaml"


def test_a_class_of_the_project_stands_where_it_is_annotated(project: Any) -> None:
    def init(self: Any, settings: Any, other: dict, plain: Any = None) -> None: ...  # type: ignore[type-arg]

    init.__annotations__ = {"settings": project.Settings, "other": dict}
    cls = type("Annotated", (), {"__init__": init, "__module__": "task_of_built"})
    config = {"@": "config", "values": {"lock": 1, "width": 9}}
    first, second, *_ = starts(cls, ArgumentHints({"settings": [config], "other": [config]}))
    assert first["settings"] == {"@": "call", "name": "task_of_built.Settings", "kwargs": {"lock": 1}}
    assert second["settings"] == config and first["other"] == second["other"] == config
