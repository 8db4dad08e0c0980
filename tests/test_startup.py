"""Where does the memory go when an engine starts?"""

from __future__ import annotations

import json

import pytest

from kvlab.cli import main
from kvlab.errors import ConfigError
from kvlab.run.accelerators import accelerator
from kvlab.run.model_shapes import model_shape
from kvlab.run.startup import SOURCES, Startup, start_up

LLAMA, H100 = model_shape("llama-3-70b"), accelerator("h100")


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
@pytest.mark.parametrize("tp", [4, 8])
def test_the_parts_sum_to_the_device_s_memory(engine, tp):
    plan = start_up(LLAMA, H100, engine=engine, tp=tp, fraction=0.95)
    parts = plan.driver + plan.weights + plan.kv + plan.activations + plan.graphs
    assert parts + plan.unused == plan.memory


def test_the_article_s_pool_is_what_60_gib_on_eight_devices_hold():
    plan = start_up(LLAMA, H100, tp=8)
    a_token = plan.kv / plan.pool_tokens
    assert 60 * 2**30 / a_token == pytest.approx(1_572_864, rel=1e-3)


def test_tp_splits_kv_heads_but_not_an_mla_latent():
    deepseek, h200 = model_shape("deepseek-v3"), accelerator("h200")
    plan = start_up(deepseek, h200, tp=8)
    assert plan.kv / plan.pool_tokens == pytest.approx(70272, rel=1e-3)


def test_the_same_fraction_leaves_vllm_less():
    both = [
        start_up(LLAMA, H100, engine=engine, tp=8, fraction=0.8).pool_tokens
        for engine in ("sglang", "vllm")
    ]
    assert both[0] > both[1]


POSTED = [
    ("sglang", "llama-3-8b", "h100", 0.88, None, 444_500, 0.005),
    ("sglang", "qwen3-4b", "h100", 0.85, None, 430_067, 0.01),
    ("sglang", "llama-3.2-3b", "h100", 0.88, None, 570_979, 0.05),
    ("vllm", "llama-3-8b", "h100", 0.9, None, 449_986, 0.01),
    ("vllm", "llama-3-8b", "a100", 0.92, None, 460_496, 0.01),
    ("vllm", "qwen3-0.6b", "h100", 0.8, None, 578_944, 0.03),
    ("vllm", "llama-2-7b", "a100", 0.9, None, 117_616, 0.01),
    ("vllm", "llama-3-70b", "h100", 0.98, 67.72, 22_096, 0.25),
]
"""What posted start-up logs of one device state: fraction, GiB of weights, tokens."""


@pytest.mark.parametrize(
    ("engine", "model", "device", "fraction", "weights", "tokens", "within"), POSTED
)
def test_a_posted_start_up_log_is_met(
    engine, model, device, fraction, weights, tokens, within
):
    given = None if weights is None else int(weights * 2**30)
    plan = start_up(
        model_shape(model), accelerator(device), engine=engine, fraction=fraction,
        weights=given,
    )  # fmt: skip
    assert plan.pool_tokens == pytest.approx(tokens, rel=within)


def test_weights_given_stand_in_for_the_count(capsys):
    options = ("llama-3-70b", "--accelerator", "h100", "--fraction", "0.98")
    assert "131.5 GiB of weights" in capacity(capsys, *options)
    told = json.loads(capacity(capsys, *options, "--weights-gib", "67", "--json"))
    assert told["startup"]["weights"] == 67 * 2**30


@pytest.mark.parametrize("gib", ["nan", "inf", "-1", "1e300"])
def test_weights_that_no_device_has_are_refused(capsys, gib):
    said = capacity(
        capsys, "llama-3-70b", "--accelerator", "h100", f"--weights-gib={gib}"
    )
    assert "use --weights-gib 0 to" in said


def test_weights_that_fill_the_device_are_told_with_the_numbers():
    message = r"131\.5 GiB of weights a device; .* leaves no room for KV: raise tp"
    with pytest.raises(ConfigError, match=message):
        start_up(LLAMA, H100, tp=1)


def test_a_fraction_above_one_is_refused():
    with pytest.raises(ConfigError, match=r"fraction is 1\.5; use 0 to 1"):
        start_up(LLAMA, H100, tp=8, fraction=1.5)


def capacity(capsys, *options):
    status = main(["capacity", *options])
    printed = capsys.readouterr()
    return printed.out if status == 0 else printed.err


def test_the_command_says_where_each_device_s_memory_goes(capsys):
    options = ("llama-3-70b", "--accelerator", "h100", "--tp", "8")
    told = json.loads(capacity(capsys, *options, "--context", "32768", "--json"))
    plan = start_up(LLAMA, H100, tp=8)
    assert told["pool_tokens"] == plan.pool_tokens
    assert told["startup"]["weights"] == plan.weights
    assert told["max_concurrency"] == plan.pool_tokens // 32768
    assert "parameters x bytes / tp" in capacity(capsys, *options)


@pytest.mark.parametrize("engine", SOURCES)
def test_every_part_of_the_memory_names_its_source(engine):
    parts = set(Startup.__struct_fields__) - {"fraction", "pool_tokens"}
    assert parts == SOURCES[engine].keys()


def test_a_fraction_that_leaves_too_little_says_so(capsys):
    options = ("llama-3-70b", "--accelerator", "h100", "--tp", "8")
    assert "may run out" in capacity(capsys, *options, "--fraction", "0.95")
    assert "may run out" not in capacity(capsys, *options)


@pytest.mark.parametrize(
    "option", [("--kv-gib", "60"), ("--pp", "2"), ("--reserve-gib", "9")]
)
def test_what_an_accelerator_does_not_go_with_is_one_line(capsys, option):
    error = capacity(capsys, "llama-3-70b", "--accelerator", "h100", *option)
    assert error.startswith("kvlab: --accelerator: ")
