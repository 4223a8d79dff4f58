"""Programs that say the same in other surroundings: what they are laid out in, imported by and stand beside."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping

from codemods.testing.neutrality import Fired
from codemods.testing.texts import notebook as as_notebook

Files = dict[str, str]
ROOTS = r"(?:LightningModule|LightningDataModule|Trainer|Callback)"


def _parts(text: str) -> tuple[str, str, ast.ClassDef, str] | None:
    """What stands before the last class of a text, the class with its name and base, and what stands behind it."""
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    if not classes:
        return None
    node, lines = classes[-1], text.splitlines(keepends=True)
    start = min([node.lineno, *(item.lineno for item in node.decorator_list)]) - 1
    return "".join(lines[:start]), "".join(lines[start : node.end_lineno]), node, "".join(lines[node.end_lineno :])


def _imports(text: str) -> str:
    body = ast.parse(text).body
    return "".join(f"{ast.unparse(node)}\n" for node in body if isinstance(node, ast.Import | ast.ImportFrom))


def _is_headed(text: str) -> bool:
    return text.startswith(('"""', "from __future__"))


def two_classes(text: str) -> Files | None:
    if (found := _parts(text)) is None:
        return None
    before, own, _, behind = found
    return {"train.py": f"{before}{own}\n\n{own}{behind}"}


def class_in_branches(text: str) -> Files | None:
    if (found := _parts(text)) is None or _is_headed(text):
        return None
    before, own, _, behind = found
    body = textwrap.indent(own, "    ")
    return {"train.py": f'import os\n\n{before}if os.environ.get("LARGE"):\n{body}\nelse:\n{body}{behind}'}


def import_fallback(text: str) -> Files | None:
    match = re.search(r"^import pytorch_lightning as pl$|^from pytorch_lightning import [^(\n]+$", text, re.MULTILINE)
    if not match:
        return None
    new = match[0].replace("pytorch_lightning", "lightning.pytorch")
    return {"train.py": text.replace(match[0], f"try:\n    {new}\nexcept ImportError:\n    {match[0]}", 1)}


def star_import(text: str) -> Files | None:
    match = re.search(r"^from pytorch_lightning import [\w, ]+$", text, re.MULTILINE)
    if not match or " as " in match[0]:
        return None
    return {"train.py": text.replace(match[0], "from pytorch_lightning import *", 1)}


def longer_names(text: str) -> Files | None:
    new = text.replace("pl.LightningModule", "pl.core.LightningModule").replace("pl.Trainer", "pl.trainer.Trainer")
    new = new.replace(
        "from pytorch_lightning import LightningModule\n", "from pytorch_lightning.core import LightningModule\n"
    )
    return {"train.py": new} if new != text else None


def tabs(text: str) -> Files | None:
    if '"""' in text:
        return None
    return {"train.py": re.sub(r"^( {4})+", lambda found: "\t" * (len(found[0]) // 4), text, flags=re.MULTILINE)}


def laid_out_anew(text: str) -> Files | None:
    return None if "#" in text else {"train.py": f"{ast.unparse(ast.parse(text))}\n"}


def argument_a_line(text: str) -> Files | None:
    def apart(call: re.Match[str]) -> str:
        return "Trainer(\n    " + "".join(f"{part},\n    " for part in call[1].split(", ")).rstrip() + "\n)"

    new = re.sub(r"Trainer\(([^()]*=[^()]*)\)", apart, text)
    return {"train.py": new} if new != text else None


def subclass(text: str) -> Files | None:
    if (found := _parts(text)) is None or not found[2].bases:
        return None
    name = found[2].name
    return {"train.py": f"{text}\n\nclass Child{name}({name}):\n    pass\n"}


def other_class(text: str) -> Files | None:
    plain = "class Plain:\n    def training_step(self, batch, batch_idx):\n        return batch\n"
    return {"train.py": f"{text}\n\n{plain}"}


def own_base(text: str) -> Files | None:
    found = _parts(text)
    if found is None or len(found[2].bases) != 1 or _is_headed(text):
        return None
    base, name = ast.unparse(found[2].bases[0]), found[2].name
    if not re.search(ROOTS, base):
        return None
    own = f"{_imports(text)}\n\nclass OwnBase({base}):\n    pass\n"
    return {
        "base.py": own,
        "train.py": f"from base import OwnBase\n{text}".replace(f"{name}({base})", f"{name}(OwnBase)", 1),
    }


def mixin_behind(text: str) -> Files | None:
    found = _parts(text)
    if found is None or len(found[2].bases) != 1 or found[2].keywords or _is_headed(text):
        return None
    base, name = ast.unparse(found[2].bases[0]), found[2].name
    return {"train.py": f"from abc import ABC\n{text}".replace(f"{name}({base})", f"{name}({base}, ABC)", 1)}


def mixin_of_all(text: str, behind: bool = False) -> Files | None:
    """The class as one without a base, which is mixed into one of that name, in front of Lightning's or behind."""
    found = _parts(text)
    if found is None or found[2].decorator_list or found[2].keywords:
        return None
    before, own, node, after = found
    bases = ", ".join(map(ast.unparse, node.bases))
    if not re.search(ROOTS, bases):
        return None
    _, _, body = own.partition("\n")
    mixed = f"{bases}, Part" if behind else f"Part, {bases}"
    return {"train.py": f"{before}class Part:\n{body}\n\nclass {node.name}({mixed}):\n    pass\n{after}"}


def own_import(text: str) -> Files | None:
    """Lightning is taken from a module of the project."""
    taken = r"^(?:import pytorch_lightning as pl|from (?:pytorch_lightning|lightning.pytorch) import [\w, ]+)$"
    match = re.search(taken, text, re.MULTILINE)
    if match is None or " as " in match[0].removesuffix(" as pl") or _is_headed(text):
        return None
    names = "pl" if match[0].endswith(" as pl") else match[0].partition(" import ")[2]
    return {"compat.py": f"{match[0]}\n", "train.py": text.replace(match[0], f"from compat import {names}", 1)}


def own_star(text: str) -> Files | None:
    """Lightning is taken from a module of the project with all that this has."""
    if (files := own_import(text)) is None:
        return None
    taken = re.sub(
        r"^from compat import [\w, ]+$", "from compat import *", files["train.py"], count=1, flags=re.MULTILINE
    )
    return {**files, "train.py": taken}


def other_file(text: str) -> Files | None:
    found = _parts(text)
    if found is None or not found[3].strip():
        return None
    before, own, node, behind = found
    kept = [item for item in ast.parse(text).body if item.lineno < node.lineno]
    if not all(isinstance(item, ast.Import | ast.ImportFrom | ast.ClassDef) for item in kept):
        return None
    names = ", ".join([node.name, *(item.name for item in kept if isinstance(item, ast.ClassDef))])
    return {"models.py": before + own, "train.py": f"{_imports(text)}from models import {names}\n{behind}"}


def through_a_package(text: str) -> Files | None:
    if (files := other_file(text)) is None:
        return None
    (line,) = re.findall(r"^from models import .*$", files["train.py"], re.MULTILINE)
    names = line.removeprefix("from models import ")
    return {
        "nets/__init__.py": f"from .models import {names}\n",
        "nets/models.py": files["models.py"],
        "train.py": files["train.py"].replace(line, f"from nets import {names}"),
    }


def through_a_star(text: str) -> Files | None:
    if (files := through_a_package(text)) is None:
        return None
    return {**files, "nets/__init__.py": "from .models import *\n"}


def in_main(text: str) -> Files | None:
    body, lines = ast.parse(text).body, text.splitlines(keepends=True)
    first = next(
        (
            at
            for at, node in enumerate(body)
            if not isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef)
        ),
        None,
    )
    if first is None or not all(isinstance(node, ast.Assign | ast.Expr) for node in body[first:]) or '"""' in text:
        return None
    start = body[first].lineno - 1
    run = textwrap.indent("".join(lines[start:]), "    ")
    return {"train.py": f'{"".join(lines[:start])}\n\ndef main():\n{run}\n\nif __name__ == "__main__":\n    main()\n'}


def twice(text: str) -> Files | None:
    return {"train.py": text, "train_again.py": text}


def package(text: str) -> Files | None:
    return {"src/pkg/__init__.py": "", "src/pkg/sub/__init__.py": "", "src/pkg/sub/train.py": text}


def _notebook(*cells: str) -> Files:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"train.ipynb": as_notebook(*cells, kernelspec=kernel)}


def notebook(text: str) -> Files | None:
    return _notebook(text)


def notebook_beside(text: str) -> Files | None:
    return {**_notebook(text), "train.py": "class Model:\n    pass\n"}


def notebook_of_cells(text: str) -> Files | None:
    if _is_headed(text):
        return None
    lines, body = text.splitlines(keepends=True), ast.parse(text).body
    starts = [min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]) - 1 for node in body]
    ends = [*starts[1:], len(lines)]
    cells = ["".join(lines[start:end]).strip("\n") for start, end in zip([0, *starts[1:]], ends, strict=True)]
    return _notebook("%matplotlib inline\n!pip list", *cells)


def more_parameters(text: str) -> Files | None:
    new = re.sub(
        r"def (training_step|validation_step)\(self, batch, batch_idx\)",
        r"def \1(self, batch, batch_idx, *args, **kwargs)",
        text,
    )
    return {"train.py": new} if new != text else None


def typed(text: str) -> Files | None:
    new = text.replace("(self, batch, batch_idx)", "(self, batch: dict, batch_idx: int)")
    return {"train.py": new} if new != text else None


def imported_for_types(text: str) -> Files | None:
    head = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from collections.abc import Iterator\n"
    return None if _is_headed(text) else {"train.py": head + text}


AROUND: Mapping[str, Callable[[str], Files | None]] = {
    made.__name__.replace("_", " "): made
    for made in (
        two_classes, class_in_branches, import_fallback, star_import, longer_names, tabs, laid_out_anew,
        argument_a_line, subclass, other_class, own_base, mixin_behind, mixin_of_all, own_import, own_star, other_file,
        through_a_package, through_a_star, in_main, twice, package, notebook, notebook_beside, notebook_of_cells,
        more_parameters, typed, imported_for_types,
    )
}  # fmt: skip


def put(case: Fired, around: str) -> Files | None:
    """The files of an example in other surroundings; None where it is none that these fit."""
    if case.example.files or case.example.path != "train.py":
        return None
    files = AROUND[around](case.example.before)
    try:
        for path, text in (files or {}).items():
            if path.endswith(".py"):
                ast.parse(text)
    except SyntaxError:
        return None
    return files
