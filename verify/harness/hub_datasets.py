"""Small made-up data sets in place of those that `load_dataset` asks the Hugging Face hub for.

Runs in the target's interpreter, beside the harness. Their columns are those of a plan; whatever is asked for, it has
the parts train, validation and test, all with the same rows.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .data_sets import PLANNED
from .trackers import Changed

_PARTS = ("train", "validation", "test")


def stand_in(cells: Callable[[Any, str], list[Any]]) -> None:
    """Have it so for what is imported from now on, of the sets that are planned; `cells` gives a column of one."""

    def change(package: Any) -> None:
        if not hasattr(package, "load_dataset") or not hasattr(package, "load"):
            return  # a module of the project that has the same name
        plain = package.load_dataset

        @functools.wraps(plain)
        def load_dataset(path: Any, name: Any = None, *args: Any, **kwargs: Any) -> Any:
            entry = PLANNED.get(f"{path}/{name}" if isinstance(name, str) else str(path))
            if entry is None:
                return plain(path, name, *args, **kwargs)
            return _made(package, entry, cells, kwargs)

        package.load_dataset = package.load.load_dataset = load_dataset

    if "datasets" in sys.modules and hasattr(sys.modules["datasets"], "load"):
        change(sys.modules["datasets"])
    else:
        sys.meta_path.insert(0, Changed("datasets", change))


def _made(package: Any, entry: Any, cells: Callable[[Any, str], list[Any]], given: dict[str, Any]) -> Any:
    """The set of an entry as `load_dataset` gives it: all parts, or those that `split` names."""
    columns = {name: cells(entry, name) for name in entry["columns"]}
    whole = package.Dataset.from_dict(columns)
    for name, kind in entry["columns"].items():
        if kind == "class":
            whole = whole.cast_column(name, package.ClassLabel(names=["class0", "class1"]))

    several: Any = package.DatasetDict
    if given.get("streaming"):
        whole, several = whole.to_iterable_dataset(), package.IterableDatasetDict
    asked = given.get("split")
    if asked is None:
        return several(dict.fromkeys(_PARTS, whole))
    return [whole for _ in asked] if isinstance(asked, list | tuple) else whole
