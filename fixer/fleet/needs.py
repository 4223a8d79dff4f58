"""Whether a project trains on a GPU, for the one that its proof is to have where a cluster has some.

This goes by what the files say and not by what they mean: a proof that has a GPU and needs none, or needs one and has
none, says the same of the code.
"""

from __future__ import annotations

from pathlib import Path

from fixer.fleet.clones import clone_at
from fixer.gitio import GitError

_SOURCES = ("*.py", "*.ipynb", "*.yaml", "*.yml", "*.sh")
_MARK = "[\"' ]{0,3}[=:][\"' ]{0,3}"
_GPU = (
    rf"accelerator{_MARK}(gpu|cuda|auto|ddp|dp)",
    rf"gpus{_MARK}(-?[1-9]|\[|auto)",
    r"--gpus|auto_select_gpus",
    r"\.cuda\(|device\(.cuda|\.to\(.cuda",
)


def trains_on_gpu(clone: Path) -> bool:
    """Whether a file of the project names one to train on."""
    command = ("grep", "--name-only", "--extended-regexp", *(part for text in _GPU for part in ("-e", text)))
    try:
        return bool(clone_at(clone).git(*command, "HEAD", "--", *_SOURCES, accept=(0, 1)))
    except GitError:
        return False
