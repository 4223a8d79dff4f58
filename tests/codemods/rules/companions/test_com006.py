from __future__ import annotations

import pytest

from codemods.rules.companions.com006 import RULE, functions
from tests.codemods.support import run_rules

HEAD = "import librosa\n"


def after(text: str) -> tuple[str, list[str]]:
    """What becomes of a text, and the levels of what is found."""
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.bugs == ()
    return made.final().get("train.py", text.encode()).decode(), [finding.fix for finding in made.findings]


def test_rows_say_what_is_taken_by_position_first() -> None:
    assert len(functions()) > 150
    assert functions()["librosa.filters.mel"].names[:3] == ("sr", "n_fft", "n_mels")
    assert all(0 <= row.kept < len(row.names) == len({*row.names}) for row in functions().values())


@pytest.mark.parametrize(
    ("head", "call", "wanted"),
    [
        (
            "import librosa",
            "librosa.filters.mel(22050, 1024, 80)",
            "librosa.filters.mel(sr=22050, n_fft=1024, n_mels=80)",
        ),
        ("from librosa.filters import mel", "mel(r, n, fmin=0)", "mel(sr=r, n_fft=n, fmin=0)"),
        ("from librosa.filters import mel as basis", "basis(r, n)", "basis(sr=r, n_fft=n)"),
        ("import librosa.util as lu", "lu.pad_center(win_sq, n)", "lu.pad_center(win_sq, size=n)"),
        ("from librosa import util", "util.normalize(x, 1)", "util.normalize(x, norm=1)"),
        ("from librosa.util.utils import fix_length", "fix_length(x, n)", "fix_length(x, size=n)"),
        ("from librosa.core import load", "load(path, 44100, False)", "load(path, sr=44100, mono=False)"),
        ("from librosa.core.spectrum import stft", "stft(y, 512)", "stft(y, n_fft=512)"),
        ("import librosa", "librosa.core.resample(y, 8, 16)", "librosa.core.resample(y, orig_sr=8, target_sr=16)"),
        ("import librosa", "librosa.feature.melspectrogram(y, r)", "librosa.feature.melspectrogram(y=y, sr=r)"),
        ("import librosa", "librosa.feature.inverse.mel_to_stft(m, r)", "librosa.feature.inverse.mel_to_stft(m, sr=r)"),
        (
            "import librosa as lr",
            "lr.load(\n    path,  # of the sound\n    None,\n)",
            "lr.load(\n    path,  # of the sound\n    sr=None,\n)",
        ),
    ],
)
def test_each_spelling_gets_names(head: str, call: str, wanted: str) -> None:
    assert after(f"{head}\n\nx = {call}\n") == (f"{head}\n\nx = {wanted}\n", ["safe"])
    assert after(f"{head}\n\nx = {wanted}\n") == (f"{head}\n\nx = {wanted}\n", [])


@pytest.mark.parametrize(
    "call",
    [
        "librosa.load(path)",
        "librosa.load(path, sr=None)",
        "librosa.load(*path)",
        "librosa.load",
        "librosa.to_mono(y)",
        "model.load(path, 1)",
        "functools.partial(librosa.load, sr=None)",
    ],
)
def test_what_librosa_takes_stays(call: str) -> None:
    assert after(f"{HEAD}{call}\n")[1] == []


@pytest.mark.parametrize(
    "call",
    [
        "librosa.load(path, *more)",
        "librosa.load(path, 1, **more)",
        "librosa.load(path, 1, sr=2)",
        "librosa.hz_to_mel(1, 2, 3)",
    ],
)
def test_what_cannot_be_named_is_left_and_said(call: str) -> None:
    assert after(f"{HEAD}{call}\n") == (f"{HEAD}{call}\n", ["manual"])


def test_a_name_of_ones_own_stays() -> None:
    text = f"{HEAD}\n\ndef run(librosa):\n    return librosa.load(1, 2)\n"
    assert after(text) == (text, [])
