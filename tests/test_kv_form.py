"""How many bytes does a token's KV take?"""

from __future__ import annotations

import pytest
import torch

from kvlab.capacity import Deployment, capacity
from kvlab.errors import ConfigError
from kvlab.memory.kv_form import KVForm
from kvlab.models import read_config

DTYPES = ["float32", "bfloat16", "fp8"]
LLAMA = {
    "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16,
}  # fmt: skip
DEEPSEEK = LLAMA | {"kv_lora_rank": 16, "qk_rope_head_dim": 8}


def forms(dtype):
    return [
        (LLAMA, KVForm.of_heads(3, 2, 16, dtype)),
        (DEEPSEEK, KVForm.of_latent(3, 16, 8, dtype)),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_token_takes_the_bytes_that_capacity_says(dtype):
    for config, form in forms(dtype):
        told = capacity(read_config(config), Deployment(kv_dtype=dtype))
        assert form.token_bytes == told.bytes_per_token_full


def test_the_latent_of_mla_does_not_depend_on_heads_and_has_one_row():
    assert KVForm.of_latent(3, 16, 8).rows == ((1, 24),)


@pytest.mark.parametrize(
    ("dtype", "torch_dtype"),
    [("float32", torch.float32), ("bfloat16", torch.bfloat16)],
)
def test_a_dtype_has_its_name_in_torch(dtype, torch_dtype):
    assert KVForm.of_heads(1, 1, 2, dtype).dtype_on("cpu") is torch_dtype


def test_fp8_where_torch_lacks_it_is_refused_with_the_next_best(monkeypatch):
    monkeypatch.delattr(torch, "float8_e4m3fn")
    with pytest.raises(ConfigError, match=r"fp8 on cpu: .*use bfloat16"):
        KVForm.of_heads(1, 1, 2, "fp8").dtype_on("cpu")


def test_a_form_without_layers_or_with_a_foreign_dtype_is_refused():
    with pytest.raises(ConfigError, match="KV of 0 layers"):
        KVForm.of_heads(0, 1, 2)
    with pytest.raises(ConfigError, match="'int3'; use float32"):
        KVForm.of_heads(1, 1, 2, "int3")


@pytest.mark.parametrize("device", ["abacus", "cpu:x"])
def test_a_device_that_torch_does_not_have_is_refused(device):
    with pytest.raises(ConfigError, match=rf"no device '{device}' here: .*; use cpu$"):
        KVForm.of_heads(1, 1, 2).dtype_on(device)
