"""What of a model decides how long a step takes?"""

from __future__ import annotations

import json

import pytest

from kvlab.cli import main
from kvlab.errors import InputError
from kvlab.model_table import CONFIGS, known_shape
from kvlab.run.model_shapes import PARAMETERS, model_shape, shape_of

LLAMA = {
    "num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 128256,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
}  # fmt: skip
MIXTRAL = LLAMA | {
    "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2
}  # fmt: skip
DEEPSEEK = {
    "num_hidden_layers": 61, "hidden_size": 7168, "vocab_size": 129280,
    "num_attention_heads": 128, "num_key_value_heads": 128,
    "intermediate_size": 18432, "kv_lora_rank": 512, "q_lora_rank": 1536,
    "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "moe_intermediate_size": 2048, "first_k_dense_replace": 3,
    "quantization_config": {"quant_method": "fp8"},
}  # fmt: skip


def test_every_named_model_has_its_weights_counted():
    assert PARAMETERS.keys() == CONFIGS.keys()


@pytest.mark.parametrize("name", ["llama-3-70b", "deepseek-v3", "gemma-2-9b"])
def test_kv_is_what_capacity_says_of_the_same_name(name):
    kv = known_shape(name)
    assert model_shape(name).kv_bytes == kv.bytes_full() + kv.bytes_window()


@pytest.mark.parametrize(
    ("name", "config"),
    [("llama-3-8b", LLAMA), ("mixtral-8x7b", MIXTRAL), ("deepseek-v3", DEEPSEEK)],
)
def test_a_file_s_sizes_make_the_weights_of_the_model_s_card(name, config):
    card, counted = model_shape(name), shape_of(config)
    assert counted.weights == pytest.approx(card.weights, rel=0.01)
    assert counted.active == pytest.approx(card.active, rel=0.02)
    same = ("layers", "hidden", "attention_width", "kv_heads", "kv_bytes")
    assert [getattr(counted, key) for key in same] == [
        getattr(card, key) for key in same
    ]
    assert (counted.weight_bytes, counted.fp8) == (card.weight_bytes, card.fp8)


def test_weights_of_four_bits_take_half_a_byte():
    quantised = LLAMA | {"quantization_config": {"quant_method": "awq", "bits": 4}}
    assert shape_of(quantised).weight_bytes == 0.5


def test_only_a_model_in_fp8_multiplies_in_it():
    gptq = LLAMA | {"quantization_config": {"quant_method": "gptq", "bits": 8}}
    assert (shape_of(gptq).weight_bytes, shape_of(gptq).fp8) == (1, False)
    fp8 = LLAMA | {"quantization_config": {"quant_method": "fp8"}}
    assert (shape_of(fp8).weight_bytes, shape_of(fp8).fp8) == (1, True)
    assert model_shape("deepseek-v3").fp8 and not model_shape("gpt-oss-20b").fp8


def test_a_file_without_a_vocabulary_is_refused_by_the_key():
    with pytest.raises(InputError, match=r"config\.json: has no vocab_size"):
        shape_of({key: LLAMA[key] for key in LLAMA if key != "vocab_size"})


def test_a_replay_takes_a_config_json_for_its_model(tmp_path, capsys):
    trace, config = tmp_path / "trace.jsonl", tmp_path / "config.json"
    trace.write_text(
        '{"timestamp": 0, "input_length": 9, "output_length": 5, "hash_ids": [1]}'
    )
    config.write_text(json.dumps(LLAMA))
    clock = ["--timing", "model", "--concurrency", "open", "--json", "--model"]
    ends = []
    for model in ("llama-3-8b", str(config), str(tmp_path)):
        assert main(["replay", str(trace), *clock, model]) == 0
        ends.append(json.loads(capsys.readouterr().out)["virtual_s"])
    assert ends[1] == ends[2] == pytest.approx(ends[0], rel=1e-3)
