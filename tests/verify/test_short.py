from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from verify.short import smoke


class Listed(Sequence[Any]):
    """A list as hydra hands it over: no list, and with no attributes of what it holds."""

    def __init__(self, *held: Any) -> None:
        self.held = held

    def __getitem__(self, at: Any) -> Any:
        return self.held[at]

    def __len__(self) -> int:
        return len(self.held)


class EarlyStopping: ...


class ModelCheckpoint: ...


def test_lists_of_a_configuration_are_lists_to_the_trainer() -> None:
    names = frozenset({"callbacks", "logger", "max_epochs"})
    spec = {"scratch": ".", "limit_train_batches": 8, "limit_val_batches": 2, "max_epochs": 2}
    stopping = EarlyStopping()
    given = {"callbacks": Listed(stopping, ModelCheckpoint()), "logger": Listed()}
    found = smoke(given, names, spec, ModuleType("none"))
    assert found == {"callbacks": [stopping], "logger": False, "max_epochs": 2}
    assert smoke({"callbacks": stopping, "logger": None}, names, spec, ModuleType("none"))["callbacks"] == [stopping]
