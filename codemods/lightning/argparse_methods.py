"""The calls of Lightning's argparse methods in a script, and why a script is left as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from codemods.code.calls import keywords, space_of
from codemods.code.nodes import walk
from codemods.code.scopes import OPAQUE
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.arguments import current, once
from codemods.lightning.deleted_options import deletions
from codemods.lightning.facts import TRAINER, ClassFact, Facts, literal
from codemods.lightning.kinds import bound_to, stated_once
from codemods.lightning.namespace_from_dict import DictionaryEdits, configured
from codemods.lightning.namespace_uses import (
    CHECKPOINT,
    COMMON,
    NamespaceEdits,
    accelerator,
    checkpoint,
    default_calls,
    on_parsed,
)
from codemods.lightning.options import LIGHTNINGS, PARSED, is_parse, read_options
from codemods.lightning.trainer_variables import calls_of, is_called_unseen, kept_in, reads_lightning
from codemods.rules.trainer import helpers

WORDS = ("add_argparse_args", "from_argparse_args")
RENAMED = {"replace_sampler_ddp": "use_distributed_sampler"}
"""Defaults of options that only have another name."""
OF_OLD = {
    "default_save_path": "default_root_dir", "max_nb_epochs": "max_epochs", "min_nb_epochs": "min_epochs",
    "nb_gpu_nodes": "num_nodes", "nb_sanity_val_steps": "num_sanity_val_steps", "row_log_interval": "log_every_n_steps",
}  # fmt: skip
"""The same, of before Lightning 1.0: as long as a file says no more of them."""
NEW = frozenset(
    {"callbacks", "barebones", "use_distributed_sampler", "model_registry", "enable_autolog_hparams", "inference_mode"}
)
"""Arguments of Trainer that were no options in every 1.x."""
RESUMED = "resume_from_checkpoint"
KEPT = ("distributed_backend", "gpus", RESUMED)
"""Options of 1.x that stay, where the script speaks of them or is given them."""
OWN = ("gpus", RESUMED)
"""Options of 1.x that a script may declare itself: what takes their place reads them."""
NUMBERS = frozenset({"int", "numbers"})
COUNTED = NUMBERS | {"str", "?"}
"""The kinds of values of an option for GPUs of which devices can be made, surely or not."""
READ = ast.Name | ast.Attribute
RESOLVES = re.compile(r"conflict_handler\s*=\s*['\"]resolve['\"]")
"""What lets a script declare an option that Trainer has declared."""
IDLE: Mapping[str, str] = {
    "amp_backend": '"native"', "amp_level": "None", "auto_lr_find": "False", "auto_scale_batch_size": "False",
    "auto_select_gpus": "False", "flush_logs_every_n_steps": "None", "log_gpu_memory": "None",
    "log_save_interval": "100", "move_metrics_to_cpu": "False", "prepare_data_per_node": "True",
    "process_position": "0", "progress_bar_refresh_rate": "None", "stochastic_weight_avg": "False",
    "terminate_on_nan": "False", "track_grad_norm": "-1", "weights_summary": '"top"',
}  # fmt: skip
"""Options of 1.x that went and that no option takes the place of, with their defaults: they stay so that what speaks
of them goes on, and are reported."""
TUNING = tuple(name for name in IDLE if name.startswith("auto_"))
"""Those of them that stay for the project's commands too; of the others a command is told that they went."""
SUCCESSORS = {
    "gpus": frozenset({"gpus", "accelerator", "devices"}),
    "distributed_backend": frozenset({"distributed_backend", "strategy", "plugins"}),
}
"""What takes the place of an option of 1.x in the call that builds the Trainer."""


@dataclass(frozen=True)
class ArgparseCall:
    """A call of one of the methods. `owner` is what it is called of, `level` how surely that is Lightning's."""

    call: CallNode
    method: str
    owner: ast.expr
    trainer: bool
    level: Fix

    @property
    def adds(self) -> bool:
        return self.method == "add_argparse_args"

    @property
    def given(self) -> ast.expr | None:
        """The parser, or what was parsed."""
        node = self.call.node
        return node.args[0] if node.args else keywords(node).get("parent_parser" if self.adds else "args")


@dataclass(frozen=True)
class ArgparseScript:
    """What a file with such calls tells the others: whether Trainer declares its options there and is built of them,
    which options of 1.x would stay, and what it imports; nothing is imported where it is left as it is."""

    adds: bool
    builds: bool
    kept: frozenset[str]
    reaches: tuple[helpers.ImportedModule, ...]


def read_site(file: PythonFile, facts: Facts, call: CallNode) -> ArgparseCall | None:
    """The call as one of the methods, None where it is not Lightning's. One of an instance that is made for it alone
    is as one of its class."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in WORDS:
        return None
    owner = function.value
    dotted = call.scope.resolve(owner)
    if dotted == TRAINER:
        return ArgparseCall(call, function.attr, owner, True, "safe")
    made = isinstance(owner, ast.Call)
    if isinstance(owner, ast.Call):
        owner = owner.func
        dotted = call.scope.resolve(owner)
        if dotted == TRAINER:
            return ArgparseCall(
                call, function.attr, owner, True, "safe" if is_idle_trainer(function.value) else "unsafe"
            )
    if ast.unparse(owner) in ("super", "self", "cls"):
        return None
    fact = facts.find_class(dotted, file.path) or _reexported(facts, dotted, file.path) if dotted else None
    if fact is not None:
        if any(function.attr in member.methods for member in facts.ancestry(fact)):
            return None
        kind = facts.kind(fact)
        if kind == "other":
            return None
        return ArgparseCall(call, function.attr, owner, kind == TRAINER, "safe" if kind else "unsafe")
    if made:
        return None
    own = any(facts.mentions.get(f"def {word}".encode()) for word in WORDS)
    if own or not reads_lightning(file):
        return None
    sure = _is_one_of_lightnings(file, facts, call, owner)
    return ArgparseCall(call, function.attr, owner, False, "safe" if sure else "unsafe")


def _reexported(facts: Facts, dotted: str, near: str) -> ClassFact | None:
    """The project's class of that name behind re-exports of files that speak of nothing of Lightning's."""
    found = facts.find_opened(dotted, near)
    home = facts.files.get(found[0].path) if found else None
    return home.find(found[1].qualname) if found and home else None


def _is_one_of_lightnings(file: PythonFile, facts: Facts, call: CallNode, owner: ast.expr) -> bool:
    """Whether a name is bound to classes of the project alone that are Lightning's modules, or their data."""
    values = bound_to(facts, file, call, owner.id) if isinstance(owner, ast.Name) else []
    names = [call.scope.resolve(value) for value in values]
    facts_of = [facts.find_class(name, file.path) if name else None for name in names]
    return bool(values) and all(fact and facts.kind(fact) not in (None, "other", TRAINER) for fact in facts_of)


def read_script(file: PythonFile) -> ArgparseScript | None:
    """What the file alone tells the others."""
    sites = _of_trainer(file)
    if not any(_is_call(call) and call.scope.resolve(call.node.func) for call in file.calls_near(WORDS)):
        return None
    kept = frozenset(spoken(file, frozenset((*KEPT, *IDLE))))
    left = refusal(file, sites, kept) is not None
    adds, builds = any(site.adds for site in sites), any(not site.adds for site in sites)
    alone = left or configurations(file)
    return ArgparseScript(adds, builds, kept, () if alone else helpers.reaches(file))


def kept_options(file: PythonFile) -> frozenset[str]:
    """The options of 1.x that can stay, and do so where commands give them."""
    sites = _of_trainer(file)
    if len({site.adds for site in sites}) != 2:
        return frozenset()
    return frozenset(option for option in (*KEPT, *TUNING) if refusal(file, sites, {option}) is None)


def _of_trainer(file: PythonFile) -> list[ArgparseCall]:
    return [
        ArgparseCall(call, call.node.func.attr, class_of(call.node.func.value), True, "safe")
        for call in file.calls_near(WORDS)
        if isinstance(call.node.func, ast.Attribute)
        and _is_call(call)
        and call.scope.resolve(class_of(call.node.func.value)) == TRAINER
    ]


def class_of(owner: ast.expr) -> ast.expr:
    """What a method is called of: the class, also where an instance is made for that alone."""
    return owner.func if isinstance(owner, ast.Call) else owner


def is_idle_trainer(node: ast.expr) -> bool:
    """Whether a Trainer is made with nothing given, and so of no use but to call a method of its class."""
    return isinstance(node, ast.Call) and not node.args and not node.keywords


def configurations(file: PythonFile) -> list[DictionaryEdits]:
    """What becomes of the Trainers of a file that are built of a dictionary."""
    built = [site.call for site in _of_trainer(file) if not site.adds]
    return [change for call in built if (change := configured(file, call)) is not None]


def _is_call(call: CallNode) -> bool:
    return isinstance(call.node.func, ast.Attribute) and call.node.func.attr in WORDS


def spoken(file: PythonFile, names: frozenset[str]) -> set[str]:
    """Which options that are gone a file reads, sets or spells, as `args.name`, a default, or `--name`."""
    own = own_options(file)
    bases = parsed_names(file)
    defaults = {item.arg for call in default_calls(file) for item in call.node.keywords}
    return {
        name
        for name in names
        if name not in own
        and name in file.text
        and (
            name in defaults
            or re.search(rf"--{name}\b", file.text)
            or on_parsed(file, name, bases)
            or _is_key(file, name, None in defaults)
        )
    }


def own_options(file: PythonFile) -> set[str]:
    """The options that the script declares itself."""
    return {name for name, kinds in read_options(file).kinds.items() if kinds != {LIGHTNINGS}}


def own_read(file: PythonFile, site: ArgparseCall) -> set[str]:
    """The options of 1.x that the script declares itself and that are read for what takes their place in the call; none
    where it parses more than once, or where they would clash with those that Trainer declares."""
    parsing = [call for call in file.calls_near(PARSED) if is_parse(call.node)]
    if len(parsing) != 1 or "add_subparsers" in file.text or not isinstance(site.given, READ):
        return set()
    if site.adds or (declares_trainers(file) and not RESOLVES.search(file.text)):
        return set()
    kinds, given = read_options(file).kinds, keywords(site.call.node).keys()
    mine = own_options(file) & set(OWN)
    apart = {"accelerator", "devices"} & kinds.keys() or not kinds_of_gpus(file) <= COUNTED
    if apart or SUCCESSORS["gpus"] & given:
        mine -= {"gpus"}
    return mine if fits_of(file, site) is not None else mine - {RESUMED}


def declares_trainers(file: PythonFile) -> bool:
    """Whether the file has Trainer declare its options."""
    return any(site.adds for site in _of_trainer(file))


def kinds_of_gpus(file: PythonFile) -> frozenset[str]:
    """The kinds of values of an option for GPUs that the script declares itself."""
    return read_options(file).kinds.get("gpus", frozenset()) - {LIGHTNINGS}


def parsed_names(file: PythonFile) -> set[str]:
    """What a script may call what was parsed."""
    return {*COMMON, *_arguments(file)}


def _arguments(file: PythonFile) -> set[str]:
    """The names that `from_argparse_args` is called with."""
    calls = [call.node for call in file.calls_near([WORDS[1]])]
    building = [node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == WORDS[1]]
    given = [node.args[0] if node.args else keywords(node).get("args") for node in building]
    return {ast.unparse(node) for node in given if node}


def _is_key(file: PythonFile, name: str, spread: bool) -> bool:
    """Whether a file that takes a Namespace as a dictionary, or its defaults of one (`spread`), spells the option as a
    key."""
    if spread and re.search(rf"['\"]{name}['\"]", file.text):
        return True
    if "__dict__" not in file.text and "vars(" not in file.text:
        return False
    known = {start for change in configurations(file) for start in change.accounted}
    known |= {_key_start(file, statement) for statement in deleted(file).get(name, ())}
    return any(match.start(1) not in known for match in re.finditer(rf"[\[(,]\s*(['\"]){name}['\"]", file.text))


def deleted(file: PythonFile) -> Mapping[str, Sequence[ast.Delete]]:
    """The statements that take options which went with Trainer's arguments out of what was parsed, where the file
    declares Trainer's options itself."""
    if not any(site.adds for site in _of_trainer(file)):
        return {}
    names = once() - current() - {*KEPT, *RENAMED, CHECKPOINT} - own_options(file)
    return deletions(file, names, parsed_names(file))


def only_defaults(file: PythonFile) -> frozenset[str]:
    """The options of old names of which a file gives the default once, and says nothing else."""
    given = [item.arg for call in default_calls(file) for item in call.node.keywords]
    new = {*given, *(name for name in OF_OLD.values() if re.search(rf"['\"](?:--)?{name}\b", file.text))}
    words = [*re.findall(r"\w+", file.text)] if OF_OLD.keys() & {*given} else []
    return frozenset(
        name for name, now in OF_OLD.items() if given.count(name) == words.count(name) == 1 and now not in new
    )


def _key_start(file: PythonFile, statement: ast.Delete) -> int:
    target = statement.targets[0]
    assert isinstance(target, ast.Subscript)
    return file.offsets(target.slice)[0]


def defaults_of(file: PythonFile) -> list[tuple[str, ast.expr]] | None:
    """The names and values that `set_defaults` is called with, those in dictionaries too; None where one of these is
    not shown."""
    found: list[tuple[str, ast.expr]] = []
    for call in default_calls(file):
        for item in call.node.keywords:
            if item.arg is not None:
                found.append((item.arg, item.value))
                continue
            name = item.value.id if isinstance(item.value, ast.Name) else None
            shown = [each.node.value for each in file.assignments_to(name)] if name else [item.value]
            mappings = [value for value in shown if isinstance(value, ast.Dict)]
            if not mappings:
                return None
            for mapping in mappings:
                pairs = zip(mapping.keys, mapping.values, strict=True)
                found += [(str(literal(key)[1]), value) for key, value in pairs if key is not None]
    return found


def parser_of(file: PythonFile, site: ArgparseCall) -> str | None:
    """The name of the parser that a call adds options to: the one that it is given, or that its result gets."""
    if isinstance(site.given, ast.Name):
        return site.given.id
    targets = next(
        (
            item.node.targets
            for item in file.assignments
            if item.node.value is site.call.node and isinstance(item.node, ast.Assign)
        ),
        [],
    )
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def refusal(file: PythonFile, sites: Sequence[ArgparseCall], kept: Collection[str]) -> str | None:
    """Why a file is left as it is, going by itself; `kept` are the options of 1.x that have to stay."""
    if "hasattr(" in file.text and re.search(r"hasattr\([^)]*argparse_args", file.text):
        return "the file asks whether the method is there"
    taken = [name for name in (*helpers.NAMES, helpers.OF_OPTIONS) if name in file.scope.bindings]
    own = [name for name in helpers.modules(True, True) if name in file.scope.bindings]
    taken += [name for name in own if file.scope.lookup(name) not in (name, None)]
    taken += [name for name in own if OPAQUE in file.scope.bindings[name]]
    if taken:
        return f"the file uses the name {taken[0]} already"
    for site in sites:
        node = site.call.node
        wide = site.adds and (
            len(node.args) + len(node.keywords) != 1 or any(item.arg is None for item in node.keywords)
        )
        if wide or site.given is None or isinstance(site.given, ast.Starred):
            return f"the arguments of `{site.method}` in line {node.lineno} are not the usual ones"
        if site.adds and parser_of(file, site) is None:
            return "the parser is not in a variable"
    clash = sorted(NEW & read_options(file).kinds.keys())
    if clash:
        return f"the script has its own option --{clash[0]}, which Trainer now takes too"
    of_trainer = [site for site in sites if site.trainer]
    if of_trainer:
        return _lost(file, of_trainer) or _unkept(file, of_trainer, kept)
    return None


def _lost(file: PythonFile, sites: Sequence[ArgparseCall]) -> str | None:
    """An option of 1.x that would be lost: the script speaks of it, and it has no plain successor."""
    gone = once() - current()
    speaks = sorted(spoken(file, gone - {*KEPT, *IDLE, *RENAMED}) - only_defaults(file))
    if CHECKPOINT in speaks and on_parsed(file, CHECKPOINT, parsed_names(file)):
        if why := checkpoint_of(file, sites).why:
            return why
        default = any(item.arg == CHECKPOINT for call in default_calls(file) for item in call.node.keywords)
        if not default and not re.search(rf"['\"](?:--)?{CHECKPOINT}\b", file.text):
            speaks.remove(CHECKPOINT)
    if speaks:
        return f"the script uses the option {speaks[0]}, which was removed with Trainer's argument"
    own = own_options(file) & gone
    defaults = defaults_of(file)
    if defaults is None:
        return "the defaults of its options come from a dictionary, which may hold those of 1.x"
    named = {item.arg for call in default_calls(file) for item in call.node.keywords}
    if mapped := sorted({name for name, _ in defaults} & RENAMED.keys() - named):
        return f"a dictionary of defaults names the option {mapped[0]}, which is {RENAMED[mapped[0]]} now"
    if why := accelerator_of(file).why:
        return why
    for site in sites:
        if site.adds:
            continue
        if (change := configured(file, site.call)) is not None:
            if own or change.why:
                return change.why or f"the script has an option --{min(own)} of its own, which 1.x passed to Trainer"
            continue
        if lost := own - keywords(site.call.node).keys() - _handed(site) - own_read(file, site):
            return f"the script has an option --{min(lost)} of its own, which 1.x passed to Trainer"
        value = site.given
        bound = stated_once(file, site.call, value.id) if isinstance(value, ast.Name) else value
        if isinstance(bound, ast.Call) and ast.unparse(bound.func).rpartition(".")[2] == "Namespace":
            return "its arguments come from a dictionary, which may hold options of 1.x"
    return None


def _handed(site: ArgparseCall) -> set[str]:
    """The options of 1.x that the call reads itself for what takes their place."""
    given, owner = keywords(site.call.node), ast.unparse(site.given) if site.given else ""
    return {
        option
        for option, successors in SUCCESSORS.items()
        for name in successors & given.keys()
        if any(
            isinstance(each, ast.Attribute) and ast.unparse(each) == f"{owner}.{option}" for each in walk(given[name])
        )
    }


def checkpoint_of(file: PythonFile, sites: Sequence[ArgparseCall]) -> NamespaceEdits:
    """What becomes of a checkpoint callback that the script sets on what was parsed."""
    built = [site.call.node for site in sites if site.trainer and not site.adds]
    change = checkpoint(file, built, parsed_names(file))
    if change.listed and not (built and any(site.trainer and site.adds for site in sites)):
        return NamespaceEdits(
            why="the script sets checkpoint_callback, and its options or its Trainer are in another file"
        )
    return change


def accelerator_of(file: PythonFile) -> NamespaceEdits:
    """What becomes of strategies that the script calls accelerators."""
    return accelerator(file, parsed_names(file), own_options(file))


def _unkept(file: PythonFile, sites: Sequence[ArgparseCall], kept: Collection[str]) -> str | None:
    """Why an option of 1.x cannot stay."""
    built = [site for site in sites if not site.adds]
    for option, successors in SUCCESSORS.items():
        if option in kept and any(successors & keywords(site.call.node).keys() for site in built):
            return f"the replacement of --{option} is given as well, so that the option would be read nowhere"
    if "distributed_backend" in kept and any(configured(file, site.call) for site in built):
        return "the script uses the option distributed_backend, and its options come from a dictionary"
    if kept and not all(isinstance(site.given, READ) for site in built):
        return f"the script uses the option {min(kept)}, and the parsed options are not assigned to a name"
    adding = [site for site in sites if site.adds]
    if kept and any(_is_last(statement_of(file, site)) for site in adding):
        where = "after a return, or inside an expression"
        return f"the script uses the option {min(kept)}, which would have to be {where}"
    if kept and not adding:
        return f"the script uses the option {min(kept)}, which is declared elsewhere"
    if RESUMED in kept and any(fits_of(file, site) is None for site in built):
        return "the script uses the option resume_from_checkpoint, and fixer cannot find its `fit`"
    return None


def fits_of(file: PythonFile, site: ArgparseCall) -> list[CallNode] | None:
    """The `fit` calls of the Trainer that a site builds."""
    name = kept_in(file, site.call) or _kept_in_arms(file, site)
    fits = calls_of(file, site.call, name, "fit") if name else []
    usable = all(fit.node.args or fit.node.keywords for fit in fits)
    if name and is_called_unseen(file, site.call, name, "fit"):
        return None
    return fits if fits and usable and not any("ckpt_path" in keywords(fit.node) for fit in fits) else None


def _kept_in_arms(file: PythonFile, site: ArgparseCall) -> str | None:
    """The name that keeps either of several Trainers, all built of the same options."""
    space, given = space_of(file, site.call), file.source_of(site.given) if site.given else ""
    built = {
        ast.unparse(node.targets[0])
        for node in walk(space)
        if isinstance(node, ast.Assign) and node.value is site.call.node and isinstance(node.targets[0], ast.Name)
    }
    stores = [node for node in walk(space) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    alike = {
        id(node.targets[0])
        for node in walk(space)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_built(file, node.value, given)
    }
    return next((name for name in built if all(id(node) in alike for node in stores if node.id == name)), None)


def _is_built(file: PythonFile, node: ast.Call, given: str) -> bool:
    plain = isinstance(node.func, ast.Attribute) and node.func.attr == WORDS[1] and len(node.args) == 1
    return plain and file.source_of(node.args[0]) == given


def _is_last(statement: ast.stmt | None) -> bool:
    """Whether nothing can stand behind what is said."""
    return statement is None or isinstance(statement, ast.Return)


def statement_of(file: PythonFile, site: ArgparseCall) -> ast.stmt | None:
    """The statement that a site is the whole value of; None where it stands inside an expression."""
    return next(
        (
            node
            for node in walk(space_of(file, site.call))
            if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return) and node.value is site.call.node
        ),
        None,
    )
