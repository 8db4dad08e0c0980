"""Are settings that no vLLM could start with refused, and why?"""

from __future__ import annotations

import pytest

from kvlab.block_config import BlockConfig, L2Config
from kvlab.errors import ConfigError


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_gpu_blocks": 0}, "num_gpu_blocks is 0; use at least 1"),
        ({"block_size": 0}, "block_size is 0"),
        ({"watermark": 1.0}, "watermark is 1.0"),
        ({"long_prefill_token_threshold": -1}, "long_prefill_token_threshold is -1"),
    ],
)
def test_an_impossible_setting_is_refused(settings, words):
    with pytest.raises(ConfigError, match=words):
        BlockConfig(**settings)


def test_an_impossible_cpu_pool_is_refused():
    with pytest.raises(ConfigError, match="num_cpu_blocks is 0"):
        L2Config(num_cpu_blocks=0)


def test_a_mapping_from_outside_is_checked():
    with pytest.raises(ConfigError, match="unknown field"):
        BlockConfig.of({"blocks": 3})


def test_start_up_refuses_a_pool_too_small_for_one_request():
    config = BlockConfig(num_gpu_blocks=11, block_size=4, max_model_len=41)
    with pytest.raises(ConfigError, match="41 needs 11 blocks, 10 are usable"):
        config.check_start()


def test_start_up_takes_a_pool_that_just_fits_one_request():
    BlockConfig(num_gpu_blocks=11, block_size=4, max_model_len=40).check_start()


def test_start_up_owes_each_sequence_a_token():
    config = BlockConfig(max_num_batched_tokens=8, max_num_seqs=16)
    with pytest.raises(ConfigError, match="a step owes each sequence a token"):
        config.check_start()
