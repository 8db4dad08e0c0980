"""Does a token cost what it costs, for every named model and every quirk of a file?"""

from __future__ import annotations

import json

import pytest

from kvlab.cli import main
from kvlab.errors import ConfigError, InputError
from kvlab.model_table import CONFIGS, known_shape
from kvlab.models import read_config
from kvlab.views.ceiling import ceiling_svg

ROWS = [
    ("llama-3-8b", 131072, 0, None, (32, 0, 0)),
    ("llama-3-70b", 327680, 0, None, (80, 0, 0)),
    ("llama-3.1-405b", 516096, 0, None, (126, 0, 0)),
    ("llama-3.2-1b", 32768, 0, None, (16, 0, 0)),
    ("llama-3.2-3b", 114688, 0, None, (28, 0, 0)),
    ("llama-2-7b", 524288, 0, None, (32, 0, 0)),
    ("qwen2.5-0.5b", 12288, 0, None, (24, 0, 0)),
    ("qwen2.5-1.5b", 28672, 0, None, (28, 0, 0)),
    ("qwen2.5-7b", 57344, 0, None, (28, 0, 0)),
    ("qwen2.5-14b", 196608, 0, None, (48, 0, 0)),
    ("qwen2.5-32b", 262144, 0, None, (64, 0, 0)),
    ("qwen2.5-72b", 327680, 0, None, (80, 0, 0)),
    ("qwen3-0.6b", 114688, 0, None, (28, 0, 0)),
    ("qwen3-4b", 147456, 0, None, (36, 0, 0)),
    ("qwen3-8b", 147456, 0, None, (36, 0, 0)),
    ("qwen3-14b", 163840, 0, None, (40, 0, 0)),
    ("qwen3-32b", 262144, 0, None, (64, 0, 0)),
    ("qwen3-30b-a3b", 98304, 0, None, (48, 0, 0)),
    ("qwen3-235b-a22b", 192512, 0, None, (94, 0, 0)),
    ("qwen3-next-80b-a3b", 24576, 0, None, (12, 0, 36)),
    ("qwen3.8-27b", 65536, 0, None, (16, 0, 48)),
    ("mistral-7b-v0.1", 0, 131072, 4096, (0, 32, 0)),
    ("mistral-7b-v0.2", 131072, 0, None, (32, 0, 0)),
    ("mistral-nemo-12b", 163840, 0, None, (40, 0, 0)),
    ("mistral-large-2407", 360448, 0, None, (88, 0, 0)),
    ("mixtral-8x7b", 131072, 0, None, (32, 0, 0)),
    ("gemma-2-9b", 172032, 172032, 4096, (21, 21, 0)),
    ("gemma-2-27b", 188416, 188416, 4096, (23, 23, 0)),
    ("gemma-3-4b", 20480, 118784, 1024, (5, 29, 0)),
    ("gemma-3-12b", 65536, 327680, 1024, (8, 40, 0)),
    ("gemma-3-27b", 81920, 425984, 1024, (10, 52, 0)),
    ("deepseek-v2-lite", 31104, 0, None, (27, 0, 0)),
    ("deepseek-v2", 69120, 0, None, (60, 0, 0)),
    ("deepseek-v3", 70272, 0, None, (61, 0, 0)),
    ("gpt-oss-120b", 36864, 36864, 128, (18, 18, 0)),
    ("gpt-oss-20b", 24576, 24576, 128, (12, 12, 0)),
    ("phi-2", 327680, 0, None, (32, 0, 0)),
    ("phi-3-mini-4k", 0, 393216, 2047, (0, 32, 0)),
    ("phi-4", 204800, 0, None, (40, 0, 0)),
    ("phi-4-mini", 131072, 0, None, (32, 0, 0)),
    ("minimax-text-01", 40960, 0, None, (10, 0, 70)),
    ("minimax-m2", 253952, 0, None, (62, 0, 0)),
    ("jamba-v0.1", 16384, 0, None, (4, 0, 28)),
    ("jamba-1.5-large", 36864, 0, None, (9, 0, 63)),
    ("glm-4-9b", 40960, 0, None, (40, 0, 0)),
    ("falcon-7b", 8192, 0, None, (32, 0, 0)),
    ("opt-125m", 36864, 0, None, (12, 0, 0)),
]
"""Name, bytes in full layers, bytes in window layers, window, layers of each kind."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_named_model_costs_its_row_of_the_table(row):
    name, full, window, size, layers = row
    shape = known_shape(name)
    assert (shape.bytes_full(), shape.bytes_window(), shape.window) == (
        full,
        window,
        size,
    )
    assert (shape.full_layers, shape.window_layers, shape.state_layers) == layers


def test_the_table_holds_all_of_them():
    assert {row[0] for row in ROWS} == CONFIGS.keys()


# --- the quirks of files

GQA = {
    "num_hidden_layers": 4, "hidden_size": 1024, "num_attention_heads": 8,
    "num_key_value_heads": 2,
}  # fmt: skip


def per_layer(**changes: object) -> int:
    """Return the elements a layer keeps of a token, of GQA with these changes."""
    return read_config(GQA | changes).width


def kinds(**changes: object) -> tuple[int, int, int, int | None]:
    shape = read_config(GQA | changes)
    return shape.full_layers, shape.window_layers, shape.state_layers, shape.window


@pytest.mark.parametrize(
    ("changes", "elements"),
    [
        ({}, 2 * 2 * 128),
        ({"head_dim": 256}, 2 * 2 * 256),
        ({"head_dim": None}, 2 * 2 * 128),
        ({"num_key_value_heads": None}, 2 * 8 * 128),
        ({"v_head_dim": 64}, 2 * (128 + 64)),
        ({"kv_lora_rank": 512, "qk_rope_head_dim": 64}, 576),
        ({"multi_query": True}, 2 * 128),
        ({"multi_query": True, "new_decoder_architecture": True}, 2 * 2 * 128),
    ],
)
def test_the_width_of_a_token_follows_the_file(changes, elements):
    assert per_layer(**changes) == elements


@pytest.mark.parametrize(
    ("config", "elements"),
    [
        ({"n_layer": 2, "n_head": 4, "n_embd": 256}, 2 * 4 * 64),
        (
            {"n_layers": 2, "n_heads": 4, "d_model": 256,
             "attn_config": {"kv_n_heads": 1}},
            2 * 64,
        ),
        (
            {"num_layers": 2, "num_attention_heads": 4, "hidden_size": 256,
             "multi_query_attention": True, "multi_query_group_num": 2,
             "kv_channels": 32},
            2 * 2 * 32,
        ),
    ],
    ids=["gpt-2", "mpt", "chatglm"],
)  # fmt: skip
def test_other_families_name_the_same_things_otherwise(config, elements):
    assert read_config(config).width == elements


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"sliding_window": 64}, (0, 4, 0, 64)),
        ({"sliding_window": None}, (4, 0, 0, None)),
        ({"sliding_window": 64, "use_sliding_window": False}, (4, 0, 0, None)),
        ({"sliding_window": 64, "use_sliding_window": True, "max_window_layers": 3},
         (3, 1, 0, 64)),
        ({"sliding_window": 9000, "max_position_embeddings": 4096}, (4, 0, 0, None)),
        ({"sliding_window": 64, "sliding_window_pattern": 2}, (2, 2, 0, 64)),
        ({"sliding_window": 64, "_sliding_window_pattern": 4}, (1, 3, 0, 64)),
        ({"sliding_window": 64, "model_type": "gemma2"}, (2, 2, 0, 64)),
        ({"sliding_window": 64,
          "layer_types": ["sliding_attention"] * 3 + ["full_attention"]},
         (1, 3, 0, 64)),
        ({"layer_types": ["linear_attention"] * 3 + ["full_attention"]},
         (1, 0, 3, None)),
        ({"layer_types": ["full_attention"] * 6}, (4, 0, 0, None)),
        ({"block_types": ["recurrent", "attention"]}, (2, 0, 2, None)),
        ({"attn_type_list": [0, 0, 0, 1]}, (1, 0, 3, None)),
        ({"attn_layer_period": 4, "attn_layer_offset": 2}, (1, 0, 3, None)),
        ({"full_attention_interval": 2}, (2, 0, 2, None)),
        ({"hybrid_override_pattern": "M-M*"}, (1, 0, 2, None)),
        ({"attention_chunk_size": 64, "no_rope_layers": [1, 1, 1, 0]}, (1, 3, 0, 64)),
    ],
)  # fmt: skip
def test_which_layers_keep_what_follows_the_file(changes, found):
    assert kinds(**changes) == found


def test_layers_of_which_some_do_not_attend_are_counted_one_by_one():
    attends = {"attention": {"n_heads_in_group": 4, "no_op": False}}
    passes = {"attention": {"n_heads_in_group": None, "no_op": True}}
    shape = read_config(
        GQA | {"num_key_value_heads": None, "block_configs": [attends, passes] * 2}
    )
    assert (shape.full_layers, shape.kv_heads) == (2, GQA["num_attention_heads"] // 4)


def test_a_nested_text_config_is_the_model():
    outer = {"model_type": "llava", "hidden_size": 9, "text_config": GQA}
    assert read_config(outer).width == 2 * 2 * 128


def test_weight_quantisation_says_nothing_about_kv():
    assert read_config(GQA | {"quantization_config": {"bits": 4}}).kv_bits is None
    scheme = {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}
    assert read_config(GQA | {"quantization_config": scheme}).kv_bits == 8


def test_a_sparse_attention_index_is_told_apart():
    mla = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "index_head_dim": 128}
    assert read_config(GQA | mla).indexer_bytes == 4 * 132


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "num_hidden_layers"),
        ({"num_hidden_layers": 2}, "num_attention_heads"),
        (GQA | {"num_hidden_layers": "4"}, "'4'"),
        (GQA | {"num_hidden_layers": 10**9}, "1000000000 layers"),
        (GQA | {"head_dim": -1}, "-1"),
        (GQA | {"head_dim": 0}, "head_dim is 0"),
        (GQA | {"num_key_value_heads": 0}, "num_key_value_heads is 0"),
        (GQA | {"num_key_value_heads": [2, 0]}, "is 0"),
        (GQA | {"num_key_value_heads": ["2"]}, "'2'"),
        (GQA | {"num_attention_heads": 0}, "num_attention_heads"),
        (GQA | {"num_key_value_heads": 10**6}, "1000000 of KV"),
        (GQA | {"head_dim": 10**400}, "head_dim is more than"),
        (GQA | {"num_kv_shared_layers": 99}, "borrow"),
        (GQA | {"layer_types": ["full_attention"]}, "layer_types names 1 of 4 layers"),
        ([], "not a JSON object"),
    ],
)
def test_a_file_that_says_too_little_is_refused_with_the_key(config, words):
    with pytest.raises(InputError) as told:
        read_config(config)
    assert words in str(told.value)


# --- names


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3-8b"),
        ("Meta-Llama-3-70B", "llama-3-70b"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-v3"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b"),
        ("google/gemma-3-27b-it", "gemma-3-27b"),
        ("mistralai/Mistral-Large-2407", "mistral-large-2407"),
    ],
)
def test_publishers_and_suffixes_do_not_matter(name, key):
    assert known_shape(name).name == key


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"llama-3-70b"):
        known_shape("lama-3-70b")


# --- the command


def told(capsys, *words: object) -> dict:
    assert main(["capacity", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_articles_example_is_right_to_the_token(capsys):
    got = told(capsys, "llama-3-70b", "--tp", 8, "--kv-gib", 60, "--context", 32768)
    assert got["bytes_per_token_full"] == 327680
    assert got["pool_tokens"] == 1_572_864
    assert got["max_concurrency"] == 48
    assert got["inputs"]["tp"] == 8


def test_the_contract_names_every_field(capsys):
    got = told(capsys, "gpt-oss-20b")
    wanted = ("bytes_per_token_full", "bytes_per_token_window", "window", "pool_tokens",
              "max_concurrency")  # fmt: skip
    assert set(wanted) <= got.keys()
    assert got["pool_tokens"] is None


@pytest.mark.parametrize(
    ("words", "per_gpu"),
    [
        (("llama-3-8b",), 131072),
        (("llama-3-8b", "--tp", 2), 65536),
        (("qwen3-30b-a3b", "--tp", 8), 98304 // 4),
        (("deepseek-v3", "--tp", 8), 70272),
        (("deepseek-v3", "--pp", 2), 31 * 576 * 2),
        (("llama-3-8b", "--kv-dtype", "fp8_e4m3"), 65536),
        (("deepseek-v3", "--kv-dtype", "fp8_ds_mla"), 61 * 656),
        (("llama-3-8b", "--tp", 8, "--dp-attention", 4), 65536),
    ],
)
def test_a_gpu_holds_its_share_of_a_token(capsys, words, per_gpu):
    assert told(capsys, *words)["bytes_per_token_full_per_gpu"] == per_gpu


def test_pages_waste_the_end_of_each_sequence(capsys):
    plain = told(capsys, "llama-3-8b", "--pool-tokens", 1000, "--context", 65)
    paged = told(
        capsys, "llama-3-8b", "--pool-tokens", 1000, "--context", 65, "--page-size", 64
    )
    assert (plain["max_concurrency"], paged["max_concurrency"]) == (15, 7)


def test_a_window_lets_more_sequences_fit(capsys):
    words = ("--kv-gib", 10, "--context", 32768)
    got = told(capsys, "gpt-oss-20b", *words)
    each = 24576 * 32768 + 24576 * 128
    assert got["bytes_per_sequence"] == each
    assert got["max_concurrency"] == 10 * 2**30 // each


def test_memory_is_what_is_left_after_weights(capsys):
    got = told(
        capsys, "llama-3-8b", "--memory-gib", 80, "--fraction", 0.9,
        "--weights-gib", 16, "--reserve-gib", 4,
    )  # fmt: skip
    assert got["kv_bytes_per_gpu"] == 52 * 2**30
    assert got["pool_tokens"] == 52 * 2**30 // 131072


def test_fit_says_what_would_have_to_change(capsys):
    words = ("llama-3-8b", "--kv-gib", 4, "--context", 32768, "--fit", 4)
    got = told(capsys, *words)["fit"]
    assert got["fits"] is False
    assert got["kv_gib_per_gpu_needed"] == 16.0
    assert got["context_that_fits"] == 8192


def test_a_config_file_is_read(capsys, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GQA))
    assert told(capsys, path)["bytes_per_token_full"] == 4 * 512 * 2
    assert told(capsys, tmp_path)["bytes_per_token_full"] == 4 * 512 * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no-such-model",), "config.json"),
        (("llama-3-8b", "--tp", "0"), "tp is 0"),
        (("llama-3-8b", "--kv-dtype", "int3"), "int3"),
        (("llama-3-8b", "--kv-dtype", "fp8_ds_mla"), "MLA"),
        (("llama-3-8b", "--memory-gib", "8", "--weights-gib", "16"), "no room"),
        (("llama-3-8b", "--fit", "4"), "--context"),
        (("llama-3-8b", "--kv-gib", "nan"), "kv_memory is nan"),
        (("llama-3-8b", "--kv-gib", "inf"), "kv_memory is inf"),
        (("llama-3-8b", "--kv-gib", "0"), "more than 0"),
        (("llama-3-8b", "--kv-gib=-4"), "kv_memory is -4"),
        (("llama-3-8b", "--memory-gib", "nan"), "memory is nan"),
        (("llama-3-8b", "--memory-gib", "1e300"), "use --memory-gib"),
        (("llama-3-8b", "--memory-gib", "80", "--weights-gib", "nan"), "weights is"),
        (("llama-3-8b", "--memory-gib", "80", "--reserve-gib=-1"), "reserve is -1"),
        (("llama-3-8b", "--kv-gib", "4", "--state-mib", "inf"), "state is inf"),
        (("llama-3-8b", "--memory-gib", "80", "--fraction", "nan"), "fraction is nan"),
        (("llama-3-8b", "--memory-gib", "80", "--fraction", "1.1"), "fraction is 1.1"),
        (("llama-3-8b", "--pool-tokens", "0"), "pool_tokens is 0"),
        (("llama-3-8b", "--context", "0"), "context is 0"),
        (("llama-3-8b", "--context", "9" * 30), "use --context 1 to"),
        (("llama-3-8b", "--page-size", "9" * 400), "page_size"),
        (("llama-3-8b", "--pp", "33"), "32 layers"),
        (("llama-3-8b", "--tp", "8", "--dp-attention", "3"), "divisor"),
        (("llama-3-8b", "--kv-gib", "4", "--memory-gib", "80"), "give one"),
        (("llama-3-8b", "--pool-tokens", "9", "--kv-gib", "4"), "give one"),
        (("llama-3-8b", "--kv-gib", "4", "--weights-gib", "16"), "--memory-gib"),
        (("llama-3-8b", "--kv-gib", "4", "--fraction", "0.8"), "--memory-gib"),
        (("llama-3-8b", "--context", "9", "--fit", "0"), "sequences is 0"),
        ((), "MODEL"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(capsys, words, said):
    assert main(["capacity", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_damaged_config_is_refused_with_its_name(capsys, tmp_path):
    path = tmp_path / "config.json"
    path.write_text("{")
    assert main(["capacity", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def test_the_text_shows_the_ceiling_against_the_context(capsys):
    assert main(["capacity", "llama-3-70b", "--tp", "8", "--kv-gib", "60"]) == 0
    out = capsys.readouterr().out
    assert "131,072" in out and "12" in out


def test_the_text_gives_bytes_in_their_unit_and_leaves_out_what_a_model_lacks(capsys):
    assert main(["capacity", "llama-3-70b", "--kv-gib", "60"]) == 0
    out = capsys.readouterr().out
    assert "327,680 (320 KiB)" in out
    assert "window" not in out and "state" not in out
    assert main(["capacity", "gemma-3-27b", "--kv-gib", "40"]) == 0
    assert "beyond 1,024 tokens one more takes 80 KiB" in capsys.readouterr().out


def test_the_text_says_yes_or_no_to_a_wish(capsys):
    words = ["capacity", "llama-3-8b", "--kv-gib", "4", "--context", "8192", "--fit"]
    for wish, said in (("1", "yes"), ("900", "no")):
        assert main([*words, wish]) == 0
        assert f"{'fits':30} {said}" in capsys.readouterr().out


def test_layers_that_borrow_another_ones_kv_cost_nothing():
    assert kinds(num_kv_shared_layers=1) == (3, 0, 0, None)


def test_a_sequence_takes_whole_pages(capsys):
    words = ("llama-3-8b", "--context", 65, "--page-size", 64)
    assert told(capsys, *words)["bytes_per_sequence"] == 128 * 131072


def test_attention_ranks_have_a_pool_each(capsys):
    words = ("deepseek-v3", "--tp", 8, "--kv-gib", 10, "--context", 131072)
    one, eight = told(capsys, *words), told(capsys, *words, "--dp-attention", 8)
    assert one["max_concurrency"] == 1
    assert eight["max_concurrency"] == 8
    assert eight["pool_tokens"] == 8 * one["pool_tokens"]


def test_a_file_that_asks_for_fp8_kv_gets_it(capsys, tmp_path):
    path = tmp_path / "config.json"
    scheme = {"kv_cache_scheme": {"num_bits": 8}}
    path.write_text(json.dumps(GQA | {"quantization_config": scheme}))
    assert told(capsys, path)["bytes_per_token_full"] == 4 * 512
    asked = told(capsys, path, "--kv-dtype", "bf16")
    assert asked["bytes_per_token_full"] == 4 * 512 * 2


def test_the_figure_shows_the_ceiling_at_every_length(capsys, tmp_path):
    target = tmp_path / "ceiling.svg"
    words = ("llama-3-70b", "--tp", 8, "--kv-gib", 60, "--figure", target)
    told(capsys, *words)
    text = target.read_text()
    assert text.startswith("<svg")
    assert ">32K<" in text and ">48<" in text and ">12<" in text


def test_a_figure_needs_memory(capsys, tmp_path):
    target = tmp_path / "ceiling.svg"
    assert main(["capacity", "llama-3-8b", "--figure", str(target)]) == 2
    assert "--kv-gib" in capsys.readouterr().err
    assert not target.exists()


def test_a_figure_is_an_svg_and_no_other(capsys, tmp_path):
    target = tmp_path / "ceiling.png"
    words = ["capacity", "llama-3-8b", "--kv-gib", "9", "--figure", str(target)]
    assert main(words) == 2
    assert "ceiling.png: is no .svg; name a file" in capsys.readouterr().err
    assert not target.exists()


def test_a_file_may_begin_with_the_mark_of_windows(capsys, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GQA), encoding="utf-8-sig")
    assert told(capsys, path)["full_layers"] == 4


def test_the_curve_names_its_axes_in_chinese_too():
    drawn = ceiling_svg([(2048, 4.0), (4096, 2.0)], "t", "zh")
    assert "横轴" in drawn
    assert "across" not in drawn
