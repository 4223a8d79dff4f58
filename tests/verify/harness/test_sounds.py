"""What torchaudio has no more: a package of ours that is made as torchaudio 2.11 is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from verify.harness import sounds

PACKAGE = """
def load(uri, frame_offset=0, num_frames=-1, normalize=True, channels_first=True, format=None, buffer_size=4096):
    raise ImportError("TorchCodec is required")

def save(uri, src, sample_rate, channels_first=True, format=None, encoding=None):
    raise ImportError("TorchCodec is required")

load_with_torchcodec = load
"""
OLD = "load = save = info = 'its own'\nset_audio_backend = get_audio_backend = list_audio_backends = 'its own'\n"


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def start(text: str) -> tuple[ModuleType, dict[str, None]]:
        (tmp_path / "packages").mkdir()
        (tmp_path / "packages" / "torchaudio.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path / "packages")
        monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
        monkeypatch.delitem(sys.modules, "torchaudio", raising=False)
        used: dict[str, None] = {}
        sounds.lend(used)
        names: dict[str, Any] = {"__name__": "train"}
        exec("import torchaudio", names)
        return names["torchaudio"], used

    return start


@pytest.mark.parametrize("first", [True, False])
def test_what_is_written_is_read_again(imported: Any, first: bool, tmp_path: Path) -> None:
    audio, used = imported(PACKAGE)
    samples = torch.linspace(-0.9, 0.9, 200).reshape(2, 100)
    place = tmp_path / "a.wav"
    audio.save(place, samples if first else samples.t(), 8000, channels_first=first)
    found, rate = audio.load(str(place), channels_first=first, normalize=False)
    assert rate == 8000 and found.dtype == torch.float32
    assert torch.allclose(found, samples if first else samples.t(), atol=1e-3)
    assert torch.allclose(audio.load(place, frame_offset=10, num_frames=20)[0], samples[:, 10:30], atol=1e-3)
    assert audio.load(place, frame_offset=500)[0].shape == (2, 0)
    told = audio.info(place)
    assert (told.sample_rate, told.num_frames, told.num_channels, told.bits_per_sample) == (8000, 100, 2, 16)
    assert {text.partition(" to ")[0] for text in used} == {
        "torchaudio.save of WAV files", "torchaudio.load of WAV files", "torchaudio.info",
    }  # fmt: skip


def test_what_it_cannot_read_is_left_to_torchaudio(imported: Any, tmp_path: Path) -> None:
    audio, used = imported(PACKAGE)
    (tmp_path / "a.mp3").write_bytes(b"something else")
    with pytest.raises(ImportError, match="TorchCodec"):
        audio.load(tmp_path / "a.mp3")
    with pytest.raises(ImportError, match="TorchCodec"):
        audio.save(tmp_path / "b.flac", torch.zeros(1, 10), 8000)
    with pytest.raises(TypeError, match="offset"):
        audio.load(tmp_path / "a.wav", offset=3)
    with pytest.raises(FileNotFoundError):
        audio.load(tmp_path / "none.wav")
    with pytest.raises(AttributeError, match="has no attribute 'load_wave'"):
        audio.load_wave("a.wav")
    assert not used


def test_all_arguments_that_torchaudio_takes_are_taken(imported: Any, tmp_path: Path) -> None:
    audio, _ = imported(PACKAGE)
    place = tmp_path / "a.wav"
    audio.save(place, torch.zeros(1, 50), 8000, channels_first=True, format="wav", encoding="PCM_S")
    found, _ = audio.load(place, 0, -1, normalize=True, channels_first=True, format="wav", buffer_size=1)
    assert found.shape == (1, 50)


def test_names_of_backends_are_answered_and_told(imported: Any) -> None:
    audio, used = imported(PACKAGE)
    assert audio.set_audio_backend("sox_io") is None
    assert audio.list_audio_backends() == [audio.get_audio_backend()]
    assert {text.partition(" to ")[0] for text in used} == {
        "torchaudio.set_audio_backend", "torchaudio.list_audio_backends", "torchaudio.get_audio_backend",
    }  # fmt: skip


def test_a_release_that_has_them_keeps_its_own(imported: Any) -> None:
    audio, used = imported(OLD)
    assert {audio.load, audio.save, audio.info, audio.set_audio_backend} == {"its own"}
    assert not used
