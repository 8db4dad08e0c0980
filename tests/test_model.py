"""Is the tiny model a witness: the same every time, and moved by every row?"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kvlab.errors import ConfigError
from kvlab.run.model import Model, Spec, as_bytes, greedy

TOLERANCE = 1e-4
TOKENS = as_bytes("a prefix of some length")
SPECS = {
    "gqa": Spec(layers=2), "mla": Spec(layers=2, rank=16),
    "bfloat16": Spec(layers=2, dtype="bfloat16"), "fp8": Spec(layers=2, dtype="fp8"),
}  # fmt: skip
all_specs = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


@all_specs
def test_the_same_chunks_give_the_same_bits(spec):
    model = Model(spec)
    one, other = (model.prefill(TOKENS, (8, 12)) for _ in range(2))
    assert torch.equal(one[0], other[0])


@pytest.mark.parametrize("spec", [SPECS["gqa"], SPECS["mla"]], ids=["gqa", "mla"])
@pytest.mark.parametrize("cuts", [(1,), (8, 12), tuple(range(1, len(TOKENS)))])
def test_other_chunks_give_the_same_up_to_the_order_of_sums(spec, cuts):
    model = Model(spec)
    one, other = model.prefill(TOKENS)[0], model.prefill(TOKENS, cuts)[0]
    assert (one - other).abs().max() < TOLERANCE


@all_specs
def test_every_row_of_k_and_v_moves_the_logits(spec):
    model, end = Model(spec), len(TOKENS)
    logits, kv = model.prefill(TOKENS, (end - 1,))
    slots = np.arange(end)
    for slot in range(end - 1):
        before = [part.clone() for part in kv.parts]
        for part in kv.parts:
            part[:, slot] = 0
        changed = model.forward(TOKENS, slots, end - 1, kv)[-1]
        for part, was in zip(kv.parts, before, strict=True):
            part.copy_(was)
        assert (changed - logits).abs().max() > TOLERANCE, slot


def test_a_pass_waits_for_a_layer_right_before_it_and_not_without_a_past():
    model, waited = Model(Spec(layers=3)), []
    kv, slots = model.scratch(len(TOKENS)), np.arange(len(TOKENS))
    model.forward(TOKENS[:8], slots[:8], 0, kv, waited.append)
    assert waited == []
    model.forward(TOKENS, slots, 8, kv, waited.append)
    assert waited == [0, 1, 2]


def test_another_seed_is_another_model():
    one, other = (
        Model(Spec(layers=1, seed=seed)).prefill(TOKENS)[0] for seed in (0, 1)
    )
    assert not torch.equal(one, other)


def test_what_the_model_says_is_fixed_by_its_seed():
    assert Model(Spec()).speak(as_bytes("The cache holds"), 6) == [
        142, 45, 221, 211, 155, 211,
    ]  # fmt: skip


def test_of_equal_logits_the_lowest_token_is_taken():
    assert greedy(torch.tensor([0.0, 3.0, 3.0])) == 1


def test_the_smallest_prompt_is_one_byte():
    assert Model(Spec(layers=1)).prefill(as_bytes("x"))[0].shape == (256,)


def test_a_model_on_a_device_that_is_not_here_is_refused():
    with pytest.raises(ConfigError, match="no device 'abacus' here"):
        Model(Spec(layers=1), "abacus")
