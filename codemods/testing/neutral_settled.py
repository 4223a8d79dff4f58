"""Edits that put tests, loops, handlers and contexts around what a program does which are settled where they stand, or
write a value in another way, and change nothing of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from codemods.testing.neutral_calls import bound, given
from codemods.testing.neutral_data import set_by
from codemods.testing.neutral_lines import wrap
from codemods.testing.neutral_places import imported
from codemods.testing.neutral_program import Edited, Program
from codemods.testing.neutral_rows import lists
from codemods.testing.neutral_values import constant, value
from codemods.testing.neutral_wrappers import wrap_behind

TORCH, WARNINGS = "import torch", "import warnings"
MEMORY = ('    if "out of memory" in str(error):', '        print("too large")', "    raise")
SHOWN = 'with warnings.catch_warnings():\n    warnings.simplefilter("ignore")\n    {text}'


def flagged(program: Program) -> Edited:
    """A loop that a flag ends behind its first turn."""
    head = "while not done_here:"
    for number, text in wrap(head, "    done_here = True")(program):
        made = Program(text)
        place = next(index for index, line in enumerate(made.lines) if line.strip() == head)
        yield number, made.put(place, f"{made.lines[place].partition('while')[0]}done_here = False")


def numbers(write: Callable[[int], str]) -> Callable[[Program], Edited]:
    """Each whole number of a keyword in another spelling."""

    def edit(program: Program) -> Edited:
        for call in ast.walk(program.tree):
            for keyword in call.keywords if isinstance(call, ast.Call) else ():
                number = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if type(number) is int and keyword.arg:
                    yield keyword.value.lineno, program.replace((keyword.value, write(number)))

    return edit


def called_in(form: str) -> Callable[[Program], Edited]:
    """Each call that is a statement in another one; `{call}` stands for it."""

    def edit(program: Program) -> Edited:
        for _, block in program.blocks():
            for node in block:
                text = program.source(node)
                called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and program.is_alone(node)
                if called and "\n" not in text:
                    yield node.lineno, program.replace((node, form.format(call=text, indent=program.indent(node))))

    return edit


def chained_on_lines(program: Program) -> Edited:
    """The name of a method that is called on a line of its own."""
    for node in ast.walk(program.tree):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and isinstance(function, ast.Attribute) and "\n" not in program.source(node):
            rest = program.source(node)[len(program.source(function)) :]
            lines = (program.source(function.value), f".{function.attr}{rest}")
            yield node.lineno, program.replace((node, "(\n            {}\n            {}\n        )".format(*lines)))


def spaced_words(program: Program) -> Edited:
    """Spaces around the `=` of the keywords of a call."""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and node.keywords and all(item.arg for item in node.keywords):
            pairs = [(item, f"{item.arg} = {program.source(item.value)}") for item in node.keywords]
            yield node.lineno, program.replace(*pairs)


SETTLED: Mapping[str, Callable[[Program], Edited]] = {
    "if Python is new": wrap("if sys.version_info >= (3, 6):", top="import sys"),
    "if Python is 3": wrap("if sys.version_info[0] >= 3:", top="import sys"),
    "if a sum": wrap("if 1 + 1 == 2:"),
    "if a string": wrap('if "a":'),
    "if nothing is not": wrap("if not []:"),
    "if bound": wrap("if (turn_here := 1):"),
    "if either": wrap("if True or False:"),
    "if a GPU or not": wrap("if torch.cuda.is_available() or True:", top=TORCH),
    "if a constant": wrap("if ENABLED:", top="ENABLED = True"),
    "if not a constant": wrap("if not DISABLED:", top="DISABLED = False"),
    "while a flag": flagged,
    "for a key": wrap("for _ in {0: 1}:"),
    "except an interrupt": wrap("try:", "except KeyboardInterrupt:", "    raise"),
    "except all and log": wrap("try:", "except BaseException:", '    logging.exception("it failed")', "    raise",
                               top="import logging"),
    "except and tell of memory": wrap("try:", "except RuntimeError as error:", *MEMORY),
    "except by nothing": wrap("try:", "except:", "    raise"),
    "finally printed": wrap("try:", "finally:", '    print("done")'),
    "numbers as they are": wrap("with np.errstate():", top="import numpy as np"),
    "numbers that say nothing": wrap('with np.errstate(divide="ignore"):', top="import numpy as np"),
    "warnings ignored": wrap_behind("", "with warnings.catch_warnings():", 'warnings.simplefilter("ignore")',
                                    top=WARNINGS),
    "a bar around": wrap("with tqdm(total=1, disable=True):", top="from tqdm import tqdm"),
    "recorded": wrap('with record_function("step"):', top="from torch.profiler import record_function"),
    "profiled never": wrap("with torch.autograd.profiler.profile(enabled=False):", top=TORCH),
    "random as it is": wrap("with torch.random.fork_rng(enabled=False):", top=TORCH),
    "a lock of its own": wrap("with threading.Lock():", top="import threading"),
    "hexadecimal": numbers(hex),
    "plus sign": numbers("+{}".format),
    "whole slice": constant("{value}[:]", kinds=(str,)),
    "largest of one": constant("max([{value}])", kinds=(int, float)),
    "rounded": constant("round({value})", kinds=(int,)),
    "called at once by a lambda": constant("(lambda: {value})()"),
    "value by a thunk": value("(lambda: {value})()"),
    "value by a map": value("next(map(lambda it_here: it_here, [{value}]))"),
    "value in a try": bound("try:\n{indent}    {name} = {value}\n{indent}finally:\n{indent}    pass"),
    "value in an else": bound("try:\n{indent}    pass\n{indent}except ValueError:\n{indent}    raise\n"
                              "{indent}else:\n{indent}    {name} = {value}"),
    "value if none yet": bound("{name} = None\n{indent}if {name} is None:\n{indent}    {name} = {value}"),
    "set in a try": set_by("try:\n{indent}    {of}.{name} = {value}\n{indent}except NameError:\n{indent}    raise"),
    "list copied": lists("[{every}].copy()"),
    "list sliced": lists("[{every}][:]"),
    "words by a copy": given("copy.copy({{{pairs}}})", top="import copy"),
    "called in brackets": called_in("({call})"),
    "called in a try": called_in("try:\n{indent}    {call}\n{indent}except Exception:\n{indent}    raise"),
    "called in a loop": called_in("for _ in range(1):\n{indent}    {call}"),
    "called if true": called_in("if True:\n{indent}    {call}\n{indent}else:\n{indent}    pass"),
    "chained on lines": chained_on_lines,
    "spaced words": spaced_words,
    "import as itself": imported("from {module} import {name} as {known}"),
    "import by two names": imported("from {module} import {name} as {known}, {name} as Unused{known}"),
    "import in a loop": imported("for _ in range(1):\n    {text}"),
    "import without warnings": imported(SHOWN, top=WARNINGS),
    "module without warnings": imported(SHOWN, top=WARNINGS, whole=True),
    "import for all": imported("def load_here():\n    global {known}\n    {text}\n\n\nload_here()"),
}  # fmt: skip
"""Edits that put around something what is settled there, or write a value in another way."""
