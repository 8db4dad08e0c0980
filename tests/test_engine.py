"""Do the parts of an engine belong together?"""

from __future__ import annotations

from kvlab.cache.hiradix import HiRadixCache
from kvlab.config import EngineConfig
from kvlab.memory.transfer import HandTransfer
from kvlab.rules import Rules
from kvlab.run.engine import Engine

RULES = Rules.v0_5_14()


def test_a_plain_tree_has_no_host_cache():
    engine = Engine(EngineConfig(pool_tokens=16, tree="radix"), RULES)
    assert engine.host_cache is None
    assert (engine.host_total, engine.host_available) == (0, 0)


def test_a_tree_with_a_host_is_both_caches():
    engine = Engine(EngineConfig(pool_tokens=16), RULES)
    assert isinstance(engine.cache, HiRadixCache)
    assert engine.cache is engine.host_cache is engine.scheduler.cache


def test_a_pool_has_a_slot_for_every_token_and_one_page_of_padding():
    config = EngineConfig(pool_tokens=64, host_tokens=96, page_size=16)
    engine = Engine(config, RULES)
    assert len(engine.device_pool.prints) == 64 + 16
    assert len(engine.host_pool.prints) == 96


def test_a_ledger_has_no_slots():
    engine = Engine(EngineConfig(pool_tokens=64), RULES, mode="ledger")
    assert len(engine.device_pool.prints) == len(engine.host_pool.prints) == 0


def test_the_host_account_begins_with_everything_free():
    engine = Engine(EngineConfig(pool_tokens=64, host_tokens=96), RULES)
    assert (engine.host_total, engine.host_available) == (96, 96)


def test_copies_go_over_the_link_that_was_given():
    link = HandTransfer()
    assert Engine(EngineConfig(pool_tokens=16), RULES, link=link).link is link
