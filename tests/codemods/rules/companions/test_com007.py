from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from codemods.rules.companions.com007 import AFTER, BEFORE, RULE
from tests.codemods.support import run_rules

HEAD = "import yaml\n"


def after(text: str) -> tuple[str, list[str]]:
    """What becomes of a text, and the levels of what is found."""
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.bugs == ()
    return made.final().get("train.py", text.encode()).decode(), [finding.fix for finding in made.findings]


def test_the_installed_release_refuses_what_is_found_and_takes_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("lr: 0.1\nsizes: [1, 2]\n")
    old: dict[str, object] = {}
    new: dict[str, object] = {}
    exec(BEFORE, old)
    exec(AFTER, new)
    with pytest.raises(TypeError, match="Loader"):
        old["configuration"](path)  # type: ignore[operator]
    assert new["configuration"](path) == yaml.safe_load(path.read_text())  # type: ignore[operator]


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("yaml.load(f)", "yaml.load(f, Loader=yaml.FullLoader)"),
        ("yaml.load(stream=f)", "yaml.load(stream=f, Loader=yaml.FullLoader)"),
        ("yaml.load(open(path).read())['a']", "yaml.load(open(path).read(), Loader=yaml.FullLoader)['a']"),
        ("list(yaml.load_all(f))", "list(yaml.load_all(f, Loader=yaml.FullLoader))"),
    ],
)
def test_it_is_told_what_it_took_before(call: str, wanted: str) -> None:
    assert after(f"{HEAD}x = {call}\n") == (f"{HEAD}x = {wanted}\n", ["safe"])
    assert after(f"{HEAD}x = {wanted}\n") == (f"{HEAD}x = {wanted}\n", [])
    named = f"import yaml as y\nx = {call.replace('yaml', 'y')}\n"
    assert after(named) == (f"import yaml as y\nx = {wanted.replace('yaml', 'y')}\n", ["safe"])


def test_a_function_by_its_own_name_is_said() -> None:
    text = "from yaml import load\nx = load(f)\n"
    assert after(text) == (text, ["manual"])


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}yaml.load(f, yaml.SafeLoader)\n",
        f"{HEAD}yaml.load(f, Loader=mine)\n",
        f"{HEAD}yaml.load(f, **options)\n",
        f"{HEAD}yaml.load(*given)\n",
        f"{HEAD}yaml.safe_load(f)\n",
        "from ruamel import yaml\nyaml.load(f)\n",
        "from ruamel.yaml import YAML\nyaml = YAML()\nyaml.load(f)\n",
        "import torch\ntorch.load(f)\n",
        f"{HEAD}\n\ndef read(yaml, f):\n    return yaml.load(f)\n",
    ],
)
def test_what_is_told_and_what_is_another_stays(text: str) -> None:
    assert after(text) == (text, [])


@pytest.mark.parametrize(("pin", "found"), [("PyYAML==5.4.1", True), ("pyyaml", True), ("pyyaml==3.13", False)])
def test_a_release_that_has_no_such_loader_is_left_alone(pin: str, found: bool) -> None:
    made = run_rules({"train.py": f"{HEAD}yaml.load(f)\n"}, RULE, pins=(pin,))
    assert bool(made.findings) is found


def test_tags_of_python_in_the_projects_files_make_it_uncertain() -> None:
    files = {"train.py": f"{HEAD}yaml.load(f)\n", "a.yaml": "args: !!python/object:argparse.Namespace {}\n"}
    assert [finding.fix for finding in run_rules(files, RULE, unsafe=True).findings] == ["unsafe"]
