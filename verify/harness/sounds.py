"""What torchaudio had before 2.9 and has no more, and how it reads and writes WAV files without torchcodec.

Runs in the target's interpreter, beside the harness: both trees get the same, and it is told.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import wave
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from .compat_shims import asking
from .trackers import Changed

AudioMetaData = namedtuple("AudioMetaData", "sample_rate num_frames num_channels bits_per_sample encoding")
_BACKEND = "soundfile"


def lend(used: dict[str, None]) -> None:
    """Have a torchaudio answer for names that it dropped, and read and write WAV files of whole numbers where
    torchcodec is not installed; who asks is added to `used`."""

    def change(module: Any) -> None:
        gone = {name: made for name, made in _GONE.items() if not hasattr(module, name)}
        own = getattr(module, "__getattr__", None)

        def lent(name: str) -> Any:
            if name not in gone:
                if own is not None:
                    return own(name)
                raise AttributeError(f"module 'torchaudio' has no attribute {name!r}", name=name, obj=module)
            used[f"torchaudio.{name} to {asking(__name__)}"] = None
            return gone[name]

        module.__getattr__ = lent
        if hasattr(module, "load_with_torchcodec") and importlib.util.find_spec("torchcodec") is None:
            for name, made in _WITHOUT_CODEC.items():
                setattr(module, name, _instead(getattr(module, name), made, f"torchaudio.{name} of WAV files", used))

    sys.meta_path.insert(0, Changed("torchaudio", change))


def _instead(plain: Any, made: Callable[..., Any], told: str, used: dict[str, None]) -> Any:
    """What does without torchcodec as far as it can, with the arguments that torchaudio takes, and as torchaudio does
    elsewhere."""
    taken = inspect.signature(plain)

    @functools.wraps(plain)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = taken.bind(*args, **kwargs)
        try:
            result = made(**bound.arguments)
        except (wave.Error, NotImplementedError):
            return plain(*args, **kwargs)
        used[f"{told} to {asking(__name__)}"] = None
        return result

    return call


def _load(
    uri: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True, **_: Any
) -> tuple[Any, int]:
    """The samples of a WAV file from -1 to 1, as torchaudio 2.9 and later give them whatever `normalize` says."""
    import numpy
    import torch

    with wave.open(_named(uri), "rb") as file:
        width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
        if width not in _FORMATS:
            raise NotImplementedError
        file.setpos(min(frame_offset, file.getnframes()))
        read = file.readframes(file.getnframes() if num_frames < 0 else num_frames)
    whole = numpy.frombuffer(read, dtype=_FORMATS[width]).reshape(-1, channels).astype("float32")
    middle = 128.0 if width == 1 else 0.0
    samples = torch.from_numpy((whole - middle) / 2.0 ** (8 * width - 1))
    return (samples.t().contiguous() if channels_first else samples), rate


def _save(uri: Any, src: Any, sample_rate: int, channels_first: bool = True, **_: Any) -> None:
    """A WAV file of 16 bits."""
    if not str(_named(uri)).endswith(".wav"):
        raise NotImplementedError
    samples = src.detach().cpu().float().clamp(-1.0, 1.0)
    samples = samples.unsqueeze(0 if channels_first else 1) if samples.dim() == 1 else samples
    frames = (samples.t() if channels_first else samples).contiguous()
    with wave.open(_named(uri), "wb") as file:
        file.setnchannels(frames.shape[1])
        file.setsampwidth(2)
        file.setframerate(int(sample_rate))
        file.writeframes((frames * 32767).round().short().numpy().astype("<i2").tobytes())


def _info(filepath: Any, *_: Any, **__: Any) -> AudioMetaData:
    with wave.open(_named(filepath), "rb") as file:
        bits = 8 * file.getsampwidth()
        kind = "PCM_U" if bits == 8 else "PCM_S"
        return AudioMetaData(file.getframerate(), file.getnframes(), file.getnchannels(), bits, kind)


def _named(place: Any) -> Any:
    """A path as text, which is all that `wave` takes besides files."""
    return place if hasattr(place, "read") or hasattr(place, "write") else str(place)


_FORMATS = {1: "u1", 2: "<i2", 4: "<i4"}
_WITHOUT_CODEC: Mapping[str, Callable[..., Any]] = {"load": _load, "save": _save}
_GONE: Mapping[str, Callable[..., Any]] = {
    "info": _info,
    "set_audio_backend": lambda backend: None,
    "get_audio_backend": lambda: _BACKEND,
    "list_audio_backends": lambda: [_BACKEND],
}
"""Gone in torchaudio 2.9."""
