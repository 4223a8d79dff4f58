"""The name that ModelCheckpoint gives its files by default: `epoch=3.ckpt` up to 1.0, `epoch=3-step=40.ckpt` since.

Read in 0.7.6, 0.9.0, 0.10.0, 1.0.8, 1.1.8 and 2.6.6.
"""

from __future__ import annotations

import re
from dataclasses import replace

from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, is_open
from codemods.rules.keywords.filepath import FilepathKeywords

STEP = "1.1"
"""The first release that puts the step into the name."""
PLAIN = "0.10"
"""The first release that leaves a name without fields as it is: before, `best` became `_ckpt_epoch_3`."""
SPOKEN = b"epoch="
"""How a project speaks of such a file."""
KEPT = " Its files are still called epoch=3.ckpt and not epoch=3-step=40.ckpt, the default since 1.1."
CHANGED = " Up to 1.0 its files were called epoch=3.ckpt by default, since then epoch=3-step=40.ckpt"
NUMBERED = " Up to 0.9 a file whose name has no fields was called _ckpt_epoch_3.ckpt; now it has its own name."
_FILE = re.compile(rb"epoch=[^\s\"'/*-]{0,20}\.ckpt")


def with_default_name(facts: Facts, path: FilepathKeywords) -> FilepathKeywords:
    """What becomes of a path that is a folder alone, with the name that its files had; or with the reason why they are
    called otherwise now."""
    given = dict(path.new)
    unfilled = "{" not in (given.get("filename") or "{")
    if unfilled and not is_open(facts, LIGHTNING) and not admits_from(facts, LIGHTNING, PLAIN):
        return replace(path, reason=path.reason + NUMBERED)
    if "dirpath" not in given or "filename" in given or not admits_below(facts, LIGHTNING, STEP):
        return path
    if not is_open(facts, LIGHTNING) and not admits_from(facts, LIGHTNING, STEP):
        return replace(path, new=(*path.new, ("filename", '"{epoch}"')), reason=path.reason + KEPT)
    if reader := _reader(facts):
        return replace(path, level="unsafe", reason=f"{path.reason}{CHANGED}; {reader} names the former.")
    return replace(path, reason=f"{path.reason}{CHANGED}.")


def _reader(facts: Facts) -> str:
    """A file, other than documentation, that names such a file without the step."""
    spoken = sorted(facts.mentions.get(SPOKEN, ()))
    coded = (path for path in spoken if facts.kinds.get(path) != "docs")
    return next((path for path in coded if _FILE.search(facts.sources[path].unescaped)), "")
