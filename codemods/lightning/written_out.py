"""Files with every Trainer, or every callback and logger, written out: built by its own name, with the constants that
reach it as its arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.code.nodes import every_node
from codemods.code.scopes import ROOT
from codemods.code.source import PythonFile
from codemods.code.tree_copies import at, changed, replaced, replaced_at, twin
from codemods.lightning.arguments import current, rows
from codemods.lightning.built_objects import BuiltObject, FileLook, ReachingArgument
from codemods.lightning.facts import TRAINER, Facts, TrainerFact
from codemods.lightning.file_memo import memo_of
from codemods.lightning.file_summary import trainers_in
from codemods.lightning.object_arguments import keywords, owner_of
from codemods.lightning.trainers import built, keyword_of, name_of
from codemods.lightning.unproved_trainers import unproved
from codemods.lightning.wanted import WantedClasses

MOST = 6
FEW = 3
"""So many choices of constants are looked at besides the first, and so many where others may be there too."""
CHANGED = frozenset({
    "accelerator", "strategy", "devices", "max_steps", "plugins", "gradient_clip_val", "accumulate_grad_batches",
    "logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary",
})  # fmt: skip
"""Arguments of the newest Trainer of which it takes other values than those before, or which not every module bears."""
COUNTING = frozenset({"gradient_clip_val", "accumulate_grad_batches", "devices", "num_nodes"})
"""Those of them of which every number matters."""
BY_PATH = "trainers by path"
"""Where facts keep the Trainers of each file with what reaches them."""
Ways = tuple[tuple[TrainerFact, ...], tuple[TrainerFact, ...]]
Choice = Mapping[tuple[int, str], ast.expr]


@dataclass(frozen=True)
class WrittenOutTrainer:
    """A Trainer as it is written out: what builds it, the call that stands for that, and the arguments of which a
    constant stands for what is written."""

    built: BuiltObject
    call: ast.Call
    filled: Mapping[str, ast.expr]

    def argument(self, name: str) -> ReachingArgument | None:
        every = (*self.built.arguments, *self.built.perhaps)
        return next((item for item in every if item.name == name), None)


@dataclass(frozen=True)
class View:
    """A file with its Trainers written out, and these by the identity of their calls. `perhaps` are the arguments that
    may be as they are there, or otherwise."""

    file: PythonFile
    shown: Mapping[int, WrittenOutTrainer]
    facts: Facts
    perhaps: frozenset[ast.keyword] = frozenset()


@dataclass(frozen=True)
class Views:
    """The ways in which a file's Trainers may be built: `certain` are all that there are, where none is seen of those
    in `perhaps` alone."""

    certain: tuple[View, ...]
    perhaps: tuple[View, ...]

    @property
    def both(self) -> tuple[tuple[View, ...], tuple[View, ...]]:
        return self.certain, self.perhaps


def views_of(file: PythonFile, facts: Facts, wanted: WantedClasses) -> Views | None:
    """The views of a file; None where what is looked for is written out in it."""
    made: dict[str, Views | None] = memo_of(file, facts).setdefault("views", {})
    if wanted.key not in made:
        made[wanted.key] = _views(file, facts, wanted)
    return made[wanted.key]


def _of_trainer(_: str, name: str, value: ast.expr | None) -> bool:
    """Whether a rule may say something of an argument of Trainer, or of one that is this constant."""
    if name not in current():
        return True
    if name not in CHANGED and name not in rows():
        return False
    return not _is_number(value) or name in COUNTING


TRAINERS = WantedClasses(frozenset({"Trainer"}), TRAINER.__eq__, _of_trainer)


def _is_there(kind: str, name: str) -> bool:
    """Whether a class of Lightning's has an argument of that name still; one that is gone is found whatever it is."""
    return name in current() if kind == TRAINER else (owner_of(kind) or "", name) not in keywords()


def _is_number(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _views(file: PythonFile, facts: Facts, wanted: WantedClasses) -> Views | None:
    proved = built(file, facts, wanted)
    seen = {one.call.node for one in proved}
    unsure = unproved(FileLook(file, facts, wanted), seen) if wanted.is_one(TRAINER) else ()
    every = [one for one in (*proved, *unsure) if not one.plain]
    if not every:
        return None
    sure: dict[tuple[int, str], list[ast.expr]] = {}
    perhaps: dict[tuple[int, str], list[ast.expr]] = {}
    for index, one in enumerate(every):
        for item in one.arguments:
            values = [each.node for each in item.constants.found] if item.constants else []
            if item.constants and item.constants.unknown is None and len(values) <= MOST:
                sure[index, item.name] = values
            elif values and _is_there(one.kind, item.name):
                perhaps[index, item.name] = _told(item.name, values)
        for item in one.perhaps:
            if item.constants and _is_there(one.kind, item.name):
                perhaps[index, item.name] = _told(item.name, [each.node for each in item.constants.found])
    first = {key: values[0] for key, values in sure.items()}
    others = [{**first, key: value} for key, values in sure.items() for value in values[1:]]
    if len(others) > MOST:
        others = []
        first = {key: values[0] for key, values in sure.items() if len(values) == 1}
    certain = tuple(_view(file, facts, every, choice) for choice in (first, *others))
    uncertain = []
    for number in range(max(map(len, perhaps.values()), default=0)):
        chosen = {key: values[number] for key, values in perhaps.items() if number < len(values)}
        uncertain.append(_view(file, facts, every, {**first, **chosen}, frozenset(chosen)))
    return Views(certain, tuple(uncertain))


def _told(name: str, values: Sequence[ast.expr]) -> list[ast.expr]:
    """The values that are looked at of an argument that may be something else too."""
    return [value for value in values if name in COUNTING or not _is_number(value)][:FEW]


def _view(
    file: PythonFile,
    facts: Facts,
    every: Sequence[BuiltObject],
    choice: Choice,
    perhaps: frozenset[tuple[int, str]] = frozenset(),
) -> View:
    swaps: dict[int, ast.Call] = {}
    shown: dict[int, WrittenOutTrainer] = {}
    made: set[ast.AST] = set()
    named: set[ast.keyword] = set()
    text, tree = file.text, file.tree
    for index, one in enumerate(every):
        if one.unsure and not any(number == index for number, _ in perhaps):
            continue
        call, node = one.call, one.call.node
        name = name_of(file, call, one.kind)
        if name is None:
            name = ast.Name(f"{one.kind.rpartition('.')[2]}_", ast.Load())
            text, tree = _importing(text, tree, facts, one.kind)
        elif (last := one.kind.rpartition(".")[2]) not in text:  # rules ask for the word before they look at calls
            text = f"{text}\n# {last}\n"
        filled = {key: value for (number, key), value in choice.items() if number == index}
        keywords = []
        may_be = [item for item in one.perhaps if (index, item.name) in perhaps]
        for item in (*one.arguments, *may_be):
            value = _placed(filled[item.name], item.value) if item.name in filled else item.value
            keywords.append(keyword_of(file, item, value, one))
            if (index, item.name) in perhaps:
                named.add(keywords[-1])
        spread = [item for item in one.rest if isinstance(item, ast.keyword)]
        args = [item for item in one.rest if isinstance(item, ast.expr)]
        place = one.inside or node
        new = at(changed(node, func=_placed(name, place), args=args, keywords=[*keywords, *spread]), place)
        swaps[id(place)] = new
        shown[id(new)] = WrittenOutTrainer(one, new, filled)
        own = {id(item) for item in every_node(node)}
        made.update(item for item in every_node(new) if id(item) not in own)

    def swap(node: ast.AST) -> ast.AST | None:
        return swaps.get(id(node))

    seen = replace(
        file,
        text=text,
        tree=replaced(tree, swap)
        if file.plain
        else replaced_at(tree, [one.inside or one.call.node for one in every], swap),
        plain=True,
        made=frozenset(made),
    )
    return View(seen, shown, _apart(facts, seen), frozenset(named))


def _placed(node: ast.expr, place: ast.expr) -> ast.expr:
    """A copy of an expression which stands, with all that is below it, where another does."""
    made = twin(node)
    for item in every_node(made):
        if isinstance(item, ast.expr | ast.keyword):
            vars(item).update(vars(at(item, place)))
    return made


def _importing(text: str, tree: ast.Module, facts: Facts, kind: str) -> tuple[str, ast.Module]:
    """The text and the tree of a file with an import of a class of Lightning's behind all else."""
    old = any(b"pytorch_lightning" in source.data for source in facts.sources.values() if source.kind == "python")
    module, _, name = kind.rpartition(".")
    line = f"from {module.replace(ROOT, 'pytorch_lightning') if old else module} import {name} as {name}_\n"
    start = text if text.endswith("\n") else f"{text}\n"
    statement = ast.increment_lineno(ast.parse(line).body[0], start.count("\n"))
    return start + line, changed(tree, body=[*tree.body, statement])


def _apart(facts: Facts, file: PythonFile) -> Facts:
    """The facts as a file has them that stands for another, with a memory of their own."""
    own = facts.files.get(file.path)
    if own is None:
        return replace(facts)
    made = facts.having(replace(own, trainers=trainers_in(file)))
    made.memo[BY_PATH] = {file.path: (made.files[file.path].trainers,) * 2}
    return made
