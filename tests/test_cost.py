"""How long does a step take?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kvlab.errors import ConfigError
from kvlab.run.accelerators import ACCELERATORS, accelerator
from kvlab.run.cost import FS, Cost, Factors
from kvlab.run.model_shapes import PARAMETERS, model_shape


def cost(**options):
    options = {"tp": 8, "link_rate": 50e9} | options
    return Cost(model_shape("llama-3-70b"), accelerator("h100"), **options)


def test_many_decode_steps_take_exactly_what_they_take_one_by_one():
    one = cost()
    singly = sum(one.decode(37, 400_000 + 37 * step) for step in range(250))
    assert one.decode(37, 400_000, 250) == singly


def test_a_step_without_prefill_is_a_decode_and_one_without_a_batch_a_prefill():
    one, parts = cost(), [(100, 0), (28, 1000)]
    assert one.mixed([], 37, 400_000) == one.decode(37, 400_000)
    assert one.mixed(parts, 0, 0) == one.prefill(parts)


def test_a_token_attends_to_itself_and_to_all_before_it():
    one = cost()
    whole, part = one.prefill([(100, 0)]), one.prefill([(100, 1000)])
    pair = (part - whole) / (100 * 1000)
    alone = one.prefill([(1, 0)] * 100)
    assert whole - alone == pytest.approx((100 * 101 / 2 - 100) * pair)
    assert alone - one.mixed([], 100, 0) == pytest.approx(100 * pair)


@pytest.mark.parametrize("budget", [0, 1, 10**12, 3 * 10**14, 7 * 10**15])
def test_steps_to_a_moment_are_the_fewest_that_reach_it(budget):
    one = cost()
    steps = one.steps_to(37, 400_000, budget)
    assert one.decode(37, 400_000, steps) >= budget
    assert steps == 1 or one.decode(37, 400_000, steps - 1) < budget


def test_a_load_hides_behind_the_compute_of_the_layers_before():
    one = cost()
    assert one.overlapped(0, 80 * FS) == 80 * FS
    assert one.overlapped(8 * FS, 80 * FS) == 80.1 * FS
    assert one.overlapped(160 * FS, 80 * FS) == 161 * FS


def test_a_token_of_llama_70b_takes_its_320_kib_over_the_link():
    assert cost(link_rate=1e9).copy(1000) == pytest.approx(327_680e3 / 1e9 * FS)


def test_twice_the_memory_rate_reads_the_weights_twice_as_fast():
    fast = Factors(memory=0.8, overhead_s=0, reduce_latency_s=0)
    slow = Factors(memory=0.4, overhead_s=0, reduce_latency_s=0)
    ratio = cost(tp=1, factors=slow).decode(1, 1) / cost(tp=1, factors=fast).decode(
        1, 1
    )
    assert ratio == pytest.approx(2)


def test_an_engine_without_overhead_spends_none():
    steps = [cost(factors=Factors(overhead_s=s)).decode(1, 1) for s in (0, 0.002)]
    assert steps[1] - steps[0] == 0.002 * FS


def test_an_mla_latent_is_read_whole_by_every_rank():
    ranks = [
        Cost(model_shape("deepseek-v3"), accelerator("h200"), tp=tp) for tp in (1, 8)
    ]
    reads = [one.decode(1, 10**6) - one.decode(1, 1) for one in ranks]
    assert reads[0] == pytest.approx(reads[1], rel=1e-3)


@pytest.mark.parametrize(("device", "slower"), [("laptop", True), ("h200", False)])
def test_a_cached_token_costs_its_read_or_its_arithmetic_whichever_is_longer(
    device, slower
):
    one = Cost(model_shape("deepseek-v3"), accelerator(device))
    cached = one.decode(1, 1001) - one.decode(1, 1000)
    pair = one.prefill([(1, 1001)]) - one.prefill([(1, 1000)])
    assert cached == pair if slower else cached > pair


def test_tokens_of_a_mixture_share_experts():
    bare = Factors(overhead_s=0, reduce_latency_s=0)
    one = Cost(model_shape("deepseek-v3"), accelerator("h200"), factors=bare)
    steps = [one.decode(batch, 0) for batch in (1, 2, 8, 1000)]
    weights = FS / (4.8e12 * 0.8)
    assert steps[0] == pytest.approx(37e9 * weights, rel=1e-3)
    assert 1.9 * steps[0] < steps[1] < 2 * steps[0]
    assert 6 * steps[0] < steps[2] < 7 * steps[0]
    assert steps[3] == pytest.approx(671e9 * weights, rel=1e-3)


@pytest.mark.parametrize(
    ("device", "times"), [("a100", 1), ("h100", 2), ("h200", 2), ("b200", 2)]
)
def test_weights_in_fp8_multiply_at_its_peak_where_there_is_one(device, times):
    bare = Factors(overhead_s=0, reduce_latency_s=0)
    plain = model_shape("llama-3-70b")
    wide, narrow = (
        Cost(replace(plain, fp8=fp8), accelerator(device), factors=bare)
        for fp8 in (False, True)
    )
    asked, attended = [(8192, 0)], [(8192, 8192)]
    pairs = wide.prefill(attended) - wide.prefill(asked)
    assert narrow.prefill(attended) - narrow.prefill(asked) == pairs
    weights = [cost.prefill(asked) - pairs / 2 for cost in (wide, narrow)]
    assert weights[0] / weights[1] == pytest.approx(times, rel=1e-3)


def test_every_accelerator_names_its_source():
    assert all(len(entry.source) > 40 for entry in ACCELERATORS.values())


def test_every_named_model_has_a_cost_on_every_accelerator():
    for shape in map(model_shape, PARAMETERS):
        for device in ACCELERATORS.values():
            assert Cost(shape, device).prefill([(100, 0)]) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tp": 0}, "tp is 0; use 1 to 1024"),
        ({"link_rate": 0}, "the link moves 0 bytes a second; use more than 0"),
    ],
)
def test_an_impossible_machine_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        cost(**options)


def test_a_whole_peak_and_the_largest_machine_are_possible():
    whole = Factors(memory=1, peer=1, prefill_flops=1, overhead_s=10)
    slowest = cost(tp=1, factors=whole).decode(1, 1)
    assert cost(tp=1024, link_rate=1e15, factors=whole).decode(1, 1) < slowest


def test_an_impossible_factor_is_refused():
    with pytest.raises(
        ConfigError, match=r"memory is 1\.2; a share of a peak is 0 to 1"
    ):
        Factors(memory=1.2)


def test_an_unknown_name_is_told_with_those_that_exist():
    with pytest.raises(ConfigError, match="no accelerator 'h300'; kvlab knows a100"):
        accelerator("h300")
    with pytest.raises(ConfigError, match=r"no model 'gpt-9'; .* its config\.json"):
        model_shape("gpt-9")
