"""What a run has besides the project's files and packages: it is lent here, and told when the run ends.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import data_errors, downloads, earlier, made_data, questions, variables

LENT: dict[str, None] = {}
"""What was lent to whom."""
COMPILED: dict[str, None] = {}
"""The Cython files of the project that were compiled for it."""
INSTALLED: dict[str, None] = {}
"""What the project asked for of its own distribution."""
MOVED: dict[str, None] = {}
"""Who asked for CUDA, where there is none."""
SHARED: dict[str, None] = {}
"""How many ranks shared how many GPUs, where they had to."""
SHORTER: dict[str, None] = {}
"""What of a training is made at all, where it is too slow for the time it has."""
SMALLER: dict[str, None] = {}
"""The arguments that make what is trained smaller."""
CHOSEN: dict[str, None] = {}
"""The options that were chosen of a configuration which names none."""
SAMPLES: dict[str, None] = {}
"""How many samples a batch has at most, where it would have more."""
SCATTERED: dict[str, None] = {}
"""Who asked for torch_scatter, where it is not installed."""
ABSENT: dict[str, None] = {}
"""Which packages that are not installed were imported all the same."""
OPENED: dict[str, None] = {}
"""Which configurations of the project were opened, and for whom."""
VARIABLES: dict[str, None] = {}
"""Which of the environment variables that were lent were read."""
PROGRAMS: dict[str, None] = {}
"""In place of which programs stands one that does nothing."""
GIVEN: dict[str, None] = {}
"""Which files are there that the user gave besides the project's."""
HOME: dict[str, None] = {}
"""The folder of its own that the script was started in."""
MADE: dict[str, None] = {}
"""Which files were made up."""
ASKED: dict[str, None] = {}
"""What the code asked of a person at a terminal, and what it was answered."""
HUB: list[str] = []
"""What of the Hugging Face hub a small one stands in for."""
WEIGHTS: list[str] = []
"""Which weights are not here: what they would have been loaded into stays random."""


def lend(spec: dict[str, Any]) -> None:
    """Set the variables that the project reads and nothing sets, put programs that are not here behind the rest, answer
    questions, and make files that are not here."""
    root, outside = Path.cwd(), spec.get("outside", ())
    variables.lend(spec.get("lent", {}), VARIABLES)
    if spec.get("offline"):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # without a network its client tries again for minutes
    if spec.get("shorter"):
        SHORTER[f"{spec['limit_train_batches']} batches of {spec['max_epochs']} epoch"] = None
    SAMPLES.update(dict.fromkeys(spec.get("samples", ())))
    SMALLER.update(dict.fromkeys(spec.get("smaller", ())))
    CHOSEN.update(dict.fromkeys(spec.get("chosen", ())))
    if programs := spec.get("programs", ()):
        os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), spec["path"]])
        PROGRAMS.update(dict.fromkeys(programs))
    questions.answer(ASKED)
    data_errors.OUTSIDE[:] = outside
    data_errors.BESIDE[:] = [root.resolve().parent] if spec.get("beside") else []
    if folder := spec.get("given"):
        GIVEN.update(dict.fromkeys(made_data.lay(Path(folder), root, outside)))
    if plan := [json.loads(text) for text in spec.get("made", ())]:
        made_data.write(plan, root)
        MADE.update(dict.fromkeys(map(made_data.told, plan)))


def told() -> dict[str, list[str]]:
    """What there was so far, by what it is."""
    kinds: dict[str, Any] = {
        "lent": LENT, "compiled": COMPILED, "installed": INSTALLED, "moved": MOVED, "shared": SHARED,
        "variables": VARIABLES, "programs": PROGRAMS, "given": GIVEN, "home": HOME, "made": MADE, "asked": ASKED,
        "blank": WEIGHTS, "hub": HUB, "opened": OPENED, "shorter": SHORTER, "smaller": SMALLER, "samples": SAMPLES,
        "chosen": CHOSEN, "scattered": SCATTERED, "absent": ABSENT, "unfetched": downloads.UNFETCHED,
        "earlier": earlier.EARLIER,
    }  # fmt: skip
    return {name: list(dict.fromkeys(held)) for name, held in kinds.items()}
