"""Which `configure_optimizers` a class and its subclasses are optimized by, wherever in the project it stands."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import returns
from codemods.lightning.class_family import family
from codemods.lightning.facts import ClassFact, Facts
from codemods.rewrite.manual.configured import ConfiguredOptimizers, read_configured
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.steady_texts import changing

METHOD = "configure_optimizers"

Made = Mapping[str, ConfiguredOptimizers | str]


def read_makers(file: PythonFile) -> Made:
    """What each class's own `configure_optimizers` returns, or why that is not plain; worked out once for the rules of
    the family. One that does nothing but raise is left out: it asks for one in a subclass."""
    if "makers" not in file.memo:
        classes = file.classes if METHOD in file.text else []
        file.memo["makers"] = {item.qualname: _read(item) for item in classes if METHOD in item.methods}
    found: Made = file.memo["makers"]
    return {name: each for name, each in found.items() if each}


def _read(item: ClassNode) -> ConfiguredOptimizers | str:
    method = item.methods[METHOD]
    if not returns(method) and isinstance(method.body[-1], ast.Raise | ast.Pass):
        return ""
    try:
        return read_configured(method, item.scope)
    except NotPlain as error:
        return str(error)


def makers(facts: Facts, fact: ClassFact, made: Mapping[str, Made]) -> tuple[ClassFact, ...]:
    """The class itself and those of its relatives by whose `configure_optimizers` it, or a subclass, is optimized.
    `made` is what `read_makers` returned, by path."""
    own = fact.name in made.get(fact.path, {})
    return tuple(
        other
        for other in (fact, *family(facts, fact))
        if METHOD in other.methods
        and (other.path not in made or other.name in made[other.path])
        and (not own or other == fact or fact in (facts.ancestry(other) or ()))
    )


def configured_by(facts: Facts, fact: ClassFact, made: Mapping[str, Made]) -> ConfiguredOptimizers:
    """What every instance of the class and its subclasses is optimized by. Raises NotPlain."""
    found: list[ConfiguredOptimizers] = []
    every = makers(facts, fact, made)
    if not every:
        raise NotPlain("the class has no configure_optimizers of its own, nor a relative that has one")
    for maker in every:
        seen = made.get(maker.path, {}).get(maker.name)
        if not isinstance(seen, ConfiguredOptimizers):
            where = "" if maker == fact else f" (in {maker.name}, {maker.path})"
            raise NotPlain(f"{seen or 'configure_optimizers of a relative was not read'}{where}")
        if why := unsteady(facts, maker, fact, seen):
            raise NotPlain(why)
        found.append(seen)
    if all(seen == found[0] for seen in found):
        return found[0]
    if any(seen.schedules or seen.frequencies for seen in found):
        raise NotPlain(f"{every[0].name} and {every[-1].name} share the training step, but not how they are optimized")
    most = [seen.most for seen in found if seen.most is not None]
    counts = {seen.count for seen in found}
    return ConfiguredOptimizers(
        counts.pop() if len(counts) == 1 else None,
        max(most) if len(most) == len(found) else None,
        doubts=tuple(dict.fromkeys(doubt for seen in found for doubt in seen.doubts)),
    )


def unsteady(facts: Facts, maker: ClassFact, user: ClassFact, found: ConfiguredOptimizers) -> str | None:
    """Why what a class's `configure_optimizers` works out cannot be worked out again in a loop of `user`; None where
    it can."""
    for schedule in found.schedules:
        for text in (schedule.monitor, schedule.frequency):
            if isinstance(text, str) and (name := changing(facts, maker, user, text)):
                return f"configure_optimizers computes `{text}`, which the loop needs too, and `{name}` may change"
    return None
