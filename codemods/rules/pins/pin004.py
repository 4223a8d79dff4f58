"""PIN004: what Lightning 1.x installed beside itself, 2.x does not, and the project uses without asking for it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.version import Version

from codemods.code.source import PythonFile, TextFile
from codemods.lightning.facts import Facts
from codemods.lightning.pins.brought import BY_EXTRAS, EXTRAS, TransitiveDistribution, brought, spellings
from codemods.lightning.pins.compat import minor_of
from codemods.lightning.pins.manifest import INSTALLS, manifest_kind, read_pins
from codemods.lightning.pins.pin import LIGHTNING, Pin
from codemods.lightning.pins.reach import MENTIONS, Area, Manifest, area_of, home_of, nearest
from codemods.lightning.pins.specifier import Language, admits, admits_from, releases
from codemods.lightning.pins.toml import Unparsable
from codemods.rule import Example, Match, Rule
from codemods.rules.pins.companion_packages import NUMPY, built_for_one, held_below
from codemods.rules.pins.conflicts import MAIN
from codemods.rules.pins.lightning import advice_of, fitting, is_dead
from codemods.rules.pins.needed import ASKED, EXPERIMENT, FeatureUse, mentions, of_row, other_logger
from codemods.rules.pins.parts import has_its_own, is_aside, is_for
from codemods.rules.pins.pin002 import told_at
from codemods.rules.pins.placing import beside

CODE = "PIN004"
_OWN = ("lightning", "pytorch-lightning")
_PACKAGE = ("setup.py", "setup.cfg", "pyproject")


def collect(file: PythonFile | TextFile) -> Manifest | None:
    """What a manifest states; None where it states nothing that matters here."""
    found = _manifest(_as_text(file))
    return found if found.pins else None


def check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """What is lacking beside the requirement on Lightning of a manifest, and uses in a project that asks for none."""
    text = _as_text(file)
    own = _manifest(text)
    base = {**facts.collected(CODE), **facts.collected_texts(CODE)}
    if not own.kind and isinstance(file, PythonFile):
        yield from _unasked(file, base, facts)
        return
    pins = [pin for pin in own.pins if pin.name in _OWN and not is_dead(pin)]
    if not pins or own.kind in ("lock", "hooks"):
        return
    area = area_of(own, base, facts)
    if own.kind in INSTALLS and any(_states(item) for item in area.manifests if item.kind not in INSTALLS):
        return
    pin = next((pin for pin in pins if not pin.group), pins[0])
    lacking = [(row, places) for row in brought() if (places := _lacking(row, pin, own, area, base, facts))]
    sure = []
    for row, places in lacking:
        if doubt := _doubt(row, places, base.get(own.path, own), facts) or _optional(row, pin, own, area):
            found = [(row, places[0])]
            yield Match(text.span(pin.place, pin.end), _message(found, facts), "manual", f"{_reason(found)}: {doubt}")
        else:
            sure.append((row, places[0]))
    if sure:
        yield _match(text, own, pin, sure, facts)


def _lacking(
    row: TransitiveDistribution, pin: Pin, own: Manifest, area: Area, base: Mapping[str, Manifest], facts: Facts
) -> list[FeatureUse]:
    """The places that use a distribution which nothing brings any more."""
    since = row.since.get(pin.name)
    if not since or not (row.any_release or _came_along(row, own, area, base)):
        return []
    moving = own.path in {**facts.collected("PIN001"), **facts.collected_texts("PIN001")}
    wanted = fitting(pin, area, facts.target) if moving and not pin.problem else None
    if not pin.problem and not admits_from(wanted or pin.meant, since, pin.language):
        return []
    if _is_named(row, pin, own, area):
        return []
    if row.needed_by:
        return _needing(row, own, area, facts)
    homes = {home_of(path, facts) for path, item in base.items() if _states(item) and item.kind not in INSTALLS}
    older = any(_admits_older(item, row) for item in base.get(own.path, own).pins if item.name in _OWN)
    used = [use for use in of_row(row, facts) if older or not use.what.startswith(ASKED)]
    found = (use for use in used if len(homes) < 2 or nearest(use.path, homes) == area.home)
    return [
        use
        for use in found
        if is_for(area.home, use.path, facts)
        and not has_its_own(use, row, area.home, base, facts)
        and not _elsewhere(use, own, pin, area)
    ]


def _needing(row: TransitiveDistribution, own: Manifest, area: Area, facts: Facts) -> list[FeatureUse]:
    """The requirements on releases that need a distribution, where all of these stay so old on the target."""
    if row.name == "setuptools" and minor_of(facts.target).resources:  # Lightning itself needs it, which PIN001 says
        return []
    manifests = {item.path: item for item in (*area.manifests, own)}
    pins = [pin for item in manifests.values() for pin in item.pins]
    if row.name == NUMPY:
        held = built_for_one(row, pins, facts.target) if own.kind != "conda" else []
    else:
        held = held_below(row.needed_by, pins, facts.target)
    return [
        FeatureUse(
            path, facts.sources[path].data.decode("utf-8", "replace").count("\n", 0, pin.place) + 1, row.needed_by
        )
        for path, item in sorted(manifests.items())
        for pin in item.pins
        if pin in held
    ]


def _came_along(row: TransitiveDistribution, own: Manifest, area: Area, base: Mapping[str, Manifest]) -> bool:
    """Whether the release that the code runs on may have brought it: its manifests admit such a one together, and where
    this one admits a newer as well, which is then what gets installed, the code shows that it does not run on that."""
    paths = {own.path, *(item.path for item in area.manifests if item.path.rpartition("/")[2] in MAIN)}
    stated = {path: [item for item in base[path].pins if item.name in _OWN] for path in paths if path in base}
    before = stated.get(own.path) or [item for item in own.pins if item.name in _OWN]
    if not all(any(_admits_older(item, row) for item in pins) for pins in (before, *filter(None, stated.values()))):
        return False
    newer = (admits_from(item.meant, row.since[item.name], item.language) for item in before if item.name in row.since)
    return area.breaks or not any(newer)


def _elsewhere(use: FeatureUse, own: Manifest, pin: Pin, area: Area) -> bool:
    """Whether what is used goes with another manifest than that of the package: a configuration of the project, which
    the file for its whole environment is for."""
    whole = any(_states(item) for item in area.manifests if item.kind in ("requirements", "conda", "pipfile"))
    return whole and own.kind in _PACKAGE and not pin.group and use.path.endswith((".yaml", ".yml"))


def _admits_older(pin: Pin, row: TransitiveDistribution) -> bool:
    """Whether the release that a project comes from may have brought it."""
    since = row.since.get(pin.name)
    return bool(since) and not pin.problem and _admits_below(pin.meant, since, pin.language)


@functools.cache
def _admits_below(meant: str, since: str, language: Language) -> bool:
    older = (item for item in releases((meant, language)) if Version(item) < Version(since))
    return any(admits(meant, item, language) for item in older)


def _is_named(row: TransitiveDistribution, pin: Pin, own: Manifest, area: Area) -> bool:
    """Whether some manifest of the same code, or an extra of Lightning's, brings it."""
    if pin.requirement and row.served_by & BY_EXTRAS and EXTRAS & Requirement(pin.requirement).extras:
        return True
    manifests = [own] if own.kind in INSTALLS else [item for item in area.manifests if item.kind not in INSTALLS]
    return any(
        other.name in row.served_by and other.group in ("", pin.group) for item in (own, *manifests)
        for other in item.pins
    )  # fmt: skip


def _optional(row: TransitiveDistribution, pin: Pin, own: Manifest, area: Area) -> str:
    """Why what another group of the same code asks for is not plainly lacking where Lightning is required, unless
    Lightning itself wants it."""
    asked = (
        set()
        if row.any_release
        else {
            other.group
            for item in (own, *area.manifests)
            if item.kind in _PACKAGE
            for other in item.pins
            if other.name in row.served_by and other.group not in ("", pin.group)
        }
    )
    return f"`{min(asked)}` asks for it: add {row.ask} here where it is used without that, too" if asked else ""


def _states(manifest: Manifest) -> bool:
    return any(pin.name in LIGHTNING for pin in manifest.pins)


def _doubt(row: TransitiveDistribution, places: list[FeatureUse], before: Manifest, facts: Facts) -> str:
    """Why it is not plain that a manifest, here as it was, is to ask for what is used."""
    inside = [use for use in places if not is_aside(use.path)]
    if before.kind in _PACKAGE and not inside:
        return f"only tests or examples need it, so ask for {row.ask} where what they need is listed"
    on_2 = not any(_admits_older(item, row) for item in before.pins if item.name in _OWN)
    if before.kind in _PACKAGE and on_2 and all(use.what == EXPERIMENT for use in inside):
        return f"the package writes to the logger that it is given: ask for {row.ask} where that is TensorBoard's"
    other = other_logger(facts)
    if other and on_2 and all(use.what == EXPERIMENT for use in places):
        told = f"{other.path}:{other.line} makes another logger"
        return f"{told}, which needs none of it: ask for {row.ask} where TensorBoard's is used as well"
    return ""


def _match(
    text: TextFile, own: Manifest, pin: Pin, found: list[tuple[TransitiveDistribution, FeatureUse]], facts: Facts
) -> Match:
    asks, stops = _asks(found), any(row.needed_by for row, _ in found) or None
    message, reason = _message(found, facts), _reason(found)
    edit = beside(text.text, own.kind, pin, asks)
    place = text.span(pin.place, pin.end)
    if edit is None:
        why = advice_of(pin, facts.target) or "its place in the list could not be proven"
        return Match(
            place, message, "manual", f"{reason}: write {_listed(asks)} next to it by hand; {why}", stops=stops
        )
    reason = f"{reason}; {_listed(asks)} {_is(asks)} added next to Lightning, as nothing here requires it"
    return Match(place, message, "safe", reason, edits=(edit,), stops=stops)


def _message(found: list[tuple[TransitiveDistribution, FeatureUse]], facts: Facts) -> str:
    names = tuple(dict.fromkeys(row.name for row, _ in found if row.name != NUMPY))
    told = (
        [f"Lightning {facts.target} does not install {_listed(names)}, which {_is(names)} used here"] if names else []
    )
    if any(row.name == NUMPY for row, _ in found):
        told.append("the NumPy 2 that is installed here is too new for what is built for NumPy 1")
    return "; ".join(told)


def _reason(found: list[tuple[TransitiveDistribution, FeatureUse]]) -> str:
    """Where each is used first, and why it was there."""
    first = {row.name: (row, use) for row, use in reversed(found)}
    told = [
        f"{use.path}:{use.line} ({name}): {row.why}"
        for name, (row, use) in ((row.name, first[row.name]) for row, _ in found)
    ]
    return "; ".join(dict.fromkeys(told))


def _asks(found: list[tuple[TransitiveDistribution, FeatureUse]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.ask for row, _ in found))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _unasked(file: PythonFile, base: Mapping[str, Manifest], facts: Facts) -> Iterator[Match]:
    """The first use of what Lightning itself stops without, where no manifest asks for Lightning or for that."""
    if any(map(_states, base.values())) or told_at(facts):
        return
    named = {pin.name for manifest in base.values() for pin in manifest.pins}
    for row in brought():
        places = of_row(row, facts) if row.any_release and not row.served_by & named else []
        if places and places[0].path == file.path:
            line = file.text.splitlines()[places[0].line - 1]
            start = sum(len(each) for each in file.text.splitlines(keepends=True)[: places[0].line - 1])
            text = _as_text(file)
            message = f"Lightning {facts.target} does not install {row.name}, which is used here"
            place = text.span(start + len(line) - len(line.lstrip()), start + len(line))
            yield Match(place, message, "manual", f"{row.why}; no manifest requires Lightning: add {row.ask}")
            return


def _manifest(text: TextFile) -> Manifest:
    kind = manifest_kind(text.path, text.kind, text.text) or ""
    try:
        pins = read_pins(kind, text.text)
    except Unparsable as error:
        return Manifest(text.path, kind, (), str(error))
    silent = {line for line, codes in text.ignores.items() if codes & {"*", CODE}}
    kept = (
        replace(pin, problem="ignored") if text.text.count("\n", 0, pin.place) + 1 in silent else pin for pin in pins
    )
    return Manifest(text.path, kind, tuple(kept))


def _as_text(file: PythonFile | TextFile) -> TextFile:
    return file if isinstance(file, TextFile) else TextFile(file.path, "python", file.text)


_BOARD = """\
from pytorch_lightning import Trainer
from pytorch_lightning.loggers import TensorBoardLogger

trainer = Trainer(gpus=1, logger=TensorBoardLogger("logs"))
"""
_WRITER = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_epoch_end(self, outputs):
        self.logger.experiment.add_scalar("loss", outputs[-1]["loss"], self.current_epoch)
"""
_CSV = 'from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=1, logger=CSVLogger("logs"))\n'

RULE = Rule(
    code=CODE,
    name="brought-along",
    summary="what Lightning 1.x installed and 2.x does not, and the code uses, is asked for",
    why=(
        "Lightning 1.x installed more than 2.x does: tensorboard above all (up to 1.8), future, pyDeprecate, protobuf "
        "and setuptools, and the distribution lightning up to 2.0 what its apps needed (rich, click, psutil, ...). "
        "Code that uses these without asking for them worked, and stops where only Lightning 2.x is installed: "
        "TensorBoardLogger needs tensorboard or tensorboardX, and without them the default logger silently becomes a "
        "CSVLogger, whose `experiment` has no `add_scalar`. The requirement is written beside that on Lightning, in "
        "the file's own style."
    ),
    fix="safe",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(*MENTIONS, *mentions()),
    text_triggers=(*MENTIONS, *spellings()),
    check=check,
    collect=collect,
    collect_text=collect,
    kinds=("python", "requirements", "pyproject", "yaml", "dockerfile", "notebook", "shell", "other"),
    names=("setup.py",),
    mentions=(*MENTIONS, *mentions()),
    last=True,
    examples=(
        Example(
            "pytorch-lightning==1.8.0\n", "pytorch-lightning==2.6.6\ntensorboard\n", "requirements.txt",
            (("train.py", _BOARD),),
        ),
        Example(
            '[project]\nname = "a"\ndependencies = ["torch", "pytorch-lightning>=1.6"]\n',
            '[project]\nname = "a"\ndependencies = ["torch", "tensorboard", '
            '"pytorch-lightning>=2.0,!=2.6.2,!=2.6.3"]\n',
            "pyproject.toml",
            (("model.py", _WRITER),),
        ),
        Example(
            "pytorch-lightning==1.8.0\ntensorboardX\n", "pytorch-lightning==2.6.6\ntensorboardX\n", "requirements.txt",
            (("train.py", _BOARD),),
        ),
        Example("pytorch-lightning==2.6.6\n", "pytorch-lightning==2.6.6\n", "requirements.txt", (("a.py", _CSV),)),
    ),
    references=("https://pypi.org/project/pytorch-lightning/1.9.0/",),
)  # fmt: skip
