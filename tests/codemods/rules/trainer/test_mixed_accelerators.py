"""LIT101: `accelerator=` that names hardware at times and a strategy at others, beside `gpus=`."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n\n"
RULES = (rule("LIT101"), rule("LIT111"))
EARLY = ("pytorch-lightning==1.5.10",)
LAST = ("pytorch-lightning==1.6.5",)


def after(given: str, pins: tuple[str, ...] = EARLY, before: str = "n = int(x)\n", unsafe: bool = False) -> str:
    """What a call with those arguments becomes, behind some lines."""
    text = f"{HEAD}{before}Trainer({given})\n"
    made = run_rules({"train.py": text}, *RULES, unsafe=unsafe, pins=pins)
    assert made.bugs == ()
    return made.final().get("train.py", text.encode()).decode().removeprefix(f"{HEAD}{before}Trainer(")[:-2]


@pytest.mark.parametrize("pins", [EARLY, LAST, ()])
@pytest.mark.parametrize(
    ("accelerator", "strategy"),
    [
        ("'cpu' if n == 0 else 'ddp'", "'auto' if n == 0 else 'ddp'"),
        ("'cpu' if not n else 'ddp_spawn'", "'auto' if not n else 'ddp_spawn'"),
        ("'ddp' if n else 'cpu'", "'ddp' if n else 'auto'"),
        ("'ddp_cpu' if n == 0 else 'ddp'", "'ddp_spawn' if n == 0 else 'ddp'"),
        ("'cpu' if n == 0 else 'ddp' if m else None", "'auto' if n == 0 else 'ddp' if m else 'auto'"),
    ],
)
def test_the_cpu_where_no_gpus_are_asked_for(pins: tuple[str, ...], accelerator: str, strategy: str) -> None:
    wanted = f'devices=n or 1, strategy={strategy}, accelerator="gpu" if n else "cpu"'
    assert after(f"gpus=n, accelerator={accelerator}", pins) == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (
            "gpus=n, accelerator='ddp' if n > 1 else 'gpu'",
            "devices=n or 1, strategy='ddp' if n > 1 else 'auto', accelerator=\"gpu\" if n else \"cpu\"",
        ),
        ("gpus=n, accelerator='gpu' if n else None", 'devices=n or 1, accelerator="gpu" if n else "cpu"'),
        (
            "gpus=n, accelerator='ddp' if n > 0 else 'cpu'",
            "devices=n if n > 0 else 1, strategy='ddp' if n > 0 else 'auto', accelerator=\"gpu\" if n > 0 else \"cpu\"",
        ),
        (
            "gpus=2, accelerator='cpu' if a.cpu else 'ddp'",
            "devices=1 if a.cpu else 2, strategy='auto' if a.cpu else 'ddp', accelerator=\"cpu\" if a.cpu else \"gpu\"",
        ),
        (
            "gpus=n, accelerator='ddp' if m and k else 'cpu'",
            "devices=1 if not (m and k) else n or 1, strategy='ddp' if m and k else 'auto', "
            'accelerator="cpu" if not (m and k) else "gpu" if n else "cpu"',
        ),
        ("gpus=0, accelerator='cpu' if m else 'ddp'", "strategy='auto' if m else 'ddp', accelerator=\"cpu\""),
    ],
)
def test_choices_of_several_kinds(given: str, wanted: str) -> None:
    assert after(given) == wanted


BOUND = "n = int(x)\nif m:\n    acc = 'cpu'\nelif n > 1:\n    acc = 'ddp'\nelse:\n    acc = {}\n"


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        (
            "None",
            'devices=1 if acc == "cpu" else n or 1, strategy="auto" if acc in (None, "cpu") else acc, '
            'accelerator="cpu" if acc == "cpu" else "gpu" if n else "cpu"',
        ),
        (
            "'gpu'",
            'devices=1 if acc == "cpu" else n or 1, strategy="auto" if acc in ("cpu", "gpu") else acc, '
            'accelerator="cpu" if acc == "cpu" else "gpu" if n else "cpu"',
        ),
    ],
)
def test_names_bound_to_several_kinds(last: str, wanted: str) -> None:
    assert after("gpus=n, accelerator=acc", before=BOUND.format(last)) == wanted


@pytest.mark.parametrize("test", ["n == 0", "n > 1", "m"])
@pytest.mark.parametrize("kinds", [("cpu", "ddp"), ("ddp", "cpu"), ("gpu", "ddp"), ("ddp", "gpu")])
@pytest.mark.parametrize("m", [True, False])
@pytest.mark.parametrize("n", [-1, 0, 1, 2])
def test_what_is_written_asks_for_what_1_5_took(test: str, kinds: tuple[str, str], m: bool, n: int) -> None:
    accelerator = f"'{kinds[0]}' if {test} else '{kinds[1]}'"
    text = after(f"gpus=n, accelerator={accelerator}")
    asked = eval(f"dict({text})", {"n": n, "m": m})
    given = eval(accelerator, {"n": n, "m": m})
    if given == "gpu" and not n:
        return  # an error
    on_cpu = given == "cpu" or not n
    assert asked["accelerator"] == ("cpu" if on_cpu else "gpu")
    assert asked["devices"] == (1 if on_cpu else n)
    assert asked["strategy"] == ("ddp" if given == "ddp" else "auto")


@pytest.mark.parametrize(
    "given",
    ["gpus=n, accelerator='ddp' if n > 1 else 'gpu'", "gpus=2, accelerator='cpu' if m else 'ddp'"],
)
def test_what_1_6_did_otherwise_is_assumed(given: str) -> None:
    assert after(given, LAST) == given
    assert after(given, ()) == given
    assert "strategy=" in after(given, LAST, unsafe=True)


@pytest.mark.parametrize(
    ("given", "before"),
    [
        ("gpus=n, accelerator='cpu' if n == 0 else 'dp'", ""),
        ("gpus=n, accelerator='cpu' if n == 0 else 'horovod'", ""),
        ("gpus=n, accelerator='cpu' if n == 0 else which", ""),
        ("gpus=n, accelerator='cpu' if n == 0 else Own()", ""),
        ("gpus=n, accelerator='ddp' if n else 'cpu' if m else 'ddp_cpu' if k else 'ddp'", ""),
        ("gpus=n, accelerator='cpu' if n == 0 else 'ddp', strategy='ddp'", ""),
        ("gpus=n, accelerator='cpu' if n == 0 else 'ddp', devices=2", ""),
        ("gpus=find(), accelerator='cpu' if n == 0 else 'ddp'", ""),
        ("gpus=n, accelerator=acc", "if m:\n    acc = 'cpu'\nelse:\n    acc = find()\n"),
        ("gpus=n, accelerator=acc", "if m:\n    acc = 'cpu'\nelse:\n    acc = 'dp'\n"),
        ("gpus=n, accelerator=acc", "if m:\n    acc = 'gpu'\nelse:\n    acc = 'tpu'\n"),
    ],
)
def test_what_is_left(given: str, before: str) -> None:
    before = f"n = int(x)\n{before}"
    text = f"{HEAD}{before}Trainer({given})\n"
    made = run_rules({"train.py": text}, *RULES, unsafe=True, pins=EARLY)
    assert made.changes == ()
    assert "manual" in {item.fix for item in made.findings if item.code == "LIT101"}


CONFIGURED = """\
import yaml
from pytorch_lightning import Trainer

with open("conf.yaml") as opened:
    cfg = yaml.safe_load(opened)
trainer = Trainer(gpus=cfg["gpus"], accelerator=cfg["accelerator"])
"""


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (
            ("gpu", "ddp"),
            'devices=cfg["gpus"] or 1, strategy="auto" if cfg[\'accelerator\'] == "gpu" else cfg[\'accelerator\'], '
            'accelerator="gpu" if cfg["gpus"] else "cpu"',
        ),
        (("ddp", "tpu"), ""),
        (("gpu", "dp"), ""),
    ],
)
def test_kinds_that_configurations_give(values: tuple[str, str], wanted: str) -> None:
    files = {"train.py": CONFIGURED, **{f"{each}.yaml": f"accelerator: {each}\ngpus: 2\n" for each in values}}
    made = run_rules(files, *RULES, unsafe=True, pins=EARLY)
    assert made.bugs == ()
    text = made.final().get("train.py", b"").decode()
    assert wanted.replace("'", '"') in text.replace("'", '"')
    assert bool(text) == bool(wanted)


def test_an_option_that_is_gone_by_default_is_named() -> None:
    text = (
        "import argparse\nfrom pytorch_lightning import Trainer\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--accelerator', default='dp')\nparser.add_argument('--n', type=int, default=1)\n"
        "args = parser.parse_args()\nTrainer(gpus=args.n, accelerator=args.accelerator)\n"
    )
    made = run_rules({"train.py": text}, rule("LIT101"), unsafe=True)
    assert made.changes == ()
    assert any('its option is "dp" by default' in item.reason for item in made.findings)
