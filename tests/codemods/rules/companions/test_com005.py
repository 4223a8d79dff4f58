from __future__ import annotations

import pytest

from codemods.rules.companions.com005 import GONE, RULE
from tests.codemods.support import run_rules


def found(text: str, pins: tuple[str, ...] = ()) -> list[tuple[int, str]]:
    made = run_rules({"train.py": text}, RULE, pins=pins)
    assert made.bugs == () and not made.final()
    assert all(finding.fix == "manual" and finding.reason.startswith("Not rewritten: ") for finding in made.findings)
    return [(finding.span.line, finding.message) for finding in made.findings]


@pytest.mark.parametrize("name", GONE)
def test_each_name_is_found_where_it_is_imported_and_where_it_is_read(name: str) -> None:
    module, _, last = name.rpartition(".")
    said = f"`{name}` was removed in torchaudio 2.9"
    assert found(f"from {module} import {last}\n") == [(1, said)]
    assert found(f"import {module} as sounds\n\nprint(sounds.{last})\n") == [(3, said)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("from torchaudio.backend.sox_io_backend import load\n", [1]),
        ("import torchaudio.sox_effects.sox_effects as effects\n", [1]),
        ("from torchaudio import (\n    info as told,\n    load,\n    set_audio_backend,\n)\n", [2, 4]),
        ("import torchaudio\n\ntorchaudio.sox_effects.apply_effects_tensor(x, 1, [])\n", [3]),
        ("from torchaudio import io\n\nreader = io.StreamReader('a.mp4')\n", [1]),
        ("def read(path):\n    import torchaudio as ta\n\n    return ta.info(path)\n", [4]),
        ("import torchaudio\nwith lock():\n    torchaudio.info('a.wav')\n", [3]),
        ("try:\n    import torchaudio.io\nfinally:\n    print()\n", [2]),
        ("try:\n    import torchaudio.io\nexcept ValueError:\n    print()\n", [2]),
    ],
)
def test_it_is_found_however_it_is_written(text: str, lines: list[int]) -> None:
    assert [line for line, _ in found(text)] == lines


@pytest.mark.parametrize(
    "text",
    [
        "import torchaudio\n\ntorchaudio.load('a.wav')\ntorchaudio.functional.resample(x, 1, 2)\n",
        "from torchaudio.transforms import MelSpectrogram\n",
        "import torchaudio\n\n\ndef told(torchaudio):\n    return torchaudio.info('a.wav')\n",
        "import torchaudio\nwith suppress(AttributeError):\n    torchaudio.set_audio_backend('sox_io')\n",
        "import soundfile\n\nsoundfile.info('a.wav')\n",
        "from .torchaudio import info\n",
        "from torchaudio_augmentations import io, info\n",
        "from torchaudio.io_of_ours import x\n",
        "import torchaudio\n\ntorchaudio.info = None\n",
        "import torchaudio\n\nif hasattr(torchaudio, 'info'):\n    torchaudio.info('a.wav')\n",
        "import torchaudio\n\nread = getattr(torchaudio, 'info', None)\n",
        "try:\n    from torchaudio import info\nexcept (ImportError, OSError):\n    info = None\n",
        "try:\n    import torchaudio\n    torchaudio.set_audio_backend('sox_io')\nexcept Exception:\n    pass\n",
    ],
)
def test_what_is_there_and_what_is_asked_for_first_is_left(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(("pin", "count"), [("torchaudio<2.9", 0), ("torchaudio==0.7.2", 0), ("torchaudio>=0.7", 1)])
def test_it_is_asked_of_releases_without_them(pin: str, count: int) -> None:
    assert len(found("import torchaudio\n\ntorchaudio.info('a.wav')\n", (pin,))) == count
