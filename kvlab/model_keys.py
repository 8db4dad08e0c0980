"""Under which names does a config.json say what it says of its language model?

Left out: what it means for the KV (models.py).
"""

from __future__ import annotations

from typing import Any

from .errors import InputError

Config = dict[str, Any]
_NESTS = ("text_config", "llm_config", "language_config", "thinker_config")
MOST_ELEMENTS = 1 << 31
"""Heads, widths and windows beyond this are no model's."""


class Keys:
    """A config whose values are asked for under any of their names, and checked."""

    def __init__(self, values: Config, where: str) -> None:
        self.values, self.where = values, where
        self.model_type = str(values.get("model_type") or "")

    def count(self, *names: str) -> int | None:
        """Return the first that is there; None if none is.

        Raises: InputError for one that is no count.
        """
        for name in names:
            value = self.values.get(name)
            if value is None or isinstance(value, list | dict):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(
                    self.where, f"{name} is {value!r}", "it must be a whole number"
                )
            if value > MOST_ELEMENTS:
                raise InputError(
                    self.where, f"{name} is more than {MOST_ELEMENTS}", "check the file"
                )
            return value
        return None

    def need(self, *names: str) -> int:
        """Return the first that is there. Raises: InputError if none is, or it is 0."""
        value = self.count(*names)
        if not value:
            raise InputError(
                self.where,
                f"has no {names[0]}",
                "give the config.json of a decoder model",
            )
        return value

    def some(self, *names: str) -> int | None:
        """Return the first that is there, as `count`, and not 0.

        Raises: InputError for one that is 0 or no count.
        """
        value = self.count(*names)
        if value == 0:
            raise InputError(self.where, f"{names[0]} is 0", "it must be 1 or more")
        return value

    def names(self, key: str) -> list[Any]:
        """Return a list of the file, empty if it has none."""
        value = self.values.get(key)
        return value if isinstance(value, list) else []


def text_config(config: Config) -> Config:
    """Return the part of a config.json about the language model; what it omits, the
    outside says, or what files of its type leave to their reader."""
    for nest in _NESTS:
        inner = config.get(nest)
        if isinstance(inner, dict):
            outside = {k: v for k, v in config.items() if k not in _NESTS}
            return outside | text_config(inner)
    defaults = _DEFAULTS.get(str(config.get("model_type") or ""), {})
    return defaults | {k: v for k, v in config.items() if v is not None or k in _NULLS}


_NULLS = {"sliding_window", "num_key_value_heads", "head_dim"}
"""Keys whose null means something."""
_DEFAULTS: dict[str, Config] = {
    "gemma3_text": {
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "num_hidden_layers": 26, "hidden_size": 2304, "sliding_window": 4096,
    },
    "gemma2": {"head_dim": 256, "sliding_window": 4096},
    "gemma": {"head_dim": 256},
    "gpt_oss": {"head_dim": 64, "sliding_window": 128},
}  # fmt: skip
"""What transformers fills in where files of these types omit it."""
