"""What the constructor of LightningDataModule took up to 1.6 and kept: `train_transforms=` and its like."""

from __future__ import annotations

import ast
import re

from codemods.code.calls import innermost
from codemods.code.nodes import walk
from codemods.code.source import CallNode
from codemods.code.syntax import is_self_attribute
from codemods.lightning.facts import Facts

PARTS = ("train_transforms", "val_transforms", "test_transforms", "dims")
UNREAD = "Nothing in the project reads it of a data module."


def is_unread(facts: Facts, name: str) -> bool:
    """Whether nothing in the project reads an attribute of that name, or says it as a text."""
    spelled = re.compile(rf"[\"']{name}[\"']".encode())
    for path, source in facts.holding(name):
        file = facts.open(path) if source.kind in ("python", "notebook") else None
        if file is None or spelled.search(source.unescaped):
            return False
        if any(isinstance(node.ctx, ast.Load) for node in file.attributes(name)):
            return False
    return True


def is_read_of_self(call: CallNode, name: str) -> bool:
    """Whether the class that a call stands in reads an attribute of that name of its instance, which LIT250 tells."""
    owner = innermost(call.within, ast.ClassDef)
    return owner is not None and any(
        is_self_attribute(node, name) and isinstance(getattr(node, "ctx", None), ast.Load) for node in walk(owner)
    )


def is_plain(value: ast.expr) -> bool:
    """Whether nothing is lost with an expression."""
    return isinstance(value, ast.Name | ast.Attribute | ast.Constant)
