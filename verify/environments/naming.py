"""Which distributions are asked for, for what the executed files import: those that somebody named, and no others.

Named are the requirements of the project, what its manifests take from addresses, the lines of `distributions.csv`,
and what the user asks for. An index has some package under nearly every name, so an import by itself names nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from verify.environments.baseline import LIGHTNING, requirement
from verify.environments.distributions import AMBIGUOUS, distribution, is_package, modules_of, names_of
from verify.environments.lines import Address, words
from verify.environments.manifests import NO_MANIFESTS, Manifests

_BASE = ("torch", *LIGHTNING, "setuptools")
_OURS = ("fixer", "codemods", "verify", "lightning-fabric")
GO_WITH_TORCH = frozenset({*_BASE, *_OURS, "numpy", "torchvision", "torchaudio", "torchmetrics"})
"""What is of the release that goes with the environment's torch and Lightning, wherever a project has its own from."""
_OPTIONAL = {
    "LightningCLI": ("jsonargparse[signatures]",),
    "MLFlowLogger": ("mlflow",),
    "RichModelSummary": ("rich",),
    "RichProgressBar": ("rich",),
    "TensorBoardLogger": ("tensorboard", "tensorboardx"),
    "WandbLogger": ("wandb",),
}


_LOADED_LATE: Mapping[str, tuple[str, ...]] = {
    "pandas": ("fastparquet", "openpyxl", "pyarrow", "tables", "xlrd"),
    "transformers": ("ftfy", "protobuf", "sacremoses", "sentencepiece", "tiktoken", "tokenizers"),
    "xarray": ("h5netcdf", "netcdf4", "zarr"),
}
"""What packages load when they are used for something, and what no file of a project imports that needs it."""
_OF_SENTENCEPIECE = frozenset(
    f"{name}Tokenizer"
    for name in (
        "Albert", "Barthez", "Bartpho", "BertGeneration", "BigBird", "Camembert", "CodeLlama", "Cpm", "DebertaV2",
        "ErnieM", "FNet", "GPTSw3", "LayoutXLM", "Llama", "M2M100", "MBart", "MBart50", "MLuke", "MT5", "Marian",
        "Nllb", "PLBart", "Pegasus", "Reformer", "RemBert", "SeamlessM4T", "Speech2Text", "SpeechT5", "T5", "XGLM",
        "XLMProphetNet", "XLMRoberta", "XLNet",
    )
)  # fmt: skip
"""Classes of transformers that 4.x does not have without sentencepiece, which it does not bring along."""


def needed_by(classes: Iterable[str]) -> frozenset[str]:
    """The distributions that classes of Lightning need besides."""
    return frozenset(Requirement(line).name for name in classes for line in _OPTIONAL.get(name, ()))


@dataclass(frozen=True)
class NamedPackages:
    """What is asked for, as requirements, and the packages that are imported and left out, each with the reason."""

    packages: frozenset[str]
    left: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownDistributions:
    """What says which distributions there are: the project's manifests, the packages that it brings along itself, by
    name with where they lie, and the requirements that the user adds."""

    manifests: Manifests = NO_MANIFESTS
    local: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()


def named(
    packages: Iterable[str], names: Iterable[str], told: KnownDistributions, further: Iterable[str] = ()
) -> NamedPackages:
    """The distributions, besides torch and Lightning, for imported packages and what `names` of Lightning need, with
    `further` ones that nothing imports.

    What the project takes from an address is taken from there, or not at all; what it brings along is not fetched; for
    the rest, an index is asked for what a requirement, the table or the user names. What an imported package loads when
    it is used is asked for where a requirement names it, and sentencepiece where one of its tokenizers is named.
    """
    names = frozenset(names)
    ours = {*_BASE, *_OURS}
    asked = sorted(package for package in packages if is_package(package) and not names_of(package) & ours)
    added = [pin for line in told.added if (pin := requirement(line))]
    known = {str(canonicalize_name(pin.name)) for pin in added}
    found, left = {_unbound(pin) for pin in added}, dict[str, str]()
    for package in asked:
        if names_of(package) & known:
            continue
        line, why = _line(package, asked, told)
        if line:
            found.add(line)
        else:
            left[package] = why
    pinned = _pinned(told.manifests)
    late = [name for package in asked for name in _LOADED_LATE.get(package, ()) if name in pinned]
    late += ["sentencepiece"] if "transformers" in asked and names & _OF_SENTENCEPIECE else []
    unimported = [*further, *late, *(extra for name in names for extra in _OPTIONAL.get(name, ()))]
    optional = {_where(extra, told.manifests) for extra in unimported}
    there = {canonicalize_name(Requirement(line).name) for line in found}
    more = {line for line in (*optional, "numpy") if line and canonicalize_name(Requirement(line).name) not in there}
    return NamedPackages(frozenset(found | more), left)


def _unbound(pin: Requirement) -> str:
    """A requirement without its version, which pins say."""
    extras = f"[{','.join(sorted(pin.extras))}]" if pin.extras else ""
    return f"{pin.name} @ {pin.url}" if pin.url else pin.name + extras


def _where(line: str, manifests: Manifests) -> str:
    """A requirement, as an address where the project takes it from one."""
    name = line.split("[")[0]
    address = next((each for each in manifests.addresses if each.is_of(name)), None)
    return _from(address, name)[0] if address else line


def _line(package: str, asked: Sequence[str], told: KnownDistributions) -> tuple[str, str]:
    """The requirement for an imported package, or why there is none."""
    manifests, own = told.manifests, str(canonicalize_name(package))
    table = distribution(package)
    pinned = _pinned(manifests)
    exact = next((each for each in manifests.addresses if each.is_of(*names_of(package))), None)
    if exact and (exact.is_installed_from or not names_of(package) & GO_WITH_TORCH):
        return _from(exact, table or own)
    here = next((told.local[name] for name in sorted(names_of(package)) if name in told.local), None)
    if here and not names_of(package) & pinned:
        return "", here
    if own in pinned and (table is None or canonicalize_name(table.split("[")[0]) not in pinned):
        return _with_extras(own, manifests), ""
    if table:
        return _with_extras(table, manifests), ""
    open_to_words = [each for each in manifests.addresses if not any(each.is_of(*names_of(one)) for one in asked)]
    if package.lower() not in AMBIGUOUS or _is_whole(package, open_to_words):
        if address := next((each for each in open_to_words if each.brings(package)), None):
            return _from(address, own)
        like = [name for name in pinned if set(words(own)) <= set(words(name)) and not modules_of(name)]
        if len(like) == 1 and not any(like[0] in names_of(one) for one in asked):
            return _with_extras(like[0], manifests), ""
    if package.lower() in AMBIGUOUS:
        return "", "projects give this name to files of their own"
    return "", _unknown(own, manifests, open_to_words)


def _with_extras(name: str, manifests: Manifests) -> str:
    """A distribution with the extras that the project's requirements ask for with it."""
    asked = (Requirement(pin.text) for pin in (*manifests.pins, *manifests.locked))
    mine = (each for each in asked if canonicalize_name(each.name) == canonicalize_name(name))
    extras = {extra for each in mine for extra in each.extras}
    return f"{name}[{','.join(sorted(extras))}]" if extras and "[" not in name else name


def _is_whole(package: str, addresses: Iterable[Address]) -> bool:
    """Whether a name that says little by itself is a word of one of the addresses."""
    return any(set(words(package)) <= set(words(name)) for each in addresses for name in each.names)


def _pinned(manifests: Manifests) -> frozenset[str]:
    lines = (*manifests.pins, *manifests.locked)
    return frozenset(str(canonicalize_name(Requirement(pin.text).name)) for pin in lines)


def _from(address: Address, name: str) -> tuple[str, str]:
    if address.is_installed_from:
        return f"{name} @ {address.url}", ""
    place = address.place or "a manifest"
    return "", f"{place} takes it from {address.told}, which is no git+https:// address"


def _unknown(name: str, manifests: Manifests, addresses: Sequence[Address]) -> str:
    if name in manifests.conda:
        return "conda brings it, and what an index has by that name may be another"
    if len(addresses) == 1:
        return f"no manifest names it; {addresses[0].place} takes something from {addresses[0].told}"
    return "no manifest names it"


def said(left: Mapping[str, str]) -> str:
    """What was left out, in words; empty where nothing was."""
    reasons: dict[str, list[str]] = {}
    for package, why in sorted(left.items()):
        reasons.setdefault(why, []).append(package)
    parts = [f"{', '.join(packages)} ({why})" for why, packages in reasons.items()]
    told = "; imported, and not asked for on any index: " + ", ".join(parts)
    return told if parts else ""


def advice(package: str, why: str) -> str:
    """What to do about a package that was left out."""
    told = f"it {why}" if why.startswith("is ") else why
    return (
        f"{package} was not installed: {told}; name the distribution that brings it in the project's requirements, or "
        "with `packages = [...]` under [tool.fixer.verify] in pyproject.toml"
    )
