"""AMP004: the present names of autocast and GradScaler, their levels, and what stays."""

from __future__ import annotations

import ast
import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from codemods.rules.autocast.spelling import _PARAMETERS, OLD
from tests.codemods.amp import after, amp, levels, run_programs
from tests.codemods.support import rule, run_rules

CODE = "AMP004"
PIN = "torch>=2.4"


def rewrite(call: str, head: str = "import torch\n") -> str:
    text = f"{head}with {call}:\n    pass\n"
    made = after(text, CODE, PIN)
    return made[made.index("with ") + 5 : made.rindex(":\n    pass")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda")'),
        ("torch.cuda.amp.autocast(use)", 'torch.amp.autocast("cuda", enabled=use)'),
        ("torch.cuda.amp.autocast(use, half)", 'torch.amp.autocast("cuda", enabled=use, dtype=half)'),
        ("torch.cuda.amp.autocast(a, b, c)", 'torch.amp.autocast("cuda", enabled=a, dtype=b, cache_enabled=c)'),
        ("torch.cuda.amp.autocast(enabled=use)", 'torch.amp.autocast("cuda", enabled=use)'),
        ("torch.cuda.amp.autocast(**given)", 'torch.amp.autocast("cuda", **given)'),
        ("torch.cpu.amp.autocast(dtype=half)", 'torch.amp.autocast("cpu", dtype=half)'),
        ("torch.cuda.amp.autocast_mode.autocast()", 'torch.amp.autocast("cuda")'),
        ("torch.cuda.amp.GradScaler(2.0, enabled=use)", 'torch.amp.GradScaler("cuda", 2.0, enabled=use)'),
        ("torch.cpu.amp.GradScaler()", 'torch.amp.GradScaler("cpu")'),
    ],
)
def test_calls(old: str, new: str) -> None:
    assert rewrite(old) == new


@pytest.mark.parametrize(
    ("head", "call", "imported", "new"),
    [
        ("from torch.cuda.amp import autocast\n", "autocast(use)", "torch.amp import autocast", "autocast"),
        ("from torch.cuda.amp import autocast as ac\n", "ac(use)", "torch.amp import autocast as ac", "ac"),
        ("from torch.cuda import amp\n", "amp.autocast(use)", "from torch import amp", "amp.autocast"),
        ("import torch.cuda.amp as amp\n", "amp.autocast(use)", "import torch.amp as amp", "amp.autocast"),
        ("import torch.cuda.amp\n", "torch.cuda.amp.autocast(use)", "import torch.cuda.amp", "torch.amp.autocast"),
    ],
)
def test_imports(head: str, call: str, imported: str, new: str) -> None:
    made = after(f"{head}with {call}:\n    pass\n", CODE, PIN)
    assert imported in made.splitlines()[0]
    assert f'with {new}("cuda", enabled=use):' in made
    assert after(made, CODE, PIN) == made


def test_an_import_of_more_is_divided() -> None:
    text = "from torch.cuda.amp import autocast, custom_fwd\n\nwith autocast():\n    custom_fwd(print)\n"
    made = after(text, CODE, PIN)
    assert made.splitlines()[:2] == ["from torch.cuda.amp import custom_fwd", "from torch.amp import autocast"]


def test_a_multi_line_call_keeps_its_lines() -> None:
    text = "import torch\n\nctx = torch.cuda.amp.autocast(\n    enabled=use,  # on GPUs\n    dtype=half,\n)\n"
    made = after(text, CODE, PIN)
    assert '"cuda"' in made and "    enabled=use,  # on GPUs\n    dtype=half,\n)" in made


@pytest.mark.parametrize(
    ("call", "new"),
    [
        ("torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda", dtype=torch.float16)'),
        ("torch.cuda.amp.autocast(use)", 'torch.amp.autocast("cuda", dtype=torch.float16, enabled=use)'),
        ("torch.cuda.amp.autocast(enabled=False)", 'torch.amp.autocast("cuda", enabled=False)'),
        ("torch.cuda.amp.autocast(dtype=half)", 'torch.amp.autocast("cuda", dtype=half)'),
        ("torch.cpu.amp.autocast()", 'torch.amp.autocast("cpu")'),
    ],
)
def test_float16_is_written_out_beside_bfloat16(call: str, new: str) -> None:
    text = f"import torch\n\nother = torch.bfloat16\nctx = {call}\n"
    assert f"ctx = {new}\n" in after(text, CODE, PIN)


def test_the_old_cuda_context_is_float16_by_itself() -> None:
    """Why float16 is written out: in a region of bfloat16 the new name takes bfloat16."""
    with warnings.catch_warnings(), torch.autocast("cuda", dtype=torch.bfloat16):
        warnings.simplefilter("ignore")
        assert torch.cuda.amp.autocast().fast_dtype is torch.float16
        assert torch.amp.autocast("cuda").fast_dtype is torch.bfloat16
        assert torch.amp.autocast("cuda", dtype=torch.float16).fast_dtype is torch.float16


@pytest.mark.parametrize(
    ("pins", "level"),
    [
        (("torch>=2.4",), "safe"),
        (("torch==2.13.0",), "safe"),
        (("torch>=2.2",), "unsafe"),
        ((), "unsafe"),
        (("torch<2.4",), None),
        (("torch==1.13.1",), None),
    ],
)
def test_levels_of_a_scaler(pins: tuple[str, ...], level: str | None) -> None:
    found = [fix for _, fix in levels("import torch\n\ntorch.cuda.amp.GradScaler()\n", CODE, *pins)]
    assert found == ([level] if level else [])


@pytest.mark.parametrize(
    ("pins", "more", "level"),
    [
        (("torch>=1.13",), "", "safe"),
        (("torch>=1.7",), "", "unsafe"),
        ((), "", "unsafe"),
        ((), "from lightning.pytorch import Trainer\n", "safe"),
        ((), "net = torch.compile(net)\n", "safe"),
    ],
)
def test_levels_of_autocast(pins: tuple[str, ...], more: str, level: str) -> None:
    text = f"import torch\n\n{more}torch.cuda.amp.autocast()\n"
    assert [fix for _, fix in levels(text, CODE, *pins)] == [level]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n\ntorch.cuda.amp.autocast(*given)\n",
        "import torch\n\nother = torch.bfloat16\ntorch.cuda.amp.autocast(**given)\n",
        "from torch.cuda.amp import autocast\n\nchosen = autocast if half else None\nautocast()\n",
        "from torch.cuda.amp import autocast\n\nautocast()\nregister(autocast)\n",
        "from torch.cuda.amp import autocast\n\nregister(context=autocast)\n",
        "from torch.cuda.amp import autocast\n\n\ndef scope():\n    return autocast\n",
        "from torch.cuda.amp import autocast\n\nSCOPES = {'half': autocast}\n",
        "import torch\n\nmodel.scope = torch.cuda.amp.autocast\n",
        "import torch\n\nchosen = scope or torch.cuda.amp.autocast\n",
    ],
)
def test_left_to_a_person(text: str) -> None:
    assert {fix for _, fix in levels(text, CODE, PIN)} == {"manual"}


BOTH = """try:
    from torch.amp import autocast
except ImportError:
    from torch.cuda.amp import autocast

autocast("cuda")
"""


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n\ntorch.amp.autocast('cuda')\n",
        "import torch\n\ntorch.autocast('cuda')\n",
        "from cluster.cuda.amp import autocast\n\nautocast()\n",
        BOTH,
        "from cluster.cuda.amp import autocast\n\nmodel.scope = autocast\n",
        "import torch\n\nmodel.scope = torch.autocast\n",
        "import torch\n\ntorch.cuda.amp.common.amp_definitely_not_available()\n",
    ],
)
def test_trap_stays(text: str) -> None:
    assert levels(text, CODE, PIN) == []


@pytest.mark.parametrize("taken", ["from model import autocast", "from model import *\n\nprint(autocast)"])
def test_a_name_that_others_import_stays(taken: str) -> None:
    text = "from torch.cuda.amp import autocast\n\nautocast()\n"
    other = f"{taken}\n"
    assert {item.fix for item in amp(text, CODE, PIN, other=other).findings} == {"manual"}


def test_targets_exist_and_take_what_they_are_given() -> None:
    assert tuple(inspect.signature(torch.cuda.amp.autocast.__init__).parameters)[1:] == _PARAMETERS
    new = inspect.signature(torch.amp.autocast.__init__).parameters
    assert tuple(new)[1] == "device_type" and set(_PARAMETERS) <= set(new)
    old_scaler = tuple(inspect.signature(torch.cuda.amp.GradScaler.__init__).parameters)[1:]
    assert tuple(inspect.signature(torch.amp.GradScaler.__init__).parameters)[1:] == ("device", *old_scaler)
    for device, name in OLD.values():
        assert hasattr(getattr(torch, device).amp, name) and hasattr(torch.amp, name)


FUNCTION = """{head}


class Twice(torch.autograd.Function):
    @staticmethod
    @{fwd}
    def forward(ctx, x):
        return x * 2

    @staticmethod
    @{bwd}
    def backward(ctx, g):
        return g * 2
"""


@pytest.mark.parametrize(
    ("head", "module"),
    [
        ("import torch", "torch.cuda.amp."),
        ("import torch", "torch.cuda.amp.autocast_mode."),
        ("import torch.cuda.amp", "torch.cuda.amp."),
        ("import torch\nfrom torch.cuda.amp import custom_bwd, custom_fwd", ""),
        ("import torch\nfrom torch.cuda.amp.autocast_mode import custom_bwd, custom_fwd", ""),
    ],
)
def test_decorators_of_autograd_functions_get_their_device(head: str, module: str) -> None:
    text = FUNCTION.format(head=head, fwd=f"{module}custom_fwd(cast_inputs=torch.half)", bwd=f"{module}custom_bwd")
    new = "torch.amp." if module else ""
    assert after(text, CODE, PIN) == FUNCTION.format(
        head=head.replace("torch.cuda.amp.autocast_mode", "torch.amp").replace("from torch.cuda.amp", "from torch.amp"),
        fwd=f'{new}custom_fwd(cast_inputs=torch.half, device_type="cuda")',
        bwd=f'{new}custom_bwd(device_type="cuda")',
    )
    assert [level for _, level in levels(text, CODE, "torch>=2.0")] == ["unsafe", "unsafe"]
    called = text.replace("custom_bwd\n    def", "custom_bwd()\n    def")
    assert 'custom_bwd(device_type="cuda")\n    def' in after(called, CODE, PIN)


def test_a_decorator_that_is_imported_and_not_used_moves_along() -> None:
    text = """from torch.cuda.amp import custom_bwd, custom_fwd


@custom_bwd
def backward(ctx, g):
    return g
"""
    wanted = text.replace("torch.cuda.amp", "torch.amp").replace("@custom_bwd", '@custom_bwd(device_type="cuda")')
    assert after(text, CODE, PIN) == wanted


def test_the_new_decorators_are_the_old_ones() -> None:
    with pytest.warns(FutureWarning, match="custom_fwd"):
        old = torch.cuda.amp.custom_fwd(cast_inputs=torch.half)
    new = torch.amp.custom_fwd(cast_inputs=torch.half, device_type="cuda")
    assert (old.func, old.keywords) == (new.func, new.keywords)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("head", "extra"),
    [
        ("from torch.cuda.amp import GradScaler, custom_bwd, custom_fwd", ""),
        ("from torch.cuda.amp import custom_bwd, custom_fwd as custom_fwd", ""),
        ("from torch.cuda.amp import custom_bwd, custom_fwd", "kept = custom_fwd\n"),
    ],
)
def test_decorators_whose_import_holds_more_are_named(head: str, extra: str) -> None:
    text = FUNCTION.format(head=f"import torch\n{head}", fwd="custom_fwd", bwd="custom_bwd") + extra
    found = [item for item in amp(text, CODE, PIN).findings if "custom_" in item.message]
    assert [item.fix for item in found] == ["manual", "manual"]
    assert after(text, CODE, PIN) == text


def test_a_decorator_starts_with_the_name_that_torch_has() -> None:
    text = "import torch as th\n\n\n@th.cuda.amp.custom_bwd\ndef backward(ctx, g):\n    return g\n"
    wanted = text.replace("th.cuda.amp.custom_bwd", 'th.amp.custom_bwd(device_type="cuda")')
    assert after(text, CODE, PIN) == wanted
    exec(wanted, {})


@pytest.mark.parametrize(
    ("head", "module"),
    [
        ("from torch.cuda import amp", "amp"),
        ("import torch.cuda.amp as amp", "amp"),
        ("from torch import cuda", "cuda.amp"),
    ],
)
def test_a_decorator_of_a_module_by_another_name_is_named(head: str, module: str) -> None:
    fwd, bwd = f"{module}.custom_fwd", f"{module}.custom_bwd"
    text = FUNCTION.format(head=f"import torch\n{head}", fwd=fwd, bwd=bwd)
    assert [level for _, level in levels(text, CODE, PIN)] == ["manual", "manual"]


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("a.py", "from a import custom_fwd\n"),
        ("a.py", "from a import *\n\nprint(custom_fwd)\n"),
        ("a/__init__.py", ""),
    ],
)
def test_a_decorator_that_others_have_from_here_is_named(path: str, other: str) -> None:
    head = "import torch\nfrom torch.cuda.amp import custom_bwd, custom_fwd"
    text = FUNCTION.format(head=head, fwd="custom_fwd", bwd="custom_bwd")
    found = run_rules({path: text, "b.py": other}, rule(CODE), pins=(PIN,)).findings
    assert [item.fix for item in found] == ["manual", "manual"]
    alone = run_rules({"a.py": text, "b.py": "import torch\n"}, rule(CODE), pins=(PIN,)).findings
    assert [item.fix for item in alone] == ["safe", "safe"]


def test_decorators_for_another_device_run_and_stay() -> None:
    new = FUNCTION.format(
        head="import torch",
        fwd='torch.amp.custom_fwd(device_type="cpu")',
        bwd='torch.amp.custom_bwd(device_type="cpu")',
    )
    space: dict[str, Any] = {}
    exec(new, space)
    x = torch.ones(2, requires_grad=True)
    space["Twice"].apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0]
    assert levels(new, CODE, PIN) == []


def test_the_program_computes_the_same(tmp_path: Path) -> None:
    text = """import torch

net = torch.nn.Linear(4, 4)
trained(net)
scaler = torch.cpu.amp.GradScaler(4.0)
with torch.cpu.amp.autocast(True, torch.bfloat16):
    y = seen(net(torch.rand(2, 4)))
scaler.scale(y.float().sum()).backward()
"""
    made = run_programs({"old": text, "new": after(text, CODE, PIN)}, tmp_path)
    assert made["old"].forwards == made["new"].forwards and made["new"].failure is None
    assert ast.dump(ast.parse(after(text, CODE, PIN))) != ast.dump(ast.parse(text))
