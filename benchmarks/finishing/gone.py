"""Writes gone.csv: what the classes of Lightning 1.x had and the installed release has not.

    python benchmarks/finishing/gone.py FOLDER_OF_A_RELEASE ...

A folder holds `pytorch_lightning` of one 1.x release, as a wheel unpacks, oldest first. Nothing of it is imported: its
classes, with what they inherit from each other and set on `self`, are read with `ast`. `kind` is `hook` where Lightning
called the method and a project overrides it, `member` otherwise; `last` is the last of the releases that had it.
"""

from __future__ import annotations

import ast
import csv
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

TABLE = Path(__file__).with_name("gone.csv")
HOOK_CLASSES = ("ModelHooks", "DataHooks", "CheckpointHooks", "Callback")
OTHER_HOOKS = frozenset({
    "training_step_end", "validation_step_end", "test_step_end", "predict_step_end", "training_epoch_end",
    "validation_epoch_end", "test_epoch_end", "training_end", "validation_end", "test_end",
    "tbptt_split_batch", "get_progress_bar_dict", "configure_sync_batchnorm", "configure_apex",
    "configure_ddp", "init_ddp_connection", "grad_norm", "log_grad_norm", "tng_dataloader", "on_hpc_load",
    "on_hpc_save",
})  # fmt: skip
"""What 1.x called of a module beside the hooks that stood in classes of their own."""
Classes = dict[str, tuple[set[str], list[str]]]


def classes_of(folder: Path) -> Classes:
    """The members of each class and the names of its bases."""
    found: Classes = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                members, bases = found.setdefault(node.name, (set(), []))
                members.update(members_of(node))
                bases.extend(ast.unparse(base).rpartition(".")[2] for base in node.bases)
    return found


def members_of(node: ast.ClassDef) -> Iterator[str]:
    """Methods, names in the body, and what methods set on `self`."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            yield item.name
    for inner in ast.walk(node):
        targets = inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", None)]
        for target in (part for each in targets for part in getattr(each, "elts", [each])):
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr
            elif isinstance(target, ast.Name) and inner in node.body:
                yield target.id


def inherited(classes: Classes, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """The members of a class with those of its bases in the same package."""
    if name not in classes or name in seen:
        return set()
    members, bases = classes[name]
    return members.union(*(inherited(classes, base, seen | {name}) for base in bases), set())


def installed() -> dict[str, set[str]]:
    """The members of each class of the installed release, those included that its methods set."""
    import pytorch_lightning as pl

    classes = classes_of(Path(pl.__file__).parent)
    found: dict[str, set[str]] = {}
    modules: list[ModuleType] = [pl, pl.callbacks, pl.loggers, pl.strategies, pl.plugins, pl.profilers, pl.accelerators]
    import pytorch_lightning.cli

    for module in [*modules, pytorch_lightning.cli]:
        for name, item in vars(module).items():
            if inspect.isclass(item) and "lightning" in item.__module__:
                found.setdefault(name, set()).update(dir(item), inherited(classes, name))
    return found


def rows(folders: list[Path]) -> Iterator[tuple[str, str, str, str]]:
    now = installed()
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for folder in folders:
        classes = classes_of(folder / "pytorch_lightning")
        hooks = OTHER_HOOKS.union(*(inherited(classes, name) for name in HOOK_CLASSES))
        for name in now:
            for member in inherited(classes, name):
                kind = "hook" if member in hooks else "member"
                found[name, member] = (kind, folder.name)
    for (name, member), (kind, last) in sorted(found.items()):
        by_name = name == "LightningCLI" and member.startswith(("before_", "after_"))
        if not member.startswith("_") and member not in now[name] and not by_name:
            yield name, member, kind, last


def main() -> None:
    folders = sorted(map(Path, sys.argv[1:]), key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)])
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("class", "member", "kind", "last"))
        writer.writerows(rows(folders))


if __name__ == "__main__":
    main()
