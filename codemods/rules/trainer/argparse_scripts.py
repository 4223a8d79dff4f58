"""What a file with Lightning's argparse methods tells the others."""

from __future__ import annotations

from dataclasses import dataclass

from codemods.code.source import PythonFile
from codemods.lightning.argparse_calls import WORDS, configurations, is_argparse_call, trainer_sites
from codemods.lightning.argparse_options import IDLE, KEPT, spoken
from codemods.lightning.argparse_refusals import lost, refusal
from codemods.rules.trainer import helpers


@dataclass(frozen=True)
class ArgparseScript:
    """What a file with such calls tells the others: whether Trainer declares its options there and is built of them,
    which options of 1.x would stay, and what it imports; nothing is imported where it is left as it is. `lost` says of
    one that declares them alone which option of 1.x it uses that would be lost where the Trainer is built."""

    adds: bool
    builds: bool
    kept: frozenset[str]
    reaches: tuple[helpers.ImportedModule, ...]
    lost: str | None = None


def read_script(file: PythonFile) -> ArgparseScript | None:
    """What the file alone tells the others."""
    sites = trainer_sites(file)
    if not any(is_argparse_call(call) and call.scope.resolve(call.node.func) for call in file.calls_near(WORDS)):
        return None
    kept = frozenset(spoken(file, frozenset((*KEPT, *IDLE))))
    adds, builds = any(site.adds for site in sites), any(not site.adds for site in sites)
    left = refusal(file, sites, kept if adds else kept - {"gpus"}) is not None
    alone = left or configurations(file)
    gone = lost(file, sites) if adds and not builds else None
    return ArgparseScript(adds, builds, kept, () if alone else helpers.reaches(file), gone)
