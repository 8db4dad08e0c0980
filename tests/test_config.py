"""Which settings are refused, and with which words?"""

from __future__ import annotations

import pytest

from kvlab.config import MAX_TOKENS, EngineConfig
from kvlab.errors import ConfigError
from kvlab.rules import Rules

RULES = Rules.v0_5_14()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pool_tokens": 0}, "pool_tokens is 0; use at least 1"),
        ({"page_size": 0}, "page_size is 0; use at least 1"),
        ({"max_prefill_tokens": 0}, "max_prefill_tokens is 0; use at least 1"),
        ({"clip_max_new": -1}, "clip_max_new is -1; use at least 0"),
        ({"host_tokens": -1}, "host_tokens is -1; use at least 0"),
        ({"load_back_threshold": -1}, "load_back_threshold is -1; use at least 0"),
        ({"chunked_prefill_size": 0}, "chunked_prefill_size is 0; use at least 1"),
        ({"write_through_threshold": 0}, "write_through_threshold is 0; use at least"),
        ({"hicache_ratio": 0}, "hicache_ratio is 0; use 0 to 1000"),
        ({"hicache_ratio": float("nan")}, "hicache_ratio is nan; use 0 to 1000"),
        ({"new_token_ratio": 1.5}, "new_token_ratio is 1.5; use 0 to 1"),
        (
            {"pool_tokens": 2**31},
            f"pool_tokens is 2147483648; at most {MAX_TOKENS} fit a 32-bit slot",
        ),
        (
            {"pool_tokens": 8, "page_size": 16},
            "pool_tokens 8 holds no page of 16; raise pool_tokens or lower page_size",
        ),
        (
            {"host_tokens": 40, "page_size": 16},
            "host_tokens 40 is not a multiple of page_size 16; use 32",
        ),
        (
            {"host_tokens": 9, "page_size": 16},
            "host_tokens 9 is not a multiple of page_size 16; use 16",
        ),
    ],
)
def test_an_impossible_setting_is_refused_with_the_next_move(settings, message):
    with pytest.raises(ConfigError) as refused:
        EngineConfig(**{"pool_tokens": 64, **settings})
    assert str(refused.value).startswith(message)


def test_an_unknown_setting_is_refused_by_name():
    with pytest.raises(ConfigError, match="unknown field `pool_size`"):
        EngineConfig.of({"pool_tokens": 8, "pool_size": 8})


def test_a_setting_of_the_wrong_type_is_refused_by_name():
    with pytest.raises(ConfigError, match=r"Expected `int`, got `str`.*page_size"):
        EngineConfig.of({"pool_tokens": 8, "page_size": "1"})


def test_an_unknown_policy_is_refused():
    with pytest.raises(ConfigError, match=r"eviction_policy is 'lruu'; use lru, lfu"):
        EngineConfig.of({"pool_tokens": 8, "eviction_policy": "lruu"})


def test_an_impossible_setting_from_outside_is_a_config_error_too():
    with pytest.raises(ConfigError, match="pool_tokens is 0; use at least 1"):
        EngineConfig.of({"pool_tokens": 0})


def test_the_device_pool_is_cut_to_whole_pages():
    assert EngineConfig(pool_tokens=70, page_size=16).device_pages == 4


def test_the_host_pool_follows_the_ratio_of_all_device_tokens():
    config = EngineConfig(pool_tokens=79, page_size=16, hicache_ratio=1.5)
    assert config.host_pages == 79 * 1.5 // 16 + 1


def test_a_host_size_is_taken_exactly():
    assert EngineConfig(pool_tokens=64, host_tokens=48, page_size=16).host_pages == 3


def test_a_plain_tree_has_no_host_pool():
    assert EngineConfig(pool_tokens=64, host_tokens=128, tree="radix").host_pages == 0


@pytest.mark.parametrize(
    ("write_policy", "threshold"),
    [("write_through", 1), ("write_through_selective", 2), ("write_back", 2)],
)
def test_the_backup_threshold_follows_the_write_policy(write_policy, threshold):
    config = EngineConfig(pool_tokens=8, write_policy=write_policy)
    assert config.backup_threshold == threshold


def test_a_backup_threshold_that_is_given_counts():
    config = EngineConfig(pool_tokens=8, write_through_threshold=5)
    assert config.backup_threshold == 5


def test_a_load_back_below_ten_tokens_is_not_worth_it_unless_said_otherwise():
    assert EngineConfig(pool_tokens=8).load_threshold == 10
    assert EngineConfig(pool_tokens=8, load_back_threshold=0).load_threshold == 0


def test_0_5_14_refuses_to_start_with_a_host_no_larger_than_the_device():
    config = EngineConfig(pool_tokens=64, host_tokens=64, page_size=16)
    with pytest.raises(ConfigError) as refused:
        config.check_start(RULES)
    assert str(refused.value) == (
        "host pool of 64 tokens is not larger than the device pool of 64; "
        "SGLang 0.5.14 refuses to start: use at least 80 host tokens"
    )


def test_a_host_of_one_page_more_than_the_device_starts():
    EngineConfig(pool_tokens=64, host_tokens=80, page_size=16).check_start(RULES)


def test_a_plain_tree_starts_without_a_host():
    EngineConfig(pool_tokens=64, tree="radix").check_start(RULES)


def test_a_chunk_that_is_not_whole_pages_does_not_start():
    config = EngineConfig(pool_tokens=64, page_size=16, chunked_prefill_size=24)
    with pytest.raises(ConfigError, match="chunked_prefill_size 24 is not a multiple"):
        config.check_start(RULES)
