"""Names that companions of Lightning have no more: a package of ours that is made as transformers is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from verify.harness import companions

PACKAGE = """
import sys, types

class Lazy(types.ModuleType):
    def __getattr__(self, name):
        if name != "there":
            raise AttributeError(f"module {self.__name__} has no attribute {name}")
        return 1

made = Lazy(__name__)
made.__path__, made.__spec__ = __path__, __spec__
sys.modules[__name__] = made
"""


@pytest.mark.parametrize("has", [False, True])
def test_adamw_is_lent_where_it_is_gone(has: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "transformers"
    package.mkdir()
    own = "made.AdamW = 'its own'\n" if has else ""
    (package / "__init__.py").write_text(PACKAGE + own)
    (package / "optimization.py").write_text("AdamW = 'its own'\n" if has else "")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in ("transformers", "transformers.optimization"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    used: dict[str, None] = {}
    companions.lend(used)
    names: dict[str, object] = {"__name__": "train"}
    exec("from transformers import AdamW, there\nfrom transformers.optimization import AdamW as Other", names)
    with pytest.raises(ImportError):
        exec("from transformers import Adafactor", names)
    assert names["AdamW"] == names["Other"] == ("its own" if has else companions._adamw())
    assert list(used) == ([] if has else ["transformers.AdamW to train"])


def test_it_decays_nothing_unless_it_is_told() -> None:
    layer = torch.nn.Linear(2, 1)
    optimizer = companions._adamw()(layer.parameters(), lr=0.1)
    layer(torch.ones(1, 2)).sum().backward()
    before = layer.weight.detach().clone()
    optimizer.step()
    assert torch.allclose(before - layer.weight, torch.full((1, 2), 0.1), atol=1e-4)
    with pytest.raises(TypeError):
        companions._adamw()(layer.parameters(), rate=0.1)
