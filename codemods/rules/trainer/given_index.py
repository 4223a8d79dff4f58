"""`trainer.batch_idx` in a hook of the training loop, which is given the index of its batch."""

from __future__ import annotations

import ast
import re

from codemods.code.syntax import Function, parameters, root_name, self_name
from codemods.rules.trainer.owners import Within

BEFORE_INDEX = {"training_step": 1, "on_train_batch_start": 1, "on_train_batch_end": 2}
"""How many arguments a module's hook is given before the index of the batch."""
OWN = 2
"""How many a callback's is given more."""
ENDINGS = ("idx", "index", "nb")
STORED = r"^\s*{0}\s*[-+*/%|&^]*=(?!=)|\bfor\b.*\b{0}\b.*\bin\b|\b{0}\s*:=|^[^(\n]*\b{0}\b\s*,[^(\n]*[^=!<>]=(?!=)"


def given_index(node: ast.Attribute, within: Within, text: str) -> str | None:
    """The parameter that is what `trainer.batch_idx` was where it is read, which the Trainer set before these hooks
    (`trainer/training_loop.py` of 1.0.8, 1.1.8 and 1.3.8); None where the `text` of the file may store anything by its
    name."""
    method = next((item for item in reversed(within) if isinstance(item, Function | ast.Lambda)), None)
    if not isinstance(method, Function) or method.name not in BEFORE_INDEX or not isinstance(node.ctx, ast.Load):
        return None
    names, owner = parameters(method), root_name(node.value)
    of_module = owner is not None and owner == self_name(method)
    if not of_module and (owner not in names[:OWN] or method.name == "training_step"):
        return None
    place = BEFORE_INDEX[method.name] + (0 if of_module else OWN)
    if len(names) <= place or not names[place].endswith(ENDINGS):
        return None
    stored = re.search(STORED.format(names[place]), text, re.MULTILINE)
    return None if stored else names[place]
