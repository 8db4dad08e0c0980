"""Answers to the exercises of notebook 01: worked out by hand, not by the engine."""

from __future__ import annotations

import re


def kib(t: dict) -> dict[str, float]:
    """2 x layers x heads x dim x 2 bytes, in KiB."""
    found = {}
    for part in "abcde":
        layers, heads, dim = map(
            int,
            re.search(r"\((\d+), (\d+), (\d+)\)", t[part]).groups(),
        )
        found[part] = 2 * layers * heads * dim * 2 / 1024
    return found


def without_two(t: dict) -> dict[str, float]:
    return {part: value / 2 for part, value in kib(t).items()}


def one_wrong(t: dict) -> dict[str, float]:
    return kib(t) | {"c": kib(t)["c"] * 1.02}


def in_bytes(t: dict) -> dict[str, float]:
    return {part: value * 1024 for part, value in kib(t).items()}


def pool(t: dict) -> dict[str, int]:
    tokens = t["gib"] * t["tp"] * 2**20 // t["kib"]
    return {"tokens": tokens, "fit": tokens // (t["k"] * 1024)}


def one_gpu(t: dict) -> dict[str, int]:
    return pool(t | {"tp": 1})


def one_more(t: dict) -> dict[str, int]:
    return pool(t) | {"fit": 2 * pool(t)["fit"] + 1}


def thousands(t: dict) -> dict[str, int]:
    return pool(t) | {"tokens": t["gib"] * t["tp"] * 10**6 // t["kib"] // 2}


def bytes_of(model):
    if model.kv_lora_rank:
        width = model.kv_lora_rank + model.qk_rope_head_dim
    else:
        width = 2 * model.kv_heads * model.head_dim
    return model.layers * width * model.element


def no_mla(model):
    width = 2 * model.kv_heads * model.head_dim
    return model.layers * width * model.element


def latent_twice(model):
    twice = 2 if model.kv_lora_rank else 1
    return twice * bytes_of(model)


def no_rope(model):
    rope = model.layers * model.qk_rope_head_dim * model.element
    return bytes_of(model) - rope


def always_bf16(model):
    return bytes_of(model._replace(element=2))


SAID = {
    "text": "Eightfold where the KV heads can be split; not with MLA's latent.",
    "heads": "eight",
    "latent": "one",
}
"""A sentence, and what it claims."""

RIGHT = {
    "01.P": [{"short": 5, "long": 2}],
    "01.S": ["yes"],
    "01.P2": ["1"],
    "01.E1": [kib],
    "01.E2": [pool],
    "01.E3": [bytes_of],
    "01.E4": [SAID],
}
WRONG = {
    "01.P": [
        {"short": 6, "long": 3},
        {"short": 8, "long": 3},
        {"short": 5, "long": 3},
        {"short": 4, "long": 2},
    ],
    "01.S": ["no", "all", "5"],
    "01.P2": ["8", "4", "0"],
    "01.E1": [without_two, one_wrong, in_bytes],
    "01.E2": [one_gpu, one_more, thousands],
    "01.E3": [no_mla, latent_twice, no_rope, always_bf16],
    "01.E4": [
        SAID | {"latent": "eight"},
        SAID | {"heads": "one"},
        SAID | {"heads": "unsaid"},
        SAID | {"latent": "unsaid"},
    ],
}
