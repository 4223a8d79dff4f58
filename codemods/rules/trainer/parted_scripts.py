"""Scripts of which one declares the options of a Trainer, with `--gpus` among them, and another builds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codemods.code.calls import keywords
from codemods.code.source import PythonFile
from codemods.lightning.argparse_calls import configurations, trainer_sites
from codemods.lightning.argparse_options import READ, SUCCESSORS, accelerator_of, defaults_of, own_options
from codemods.lightning.argparse_refusals import refusal
from codemods.lightning.facts import Facts
from codemods.lightning.own_signature import chooses
from codemods.rules.trainer.argparse_scripts import ArgparseScript

GPUS = "gpus"
ASSUMED = "; fixer assumes that the Trainer of {} is built of what the options of {} were parsed to"


def parted(facts: Facts, scripts: Mapping[str, ArgparseScript], given: Callable[[str], set[str]]) -> tuple[str, ...]:
    """The files that only declare the options of a Trainer or only build one, where `--gpus` is the one option of 1.x
    that is spoken of, and all of them can keep it or read it. `given` says what commands give to a file."""
    apart = {path: script for path, script in sorted(scripts.items()) if script.adds != script.builds}
    spoken = set[str]().union(*(script.kept | given(path) for path, script in apart.items()))
    if {script.adds for script in apart.values()} != {True, False} or spoken != {GPUS} or chooses(facts):
        return ()
    files = [facts.open(path) for path in apart]
    return tuple(apart) if all(file is not None and _takes_part(file) for file in files) else ()


def assumed(apart: tuple[str, ...], scripts: Mapping[str, ArgparseScript]) -> str:
    """What is not seen of such scripts, as the end of a sentence."""
    built, declared = ([path for path in apart if scripts[path].builds is builds] for builds in (True, False))
    return ASSUMED.format(built[0], declared[0])


def _takes_part(file: PythonFile) -> bool:
    """Whether a file can keep `--gpus` where it declares the options, and read it where it builds the Trainer."""
    sites = trainer_sites(file)
    declares = any(site.adds for site in sites)
    change = accelerator_of(file)
    if refusal(file, sites, {GPUS} if declares else ()) or configurations(file) or GPUS in own_options(file):
        return False
    if change.moved or change.sets or any(name == "accelerator" for name, _ in defaults_of(file) or ()):
        return False
    built = [site for site in sites if not site.adds]
    return all(
        isinstance(site.given, READ) and not SUCCESSORS[GPUS] & keywords(site.call.node).keys() for site in built
    )
