"""Does attention over a pool find what attention over contiguous K and V finds?"""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from kvlab.memory.kv_form import KVForm
from kvlab.memory.kv_tensors import KVTensors
from kvlab.run.attention import Heads, Latent, Weights, attend, rms_norm, rope

HIDDEN, HEADS, KV_HEADS, DIM, RANK, ROPE = 24, 4, 2, 6, 10, 4
TOLERANCE = 1e-5
"""torch sums in another order, and float32 has 24 bits."""


def numbers(*shape, seed=3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def heads(kv_heads=KV_HEADS):
    return Heads(Weights(0), HIDDEN, HEADS, kv_heads, DIM)


def latent():
    return Latent(Weights(0), HIDDEN, HEADS, DIM, RANK, ROPE)


def gqa_by_the_book(layer, x, at):
    """K and V contiguous, and torch's own attention."""
    n = len(x)
    q = rope((x @ layer.q).view(n, HEADS, DIM), at).transpose(0, 1)
    k = rope((x @ layer.k).view(n, layer.kv_heads, DIM), at).transpose(0, 1)
    v = (x @ layer.v).view(n, layer.kv_heads, DIM).transpose(0, 1)
    found = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return found.transpose(0, 1).reshape(n, -1) @ layer.out


def mla_by_the_book(layer, x, at):
    n = len(x)
    c = rms_norm(x @ layer.latent)
    shared = rope((x @ layer.k_rope)[:, None], at).expand(n, HEADS, ROPE)
    k = torch.cat(((c @ layer.to_k).view(n, HEADS, DIM), shared), 2).transpose(0, 1)
    v = (c @ layer.to_v).view(n, HEADS, DIM).transpose(0, 1)
    turned = rope((x @ layer.q_rope).view(n, HEADS, ROPE), at)
    q = torch.cat(((x @ layer.q).view(n, HEADS, DIM), turned), 2).transpose(0, 1)
    found = scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(0, 1).reshape(n, -1) @ layer.out


KINDS = {
    "gqa": (heads, gqa_by_the_book, KVForm.of_heads(1, KV_HEADS, DIM)),
    "mha": (lambda: heads(HEADS), gqa_by_the_book, KVForm.of_heads(1, HEADS, DIM)),
    "mla": (latent, mla_by_the_book, KVForm.of_latent(1, RANK, ROPE)),
}
SCATTERED = torch.tensor([9, 3, 14, 4, 5, 0, 12, 1, 7])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", [(), (4,), (1, 2, 7)])
def test_paged_attention_equals_torch_on_contiguous_k_and_v(kind, cuts):
    make, by_the_book, form = KINDS[kind]
    layer, x = make(), numbers(9, HIDDEN)
    kv, parts = KVTensors(form, 16), []
    for start, end in zip((0, *cuts), (*cuts, 9), strict=True):
        at = torch.arange(start, end)
        parts.append(layer(x[start:end], at, SCATTERED[:end], kv, 0))
    expected = by_the_book(layer, x, torch.arange(9))
    assert (torch.cat(parts) - expected).abs().max() < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_where_the_rows_lie_changes_no_bit(kind):
    make, _, form = KINDS[kind]
    layer, x, at = make(), numbers(9, HIDDEN), torch.arange(9)
    one = layer(x, at, SCATTERED, KVTensors(form, 16), 0)
    other = layer(x, at, torch.arange(9), KVTensors(form, 16), 0)
    assert torch.equal(one, other)


def test_a_query_sees_nothing_behind_its_position():
    q, keys, values = numbers(1, 2, 4), numbers(5, 2, 4), numbers(5, 2, 4)
    at = torch.tensor([2])
    seen = attend(q, keys, values, at)
    keys[3:], values[3:] = 99.0, 99.0
    assert torch.equal(attend(q, keys, values, at), seen)


def test_rope_lets_scores_depend_on_the_distance_alone():
    q, k = numbers(1, 1, 8), numbers(1, 1, 8, seed=4)

    def score(here, there):
        turned = rope(q, torch.tensor([here])), rope(k, torch.tensor([there]))
        return float((turned[0] * turned[1]).sum())

    assert score(7, 3) == pytest.approx(score(104, 100), abs=1e-4)
    assert score(7, 3) != pytest.approx(score(7, 4), abs=1e-2)


def test_rms_norm_gives_squares_a_mean_of_one():
    squares = rms_norm(numbers(2, 50)).square().mean(1)
    assert squares.tolist() == pytest.approx([1, 1], abs=1e-5)


def test_the_same_seed_draws_the_same_weights():
    assert torch.equal(Weights(5)(3, 4), Weights(5)(3, 4))
    assert not torch.equal(Weights(5)(3, 4), Weights(6)(3, 4))
