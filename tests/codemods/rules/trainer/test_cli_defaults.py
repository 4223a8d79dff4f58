"""What LightningCLI gives its Trainer where no configuration says otherwise."""

from __future__ import annotations

import pytest
from lightning.pytorch import Trainer

from codemods.rule import Rule
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning.cli import LightningCLI\n\nfrom net import Net\n\n"
NET = "from pytorch_lightning import LightningModule\n\n\nclass Net(LightningModule):\n    pass\n"
RULES = tuple(map(rule, ("LIT101", "LIT110", "LIT111")))


def made(text: str, *rules: Rule) -> str:
    files = {"main.py": HEAD + text, "net.py": NET}
    after = rewritten(files, *(rules or RULES)).get("main.py", HEAD + text)
    assert run_rules({**files, "main.py": after}, *RULES).changes == ()
    return after.removeprefix(HEAD)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"gpus": 2}', '{"accelerator": "gpu", "devices": 2}'),
        ("dict(gpus=2, max_epochs=1)", 'dict(accelerator="gpu", devices=2, max_epochs=1)'),
        ('{"checkpoint_callback": False}', '{"enable_checkpointing": False}'),
        ('{"replace_sampler_ddp": False}', '{"use_distributed_sampler": False}'),
    ],
)
def test_its_keys_are_arguments_of_a_trainer(before: str, after: str) -> None:
    assert made(f"cli = LightningCLI(Net, trainer_defaults={before})\n") == (
        f"cli = LightningCLI(Net, trainer_defaults={after})\n"
    )
    Trainer(**{**eval(after), "accelerator": "cpu"}, logger=False)


def test_a_class_of_the_project_hands_them_on() -> None:
    before = (
        "class Cli(LightningCLI):\n    def __init__(self, **kwargs):\n"
        '        super().__init__(Net, trainer_defaults={"gpus": 1}, **kwargs)\n'
    )
    assert '{"accelerator": "gpu", "devices": 1}' in made(before)
    assert '{"accelerator": "gpu", "devices": 1}' in made(
        'class Cli(LightningCLI):\n    pass\n\n\nCli(Net, trainer_defaults={"gpus": 1})\n'
    )


def test_callbacks_go_to_the_dictionary_and_not_to_the_command_line() -> None:
    after = made('LightningCLI(Net, trainer_defaults={"progress_bar_refresh_rate": 5})\n')
    assert 'trainer_defaults={"callbacks": [TQDMProgressBar(refresh_rate=5)]})' in after
    beside = made('LightningCLI(Net, trainer_defaults={"progress_bar_refresh_rate": 5, "callbacks": []})\n')
    assert 'trainer_defaults={"callbacks": [TQDMProgressBar(refresh_rate=5)]})' in beside


def test_an_instance_is_no_default() -> None:
    """jsonargparse 4.39 to 4.53: Subclass types require as default either a dict with class_path or a lazy instance."""
    head = "from pytorch_lightning.loggers import CSVLogger\nfrom pytorch_lightning.plugins import DDPPlugin\n"
    plugin = 'LightningCLI(Net, trainer_defaults={"plugins": DDPPlugin(find_unused_parameters=False)})\n'
    reasons = refusals({"main.py": f"{head}{HEAD}{plugin}", "net.py": NET}, "LIT111")
    path = '"class_path": "lightning.pytorch.strategies.DDPStrategy", "init_args": {"find_unused_parameters": False}'
    assert len(reasons) == 2 and all(f'write "strategy": {{{path}}}' in reason for reason in reasons)
    logger = 'LightningCLI(Net, trainer_defaults={"logger": CSVLogger("a"), "callbacks": [Net.own()]})\n'
    (reason,) = refusals({"main.py": f"{head}{HEAD}{logger}", "net.py": NET}, "LIT131")
    assert 'Write "logger": {"class_path": "....CSVLogger", "init_args": {...}}' in reason
    listed = logger.replace('CSVLogger("a")', '[CSVLogger("a")]')
    assert refusals({"main.py": f"{head}{HEAD}{listed}", "net.py": NET}, "LIT131") == []


@pytest.mark.parametrize("path", ["config/train.yaml", "README.md", "run.sh"])
def test_what_another_file_may_say_wins(path: str) -> None:
    text = 'LightningCLI(Net, trainer_defaults={"gpus": 2})\n'
    files = {"main.py": HEAD + text, "net.py": NET, path: "trainer:\n  gpus: null\n"}
    assert rewritten(files, rule("LIT101"))["main.py"] == HEAD + text
    assert '"devices": 2' in rewritten(files, rule("LIT101"), unsafe=True)["main.py"]


def test_a_trainer_of_the_project_may_have_such_an_argument() -> None:
    text = (
        "from pytorch_lightning import Trainer\n\n\nclass Own(Trainer):\n"
        "    def __init__(self, trainer_defaults=None, **kwargs):\n        super().__init__(**kwargs)\n\n\n"
        'Own(trainer_defaults={"gpus": 1}, gpus=2)\n'
    )
    after = rewritten({"main.py": text}, rule("LIT101"), unsafe=True)["main.py"]
    assert 'Own(trainer_defaults={"gpus": 1}, accelerator="gpu", devices=2)' in after


def test_a_plugin_in_a_dictionary_of_a_trainer() -> None:
    text = (
        "from pytorch_lightning import Trainer\nfrom pytorch_lightning.plugins import DDPPlugin\n\n"
        "options = dict(plugins=[DDPPlugin(find_unused_parameters=True)], max_epochs=1)\nTrainer(**options)\n"
    )
    after = rewritten({"main.py": text}, rule("LIT111"))["main.py"]
    assert "from pytorch_lightning.strategies import DDPStrategy\n" in after and "DDPPlugin" not in after
    assert "options = dict(strategy=DDPStrategy(find_unused_parameters=True), max_epochs=1)" in after


@pytest.mark.parametrize(
    "text",
    [
        'def build(trainer_defaults):\n    return trainer_defaults\n\n\nbuild(trainer_defaults={"gpus": 2})\n',
        'class LightningCLI:\n    pass\n\n\nLightningCLI(trainer_defaults={"gpus": 2})\n',
    ],
)
def test_another_function_may_call_its_argument_so(text: str) -> None:
    assert run_rules({"main.py": text}, *RULES).findings == ()


def test_what_cannot_be_seen_is_said() -> None:
    text = 'LightningCLI(Net, trainer_defaults={**more, "gpus": count})\n'
    assert made(text) == text
    assert refusals({"main.py": HEAD + text, "net.py": NET}, "LIT101")


def test_the_trainer_is_not_the_command_line() -> None:
    """`cli.tune` is no method of a Trainer, and the subcommand `tune` obeyed the flag."""
    text = 'cli = LightningCLI(Net, trainer_defaults={"auto_lr_find": True, "resume_from_checkpoint": "a"})\n'
    assert made(text, rule("LIT112"), rule("LIT113")) == text
    assert refusals({"main.py": HEAD + text, "net.py": NET}, "LIT112")
