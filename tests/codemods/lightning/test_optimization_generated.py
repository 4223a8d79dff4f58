"""How generated modules are optimized: no definite answer that Python contradicts, and not too few."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import nullcontext, suppress
from itertools import product
from random import Random
from typing import Any

from codemods.engine.scan import Options, scan
from codemods.lightning.optimization import optimization
from codemods.rule import all_rules
from tests.codemods.lightning.test_optimization import LightningModule
from tests.codemods.support import sources

RULES = all_rules()
EXAMPLES = int(os.environ.get("FIXER_EXAMPLES", "150"))
OFF, ON = "self.automatic_optimization = False", "self.automatic_optimization = True"
SETTING = (
    OFF, OFF, OFF, ON, ON, "self._automatic_optimization = False", "setattr(self, 'automatic_optimization', x > 5)",
    "self.automatic_optimization = auto", "self.automatic_optimization = not auto",
    "self.automatic_optimization = FLAG",
    "self.__dict__.update(_automatic_optimization=False)", "vars(self)['_automatic_optimization'] = True",
    "self.automatic_optimization, self.y = False, 2",
)  # fmt: skip
CALLING = (
    "self.off()", "self.on()", "self.both()", "self.save()", "super().off()", "self.y = self.off()", "use(self.on)",
    "self.y = [self.off() for _ in range(x)]", "Base.on(self)", "go = lambda: self.off()", "x and self.on()",
)  # fmt: skip
OTHER = ("self.y = 1", "pass", "boom(x)", "self.save()", "auto = auto or True", "auto = False", "x = 0")
AROUND = (
    "if x:", "if x:", "if auto is None:", "for i in range(x):", "while x:", "with nullcontext():",
    "with suppress(ValueError):", "try:", "match x:",
)  # fmt: skip
NAMES = ("off", "on", "both", "save", "setup", "on_fit_start")
HEAD = "from pytorch_lightning import LightningModule\n\nFLAG = False\n\n\ndef use(f):\n    f()\n\n\n"


def block(random: Random, depth: int, indent: str) -> str:
    lines = ""
    for _ in range(random.randint(1, 2)):
        kind = random.random()
        if kind < 0.2 and depth < 2:
            lines += compound(random, depth, indent)
        elif kind < 0.32 and depth:
            lines += f"{indent}{random.choice(['return', 'raise ValueError'])}\n"
        else:
            lines += f"{indent}{random.choice(random.choice([SETTING, CALLING, OTHER, OTHER]))}\n"
    return lines


def compound(random: Random, depth: int, indent: str) -> str:
    head = random.choice(AROUND)
    inner = block(random, depth + 1, f"{indent}    ")
    if head == "match x:":
        return f"{indent}{head}\n{indent}    case 1:\n{block(random, depth + 1, indent + '        ')}"
    if head == "try:":
        ends = random.choice([["except ValueError:"], ["finally:"], ["except ValueError:", "finally:"]])
        return f"{indent}try:\n{inner}" + "".join(
            f"{indent}{end}\n{block(random, depth + 1, indent + '    ')}" for end in ends
        )
    if head.startswith(("for", "while")):
        inner += f"{indent}    {random.choice(['break', 'break', 'x = 0' if head == 'while x:' else 'continue'])}\n"
    other = random.random() < 0.4 and head.startswith("if")
    return f"{indent}{head}\n{inner}" + (f"{indent}else:\n{block(random, depth + 1, indent + '    ')}" if other else "")


def a_class(random: Random, name: str, bases: str) -> str:
    text = f"class {name}({bases}):\n"
    if random.random() < 0.15:
        text += f"    automatic_optimization = {random.choice(['False', 'True', 'FLAG'])}\n"
    if random.random() < 0.8:
        more = f"super().__init__(0, {random.choice(['auto', 'False', 'auto=False'])})"
        named = f"super({name}, self).__init__()", "LightningModule.__init__(self)", f"{bases}.__init__(self)"
        above = random.choice(
            [*["super().__init__()"] * 5, *(named if "," not in bases else ()), *([more] if bases == "Base" else [])]
        )
        text += f"    def __init__(self, x=0, auto={random.choice(['None', 'True', 'False'])}):\n"
        text += (block(random, 1, "        ") if random.random() < 0.2 else "") + f"        {above}\n"
        text += block(random, 0, "        ") if random.random() < 0.85 else ""
    for method in NAMES:
        if random.random() < 0.15:
            plain = {"off": OFF, "on": ON}.get(method)
            body = f"        {plain}\n" if plain and random.random() < 0.7 else block(random, 0, "        ")
            text += f"    def {method}(self, x=0, auto=None):\n{body}"
    return text if text.count("\n") > 1 else f"{text}    y = 1\n"


def program(random: Random) -> str:
    text = HEAD + a_class(random, "Base", random.choice(["LightningModule"] * 4 + ["LightningModule, object"]))
    if random.random() < 0.3:
        text += "\n\n" + a_class(random, "Mixin", random.choice(["object", "Base", "LightningModule"]))
        return text + "\n\n" + a_class(random, "Model", random.choice(["Base, Mixin", "Mixin, Base"]))
    return text + "\n\n" + a_class(random, "Model", "Base")


class Quiet(LightningModule):
    """Lightning's module, with methods of the names that are called which do nothing."""

    def __init__(self, *given: object) -> None:
        super().__init__()

    def off(self) -> None:
        """Does nothing, as the others."""

    on = both = save = setup = on_fit_start = off


def runs(text: str) -> set[str]:
    """What Python makes of the flag of instances of Model, before and after methods that others may call."""
    hooks = ((), ("setup",), ("both", "on_fit_start"))
    made = {one(text, (x, *auto), fails, *each) for x, auto, fails, each in product((0, 1), GIVEN, (0, 1), hooks)}
    return {"automatic" if value else "manual" for value in made if value is not None}


GIVEN: tuple[tuple[bool, ...], ...] = ((), (True,), (False,))


def one(text: str, given: tuple[int, ...], fails: int, *hooks: str) -> bool | None:
    def boom(x: int) -> None:
        if fails:
            raise ValueError

    space: dict[str, Any] = {"LightningModule": Quiet, "nullcontext": nullcontext, "suppress": suppress, "boom": boom}
    try:
        exec(text.replace("from pytorch_lightning import LightningModule\n", ""), space)
        made = space["Model"](*given)
        for hook in hooks:
            getattr(made, hook)()
        return bool(made.automatic_optimization)
    except Exception:
        return None


def test_no_answer_is_one_that_python_contradicts() -> None:
    told = Counter[str]()
    for seed in range(EXAMPLES):
        text = program(Random(seed))
        facts = scan(sources({"a.py": text}), Options(RULES)).facts
        file, fact = facts.open("a.py"), facts.files["a.py"].find("Model")
        assert file is not None and fact is not None
        found, said = runs(text), optimization(facts, file, fact)
        assert not found or said == "unknown" or found == {said}, f"seed {seed}: {said}, but {found}\n{text}"
        told[said if found else "nothing"] += 1
    assert min(told["automatic"], told["manual"]) > EXAMPLES / 50, told
