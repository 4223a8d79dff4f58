"""Writes `gone.csv` anew: `python codemods/rules/names/renew.py FOLDER`, a folder with wheels of every minor release.

`pip download --no-deps pytorch-lightning==VERSION lightning-fabric==VERSION` fills the folder. Each name that a
module of one release defined, or imported from Lightning, and that the newest has no more gets a line: the last
release that had it, and its new place: what `moved.csv` says of it, of what it stood for, or of its module.
Run it where the newest release is installed: names that it still answers to by other means are left out, unless
`moved.csv` speaks of them. Kept by hand are the two names of 0.4.8, which is not among the wheels, and
`loggers.neptune.NeptuneLogger`, of which the newest has no more than an error, and the new places of the two of
`metrics.functional.reduction`; the two of `strategies.bagua` that are Bagua's own are left out by hand, for a release
defined them as None alone, and so are the two strategies that `serve.servable_module_validator` imported, for it needs
a library that Lightning does not ask for.
"""

from __future__ import annotations

import ast
import csv
import importlib
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.version import Version

HERE = Path(__file__).parent
OWN = ("pytorch_lightning", "lightning_fabric", "lightning_lite", "lightning_utilities")
SHORT = {"pytorch_lightning": "pl", "lightning_fabric": "fabric", "lightning_utilities": "utils"}
FOREIGN = "?"
"""Says of a name that a release imported it from another library. It counts where another release defined it, as None
where that library was missing."""
PRIVATE = "private names change without notice"
Table = Mapping[str, Mapping[str, str]]


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module that run on import, those in branches included."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from statements([*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])])
            for handler in getattr(node, "handlers", []):
                yield from statements(handler.body)


def names(tree: ast.Module, module: str, package: bool) -> Iterator[tuple[str, str]]:
    """The names of a module, each with the dotted name that it was imported from: empty where defined here, FOREIGN
    where that is of another library."""
    for node in statements(tree.body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ""
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                bound = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from ((part.id, "") for part in bound if isinstance(part, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, ""
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".") if package else module.split(".")[:-1]
            above = parts[: len(parts) - (node.level - 1)] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            own = source.split(".")[0] in OWN
            yield from (
                (alias.asname or alias.name, f"{source}.{alias.name}" if own else FOREIGN) for alias in node.names
            )
        elif isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name.split(".")[0], FOREIGN) for alias in node.names)


def read_wheel(path: Path) -> dict[str, dict[str, str]]:
    """The names of every module of a wheel, submodules among them."""
    found: dict[str, dict[str, str]] = {}
    with zipfile.ZipFile(path) as wheel:
        for member in wheel.namelist():
            if member.endswith(".py") and member.split("/")[0] in OWN:
                module = member.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
                tree = ast.parse(wheel.read(member))
                found[module] = {}
                for name, origin in names(tree, module, member.endswith("__init__.py")):
                    if origin != FOREIGN or name not in found[module]:
                        found[module][name] = origin
    for module in list(found):
        parent, _, last = module.rpartition(".")
        if parent in found:
            found[parent].setdefault(last, "")
    return found


def expand_stars(table: dict[str, dict[str, str]]) -> None:
    """Gives the modules the names that they import by `*`."""
    for own in table.values():
        source = own.pop("*", "").removesuffix(".*")
        own.update({name: f"{source}.{name}" for name in _given(table.get(source, {}))})


def _given(found: Mapping[str, str]) -> list[str]:
    """The names that a module gives to who imports `*` from it."""
    return [name for name, origin in found.items() if not name.startswith("_") and origin != FOREIGN]


def new_place(dotted: str, table: Table, moved: Mapping[str, Mapping[str, str]], newest: set[str]) -> Mapping[str, str]:
    """What `moved` says of a name, of what it was imported from, or of the module that it stood in."""
    caution = _caution(dotted.rpartition(".")[2])
    for _ in range(6):
        if short(dotted) in moved:
            return moved[short(dotted)]
        module, _, last = dotted.rpartition(".")
        parent = moved.get(short(module))
        if parent and f"{parent['new']}.{last}" in newest:
            return {**parent, "new": f"{parent['new']}.{last}", "caution": parent["caution"] or caution}
        origin = table.get(module, {}).get(last, "")
        if origin in ("", FOREIGN):
            break
        if short(origin) in newest:
            return {"new": short(origin), "row": "", "caution": caution}
        dotted = origin
    return {"new": "", "row": "", "caution": ""}


def _caution(name: str) -> str:
    """What is said of a private function or class, which may have been changed under the same name."""
    return PRIVATE if name.startswith("_") and not name.isupper() else ""


def short(dotted: str) -> str:
    """`pytorch_lightning.core` is `pl.core`."""
    first, dot, rest = dotted.partition(".")
    return SHORT.get(first, first) + dot + rest


def main(folder: Path) -> None:
    """Reads the wheels and writes the table."""
    tables: dict[Version, dict[str, dict[str, str]]] = {}
    for path in folder.glob("*.whl"):
        tables.setdefault(Version(path.name.split("-")[1]), {}).update(read_wheel(path))
    for table in tables.values():
        expand_stars(table)
    versions = sorted(version for version, table in tables.items() if "pytorch_lightning" in table)
    last: dict[str, Version] = {}
    defined: set[str] = set()
    imported: set[str] = set()
    for version in versions:
        for module, found in tables[version].items():
            last[module] = version
            offers = _offers(module, tables[version])
            for name, origin in found.items():
                dotted = f"{module}.{name}"
                if origin == FOREIGN and dotted in defined:
                    last[dotted] = version
                elif origin != FOREIGN and _listed(module, name):
                    last[dotted] = version
                    imported |= {dotted} if origin and not offers else set()
                    defined |= {dotted} if not origin and dotted not in tables[version] else set()
    newest = {
        short(f"{module}.{name}")
        for module, found in tables[versions[-1]].items()
        for name, origin in found.items()
        if origin != FOREIGN
    }
    newest |= {short(module) for module in tables[versions[-1]]}
    moved = {row["old"]: row for row in csv.DictReader((HERE / "moved.csv").open(encoding="utf-8"))}
    rows: dict[str, list[str]] = {}
    for dotted, version in sorted(last.items()):
        old = short(dotted)
        if version < versions[-1] and old.startswith("pl.") and (old in moved or not here(dotted)):
            place = new_place(dotted, tables[version], moved, newest)
            since = first(place["new"], versions, tables) if place["new"] else ""
            rows[old] = [old, str(version), place["new"], place["row"], place["caution"], since]
    handed = {short(dotted) for dotted in imported}
    with (HERE / "gone.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["old", "last", "new", "row", "caution", "since"])
        writer.writerows(row for old, row in rows.items() if not (old in handed and _is_told_by_module(old, rows)))


def _is_told_by_module(old: str, rows: Mapping[str, list[str]]) -> bool:
    """Whether a name and the module that imported it are both gone without another place: what is said of the module
    is said of the name."""
    module = rows.get(old.rpartition(".")[0])
    return not rows[old][2] and module is not None and not module[2]


def first(new: str, versions: list[Version], tables: Mapping[Version, Table]) -> str:
    """The first release that had a name in its new place."""
    package, _, rest = new.partition(".")
    if package != "pl":
        return {"fabric": "2.0.0", "utils": "1.8.0", "metrics": "1.3.0"}[package]
    module, _, last = f"pytorch_lightning.{rest}".rpartition(".")
    return str(next(version for version in versions if last in tables[version].get(module, {})))


def here(dotted: str) -> bool:
    """Whether the installed Lightning has the name."""
    module, _, last = dotted.rpartition(".")
    try:
        importlib.import_module(dotted)
        return True
    except ImportError:
        pass
    try:
        return hasattr(importlib.import_module(module), last)
    except ImportError:
        return False


def _offers(module: str, table: Table) -> bool:
    """Whether a module imports names for others to take from it: a package does, and some modules always did."""
    known = module.split(".")[1:2] in (["callbacks"], ["core"], ["loggers"], ["utilities"])
    return known or any(other.startswith(f"{module}.") for other in table)


def _listed(module: str, name: str) -> bool:
    """Whether a project may have taken a name from there: projects import what a module imported itself, too, as
    `MisconfigurationException` from `trainer.trainer`, and private ones."""
    return not name.startswith("__") and "_graveyard" not in module and not name.startswith(("new_", "New"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
