"""Small untrained models and tokenizers in place of those of the Hugging Face hub, where it is not reached.

Runs in the target's interpreter, beside the harness. What is asked for keeps its class, its widths and the names of its
tokens; it has two layers, a vocabulary of letters, and weights that begin at random.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from .alone_weights import unreached
from .trackers import Changed

Make = Callable[..., Any]
_FAMILIES: tuple[tuple[str, str], ...] = (
    (r"longformer", "longformer"),
    (r"mpnet", "mpnet"),
    (r"xlnet", "xlnet"),
    (r"xlm-r|xlm_r", "xlm-roberta"),
    (r"camembert", "camembert"),
    (r"roberta", "roberta"),
    (r"distilbert", "distilbert"),
    (r"albert", "albert"),
    (r"electra", "electra"),
    (r"deberta", "deberta-v2"),
    (r"bert|minilm", "bert"),
    (r"gpt-?2|dialogpt", "gpt2"),
    (r"\bm?t5|flan|ul2", "t5"),
    (r"bart", "bart"),
    (r"pegasus", "pegasus"),
    (r"opus-mt|marian", "marian"),
    (r"wav2vec", "wav2vec2"),
    (r"hubert", "hubert"),
    (r"swin", "swin"),
    (r"\bvit\b|vit-|deit|dino", "vit"),
)
"""What kind of model a name of the hub is of, by the first row that fits."""
_ABSENT = re.compile(
    r"Can't load (?:the )?(?:tokenizer|configuration|model)|couldn't connect|offline mode"
    r"|No such file or directory: .*[/\\]models--[^/\\]+[/\\]refs[/\\]"
)
"""How it is said that a hub is not reached: in the last row by transformers 4.22 to 4.25, which look into an empty
cache."""
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers", "encoder_layers",
           "decoder_layers")  # fmt: skip
_BASE = {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}
_LARGE = {"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
_WIDTHS: tuple[tuple[str, dict[str, int]], ...] = (
    (r"bart-base", {"d_model": 768, "encoder_attention_heads": 12, "decoder_attention_heads": 12,
                    "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072}),
    (r"t5-base", {"d_model": 768, "num_heads": 12, "d_ff": 3072}),
    (r"minilm", {"hidden_size": 384, "num_attention_heads": 12, "intermediate_size": 1536}),
    (r"electra-base", {**_BASE, "embedding_size": 768}),
    (r"large", _LARGE),
    (r"(?:albert|deberta).*base", _BASE),
)  # fmt: skip
"""The widths of models by their names, the first row that fits, where they are not the default of their kind."""
_OF_HUB = frozenset({
    "cache_dir", "force_download", "local_files_only", "proxies", "resume_download", "return_unused_kwargs", "revision",
    "subfolder", "token", "use_auth_token", "_commit_hash", "_from_auto", "_from_pipeline", "trust_remote_code",
    "code_revision",
})  # fmt: skip
"""What `from_pretrained` of a configuration takes for itself."""
_VOCABULARY = 512
_LONGEST = 512
_LETTERS = [chr(code) for code in range(33, 127)]
_BERT = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
_ROBERTA = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>",
            "cls_token": "<s>", "sep_token": "</s>"}  # fmt: skip
_TOKENS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert", "bart"), _ROBERTA),
    "gpt2": dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>"),
    "t5": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
}
_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token", "mask_token", "cls_token", "sep_token")
_PLACES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("transformers.modeling_utils", ("PreTrainedModel",), "model"),
    ("transformers.models.auto.auto_factory", ("_BaseAutoModelClass",), "model"),
    ("transformers.configuration_utils", ("PretrainedConfig", "PreTrainedConfig"), "config"),
    ("transformers.models.auto.configuration_auto", ("AutoConfig",), "config"),
    ("transformers.image_processing_base", ("ImageProcessingMixin",), "processor"),
    ("transformers.feature_extraction_utils", ("FeatureExtractionMixin",), "processor"),
    ("transformers.tokenization_utils_base", ("PreTrainedTokenizerBase",), "tokenizer"),
    ("transformers.models.auto.tokenization_auto", ("AutoTokenizer",), "tokenizer"),
)
"""The modules and classes whose `from_pretrained` asks the hub, and for what."""


def is_asked(error: BaseException | None, frames: tuple[tuple[FrameType, int], ...]) -> bool:
    """Whether a run failed for the want of what transformers asks the hub for."""
    names = (str(frame.f_globals.get("__name__")) for frame, _ in frames)
    return _is_unreached(error) and any(name.startswith("transformers.") for name in names)


def _is_unreached(error: BaseException | None) -> bool:
    return unreached(error) or (isinstance(error, OSError) and _ABSENT.search(str(error)) is not None)


def stand_in(asked: list[str]) -> None:
    """Have it so for what is imported from now on; the names that were asked for are added to `asked`."""
    for name, classes, kind in _PLACES:
        change = functools.partial(_changed, classes=classes, kind=kind, asked=asked)
        if name in sys.modules:
            change(sys.modules[name])
        else:
            sys.meta_path.insert(0, Changed(name, change))


def _changed(module: Any, classes: tuple[str, ...], kind: str, asked: list[str]) -> None:
    for cls in dict.fromkeys(filter(None, (getattr(module, name, None) for name in classes))):
        original = cls.__dict__["from_pretrained"].__func__
        cls.from_pretrained = classmethod(_patient(original, kind, asked))


def _patient(original: Make, kind: str, asked: list[str]) -> Make:
    """A `from_pretrained` that makes a small one of what the hub does not give."""

    @functools.wraps(original)
    def from_pretrained(cls: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        family = _family(str(name)) or _family_of(cls)
        if str(name) not in asked or family is None:
            try:
                return original(cls, name, *args, **kwargs)
            except Exception as error:
                is_half = isinstance(error, OSError) and str(name) in asked  # its configuration was none of the hub's
                if not (is_half or any(map(_is_unreached, chain(error)))) or family is None:
                    raise
                if not is_half:
                    asked.append(str(name))
        if kind == "tokenizer":
            return tokenizer(family, **{name: str(kwargs[name]) for name in _SPECIAL if kwargs.get(name)})
        if kind == "processor":
            return cls()
        given = kwargs.get("config")
        config = _config(cls, family, str(name), kwargs) if given is None or isinstance(given, str) else given
        if kind == "model":
            return _model(cls, config)
        if not kwargs.get("return_unused_kwargs"):
            return config
        return config, {key: value for key, value in kwargs.items() if not hasattr(config, key) and key not in _OF_HUB}

    return from_pretrained


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _family(name: str) -> str | None:
    return next((family for pattern, family in _FAMILIES if re.search(pattern, name.lower())), None)


def _family_of(cls: Any) -> str | None:
    """The family of a class that is of one, whatever its model is called."""
    own = getattr(cls, "config_class", None) or cls
    named = getattr(own, "model_type", "") if isinstance(own, type) else ""
    return str(named) or _family(re.sub(r"(?:Tokenizer|ImageProcessor|FeatureExtractor)(?:Fast)?$", "", cls.__name__))


def _config(cls: Any, family: str, name: str, given: dict[str, Any]) -> Any:
    """The configuration of a class, or of the family for one that finds its class by itself: with two layers."""
    from transformers import AutoConfig  # type: ignore[import-not-found,unused-ignore]

    own = getattr(cls, "config_class", None) or (cls if getattr(cls, "model_type", "") else None)
    config = own() if isinstance(own, type) else AutoConfig.for_model(family)
    widths = next((found for pattern, found in _WIDTHS if re.search(pattern, name.lower())), {})
    sizes = {**dict.fromkeys(_LAYERS, 2), **widths, "vocab_size": _VOCABULARY}
    for key, value in {**sizes, **{key: value for key, value in given.items() if key != "config"}}.items():
        if hasattr(config, key):
            setattr(config, key, value)
    tokens = tokenizer(family)
    for key in ("pad_token_id", "bos_token_id", "eos_token_id"):
        if getattr(tokens, key, None) is not None and hasattr(config, key):
            setattr(config, key, getattr(tokens, key))
    if getattr(config, "is_encoder_decoder", False) and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = config.pad_token_id
    return config


def _model(cls: Any, config: Any) -> Any:
    """A model with weights as it begins with, out of training as `from_pretrained` gives it."""
    return (cls.from_config(config) if hasattr(cls, "from_config") else cls(config)).eval()


def tokenizer(family: str, **given: str) -> Any:
    """A tokenizer that takes words apart into letters, with the special tokens of a family and those that are given."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors  # type: ignore[import-not-found,unused-ignore]
    from transformers import PreTrainedTokenizerFast

    own = _TOKENS.get(family, _BERT)
    tokens = {**own, **given}
    words = list(dict.fromkeys([*tokens.values(), *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]))
    numbers = {word: number for number, word in enumerate(words)}
    made = Tokenizer(models.WordPiece(numbers, unk_token=tokens["unk_token"], max_input_chars_per_word=1000))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    begin, end = tokens.get("cls_token", ""), tokens.get("sep_token", tokens.get("eos_token", ""))
    if family != "gpt2":
        parts = [(word, numbers[word]) for word in dict.fromkeys((begin, end)) if word]
        pair = f"{begin} $A {end} $B:1 {end}:1".strip()
        made.post_processor = processors.TemplateProcessing(f"{begin} $A {end}".strip(), pair, parts)
    names = ["input_ids", "token_type_ids", "attention_mask"] if own is _BERT else ["input_ids", "attention_mask"]
    names = [name for name in names if family != "distilbert" or name != "token_type_ids"]
    return PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=names, model_max_length=_LONGEST, **tokens)
