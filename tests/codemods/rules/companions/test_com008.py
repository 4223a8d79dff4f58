from __future__ import annotations

import pytest
from PIL import Image

from codemods.rules.companions.com008 import FILTERS, RULE
from tests.codemods.support import run_rules


def after(text: str) -> tuple[str, list[str]]:
    """What becomes of a text, and the levels of what is found."""
    made = run_rules({"data.py": text}, RULE, unsafe=True)
    assert made.bugs == ()
    return made.final().get("data.py", text.encode()).decode(), [finding.fix for finding in made.findings]


@pytest.mark.parametrize(("old", "new"), FILTERS.items())
def test_the_installed_release_has_the_new_name_alone(old: str, new: str) -> None:
    assert not hasattr(Image, old)
    assert Image.new("L", (4, 4), 9).resize((2, 2), getattr(Image, new)).getpixel((0, 0)) == 9


@pytest.mark.parametrize(("old", "new"), FILTERS.items())
@pytest.mark.parametrize(
    "text",
    [
        "from PIL import Image\nx.resize(size, Image.{})\n",
        "import PIL.Image\nx.resize(size, PIL.Image.{})\n",
        "import PIL\nx.resize(size, resample=PIL.Image.{},)\n",
        "from PIL import Image as I\nMODES = {{'a': I.{}}}\n",
        "def load():\n    from PIL import Image\n    return Image.{}\n",
    ],
)
def test_each_spelling_gets_the_other_name(text: str, old: str, new: str) -> None:
    assert after(text.format(old)) == (text.format(new), ["safe"])
    assert after(text.format(new)) == (text.format(new), [])


@pytest.mark.parametrize(
    "text",
    [
        "from own import Image\nImage.ANTIALIAS\n",
        "from PIL import Image\n\n\ndef made(Image):\n    return Image.ANTIALIAS\n",
        "from PIL import Image\nImage.ANTIALIAS = Image.LANCZOS\n",
        "from PIL import Image\nif not hasattr(Image, 'ANTIALIAS'):\n    pass\n",
        "from PIL import ImageDraw\nprint(ImageDraw.LINEAR)\n",
    ],
)
def test_what_is_another_and_what_is_set_stays(text: str) -> None:
    assert after(text) == (text, [])
