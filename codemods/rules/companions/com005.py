"""COM005: names that torchaudio dropped in 2.9."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from codemods.code.calls import last_name
from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.versions import admits_from
from codemods.rule import Example, Match, Rule

GONE_IN = "2.9"
PACKAGE = "torchaudio"
GONE: Mapping[str, str] = MappingProxyType(
    {
        "torchaudio.info": "Use `soundfile.info(path)` or `torchcodec.decoders.AudioDecoder(path).metadata`",
        "torchaudio.AudioMetaData": "Use what `torchcodec.decoders.AudioDecoder(path).metadata` gives",
        "torchaudio.set_audio_backend": "Remove the call of `set_audio_backend(...)`: there are no backends now",
        "torchaudio.get_audio_backend": "Remove what asks for `get_audio_backend()`: there are no backends now",
        "torchaudio.list_audio_backends": "Remove what asks for `list_audio_backends()`: there are no backends now",
        "torchaudio.backend": "Use `torchcodec.decoders.AudioDecoder` or `soundfile.read`, which read files now",
        "torchaudio.io": "Use `torchcodec.decoders.AudioDecoder` and `VideoDecoder`, which read files now",
        "torchaudio.kaldi_io": "Use `import kaldi_io`, the package on which it stood",
        "torchaudio.prototype": "Take what you use of `torchaudio.prototype` from 2.8, as its BSD license allows",
        "torchaudio.sox_effects": "Use the effects of `torchaudio.functional`, or call sox itself",
        "torchaudio.functional.apply_codec": "Use `torchcodec.encoders.AudioEncoder`, and read what it writes",
        "torchaudio.utils.sox_utils": "Remove what asks for `torchaudio.utils.sox_utils`: sox is not used any more",
        "torchaudio.utils.ffmpeg_utils": "Remove what asks for `torchaudio.utils.ffmpeg_utils`: torchcodec has FFmpeg",
        "torchaudio.utils.download_asset": "Use `torch.hub.download_url_to_file`",
    }
)
"""What 2.8.0 had and 2.9.0 has not, as their packages say, with what to do."""
_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"})


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not admits_from(facts, (PACKAGE,), GONE_IN):
        return
    found: list[tuple[ast.alias | ast.Attribute, str]] = [*_imported(file), *_named(file)]
    spared = _with_a_way_out(file) if found else frozenset()
    for place, name in found:
        if id(place) not in spared and name.rpartition(".")[2] not in _asked(file):
            message = f"`{name}` was removed in torchaudio 2.9"
            reason = f"Not rewritten: torchaudio has nothing that does the same. {GONE[name]}."
            yield Match(file.span(place), message, "manual", reason)


def _imported(file: PythonFile) -> Iterator[tuple[ast.alias, str]]:
    for node in file.imports:
        for alias in node.names:
            dotted = alias.name
            if isinstance(node, ast.ImportFrom):
                dotted = f"{node.module}.{alias.name}" if not node.level else ""
            if name := _gone(dotted):
                yield alias, name


def _named(file: PythonFile) -> Iterator[tuple[ast.Attribute, str]]:
    lasts = {name.rpartition(".")[2] for name in GONE}
    for node, within in file.nodes_near(lasts):
        if isinstance(node, ast.Attribute) and node.attr in lasts and isinstance(node.ctx, ast.Load):
            dotted = file.scope_within(within).resolve(node)
            if dotted is not None and dotted in GONE:
                yield node, dotted


def _gone(dotted: str) -> str | None:
    """The name that is gone, of one that is in it."""
    return next((name for name in GONE if dotted == name or dotted.startswith(f"{name}.")), None)


def _with_a_way_out(file: PythonFile) -> frozenset[int]:
    """What is tried where its absence is caught."""
    blocks = [node for node in every_node(file.tree) if isinstance(node, ast.Try | ast.With) and _catches(node)]
    return frozenset(id(node) for each in blocks for statement in each.body for node in every_node(statement))


def _catches(block: ast.Try | ast.With) -> bool:
    if isinstance(block, ast.Try):
        types = [handler.type for handler in block.handlers]
        caught = [each for kind in types for each in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    else:
        calls = [item.context_expr for item in block.items if isinstance(item.context_expr, ast.Call)]
        caught = [each for call in calls if last_name(call.func) == "suppress" for each in call.args]
    return any(each is None or getattr(each, "id", "") in _CAUGHT for each in caught)


def _asked(file: PythonFile) -> frozenset[str]:
    """The names of which a file asks whether they are there."""
    calls = (call.node for call in file.calls_near(["hasattr", "getattr"]))
    return frozenset(
        argument.value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ("hasattr", "getattr")
        for argument in call.args[1:2]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )


USED = """\
import torchaudio
from torch.utils.data import Dataset

torchaudio.set_audio_backend("soundfile")


class Sounds(Dataset):
    def __init__(self, paths):
        self.frames = [torchaudio.info(path).num_frames for path in paths]
"""
GUARDED = """\
import torchaudio

if hasattr(torchaudio, "set_audio_backend"):
    torchaudio.set_audio_backend("soundfile")
try:
    from torchaudio.backend.common import AudioMetaData
except ImportError:
    AudioMetaData = None
"""
KEPT = """\
import torchaudio

sound, rate = torchaudio.load("a.wav")
sound = torchaudio.functional.resample(sound, rate, 16000)
"""

RULE = Rule(
    code="COM005",
    name="torchaudio-names",
    summary="Names that torchaudio dropped are named",
    why=(
        "torchaudio 2.9 took out its backends, `info`, `io`, `sox_effects`, `kaldi_io` and `prototype`: it keeps what "
        "computes, and leaves files to torchcodec. A project that moves to a current torch gets a torchaudio of the "
        "same day, unless it pins one, and stops at the first of these names. Which they are was read off the packages "
        "of 2.8.0 and 2.9.0."
    ),
    fix="manual",
    versions="torchaudio 2.9 and later",
    triggers=(b"torchaudio",),
    check=_check,
    examples=(
        Example(USED, USED),
        Example(USED, USED, pins=("torchaudio<2.9",)),
        Example(GUARDED, GUARDED),
        Example(KEPT, KEPT),
    ),
    stops=True,
    references=("https://github.com/pytorch/audio/issues/3902",),
)
