"""`get_progress_bar_dict` of a module, which nothing calls since 1.7."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

HEAD = "from pytorch_lightning import LightningModule\n\n\nclass Net(LightningModule):\n    size = 3\n\n"
HOOK = "    def get_progress_bar_dict(self):\n"
BASE = "        items = super().get_progress_bar_dict()\n"


@pytest.mark.parametrize(
    "body",
    [
        f'{BASE}        items.pop("v_num", None)\n        return items\n',
        f'        """Shorter."""\n{BASE}        del items["v_num"]\n        items.pop("loss")\n        return items\n',
        f'{BASE}        if "v_num" in items:\n            del items["v_num"]\n        return items\n',
        '        items = super(Net, self).get_progress_bar_dict()\n        items.pop("v_num")\n        return items\n',
    ],
)
def test_one_that_only_leaves_items_out_is_deleted_when_asked(body: str) -> None:
    text = f"{HEAD}{HOOK}{body}"
    assert rewritten({"net.py": text}, rule("LIT211"))["net.py"] == text
    after = rewritten({"net.py": text}, rule("LIT211"), unsafe=True)["net.py"]
    assert "get_progress_bar_dict" not in after and "size = 3" in after


@pytest.mark.parametrize(
    "body",
    [
        f'{BASE}        items["lr"] = self.lr\n        return items\n',
        f'{BASE}        if "loss" in items:\n            del items["v_num"]\n        return items\n',
        f'{BASE}        if "v_num" in items:\n            del items["v_num"]\n            y()\n        return items\n',
        f'{BASE}        items.pop("v_num", None)\n        self.shown = items\n        return items\n',
        f'{BASE}        items.pop("v_num", None)\n        return dict(items)\n',
        f"{BASE}        items.pop(self.hidden, None)\n        return items\n",
        f"{BASE}        return items\n",
        '        items = self.other()\n        items.pop("v_num", None)\n        return items\n',
    ],
)
def test_one_that_does_something_else_stays(body: str) -> None:
    assert refusals({"net.py": f"{HEAD}{HOOK}{body}"}, "LIT211")
    text = f"{HEAD}{HOOK}{body}"
    assert rewritten({"net.py": text}, rule("LIT211"), unsafe=True)["net.py"] == text
