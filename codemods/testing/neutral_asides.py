"""Edits that say something beside what a program does, in lines, comments and docstrings, and change nothing of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from codemods.testing.neutral_lines import behind
from codemods.testing.neutral_places import module_lines
from codemods.testing.neutral_program import Edited, Program, first_line, first_statement

RANK_ZERO = "from pytorch_lightning.utilities.rank_zero import rank_zero_info"
STEPS = ("optimizer.step()", "loss.backward(retain_graph=True)", "with torch.autocast('cuda'):", "self.state.detach_()")
"""What people comment out."""


def commented(*lines: str) -> Callable[[Program], Edited]:
    """Comments in front of each statement."""

    def edit(program: Program) -> Edited:
        for _, block in program.blocks():
            for node in block:
                if program.is_alone(node):
                    new = (f"{program.indent(node)}# {line}" for line in lines)
                    yield node.lineno, program.put(first_line(node) - 1, *new)

    return edit


def explained(*lines: str) -> Callable[[Program], Edited]:
    """A docstring of several lines in each function that has none."""

    def edit(program: Program) -> Edited:
        for function in program.functions():
            first = function.body[0]
            if first_statement(function) is first and program.is_alone(first):
                indent = program.indent(first)
                new = ('"""What it does.', "", "Example::", "", *(f"    {line}" for line in lines), '"""')
                yield function.lineno, program.put(first_line(first) - 1, *(f"{indent}{line}".rstrip() for line in new))

    return edit


def at_the_beginning(*lines: str) -> Callable[[Program], Edited]:
    """Lines at the beginning of each function."""

    def edit(program: Program) -> Edited:
        for function in program.functions():
            first = first_statement(function)
            if program.is_alone(first):
                new = (f"{program.indent(first)}{line}" for line in lines)
                yield first.lineno, program.put(first_line(first) - 1, *new)

    return edit


def ended_by_a_mark(program: Program) -> Edited:
    """A semicolon behind each simple statement."""
    for _, block in program.blocks():
        for node in block:
            simple = isinstance(node, ast.Assign | ast.Return | ast.Expr | ast.AugAssign) and program.is_alone(node)
            if simple and "#" not in program.lines[(node.end_lineno or 0) - 1]:
                yield node.lineno, program.replace((node, f"{program.source(node)};"))


ASIDES: Mapping[str, Callable[[Program], Edited]] = {
    "told by rank zero": behind("rank_zero_info(str({name}))", top=RANK_ZERO),
    "logged with more": behind('logging.getLogger(__name__).info("it", extra={{"it": {name}}})', top="import logging"),
    "local logger": behind("log_here = logging.getLogger(__name__)", 'log_here.debug("%r", {name})',
                           top="import logging"),
    "logged by another": behind('logger.info("it is {{}}", {name})', top="from loguru import logger"),
    "printed in colours": behind("rich.print({name})", top="import rich"),
    "printed for short": behind("pprint.pprint({name})", top="import pprint"),
    "printed beside a bar": behind("tqdm.write(str({name}))", top="from tqdm import tqdm"),
    "echoed": behind("click.echo({name})", top="import click"),
    "written out": behind('sys.stdout.write(f"{{{name}}}\\n")', top="import sys"),
    "printed as JSON": behind("print(json.dumps({{'it': str({name})}}))", top="import json"),
    "printed into nothing": behind('with open(os.devnull, "w") as sink_here:', "    print({name}, file=sink_here)",
                                   top="import os"),
    "shape printed": behind('print(getattr({name}, "shape", None))'),
    "printed if a tensor": behind("if torch.is_tensor({name}):", "    print({name}.shape)", top="import torch"),
    "printed if gradients": behind("if torch.is_grad_enabled():", "    print({name})", top="import torch"),
    "printed if asked": behind('if os.environ.get("DEBUG_HERE"):', "    print({name})", top="import os"),
    "printed if switched on": behind("debug_here = False", "if debug_here:", "    print({name})"),
    "asked if none": behind("bool({name} is None)"),
    "asked for a GPU": behind("torch.cuda.is_available()", top="import torch"),
    "memory freed": behind("gc.collect()", top="import gc"),
    "slept": behind("time.sleep(0)", top="import time"),
    "assert true": behind("assert True"),
    "stack formatted": behind("traceback.format_stack()", top="import traceback"),
    "code commented out": commented(*STEPS),
    "region": commented("region"),
    "code in a docstring": explained("trainer = Trainer(gpus=1)", *STEPS),
    "left never": at_the_beginning("if False:", "    return None"),
    "left if none": at_the_beginning("if None:", "    return None"),
    "raised never": at_the_beginning("if False:", "    raise NotImplementedError"),
    "semicolon at the end": ended_by_a_mark,
    "logging set up": module_lines("import logging", "", "logging.basicConfig(level=logging.INFO)"),
    "module logger": module_lines("import logging", "", "log_here = logging.getLogger(__name__)"),
    "version told": module_lines('__version__ = "1.0"'),
    "environment set": module_lines("import os", "", 'os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")'),
    "benchmark off": module_lines("import torch", "", "torch.backends.cudnn.benchmark = False"),
    "device chosen": module_lines("import torch", "",
                                  'DEVICE_HERE = "cuda" if torch.cuda.is_available() else "cpu"'),
    "import that may fail": module_lines("try:", "    import wandb", "except ImportError:", "    wandb = None"),
    "type named": module_lines("from typing import Any, Dict", "", "Batch = Dict[str, Any]"),
}  # fmt: skip
"""Edits that say something beside what a program does."""
