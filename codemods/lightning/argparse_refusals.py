"""Why a script with Lightning's argparse methods is left as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence

from codemods.code.calls import keywords
from codemods.code.nodes import walk
from codemods.code.scopes import OPAQUE
from codemods.code.source import PythonFile
from codemods.lightning.argparse_calls import (
    NAMES,
    OF_OPTIONS,
    ArgparseCall,
    fits_of,
    modules,
    parser_of,
    statement_of,
    trainer_sites,
)
from codemods.lightning.argparse_options import (
    IDLE,
    KEPT,
    READ,
    RENAMED,
    RESUMED,
    SUCCESSORS,
    TUNING,
    accelerator_of,
    checkpoint_of,
    defaults_of,
    only_defaults,
    own_options,
    own_read,
    parsed_names,
    spoken,
)
from codemods.lightning.arguments import current, once
from codemods.lightning.kinds import stated_once
from codemods.lightning.namespace_from_dict import configured
from codemods.lightning.namespace_uses import (
    CHECKPOINT,
    default_calls,
    on_parsed,
)
from codemods.lightning.options import read_options

NEW = frozenset(
    {"callbacks", "barebones", "use_distributed_sampler", "model_registry", "enable_autolog_hparams", "inference_mode"}
)
"""Arguments of Trainer that were no options in every 1.x."""


def kept_options(file: PythonFile) -> frozenset[str]:
    """The options of 1.x that can stay, and do so where commands give them."""
    sites = trainer_sites(file)
    if len({site.adds for site in sites}) != 2:
        return frozenset()
    return frozenset(option for option in (*KEPT, *TUNING) if refusal(file, sites, {option}) is None)


def refusal(file: PythonFile, sites: Sequence[ArgparseCall], kept: Collection[str]) -> str | None:
    """Why a file is left as it is, going by itself; `kept` are the options of 1.x that have to stay."""
    if "hasattr(" in file.text and re.search(r"hasattr\([^)]*argparse_args", file.text):
        return "the file asks whether the method is there"
    taken = [name for name in (*NAMES, OF_OPTIONS) if name in file.scope.bindings]
    own = [name for name in modules(True, True) if name in file.scope.bindings]
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
        return lost(file, of_trainer) or _unkept(file, of_trainer, kept)
    return None


def lost(file: PythonFile, sites: Sequence[ArgparseCall]) -> str | None:
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
        if missing := own - keywords(site.call.node).keys() - _handed(site) - own_read(file, site):
            return f"the script has an option --{min(missing)} of its own, which 1.x passed to Trainer"
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


def _is_last(statement: ast.stmt | None) -> bool:
    """Whether nothing can stand behind what is said."""
    return statement is None or isinstance(statement, ast.Return)
