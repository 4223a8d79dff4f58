"""What is left out for good is written beside what stands in pyproject.toml, and nothing else is touched."""

from __future__ import annotations

import pytest

from fixer.choosing.settings_edit import LeftOut, with_settings
from fixer.config import read_config
from fixer.errors import UsageError

EVERYWHERE = LeftOut("LIT101")
IN_A_FILE = LeftOut("LIT101", "train.py")


@pytest.mark.parametrize("setting", [EVERYWHERE, IN_A_FILE])
@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"[tool.fixer]",
        b"[tool]\nfixer = {unsafe-fixes = true}\n",
        b"tool = {fixer = {}}\n",
        b"[tool.fixer]\nignore = [\n  'AMP001',  # kept\n]\n",
        b"[tool.fixer.verify]\nscript = 'a.py'\n[tool.ruff]\n[tool.fixer]\nignore = ['AMP001']\n",
        b"[[tool.uv.index]]\nname = 'a'\n[tool.fixer]\n[[tool.uv.index]]\nname = 'b'\n",
        b"\xef\xbb\xbf[tool.fixer]\r\nexclude = ['b']\r\n[other]\r\ntext = '''a\r\nb'''\r\n",
    ],
)
def test_it_holds_and_all_else_stays(before: bytes, setting: LeftOut) -> None:
    after = with_settings(before, [setting])
    assert setting.stands_in(read_config(after.decode("utf-8-sig"), "pyproject.toml"))
    assert after.startswith(before[:3]) and after.count(b"\r\n") in (0, after.count(b"\n"))
    assert with_settings(after, [setting]) == after
    kept = [line for line in before.splitlines() if b"ignore" not in line and b"fixer" not in line]
    assert [line for line in after.splitlines() if line in kept] == kept


def test_line_endings_that_are_mixed_stay() -> None:
    before = b"[project]\nname = 'x'\r\ntext = '''a\nb'''\n[tool.fixer]\n"
    assert with_settings(before, [EVERYWHERE]) == before + b'ignore = ["LIT101"]\n'


@pytest.mark.parametrize(
    "before",
    [
        b"[project]\nname = 'x'\nname = 'y'\n",
        b"[project]\nauthors = 'Andr\xe9'\n",
        b"tool = 1\n",
        b"[tool.fixer]\nignore = [\n'AMP001'\n# tomlkit puts no comma in front of this\n]\n",
    ],
)
def test_what_cannot_be_added_to_is_told(before: bytes) -> None:
    with pytest.raises(UsageError, match=r'fixer cannot add to; write yourself: ignore = \["LIT101"\]'):
        with_settings(before, [EVERYWHERE])
