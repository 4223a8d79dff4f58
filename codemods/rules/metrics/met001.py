"""MET001: torchmetrics' classification metrics, which want to be told their task since 0.11."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_self_attribute, self_name
from codemods.finding import Fix
from codemods.lightning.class_family import times_of_others
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.instance_types import times_spoken
from codemods.lightning.subclass_members import bound_below
from codemods.lightning.versions import LIGHTNING
from codemods.lightning.versions import admits_from as pins_admit_from
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.metrics.admitted import SINCE, admitted, asked
from codemods.rules.metrics.advice import ADVICE, advice
from codemods.rules.metrics.any_size import REASON, of_any_size, with_imports
from codemods.rules.metrics.any_size import SINCE as NEEDED
from codemods.rules.metrics.arguments import Arguments, read_arguments
from codemods.rules.metrics.collected import BY_CLASS, named_as_before
from codemods.rules.metrics.escaping_metrics import handed_on
from codemods.rules.metrics.handed_up import ALWAYS_NOW, bases_around, handed_up
from codemods.rules.metrics.metric_attributes import UNFED, feeds, method_of
from codemods.rules.metrics.never_fed import LIKE_THE_OTHERS, beside
from codemods.rules.metrics.prediction_kind import MetricInput, ValueOrigin, fed, latest, stores
from codemods.rules.metrics.prediction_steps import Method
from codemods.rules.metrics.rewritten_together import spelled_new, unit_of, with_names
from codemods.rules.metrics.size import weighed, width
from codemods.rules.metrics.size_beside import said_beside
from codemods.rules.metrics.spread import brings_task
from codemods.rules.metrics.table import RENAMED, classes, functions, is_of_torchmetrics, metric_of, proven
from codemods.rules.metrics.two_classes import AREAS, of_several, of_two_classes

CODE = "MET001"
ROW = "M008"
TIE = "a probability that is the threshold itself counts as 0 now, where it counted as 1"
SUMMED = "before Lightning 1.0 each call gave the sum over all processes, so look for a division by their number"
NOTES = {"binary": TIE, "multilabel": TIE, "multiclass": "classes that do not occur are left out of the mean now"}
LOGITS = "of logits it gives other numbers now; give it probabilities, such as torch.softmax of them"
STATED = "fixer assumes that it is given classes, of which one holds, and no labels, of which several may."
STATED_AREA = (
    "fixer assumes that it is given probabilities of classes, of which one holds: of logits it takes softmax now."
)
ONE_OF = re.compile(r"cross_?entropy|nll_?loss|softmax|argmax", re.IGNORECASE)
SEVERAL_OF = re.compile(r"bce|binary_cross|sigmoid|multi_?label", re.IGNORECASE)
TASKS = ("Binary", "Multiclass", "Multilabel")
BINARY = f"{ROOT}.metrics.functional.classification.auroc"
"""The function that took binary targets alone, in each release that had it."""


@dataclass(frozen=True)
class _MetricCall:
    """A call that wants a task: the metric, whether it is the function, whether this took binary targets alone, and
    whether there may be a torchmetrics that need not know how many classes there are."""

    call: CallNode
    metric: str
    function: bool
    binary: bool
    any_size: bool


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    yield from (match for match, _ in judged(file, facts))


def judged(file: PythonFile, facts: Facts) -> Sequence[tuple[Match, tuple[str, ...]]]:
    """What is found in a file, each with the dotted names of the metrics that it is about, as the file has them."""
    memo = memo_of(file, facts)
    if "metrics judged" not in memo:
        memo["metrics judged"] = tuple(_judged(file, facts)) if asked(facts) else ()
    known: Sequence[tuple[Match, tuple[str, ...]]] = memo["metrics judged"]
    return known


def _judged(file: PythonFile, facts: Facts) -> Iterator[tuple[Match, tuple[str, ...]]]:
    words = {*classes(), *functions(), *RENAMED, "compute_on_step"}
    words = {word for name in words for word in (*file.spellings(name), name)}
    found = []
    summed = not pins_admit_from(facts, LIGHTNING, "1.0.0")
    for call in file.calls_near(_spoken(file, words)):
        dotted = call.scope.resolve(call.node.func) or ""
        metric = metric_of(dotted)
        if metric:
            any_size = not metric[1] and admitted(facts, NEEDED)
            match = _of_call(file, facts, _MetricCall(call, *metric, _was_binary(file, facts, call), any_size))
            if match and match.fix == "safe" and summed and not (metric[1] or spelled_new(call)):
                match = replace(match, fix="unsafe", reason=f"{match.reason[:-1]}; {SUMMED}.")
        else:
            match = _without_step(file, call) if is_of_torchmetrics(dotted) else handed_up(file, facts, call, ROW)
        if match:
            found.append((call, match))
    handed = [(node, name, file.scope.resolve(node) or "") for node, name in handed_on(file, _spoken(file, words))]
    matches = with_names(file, facts, found, {dotted for _, _, dotted in handed})
    told = [(call, match) for (call, _), match in zip(found, matches, strict=True)]
    for (call, _), match in zip(found, with_imports(file, facts, told), strict=True):
        dotted = call.scope.resolve(call.node.func) or ""
        yield match, (dotted,) if dotted else bases_around(file, call)
    yield from _derived(file)
    for node, name, dotted in handed:
        reason = f"Not rewritten: it is called elsewhere, by another name; there, {ADVICE}."
        yield Match(file.span(node), _message(name), "manual", reason, ROW), (dotted,)


def _derived(file: PythonFile) -> Iterator[tuple[Match, tuple[str, ...]]]:
    """The classes below a metric that is a choice between those of its tasks now: what is made of them is one of those,
    without what the class says (run on 1.9)."""
    for item in file.classes:
        for base in item.node.bases:
            dotted = item.scope.resolve(base) or ""
            metric = metric_of(dotted)
            if metric and not metric[1] and metric[0] in classes():
                message = f"`{metric[0]}` cannot be derived from since torchmetrics 0.11"
                reason = (
                    f"Not rewritten: derive from {', '.join(f'`{task}{metric[0]}`' for task in TASKS)} or its like."
                )
                yield Match(file.span(base), message, "manual", reason, ROW), (dotted,)


def _spoken(file: PythonFile, words: Iterable[str]) -> list[str]:
    return [word for word in words if word in file.text]


def _was_binary(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a function is the binary one, under the name that the base tree has for it."""
    before = facts.open(file.path)
    return before is not None and before.scope.resolve(call.node.func) == BINARY


def _message(metric: str) -> str:
    return f"`{metric}` requires `task=` since torchmetrics 0.11"


def _of_call(file: PythonFile, facts: Facts, place: _MetricCall) -> Match | None:
    given = read_arguments(file, place.call.node, place.metric, place.function)
    if given.named("task") or given.tasked or brings_task(file, place.call.node):
        return None
    message = _message(place.metric)
    if given.reason:
        return _left(file, place, message, given.reason)
    if told := of_two_classes(file, facts, place.call, place.metric, place.function, given):
        return _written(file, place, given, ("binary", None), *told)
    known = MetricInput(task="binary") if place.binary and given.data else _fed(file, facts, place, given)
    if known.reason == UNFED and (alike := _as_beside(file, facts, place)):
        match = _tasked(file, facts, place, message, given, alike)
        return replace(match, fix="unsafe", reason=LIKE_THE_OTHERS) if match.edits else match
    if known.reason or not (known.given or place.binary):
        return _of_stated_classes(file, place, given) or _left(file, place, message, known.reason)
    return _tasked(file, facts, place, message, given, known)


def _left(file: PythonFile, place: _MetricCall, message: str, reason: str) -> Match:
    reason = f"Not rewritten: {reason}; {advice(file, place.call.node, place.function)}."
    return Match(file.span(place.call.node), message, "manual", reason, ROW)


def _fed(file: PythonFile, facts: Facts, place: _MetricCall, given: Arguments) -> MetricInput:
    """What all the calls give that feed a metric, where nothing else speaks of the methods that hand it on."""
    if place.function:
        method = method_of(file, place.call)
        if not method or not given.data:
            return MetricInput(reason="fixer cannot tell what it is given")
        return _as_all_call(file, facts, fed(*given.data, method))
    stored = feeds(file, facts, place.call)
    told = []
    for feed in stored.found:
        if len(feed.call.args) != 2 or feed.call.keywords:
            return MetricInput(reason="fixer cannot tell what it is given")
        told.append(_as_all_call(feed.method.file, facts, fed(feed.call.args[0], feed.call.args[1], feed.method)))
    reason = stored.reason or next((item.reason for item in told if item.reason), "")
    if not reason and len({(item.task, item.logits) for item in told}) > 1:
        reason = "it is given predictions of more than one kind"
    return MetricInput(reason=reason) if reason else told[0]


def _as_beside(file: PythonFile, facts: Facts, place: _MetricCall) -> MetricInput | None:
    """What a metric is given that is made beside one which is given nothing."""
    for other in beside(file, facts, place.call):
        metric = metric_of(other.scope.resolve(other.node.func) or "")
        if metric and not metric[1]:
            given = read_arguments(file, other.node, *metric)
            known = _fed(file, facts, _MetricCall(other, *metric, False, place.any_size), given)
            if known.given and not known.reason:
                return known
    return None


def _as_all_call(file: PythonFile, facts: Facts, known: MetricInput) -> MetricInput:
    """What is known, where a helper is called in its file alone."""
    name = next((name for name in known.helpers if _is_asked_elsewhere(file, facts, name)), None)
    return MetricInput(reason=f"`{name}`, which passes it on, may be called from elsewhere") if name else known


def _given_otherwise(facts: Facts, known: MetricInput, is_counted: bool) -> str | None:
    """A class below with a method of its own in the place of the step whose results are joined, or of the one whose
    layers were counted."""
    found = known.given
    if found is None or found.method.item is None:
        return None
    inner = found.method.called_method(found.base) if is_counted else None
    names = [name for name in (known.step, inner.node.name if inner else "") if name]
    return bound_below(facts, (found.method.file.path, found.method.item.qualname), names) if names else None


def _is_asked_elsewhere(file: PythonFile, facts: Facts, name: str) -> bool:
    """Whether other files may call a method, and do not only have one of that name for themselves."""
    loose = times_spoken(facts, name) - 1 - len(file.attributes(name))
    owners = [item for item in file.classes if name in item.methods]
    owner = facts.find_class(f"{file.module}.{owners[0].qualname}", file.path) if len(owners) == 1 and loose else None
    return loose != (times_of_others(facts, owner, name) if owner else 0)


def _tasked(
    file: PythonFile, facts: Facts, place: _MetricCall, message: str, given: Arguments, known: MetricInput
) -> Match:
    task, classes_given = known.task, given.named("num_classes")
    if task == "binary" and classes_given and not _is_number(classes_given, 1):
        pair = _is_number(classes_given, 2) and (place.metric, "binary") in proven() and place.metric in PAIRED
        task = "binary" if pair else "multilabel"
        if not pair and not isinstance(classes_given, ast.Constant):
            return _left(file, place, message, "fixer cannot tell whether it has one output or several")
    row = proven().get((place.metric, task))
    refused = _refusal(place.metric, task, given, known)
    if refused or not row:
        return _left(file, place, message, refused or f"it gives other numbers for a {task} task")
    level, reason = row.level_of(_average(given)) or row.level, ""
    if task == "multiclass" and place.metric in AREAS:
        told = of_several(file, facts, place.call, place.metric, given.data or ())
        if told is None:
            return _left(file, place, message, LOGITS)
        level, reason = told
    size = ast.unparse(classes_given) if classes_given else None
    if task == "multiclass":
        size = _size(file, place, given, known) or (None if place.function else said_beside(file, facts, place.call))
    if task == "multiclass" and size is None:
        unsized = _of_any_size(file, place, given, level, REASON)
        return unsized or _left(file, place, message, "fixer cannot tell how many classes there are")
    same = f"Its input is {task}: it gave the same numbers before and after in a run."
    reason = reason or (f"Its input is {task}; {NOTES[task]}." if level == "unsafe" else same)
    if level == "safe" and (other := _given_otherwise(facts, known, classes_given is None)):
        level, reason = "unsafe", f"Its input is {task}; fixer assumes that {other} gives it the same."
    return _written(file, place, given, (task, size), level, reason)


def _of_any_size(file: PythonFile, place: _MetricCall, given: Arguments, level: Fix, reason: str) -> Match | None:
    """A call that makes the metric that need not be told how many classes there are; None where it has to be."""
    edits = of_any_size(file, place.call, place.metric, given) if place.any_size else ()
    if not edits:
        return None
    message, keys = _message(place.metric), named_as_before(file, place.call)
    if keys is None:
        return _left(file, place, message, BY_CLASS)
    told = keys.judged(level, reason)
    return Match(file.span(place.call.node), message, *told, ROW, (*edits, *keys.edits), torchmetrics=NEEDED)


def _of_stated_classes(file: PythonFile, place: _MetricCall, given: Arguments) -> Match | None:
    """What becomes of a metric that is told how many classes there are, where what it is given cannot be told, and the
    file speaks of one class among several: with labels it would count something else without a word (run on 1.9)."""
    classes_given = given.named("num_classes")
    if classes_given is None or _is_number(classes_given, 1) or place.binary:
        return None
    if not ONE_OF.search(file.text) or SEVERAL_OF.search(file.text):
        return None
    if _refusal(place.metric, "multiclass", given, MetricInput(task="multiclass")):
        return None
    stated = STATED_AREA if place.metric in AREAS else STATED
    match = _written(file, place, given, ("multiclass", ast.unparse(classes_given)), "unsafe", stated)
    return match if match.edits else None


def _written(
    file: PythonFile, place: _MetricCall, given: Arguments, said: tuple[str, str | None], level: Fix, reason: str
) -> Match:
    """A call with its task and number of classes, as `said`."""
    message, keys, text = _message(place.metric), named_as_before(file, place.call), given.written(*said)
    if text is None or keys is None:
        return _left(file, place, message, BY_CLASS if keys is None else "there is a comment among its arguments")
    edits, judged = (TextEdit(*given.extent, text), *keys.edits), keys.judged(level, reason)
    return Match(file.span(place.call.node), message, *judged, ROW, edits, unit=unit_of(file, place.call))


PAIRED = ("ConfusionMatrix", "CohenKappa", "MatthewsCorrCoef")


def _is_number(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number and not isinstance(node.value, bool)


def _refusal(metric: str, task: str, given: Arguments, known: MetricInput) -> str | None:
    row = proven().get((metric, task))
    if row is None:
        return f"since 0.11 it gives other numbers or another type for a {task} task"
    if known.logits and metric != "AUROC":
        return "it is given logits, which were compared with the threshold as they are; give it torch.sigmoid of them"
    said = _average(given)
    if row.level_of(said) is None:
        return f"average={said} gives other numbers now" if said != "?" else "fixer cannot tell its average"
    allowed = {*row.keeps, *given.handled}
    allowed |= row.plain_keeps if said in ("-", "micro") else set()
    other = sorted(given.names() - allowed)
    return f"`{other[0]}=` has no counterpart with the same numbers" if other else None


def _average(given: Arguments) -> str:
    """The average that a metric is given, `-` where none is said, and `?` where it is not written out."""
    average = given.named("average")
    return str(average.value) if isinstance(average, ast.Constant) else "?" if average else "-"


def _size(file: PythonFile, place: _MetricCall, given: Arguments, known: MetricInput) -> str | None:
    """The number of classes as it is to be written in the call."""
    stated = given.named("num_classes")
    if stated is not None:
        return ast.unparse(stated) if not _is_number(stated, 1) else None
    found: ValueOrigin | None = known.given
    assert found
    said = width(found) or weighed(found)
    here = method_of(file, place.call)
    if said and here and _visible(said[0], said[1], here, place.call.node.lineno):
        return ast.unparse(said[0])
    name = _written_name(found, place.call.node, here) if here and place.function else None
    if name:
        return f"{name}.shape[{found.dim or 1}]"
    return None


def _visible(size: ast.expr, there: Method, here: Method, line: int) -> bool:
    """Whether an expression means in a line of one method what it means in another."""
    if isinstance(size, ast.Constant):
        return isinstance(size.value, int)
    own = self_name(there.node)
    if isinstance(size, ast.Attribute) and is_self_attribute(size.value, "hparams", own):
        asked = ("hparams", "save_hyperparameters")
        kept = (node for node in walk(here.node) if isinstance(node, ast.Attribute) and node.attr in asked)
        same = here.item is not None and there.item is not None and here.item.node is there.item.node
        return (
            same
            and own == self_name(here.node)
            and (here.node.name != "__init__" or any(item.lineno < line for item in kept))
        )
    return isinstance(size, ast.Name) and there.node is here.node and _is_parameter(size.id, here)


def _is_parameter(name: str, method: Method) -> bool:
    arguments = method.node.args
    taken = {item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    stored = any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in walk(method.node)
    )
    return name in taken and not stored


def _written_name(found: ValueOrigin, call: ast.Call, here: Method) -> str | None:
    """The name by which the function around a call knows the predictions of all classes."""
    if found.method.node is not here.node:
        return None
    if isinstance(found.base, ast.Name):
        name = found.base.id
        lines = [node.lineno for node in walk(here.node) if isinstance(node, ast.Name) and stores(node, name)]
        return None if any(found.base.lineno <= line <= call.lineno for line in lines) else name
    bound = [target for target, value in here.bindings if value is found.base]
    if (place := found.index) is not None:
        bound = [part for target in bound if isinstance(target, ast.Tuple) for part in target.elts[place : place + 1]]
    names = [part.id for part in bound if isinstance(part, ast.Name)]
    return names[0] if names and latest(names[0], call.lineno, here) == (found.base, found.index) else None


def _without_step(file: PythonFile, call: CallNode) -> Match | None:
    """`compute_on_step=` of the metrics that want no task."""
    given = read_arguments(file, call.node, "", False)
    keyword = given.named("compute_on_step")
    if keyword is None:
        return None
    message = "`compute_on_step=` was removed in torchmetrics 0.11"
    text = given.written("", None)
    if text is None or given.reason:
        return Match(file.span(call.node), message, "manual", "Not rewritten: remove it.", ROW)
    edit = TextEdit(*given.extent, text)
    return Match(file.span(call.node), message, "safe", ALWAYS_NOW, ROW, (edit,), unit=unit_of(file, call))


BEFORE = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy
from torchmetrics.functional import f1_score


class Model(LightningModule):
    def __init__(self, num_classes):
        super().__init__()
        self.layer = torch.nn.Linear(32, num_classes)
        self.accuracy = Accuracy()

    def forward(self, x):
        return self.layer(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y)
        self.log("accuracy", self.accuracy(logits, y))
        self.log("f1", f1_score(logits, y))
        return loss
"""
AFTER = BEFORE.replace("Accuracy()", 'Accuracy(task="multiclass", num_classes=num_classes)').replace(
    "f1_score(logits, y)", 'f1_score(logits, y, task="multiclass", num_classes=logits.shape[1])'
)
HANDED = BEFORE.replace("self.accuracy = Accuracy()", "self.accuracy = wrap(Accuracy())").replace(
    '        self.log("f1", f1_score(logits, y))\n', ""
)

RULE = Rule(
    code=CODE,
    name="metric-task",
    summary="torchmetrics' classification metrics are told their task and number of classes",
    why=(
        "Since torchmetrics 0.11 a classification metric no longer guesses from its data whether they are binary, "
        "multiclass or multilabel: task= has to be said, with num_classes= or num_labels=. Both are written where the "
        "loss, an argmax or a softmax tells the task and the last layer the number, and where the numbers were run to "
        "be the same with torchmetrics 0.3 to 0.10 and 1.9. Where nothing tells the number, accuracy, precision and "
        "recall over all predictions become the metrics of torchmetrics.classification, which do without since 1.6.2. "
        "AUROC and AveragePrecision without num_classes= were for two classes, whatever they are given, and with it "
        "give the same for probabilities alone. "
        "Everything else is left with the advice."
    ),
    fix="safe",
    stops=True,
    versions="written for torchmetrics < 0.11, as pytorch_lightning.metrics was",
    triggers=(b"torchmetrics", b"lightning.metrics", b"lightning import metrics", b"pl.metrics"),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(HANDED, HANDED)),
    rows=partial(best_levels, ((ROW, "safe"),)),
    torchmetrics=SINCE,
)
