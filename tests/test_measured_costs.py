"""Does the cost model stay as near to measured steps as its docstring says?"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import pytest
from benchmarks.measured_costs import (
    LINKS,
    POINTS,
    REDUCES,
    SOURCES,
    cost_of,
    ratios,
    reduced,
    said,
)
from msgspec.structs import replace

from kvlab.run import cost
from kvlab.run.accelerators import ACCELERATORS
from kvlab.run.cost import FS, Cost, Factors

FIGURES = Path(__file__).resolve().parents[1] / "FIGURES.md"

BANDS = {
    "dense, decode and runs": ("0.95", "0.38", "1.18"),
    "dense, prefill over 1000": ("0.88", "0.72", "1.10"),
    "dense, prefill under 1000": ("0.65", "0.43", "0.84"),
    "mixture, batches": ("0.90", "0.73", "0.99"),
    "mixture, decode": ("0.49", "0.30", "0.63"),
    "mixture, prefill": ("0.20", "0.11", "0.33"),
    "two nodes": ("0.21", "0.17", "0.65"),
}
"""Median, least and most of what kvlab says over what was measured."""


def test_every_point_belongs_to_a_band_and_names_its_source():
    assert ratios().keys() == BANDS.keys()
    assert {point.source for point in POINTS} <= SOURCES.keys()
    assert all(address.startswith("https://") for _, address in SOURCES.values())
    assert all(point.quoted for point in POINTS)


def test_the_points_span_models_and_accelerators():
    assert len({point.model for point in POINTS}) == 9
    assert {point.device for point in POINTS} >= {
        "a100",
        "h100",
        "h200",
        "b200",
        "l40s",
    }


@pytest.mark.parametrize("group", BANDS)
def test_the_model_is_as_near_as_it_says(group):
    values = ratios()[group]
    found = (median(values), values[0], values[-1])
    assert tuple(f"{value:.2f}" for value in found) == BANDS[group]


@pytest.mark.parametrize("group", BANDS)
def test_docstring_and_figures_quote_the_same_bands(group):
    middle, least, most = BANDS[group]
    assert re.search(rf"{middle} +{least} to {most}$", cost.__doc__, re.M)
    assert re.search(
        rf"{middle}[^.;]*? \({least}–{most}[;)]", FIGURES.read_text("utf-8")
    )
    assert f"{len(POINTS)} published measurements" in FIGURES.read_text("utf-8")
    assert f"{len(POINTS)} of them" in cost.__doc__


def test_runs_of_small_dense_models_lie_within_a_fifth():
    small = {"llama-2-7b", "llama-3-8b"}
    runs = [point for point in POINTS if point.kind == "run" and point.model in small]
    found = sorted(said(point) / point.seconds for point in runs)
    assert len({point.device for point in runs}) == 4
    assert f"{found[0]:.2f} to {found[-1]:.2f} on four" in cost.__doc__
    assert f"{found[0]:.2f}–{found[-1]:.2f} for runs" in FIGURES.read_text("utf-8")


def test_the_factors_offered_for_mixtures_bring_them_nearer():
    factors = Factors(overhead_s=0.006, prefill_flops=0.15)
    nearer = {}
    for point in POINTS:
        if point.group.startswith("mixture"):
            tuned = cost_of(point, factors)
            nearer.setdefault(point.group, []).append(
                said(point, tuned) / point.seconds
            )
    ends = [f"{min(values):.2f} to {max(values):.2f}" for values in nearer.values()]
    assert sorted(ends) == ["0.15 to 0.72", "0.57 to 1.09", "0.97 to 1.24"]
    told = " ".join(Factors.__doc__.split())
    assert all(end in told for end in ends)


def test_prefill_of_8_bits_is_too_slow_at_the_peak_of_16():
    found = []
    for point in POINTS:
        if point.group == "dense, prefill over 1000" and point.weights == 1:
            plain = replace(cost_of(point).model, fp8=False)
            plain = Cost(plain, ACCELERATORS[point.device], tp=point.tp)
            found.append(said(point, plain) / point.seconds)
    assert f"({min(found):.2f} to {max(found):.2f})" in cost.__doc__


def test_copies_reach_four_fifths_of_their_link():
    shares = [rate / peak for name, peak, rate, *_ in LINKS if name.startswith("host")]
    assert (f"{min(shares):.2f}", f"{max(shares):.2f}") == ("0.77", "0.82")
    assert "0.77 to 0.82" in " ".join(Cost.__doc__.split())


def test_a_small_all_reduce_is_right_and_a_large_one_too_fast():
    shares = {size: [] for _, size, _ in REDUCES}
    for tp, size, seconds in REDUCES:
        shares[size].append(reduced(tp, size) / seconds)
    assert min(shares[32768]) > 1 and max(shares[32768]) < 2
    assert min(shares[1 << 20]) > 0.35 and max(shares[1 << 20]) < 0.6


def test_the_benchmark_says_what_kvlab_s_engine_would_take():
    (point,) = (p for p in POINTS if p.quoted.startswith("latency_llama8B"))
    plain = Cost(cost_of(point).model, ACCELERATORS["h200"])
    steps = sum(plain.decode(8, 8 * (33 + step)) for step in range(127))
    assert said(point) == (plain.prefill([(32, 0)] * 8) + steps) / FS
