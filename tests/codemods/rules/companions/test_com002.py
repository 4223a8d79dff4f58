from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codemods.finding import Finding
from codemods.lightning.pins.stated import pins_of
from codemods.rules.companions.com002 import KEPT, RULE
from tests.codemods.support import run_rules, sources

HEAD = "import numpy as np\n"


def rewritten(text: str, *, unsafe: bool = False) -> str:
    made = run_rules({"train.py": text}, RULE, unsafe=unsafe)
    assert made.bugs == ()
    return made.final().get("train.py", text.encode()).decode()


def found(text: str) -> tuple[Finding, ...]:
    return run_rules({"train.py": text}, RULE).findings


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("np.float(3)", "float(3)"),
        ("np.zeros(3, dtype=np.int)", "np.zeros(3, dtype=int)"),
        ("np.array([1], dtype=np.object)", "np.array([1], dtype=object)"),
        ("np.infty", "np.inf"),
        ("np.float_(2)", "np.float64(2)"),
        ("np.product([2, 3])", "np.prod([2, 3])"),
        ("'größer', np.float(1)", "'größer', float(1)"),
        ("(np.int(1),\n     np.NaN)", "(int(1),\n     np.nan)"),
    ],
)
def test_what_it_was_goes_on_with_the_newest_numpy(before: str, after: str) -> None:
    text = f"{HEAD}x = {before}\n"
    with pytest.raises(AttributeError):
        exec(text, {})
    assert rewritten(text) == f"{HEAD}x = {after}\n".removeprefix("" if "np." in after else HEAD)
    space: dict[str, Any] = {}
    exec(rewritten(text), space)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_lines_and_columns_are_those_of_the_text(line_end: str) -> None:
    text = f"{HEAD}é = 'ü'; x = np.float(1); y = np.float(2)\nz = np.Inf\n".replace("\n", line_end)
    wanted = text.replace("np.float", "float").replace("np.Inf", "np.inf")
    made = run_rules({"train.py": text}, RULE)
    assert made.final()["train.py"] == wanted.encode()


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nx = np.float32(1), np.bool_(1), np.inf, np.prod([1])\n",
        "from mine import numpy as np\nx = np.float(1)\n",
        "import numpy as np\nnp = mine\nx = np.float(1)\n",
        "import numpy as np\nif not hasattr(np, 'float'):\n    np.float = float\nx = np.float(1)\n",
        "def shim():\n    import numpy\n\n    numpy.Inf = numpy.inf\n",
        "def f(np):\n    # numpy\n    return np.float(1)\n",
        "import numpy as np\nx = 'np.float'  # np.int\n",
        "import numpy as np\nx = isinstance(y, np.bool)\n",
        "import jax.numpy as np  # numpy\nx = np.float(1)\n",
    ],
)
def test_what_is_there_or_not_numpy_s_stays(code: str) -> None:
    assert found(code) == ()


def test_names_that_are_not_asked_about_are_there() -> None:
    assert [name for name in KEPT if not hasattr(np, name)] == []


def test_what_has_no_place_to_go_is_named() -> None:
    (item,) = found(f"{HEAD}x = np.cast['f'](1)\n")
    assert item.fix == "manual" and "np.cast" in item.reason
    assert item.reason.endswith(".") and not item.reason.endswith("..")


POETRY = '[tool.poetry.dependencies]\npython = "^3.10"\nlightning = "*"\nnumpy = "{}"\n'


@pytest.mark.parametrize(
    ("manifests", "gone"),
    [
        ({"pyproject.toml": POETRY.format("<2")}, ["np.float"]),
        ({"pyproject.toml": POETRY.format("^1.26")}, ["np.float"]),
        ({"pyproject.toml": POETRY.format("~1.22")}, []),
        ({"pyproject.toml": POETRY.format(">=1.20")}, ["np.float", "np.Inf"]),
        ({"requirements.txt": "lightning\nnumpy==1.21.6\n"}, []),
        ({"requirements.txt": "lightning\nnumpy\n"}, ["np.float", "np.Inf"]),
        ({"requirements.txt": "numpy~=1.22.0\n", "setup.py": "setup(install_requires=['lightning'])\n"}, []),
        ({"requirements.txt": "lightning\nnumpy<2\n", "dev/requirements.txt": "lightning\nnumpy\n"}, ["np.float"]),
        (
            {"requirements.txt": "lightning\nnumpy<2\n", "dev/requirements.txt": "torch\nnumpy>=2\n"},
            ["np.float", "np.Inf"],
        ),
    ],
)
def test_names_are_gone_in_the_releases_that_the_project_admits(manifests: dict[str, str], gone: list[str]) -> None:
    files = {"train.py": f"{HEAD}x = np.float(1), np.Inf\n", **manifests}
    made = run_rules(files, RULE, pins=pins_of(sources(files)))
    assert [finding.message.split("`")[1] for finding in made.findings] == gone
