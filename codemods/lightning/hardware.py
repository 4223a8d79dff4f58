"""How a Trainer is asked what it runs on, for which it and its modules had attributes up to Lightning 1.7."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.spelling import Spelled, spelled_in

_DDP = "strategies.DDPStrategy"
_BELOW: Mapping[str, tuple[bytes, ...]] = {
    "strategies.DeepSpeedStrategy": (b"deepspeed", b"DeepSpeed"),
    "strategies.XLAStrategy": (b"tpu_", b"_tpu", b" tpu", b'"tpu', b"'tpu", b"=tpu", b"xla"),
}
"""The strategies that are a DDPStrategy since 2.0 and for which `use_ddp` was False, with what speaks of them."""
NEVER = "False"
QUESTIONS: Mapping[str, str] = {
    "use_ddp": f"isinstance({{}}.strategy, {_DDP})",
    "use_tpu": "isinstance({}.accelerator, accelerators.XLAAccelerator)",
    "on_tpu": "isinstance({}.accelerator, accelerators.XLAAccelerator)",
    "on_gpu": "isinstance({}.accelerator, accelerators.CUDAAccelerator)",
    "use_single_gpu": "(isinstance({}.accelerator, accelerators.CUDAAccelerator) and {}.num_devices == 1)",
    "num_gpus": "({}.num_devices if isinstance({}.accelerator, accelerators.CUDAAccelerator) else 0)",
    "data_parallel_device_ids": "({}.device_ids if isinstance({}.accelerator, accelerators.CUDAAccelerator) else None)",
    "tpu_cores": "({}.num_devices if isinstance({}.accelerator, accelerators.XLAAccelerator) else 0)",
    "ipus": "0",
    "use_dp": NEVER,
    "use_ddp2": NEVER,
    "use_horovod": NEVER,
    "use_native_amp": "True",
}
"""What asks the same of `{}`, a Trainer of Lightning 2 (`trainer/trainer.py` of 1.6.5,
`trainer/deprecated_api.py` of 1.2.10,
`accelerators/accelerator_connector.py` of 1.0.8, `trainer/distrib_data_parallel.py` of 0.7.6)."""
REASONS: Mapping[str, str] = {
    NEVER: "no Trainer of Lightning 2 does that: delete the code under it",
    "0": "2.x runs on no IPUs",
    "True": "every torch that Lightning 2 runs on has it",
}
MENTIONS = tuple(word for words in _BELOW.values() for word in words)
_NAMED = re.compile(r"(?:strategies|accelerators)\.\w+")


def question(
    file: PythonFile, facts: Facts, node: ast.Attribute, trainer: str, within: tuple[ast.AST, ...]
) -> Spelled | str:
    """What asks of a Trainer, by that text and within some nodes, what an attribute told; or why it cannot be
    written."""
    name = node.attr
    text = QUESTIONS[name]
    if name == "use_ddp":
        text = _but_not(text, [each for each, words in _BELOW.items() if any(map(facts.mentions.get, words))])
    imports: list[tuple[str, str | None]] = []
    for dotted in dict.fromkeys(_NAMED.findall(text)):
        found = spelled_in(file, dotted, within, node.lineno)
        if isinstance(found, str):
            return found
        text = re.sub(rf"(?<!\.)\b{re.escape(dotted)}", found.text, text)
        imports += found.imports
    return Spelled(text.replace("{}", trainer), tuple(imports))


def _but_not(text: str, others: list[str]) -> str:
    if not others:
        return text
    listed = others[0] if len(others) == 1 else f"({', '.join(others)})"
    return f"({text} and not isinstance({{}}.strategy, {listed}))"


def reason_of(name: str) -> str:
    """What is said of an attribute that a question takes the place of."""
    return REASONS.get(QUESTIONS[name], "it has the same value")
