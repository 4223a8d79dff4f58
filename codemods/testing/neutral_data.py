"""Edits that write constants, keywords, attributes and annotations in another way, and change nothing of them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping

from codemods.code.syntax import is_of_self
from codemods.testing.neutral_calls import given
from codemods.testing.neutral_program import Edited, Function, Program, above, is_plain, with_import
from codemods.testing.neutral_values import constant, keptabove, value

NAMED = {
    "log": ("name", "value"),
    "fit": ("model",),
    "manual_backward": ("loss",),
    "step": ("closure",),
    "log_dict": ("dictionary",),
}
PARSED = ('parser_here = argparse.ArgumentParser()', 'parser_here.add_argument("--{name}", default={value})',
          "options_here = parser_here.parse_args([])")  # fmt: skip


def strings_named(form: str, *lines: str, top: str = "") -> Callable[[Program], Edited]:
    """A string or number of a function, wherever it stands, by a name of the module."""

    def edit(program: Program) -> Edited:
        inside = {
            id(item) for each in ast.walk(program.tree) if isinstance(each, ast.JoinedStr) for item in ast.walk(each)
        }
        words = {id(item.value) for item in ast.walk(program.tree) if isinstance(item, ast.Expr)}
        for function in program.functions():
            for node in (item for each in function.body for item in ast.walk(each)):
                if not isinstance(node, ast.Constant) or type(node.value) not in (str, int, float):
                    continue
                if id(node) in inside | words:
                    continue
                if any(isinstance(each, ast.match_case) for each in ast.walk(function)):
                    continue
                text = program.replace((node, form))
                new = [line.format(value=program.source(node)) for line in lines]
                yield node.lineno, with_import(above(text, *new), top)

    return edit


def attributes(form: str, top: str = "") -> Callable[[Program], Edited]:
    """What is read of anything but `self` and modules in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            owner = node.value if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else None
            if isinstance(node, ast.Attribute) and isinstance(owner, ast.Attribute) and is_of_self(owner):
                words = {"owner": program.source(owner), "of": owner.attr, "name": node.attr}
                yield node.lineno, with_import(program.replace((node, form.format(**words))), top)

    return edit


def owner_named(program: Program) -> Edited:
    """What an attribute is read of by a name of its own, and the method's first statement binds it."""
    for owner, block in program.blocks():
        for node in block:
            simple = isinstance(node, ast.Assign | ast.Return | ast.Expr | ast.If | ast.For | ast.AugAssign)
            if not isinstance(owner, Function) or not simple or not program.is_alone(node):
                continue
            head = getattr(node, "test", None) or getattr(node, "iter", None) or node
            for item in ast.walk(head):
                inner = item.value if isinstance(item, ast.Attribute) else None
                if (
                    inner is not None
                    and is_of_self(inner)
                    and not program.lines[node.lineno - 1].lstrip().startswith("el")
                ):
                    text = Program(program.replace((inner, "owner_here")))
                    line = f"{program.indent(node)}owner_here = {program.source(inner)}"
                    yield node.lineno, text.put(node.lineno - 1, line)


def arguments_named(program: Program) -> Edited:
    """Each argument of a call that is a statement by a name."""
    for owner, block in program.blocks():
        for node in block:
            call = node.value if isinstance(node, ast.Expr | ast.Return | ast.Assign) else None
            if isinstance(owner, ast.ClassDef) or not isinstance(call, ast.Call) or not program.is_alone(node):
                continue
            every = [*call.args, *(item.value for item in call.keywords if item.arg)]
            if len(every) < len(call.args) + len(call.keywords) or not every or not all(map(is_plain, every)):
                continue
            if "\n" not in program.source(node) and not any(isinstance(item, ast.GeneratorExp) for item in every):
                text = Program(program.replace(*((item, f"given_{number}") for number, item in enumerate(every))))
                new = (
                    f"{program.indent(node)}given_{number} = {program.source(item)}"
                    for number, item in enumerate(every)
                )
                yield node.lineno, text.put(node.lineno - 1, *new)


def by_keyword(program: Program) -> Edited:
    """Arguments by the names that every release has for them."""
    for call in ast.walk(program.tree):
        function = call.func if isinstance(call, ast.Call) else None
        names = NAMED.get(function.attr, ()) if isinstance(function, ast.Attribute) else ()
        if (
            isinstance(call, ast.Call)
            and names
            and call.args
            and not any(isinstance(item, ast.Starred) for item in call.args)
        ):
            new = [(item, f"{name}={program.source(item)}") for item, name in zip(call.args, names, strict=False)]
            if len(new) == len(call.args):
                yield call.lineno, program.replace(*new)


def built_and_used(program: Program) -> Edited:
    """What is bound and read once, in the next statement, in its place there."""
    for owner, block in program.blocks():
        for node, then in itertools.pairwise(block):
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            if not isinstance(target, ast.Name) or isinstance(owner, ast.ClassDef) or not isinstance(node, ast.Assign):
                continue
            uses = [item for item in ast.walk(owner) if isinstance(item, ast.Name) and item.id == target.id]
            call = then.value if isinstance(then, ast.Expr | ast.Assign | ast.Return) else None
            first = call
            while isinstance(first, ast.Call | ast.Attribute):
                first = first.func if isinstance(first, ast.Call) else first.value
            if (
                len(uses) == 2
                and first is not None
                and first is uses[-1]
                and program.is_alone(node)
                and is_plain(node.value)
            ):
                made = program.source(node.value)
                text = program.replace(
                    (first, made if isinstance(node.value, ast.Call | ast.Name | ast.Attribute) else f"({made})")
                )
                lines = text.splitlines(keepends=True)
                yield node.lineno, "".join([*lines[: node.lineno - 1], *lines[node.end_lineno or 0 :]])


def set_by(form: str) -> Callable[[Program], Edited]:
    """An attribute of the instance that is set in another form."""

    def edit(program: Program) -> Edited:
        for owner, block in program.blocks():
            for node in block:
                target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
                plain = isinstance(node, ast.Assign) and is_plain(node.value) and program.is_alone(node)
                if (
                    isinstance(target, ast.Attribute)
                    and plain
                    and isinstance(owner, Function)
                    and isinstance(node, ast.Assign)
                ):
                    of, text = program.source(target.value), program.source(node.value)
                    words = {"of": of, "name": target.attr, "value": text, "indent": program.indent(node)}
                    yield node.lineno, program.replace((node, form.format(**words)))

    return edit


def class_set_by(form: str, top: str = "") -> Callable[[Program], Edited]:
    """An attribute of a class that is set in another form."""

    def edit(program: Program) -> Edited:
        for owner, block in program.blocks():
            for node in block:
                target = node.targets[0] if isinstance(node, ast.Assign) else None
                if isinstance(owner, ast.ClassDef) and isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                    text, kind = program.source(node.value), owner.name
                    if form.startswith("behind "):
                        if len(owner.body) > 1 and program.is_alone(node):
                            new = form.removeprefix("behind ").format(kind=kind, name=target.id, value=text)
                            made = Program(program.put(owner.end_lineno or 0, "", "", new)).lines
                            yield node.lineno, "".join([*made[: node.lineno - 1], *made[node.end_lineno or 0 :]])
                        continue
                    yield (
                        node.lineno,
                        with_import(program.replace((node, form.format(name=target.id, value=text))), top),
                    )

    return edit


def annotated_parameter(annotation: str, top: str = "") -> Callable[[Program], Edited]:
    def edit(program: Program) -> Edited:
        for function in program.functions():
            free = [item for item in function.args.args if item.arg != "self" and item.annotation is None]
            if free:
                text = program.replace(*((item, f"{item.arg}: {annotation}") for item in free))
                yield function.lineno, with_import(text, top)

    return edit


DATA: Mapping[str, Callable[[Program], Edited]] = {
    "string above": strings_named("WORD_HERE", "WORD_HERE = {value}"),
    "string of an enum": strings_named(
        "Words.HERE.value", "class Words(enum.Enum):", "    HERE = {value}", top="import enum"
    ),
    "string of a class": strings_named("Words.HERE", "class Words:", "    HERE = {value}"),
    "string of a tuple": strings_named("Words().here", "class Words(typing.NamedTuple):",
                                       "    here: object = {value}", top="import typing"),
    "option": keptabove(*PARSED, read="options_here.{name}", top="import argparse"),
    "enum": keptabove("class Given(enum.Enum):", "    HERE = {value}", read="Given.HERE.value", top="import enum"),
    "named tuple": keptabove("class Given(NamedTuple):", "    {name}: object = {value}", read="Given().{name}",
                             top="from typing import NamedTuple"),
    "nested settings": keptabove('SETTINGS = {{"trainer": {{"{name}": {value}}}}}',
                                 read='SETTINGS["trainer"]["{name}"]'),
    "settings of an instance": keptabove(
        "class Settings:", "    def __init__(self):", "        self.{name} = {value}", "", "", "SETTINGS = Settings()",
        read="SETTINGS.{name}"),
    "given by a static method": keptabove("class Settings:", "    @staticmethod", "    def chosen():",
                                          "        return {value}",
                                          read="Settings.chosen()"),
    "global at two": keptabove("FIRST_HERE, SECOND_HERE = {value}, None", read="FIRST_HERE"),
    "global of a global": keptabove("FIRST_HERE = {value}", "SECOND_HERE = FIRST_HERE", read="SECOND_HERE"),
    "global if": keptabove("if True:", "    FIRST_HERE = {value}", read="FIRST_HERE"),
    "global in a try": keptabove("try:", "    FIRST_HERE = {value}", "except NameError:", "    FIRST_HERE = None",
                                 read="FIRST_HERE"),
    "given by a lambda": keptabove("chosen = lambda: {value}", read="chosen()"),
    "not not it": constant("not not {value}", kinds=(bool,)),
    "walrus in a call": constant("(given_here := {value})"),
    "number by a string": constant('float("{value}")', kinds=(float,)),
    "lower": constant("{value}.replace('', '')", kinds=(str,)),
    "formatted": constant("'{{}}'.format({value})", kinds=(str,)),
    "in a tuple of one": constant("({value},)[0]"),
    "string stripped": constant("{value}.strip()", kinds=(str,)),
    "none if none": constant("None if {value} is None else {value}"),
    "words by dict": given("dict({{{pairs}}})"),
    "words by pairs": given("dict(list({{{pairs}}}.items()))"),
    "words spread again": given("{{**{{{pairs}}}}}"),
    "words merged": given("({{}} | {{{pairs}}})"),
    "words or none": given("({{{pairs}}} or {{}})"),
    "words by a chain": given("collections.ChainMap({{{pairs}}})", top="import collections"),
    "words in order": given("collections.OrderedDict({{{pairs}}})", top="import collections"),
    "words by a lambda": given("(lambda **words: words)(**{{{pairs}}})"),
    "words if true": given("({{{pairs}}} if True else {{}})"),
    "attribute by getattr": attributes('getattr({owner}, "{name}")'),
    "attribute by two getattrs": attributes('getattr(getattr(self, "{of}"), "{name}")'),
    "attribute by a getter": attributes('operator.attrgetter("{of}.{name}")(self)', top="import operator"),
    "attribute in brackets": attributes("({owner}).{name}"),
    "owner named": owner_named,
    "arguments named": arguments_named,
    "by keyword": by_keyword,
    "built and used": built_and_used,
    "set by setattr": set_by('setattr({of}, "{name}", {value})'),
    "set with a type": set_by("{of}.{name}: object = {value}"),
    "set beside": set_by("{of}.{name}, _ = {value}, None"),
    "set and named": set_by("{of}.{name} = named_here = {value}"),
    "set of a name": set_by("named_here = {value}\n{indent}{of}.{name} = named_here"),
    "set if true": set_by("if True:\n{indent}    {of}.{name} = {value}\n{indent}else:\n{indent}    {of}.{name} = None"),
    "class set with a type": class_set_by("{name}: object = {value}"),
    "class set for all": class_set_by("{name}: typing.ClassVar = {value}", top="import typing"),
    "class set beside": class_set_by("{name}, _unused_here = {value}, None"),
    "class set if true": class_set_by("if True:\n        {name} = {value}"),
    "class set behind": class_set_by("behind {kind}.{name} = {value}"),
    "class set by setattr": class_set_by('behind setattr({kind}, "{name}", {value})'),
    "typed by text": annotated_parameter('"object | None"'),
    "typed by optional": annotated_parameter("Optional[object]", top="from typing import Optional"),
    "annotated": annotated_parameter("Annotated[object, 'as it is']", top="from typing import Annotated"),
    "value by a tuple": value("({value}, None)[0]"),
    "value by a generator": value("next(item for item in [{value}])"),
    "value on two lines": value("\\\n        {value}"),
}  # fmt: skip
"""Edits that write data in another way."""
