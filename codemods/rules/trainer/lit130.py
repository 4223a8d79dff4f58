"""LIT130: Trainer.add_argparse_args and from_argparse_args, and those of datamodules and modules."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from codemods.code.calls import keywords, last_name
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.argparse_calls import (
    NAMES,
    WORDS,
    ArgparseCall,
    configurations,
    read_site,
    trainer_sites,
)
from codemods.lightning.argparse_options import (
    IDLE,
    KEPT,
    NUMBERS,
    RESUMED,
    TUNING,
    accelerator_of,
    checkpoint_of,
    defaults_of,
    deleted,
    kinds_of_gpus,
    own_options,
    own_read,
    spoken,
)
from codemods.lightning.argparse_refusals import refusal
from codemods.lightning.arguments import current
from codemods.lightning.configurations.trainer_keys import SECTION, trainer_keys
from codemods.lightning.facts import KINDS, TRAINER, Facts
from codemods.lightning.instance_types import ReadingPlace
from codemods.lightning.keyword_flow import UNSEEN as MORE
from codemods.lightning.keyword_flow import handed
from codemods.lightning.namespace_from_dict import configured, is_section
from codemods.lightning.namespace_uses import COMMON, on_parsed
from codemods.lightning.options import is_always_said
from codemods.lightning.own_signature import chooses
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rewrite.dictionaries import names_of
from codemods.rewrite.whole_statements import without_statement
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.trainer import helpers, parted_scripts
from codemods.rules.trainer.argparse_scripts import ArgparseScript, read_script
from codemods.rules.trainer.argument_words import advice_for
from codemods.rules.trainer.builders import (
    HARDWARE,
    call_edits,
    checkpoint_edits,
    evaluates_untold,
    hardware,
    option_edits,
    renamed_defaults,
)
from codemods.rules.trainer.commands import owners, passed
from codemods.rules.trainer.gpus import UNSEEN
from codemods.rules.trainer.read_options import is_read_elsewhere, reaches_no_trainer, read_defaults

CODE = "LIT130"
GONE = {
    "parse_argparser": "M274",
    "match_env_arguments": "M275",
    "default_attributes": "M272",
    "get_init_arguments_and_types": "M271",
    "get_deprecated_arg_names": "M118",
}
ROWS = {"add_argparse_args": "M276", "from_argparse_args": "M273"}
OWN_ROWS = {"add_argparse_args": "M268", "from_argparse_args": "M270"}
ADDS = "add_argparse_args"
PARSE = "parse_argparser"
CLI = "LightningCLI is what Lightning offers instead"
SPOKEN = "code or a command mentions it"
CPU = "1.x trained on the CPU by default, 2.x takes every accelerator that it finds"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    sites = [site for call in file.calls_near(WORDS) if (site := read_site(file, facts, call))]
    found: list[Match] = []
    if sites:
        kept = _kept(file, facts) if any(site.trainer for site in sites) else set()
        apart = _apart(file, facts, kept)
        kept = {parted_scripts.GPUS} if apart else kept
        why = refusal(file, sites, () if apart and not _has(sites, ADDS) else kept)
        why = why or (None if apart else _parted(facts, sites, kept)) or _asked_elsewhere(file, facts, sites)
        why = why or _chosen(facts, sites, kept)
        why = why or next((told for site in sites if (told := _spread(file, facts, site, kept))), None)
        found += [_left(file, site, why) for site in sites] if why else _rewritten(file, facts, sites, kept)
        yield from found
    for call in file.calls_near(WORDS):
        if match := _of_any(file, facts, call):
            yield match
    level = next((match.fix for match in found if match.edits), None) if _has(sites, ADDS) else None
    for call in file.calls_near(GONE):
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr not in GONE:
            continue
        if call.scope.resolve(function.value) == TRAINER:
            yield _gone(file, call.node, function.attr, level)


def _gone(file: PythonFile, node: ast.Call, name: str, level: Fix | None) -> Match:
    """A method that is gone; `level` is that of the options of the file, where they are rewritten."""
    message, row = f"`Trainer.{name}` was removed in Lightning 2.0", GONE[name]
    given = node.args[0] if name == PARSE and len(node.args) == 1 and not node.keywords else None
    if given is None:
        reason = f"Not rewritten: read inspect.signature(Trainer), or vars(args); {CLI}."
        return Match(file.span(node), message, "manual", reason, row)
    (start, end), (first, last) = file.offsets(node), file.offsets(given)
    around = file.text[start:first] + file.text[last:end]
    parsed = isinstance(given, ast.Call) and last_name(given.func) == "parse_args"
    if level is None or not parsed or "#" in around or "\n" in around:
        reason = "Not rewritten: it gave back what was parsed, with True for flags: write `parser.parse_args()`."
        return Match(file.span(node), message, "manual", reason, row)
    reason = "It gave back what was parsed, with True for flags, which the options themselves have now."
    edits = (TextEdit(start, first, ""), TextEdit(last, end, ""))
    return Match(file.span(node), message, level, reason, row, edits, unit=f"{file.path}:argparse")


def _of_any(file: PythonFile, facts: Facts, call: CallNode) -> Match | None:
    """A method called of what a parameter is given, which is annotated with a class of Lightning's, where classes of
    the project have such a method of their own."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in WORDS:
        return None
    owner = ast.unparse(function.value)
    taken = ReadingPlace.of(file, call).named(owner)
    stated = taken[1].annotation if taken else None
    kind = call.scope.resolve(stated.slice if isinstance(stated, ast.Subscript) else stated) if stated else None
    own = [each.name for each in facts.classes() if function.attr in each.methods and facts.kind(each) == kind]
    if kind is None or kind not in KINDS or not own:
        return None
    name = kind.rpartition(".")[2]
    reason = (
        f"Not rewritten: `{owner}` may be any {name}, which has no such method; it works with what has its "
        f"own, as {min(own)} does. Annotate it with that class if no other is given."
    )
    message = f"`{name}.{function.attr}` was removed in Lightning 2.0"
    return Match(file.span(call.node), message, "manual", reason, OWN_ROWS[function.attr], stops=False)


def _kept(file: PythonFile, facts: Facts) -> set[str]:
    """The options of 1.x that stay: the script speaks of them, or the project's commands give them to it, or so they do
    where one file declares the options and another builds the Trainer of what was parsed."""
    own = _given(file.path, facts) | spoken(file, frozenset((*KEPT, *IDLE)))
    scripts: Mapping[str, ArgparseScript] = facts.collected(CODE)
    mine = scripts.get(file.path)
    if mine is not None:
        for path, other in scripts.items():
            if (other.builds and not mine.builds) or (other.adds and not other.builds and mine.adds and mine.builds):
                own |= (other.kept | _given(path, facts)) - set(IDLE)
    for change in configurations(file):
        own |= change.keys
    own |= {name for name in (*KEPT, *IDLE) if is_read_elsewhere(file, facts, name)}
    return own - own_options(file)


def _given(path: str, facts: Facts) -> set[str]:
    """The options that the project's commands give to a script, or to one that takes something of it."""
    told = passed(facts, (*KEPT, *TUNING))
    scripts: Mapping[str, ArgparseScript] = facts.collected(CODE)
    return {option for name, options in told.items() if path in owners(facts, name, scripts) for option in options}


def _apart(file: PythonFile, facts: Facts, kept: Collection[str]) -> tuple[str, ...]:
    """The files that are rewritten together with a file, where one declares `--gpus` and another builds the Trainer;
    none where a `**` of one of them may say the hardware too."""
    if {*kept} - {parted_scripts.GPUS}:
        return ()
    if "parted" not in facts.memo:
        scripts: Mapping[str, ArgparseScript] = facts.collected(CODE)
        apart = parted_scripts.parted(facts, scripts, lambda path: _given(path, facts) - set(IDLE))
        files = [other for path in apart if (other := facts.open(path))]
        sites = ((each, site) for each in files for site in trainer_sites(each))
        spread = any(_spread(each, facts, site, {parted_scripts.GPUS}) for each, site in sites)
        facts.memo["parted"] = () if spread else apart
    known: tuple[str, ...] = facts.memo["parted"]
    return known if file.path in known else ()


def _parted(facts: Facts, sites: Sequence[ArgparseCall], kept: Collection[str]) -> str | None:
    """Why a file is left where options of 1.x are declared in one file and the Trainer is built in another."""
    scripts: Mapping[str, ArgparseScript] = facts.collected(CODE)
    adds, builds = _has(sites, "add_argparse_args"), _has(sites, "from_argparse_args")
    for path, script in sorted(scripts.items()):
        if adds and not builds and kept and script.builds and not script.adds:
            return f"the option {min(kept)} stays, and the Trainer is built in {path}"
        if builds and not adds and script.kept and script.adds and not script.builds:
            return f"the option {min(script.kept)} is declared in {path}"
        if builds and not adds and script.lost:
            return f"{path} declares the options, where {script.lost}"
    return None


def _asked_elsewhere(file: PythonFile, facts: Facts, sites: Sequence[ArgparseCall]) -> str | None:
    """Why a default of `--accelerator` that names a strategy stays, or what it is set to: a file without a parser may
    be handed it."""
    change = accelerator_of(file)
    if not any(site.trainer for site in sites) or not (change.moved or change.sets):
        return None
    for path in sorted(facts.mentions.get(b"accelerator", frozenset()) - {file.path}):
        other = facts.open(path) if facts.kinds.get(path) == "python" else None
        if other and not other.calls_near(WORDS) and on_parsed(other, "accelerator", COMMON):
            told = "the default of --accelerator names a strategy" if change.moved else "it is set to what 2.x refuses"
            return f"{path} asks for the accelerator, and {told}"
    return None


def _chosen(facts: Facts, sites: Sequence[ArgparseCall], kept: Collection[str]) -> str | None:
    """Why a file stays whose options of 1.x would be left out of what its Trainer is given, without a word."""
    gone = sorted(set(kept) - set(IDLE))
    if not gone or _has(sites, "from_argparse_args") or not (path := chooses(facts)):
        return None
    return f"{path} gives Trainer what is in its own signature, where --{gone[0]} is no more"


def _has(sites: Sequence[ArgparseCall], method: str) -> bool:
    return any(site.trainer and site.method == method for site in sites)


def _spread(file: PythonFile, facts: Facts, site: ArgparseCall, kept: Collection[str]) -> str | None:
    """Why a call stays to which `**` may give the hardware a second time."""
    if not _is_spread(file, site):
        return None
    names = set(names_of(handed(file, facts, site.call)))
    said = {item.partition("=")[0] for item in _extra(file, facts, [site], site, kept)}
    if said and (said & names or not names or MORE in names):
        return f"more arguments come by `**`, which may hold {min(said)}= too"
    return None


def _is_spread(file: PythonFile, site: ArgparseCall) -> bool:
    """Whether `**` gives a call that builds a Trainer more than what was parsed, which holds options of its own."""
    spread = any(item.arg is None for item in site.call.node.keywords)
    return spread and site.trainer and not site.adds and configured(file, site.call) is None


def _is_unseen(file: PythonFile, facts: Facts, site: ArgparseCall) -> bool:
    """Whether not all is seen that `**` gives a call."""
    names = names_of(handed(file, facts, site.call)) if _is_spread(file, site) else [""]
    return not names or MORE in names


def _left(file: PythonFile, site: ArgparseCall, why: str) -> Match:
    advice = "add the options with parser.add_argument, and give Trainer the arguments one by one"
    return Match(
        file.span(site.call.node), _message(site), "manual", f"Not rewritten: {why}; {advice}; {CLI}.", _row(site)
    )


def _message(site: ArgparseCall) -> str:
    return f"`{site.method}` was removed in Lightning 2.0"


def _row(site: ArgparseCall) -> str:
    return (ROWS if site.trainer else OWN_ROWS)[site.method]


def _rewritten(file: PythonFile, facts: Facts, sites: Sequence[ArgparseCall], kept: Collection[str]) -> Iterator[Match]:
    made = configurations(file)
    idle = sorted(set(IDLE) & set(kept))
    told = spoken(file, frozenset(idle))
    untold = [site for site in sites if _is_untold(file, site)]
    unseen = [site for site in sites if _is_unseen(file, facts, site)]
    given = trainer_keys(facts) if made else frozenset()
    foreign = sorted(given - current() - {"gpus", RESUMED})
    unread = made and not (given and all(is_section(file, site.call, SECTION) for site in sites if not site.adds))
    assumed = foreign or unread or told or untold or unseen or any(site.level == "unsafe" for site in sites)
    apart = _apart(file, facts, kept)
    level: Fix = "unsafe" if assumed or apart else "safe"
    home = _home(file, facts)
    if idle:
        first = next(site for site in sites if site.trainer)
        message = f"{' and '.join(f'`--{name}`' for name in idle)}: Trainer no longer has such an argument"
        ways = "; ".join(map(advice_for, idle))
        reason = f"The option stays, since {SPOKEN}; Trainer is not given it: {ways}."
        yield Match(file.span(first.call.node), message, "manual", reason, _row(first))
    shared = [*_functions(file, sites, kept, home), *renamed_defaults(file)]
    if any(site.trainer for site in sites):
        shared += [*checkpoint_of(file, sites).edits, *accelerator_of(file).edits]
        gone = [item for found in deleted(file).values() for item in found]
        shared += [without_statement(file, item, gone) for item in gone]
    shared += [edit for change in made for edit in change.edits]
    listed = checkpoint_of(file, sites).listed
    loaded = not admits_from(facts, LIGHTNING, "1.5", "2.0")
    for index, site in enumerate(sites):
        extra = _extra(file, facts, sites, site, kept)
        edits = [*call_edits(file, site, extra, listed), *(shared if index == 0 else [])]
        if site.trainer:
            edits += option_edits(file, site, kept) if site.adds else checkpoint_edits(file, site, kept, loaded)
        where = f"of {home.path}" if home else "beside it"
        reason = f"A function {where} does what the method did, with the arguments that Trainer takes now; {CLI}"
        if any(item.startswith("accelerator=") and ".gpus " not in item for item in extra):
            reason += f"; {CPU}"
        if site in untold:
            reason += f"; of --gpus {UNSEEN}"
        if site in unseen:
            reason += "; fixer assumes that `**` gives Trainer nothing that 1.x alone took"
        if accelerator_of(file).moved and site.trainer:
            reason += "; what --accelerator named is an option --strategy now"
        if made and not site.adds:
            reason += "; Trainer refuses, by its name, each option of 1.x that a configuration gives besides"
            reason += ", and each that was never its own, which 1.x left out"
        if foreign and not site.adds:
            reason += f": the project's give {foreign[0]}"
        if (
            site.trainer
            and not site.adds
            and "resume_from_checkpoint" in {*kept, *own_read(file, site)}
            and evaluates_untold(file, site, loaded)
        ):
            reason += "; until 1.4 a test without a fit before it loaded that checkpoint too"
        if apart:
            reason += parted_scripts.assumed(apart, facts.collected(CODE))
        unit = f"{min(apart, default=file.path)}:argparse"
        creates = ((home.path, _module(facts, home)),) if home and home.path not in facts.kinds else ()
        yield Match(
            file.span(site.call.node),
            _message(site),
            level,
            f"{reason}.",
            _row(site),
            tuple(edits),
            unit=unit,
            creates=creates,
        )


def _is_untold(file: PythonFile, site: ArgparseCall) -> bool:
    """Whether a call reads an option of the script's own for GPUs, which may hold any text."""
    return site.trainer and "gpus" in own_read(file, site) and not kinds_of_gpus(file) <= NUMBERS


def _extra(
    file: PythonFile, facts: Facts, sites: Sequence[ArgparseCall], site: ArgparseCall, kept: Collection[str]
) -> Sequence[str]:
    """The keywords that a call gets besides the class."""
    if not site.trainer:
        return ()
    built = [other.call.node for other in sites if other.trainer and not other.adds]
    scripts: Mapping[str, ArgparseScript] = facts.collected(CODE)
    if site.adds:
        said = built and all(keywords(node).keys() & set(HARDWARE) for node in built)
        said = said or reaches_no_trainer(facts, "accelerator", scripts.values())
        moved = accelerator_of(file).moved
        default = not moved and any(name == "accelerator" for name, _ in defaults_of(file) or ())
        return (*(() if said or default else ('accelerator="cpu"',)), *read_defaults(file, facts))
    declared = any(script.adds for script in scripts.values())
    spoken_of = "accelerator" in file.text or facts.mentions.get(b"accelerator", frozenset()) - {file.path}
    otherwise = 'getattr({}, "accelerator", None) or "cpu"' if spoken_of else '"cpu"'
    return hardware(file, site, kept, None if declared or is_always_said(file, "accelerator") else otherwise)


def _homes(facts: Facts) -> Mapping[str, helpers.HelperModule]:
    """The modules that files share with others of the project, where there are some."""
    if CODE not in facts.memo:
        scripts: Mapping[str, ArgparseScript] = facts.collected(CODE)
        facts.memo[CODE] = helpers.shared_homes(facts, {path: script.reaches for path, script in scripts.items()})
    homes: Mapping[str, helpers.HelperModule] = facts.memo[CODE]
    return homes


def _home(file: PythonFile, facts: Facts) -> helpers.HelperModule | None:
    """The module that the file shares with others; one of an earlier run may lack what it needs."""
    home = None if configurations(file) else _homes(facts).get(file.path)
    there = facts.open(home.path) if home and home.path in facts.kinds else None
    return None if there and ADDS in file.text and f"def {NAMES[0]}(" not in there.text else home


def _module(facts: Facts, home: helpers.HelperModule) -> str:
    """The text of a module with what the files that share it need."""
    paths = [path for path, other in _homes(facts).items() if other.path == home.path]
    files = [facts.open(path) for path in paths]
    return helpers.module_text(any(file is None or ADDS in file.text for file in files))


def _functions(
    file: PythonFile, sites: Sequence[ArgparseCall], kept: Collection[str], home: helpers.HelperModule | None
) -> list[TextEdit]:
    adds, of_options = any(site.adds for site in sites), bool(configurations(file))
    builds = any(not site.adds and not configured(file, site.call) for site in sites)
    if home is None:
        return helpers.beside(file, [site.call.node.lineno for site in sites], adds, builds, of_options)
    plain = adds and bool({"gpus", *IDLE} & set(kept))
    names = zip(NAMES, (adds, builds, plain), strict=True)
    return [helpers.imported(file, home, [name for name, needed in names if needed])]


BEFORE = """\
from argparse import ArgumentParser

from pytorch_lightning import Trainer


def main(args):
    trainer = Trainer.from_argparse_args(args, max_epochs=3)
    trainer.fit(build_model(args))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    parser.set_defaults(gpus=1)
    main(parser.parse_args())
"""
AFTER = f"""\
import ast
import inspect
from argparse import ArgumentParser

from pytorch_lightning import Trainer


{helpers.text(True, True)}def main(args):
    trainer = from_arguments(
        Trainer,
        args,
        accelerator="gpu" if args.gpus and args.accelerator in ("cpu", "ddp") else args.accelerator,
        devices=args.gpus or args.devices,
        max_epochs=3,
    )
    trainer.fit(build_model(args))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser = add_arguments(Trainer, parser, accelerator="cpu")
    parser.add_argument("--gpus", type=plain_value, default=None)
    parser.set_defaults(gpus=1)
    main(parser.parse_args())
"""
LEFT = BEFORE.replace("gpus=1", "auto_lr_find=True")
OTHER = "from cluster import Trainer\n\nparser = Trainer.add_argparse_args(parser)\n"

RULE = Rule(
    code=CODE,
    name="trainer-argparse",
    summary="`Trainer.add_argparse_args` and `from_argparse_args` become functions of the script",
    why=(
        "Lightning 2.0 removed them from Trainer, datamodules and modules (guide rows M268 to M281, pull request "
        "16708): an AttributeError, the third most common one. Two small functions that read the signature do the "
        "same for the arguments there are now, so that every option that still means something stays, and those of "
        "1.x for devices where the script or the project's commands speak of them. Several scripts that import from "
        "one package share a module of it; a script alone gets the functions itself. Without an option for it 1.x "
        "trained on the CPU, which stays the default. A Trainer of a dictionary of options, which a configuration "
        "fills, is given all of them, so that it names those of 1.x that are not seen here, and those that were never "
        "its own, which 1.x left out; unless it is the section `trainer`, and the configurations and commands of the "
        "project give that none of these, this waits for `--unsafe-fixes`."
    ),
    fix="safe",
    versions="Lightning 0.8 - 1.9 -> 2.0 and later",
    triggers=tuple(word.encode() for word in (*WORDS, *GONE)),
    check=_check,
    collect=read_script,
    mentions=(*(f"def {word}".encode() for word in WORDS), helpers.MARK, b"accelerator"),
    rows=partial(
        best_levels,
        (
            ("M268", "safe"),
            ("M270", "safe"),
            ("M273", "safe"),
            ("M276", "safe"),
            ("B03", "safe"),
            ("M269", "manual"),
            ("M271", "manual"),
            ("M272", "manual"),
            ("M274", "manual"),
            ("M275", "manual"),
            ("M118", "manual"),
        ),
    ),
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT), Example(OTHER, OTHER)),
    breaks_in="2.0.0",
    needs="2.0.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16708",),
)
