"""What a script with Lightning's argparse methods says of the options of Trainer."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.lightning.argparse_calls import (
    WORDS,
    ArgparseCall,
    configurations,
    declares_trainers,
    fits_of,
    trainer_sites,
)
from codemods.lightning.arguments import current, once
from codemods.lightning.deleted_options import deletions
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

RENAMED = {"replace_sampler_ddp": "use_distributed_sampler"}
"""Defaults of options that only have another name."""
OF_OLD = {
    "default_save_path": "default_root_dir", "max_nb_epochs": "max_epochs", "min_nb_epochs": "min_epochs",
    "nb_gpu_nodes": "num_nodes", "nb_sanity_val_steps": "num_sanity_val_steps", "row_log_interval": "log_every_n_steps",
}  # fmt: skip
"""The same, of before Lightning 1.0: as long as a file says no more of them."""
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
    if not any(site.adds for site in trainer_sites(file)):
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
