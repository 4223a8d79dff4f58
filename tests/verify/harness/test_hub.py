"""What stands in for models and tokenizers of a hub that is not reached: a package of ours that is built as
transformers is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from verify.harness import hub


class Config:
    model_type = "bert"

    def __init__(self) -> None:
        self.num_hidden_layers, self.hidden_size, self.vocab_size, self.num_labels = 12, 768, 30522, 2
        self.num_attention_heads = 12

    @classmethod
    def from_pretrained(cls, name: str, **given: Any) -> Any:
        raise OSError(f"We couldn't connect to 'https://huggingface.co' to load {name}")


class Model:
    config_class = Config

    def __init__(self, config: Config) -> None:
        self.config, self.training = config, True

    def eval(self) -> Model:
        self.training = False
        return self

    @classmethod
    def from_pretrained(cls, name: str, **given: Any) -> Any:
        if Path(name).is_dir():
            return "its own"
        if name == "bert-broken":
            raise ValueError("it is broken")
        if name == "bert-of-5":
            cls.config_class.from_pretrained(name)
        if name.startswith("bert-of"):
            raise OSError(f"{name} does not appear to have a file named pytorch_model.bin or model.safetensors.")
        raise OSError(f"Can't load the model for '{name}'")


class Auto:
    @classmethod
    def from_pretrained(cls, name: str, **given: Any) -> Any:
        raise OSError(f"We couldn't connect to 'https://huggingface.co' to load {name}")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    package: Any = ModuleType("transformers")
    package.AutoConfig = SimpleNamespace(for_model=lambda family: Config())
    monkeypatch.setitem(sys.modules, "transformers", package)
    monkeypatch.setattr(
        hub, "tokenizer", lambda family, **given: SimpleNamespace(pad_token_id=0, family=family, **given)
    )
    for cls, kind in ((Config, "config"), (Model, "model"), (Auto, "model")):
        monkeypatch.setattr(cls, "from_pretrained", cls.__dict__["from_pretrained"])
        hub._changed(SimpleNamespace(Own=cls), ("Own", "NotThere"), kind, found)
    return found


def test_a_model_is_a_small_one_of_its_class_and_width(asked: list[str]) -> None:
    made = Model.from_pretrained("bert-large-uncased", num_labels=7)
    assert isinstance(made, Model) and not made.training
    held = made.config
    assert (held.num_hidden_layers, held.hidden_size, held.vocab_size, held.num_labels) == (2, 1024, 512, 7)
    assert asked == ["bert-large-uncased"]
    assert Config.from_pretrained("bert-base-cased").hidden_size == 768


class Tokens:
    @classmethod
    def from_pretrained(cls, name: str, **given: Any) -> Any:
        raise FileNotFoundError(2, "No such file or directory", "/cache/huggingface/hub/models--a--gpt2/refs/main")


def test_an_empty_cache_is_a_hub_that_is_not_reached_and_tokens_stay_those_that_are_given(asked: list[str]) -> None:
    hub._changed(SimpleNamespace(Own=Tokens), ("Own",), "tokenizer", asked)
    made = Tokens.from_pretrained("a/gpt2", pad_token="<pad>", mask_token=None, use_fast=True)
    assert (made.family, made.pad_token) == ("gpt2", "<pad>")
    assert not hasattr(made, "mask_token") and not hasattr(made, "use_fast")


def test_what_is_here_is_broken_or_unknown_is_left(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "bert").mkdir()
    assert Model.from_pretrained(str(tmp_path / "bert")) == "its own"
    with pytest.raises(ValueError, match="broken"):
        Model.from_pretrained("bert-broken")
    with pytest.raises(OSError, match="couldn't connect"):
        Auto.from_pretrained("someone/something-else")
    assert asked == []


def test_weights_are_not_looked_for_where_the_configuration_stands_in(asked: list[str]) -> None:
    assert Model.from_pretrained("bert-of-5").config.num_hidden_layers == 2
    with pytest.raises(OSError, match="does not appear"):
        Model.from_pretrained("bert-of-somebody")
    assert asked == ["bert-of-5"]


def test_a_class_of_one_family_needs_no_name(asked: list[str]) -> None:
    assert Model.from_pretrained("someone/something-else").config.num_hidden_layers == 2


def test_older_releases_are_given_what_the_configuration_does_not_take(asked: list[str]) -> None:
    given = {"num_labels": 3, "output_loading_info": True, "cache_dir": None, "return_unused_kwargs": True}
    config, left = Config.from_pretrained("bert-base-cased", **given)
    assert (config.num_labels, left) == (3, {"output_loading_info": True})


def test_a_wrong_argument_still_fails(asked: list[str]) -> None:
    with pytest.raises(TypeError):
        Model.from_pretrained()


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("bert-base-uncased", "bert"),
        ("klue/roberta-large", "roberta"),
        ("distilbert-base", "distilbert"),
        ("microsoft/DialoGPT-small", "gpt2"),
        ("google/mt5-small", "t5"),
        ("sentence-transformers/all-MiniLM-L6-v2", "bert"),
        ("google/vit-base-patch16-224", "vit"),
        ("facebook/opt-125m", None),
    ],
)
def test_families_go_by_name(name: str, family: str | None) -> None:
    assert hub._family(name) == family


def test_only_what_transformers_asks_for_is_of_the_hub() -> None:
    inside: Any = SimpleNamespace(f_globals={"__name__": "transformers.utils.hub"})
    other: Any = SimpleNamespace(f_globals={"__name__": "train"})
    gone = OSError("We couldn't connect to 'https://huggingface.co'")
    assert hub.is_asked(gone, ((other, 1), (inside, 2)))
    assert not hub.is_asked(gone, ((other, 1),))
    assert not hub.is_asked(ValueError("We couldn't connect to"), ((inside, 1),))
