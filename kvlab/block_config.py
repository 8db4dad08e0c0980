"""With which settings does a vLLM engine start, and which make no sense?

One frozen record holds every knob with vLLM's name and unit; a run's header carries
it. Sizes of pools are blocks and include the null block, as in vLLM.
Left out: how many blocks a memory budget holds.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .config import Settings, check_pool
from .errors import ConfigError

Policy = Literal["fcfs", "priority"]
HashAlgo = Literal["sha256", "sha256_cbor", "xxhash", "xxhash_cbor", "chain64"]


ChunkPolicy = Literal["lru", "arc"]


class L2Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The CPU side: of SimpleCPUOffload, or of the offloading connector.

    Units: latencies in engine steps; offers for `store_threshold`. `num_cpu_blocks`
    includes a null block, which only the simple connector has: of the other, one less
    are chunks. `lazy` is the simple one's; eviction_policy, store_threshold and
    offload_prompt_only are the other's.
    Raises: ConfigError for a number below its least, or for `lazy` with the other.
    """

    num_cpu_blocks: int
    connector: Literal["simple", "offloading"] = "simple"
    lazy: bool = False
    eviction_policy: ChunkPolicy = "lru"
    store_threshold: int = 0
    offload_prompt_only: bool = True
    load_latency: int = 2
    store_latency: int = 1

    def __post_init__(self) -> None:
        _at_least("num_cpu_blocks", self.num_cpu_blocks, 1)
        _at_least("load_latency", self.load_latency, 0)
        _at_least("store_latency", self.store_latency, 0)
        _at_least("store_threshold", self.store_threshold, 0)
        if self.connector == "offloading":
            _at_least("num_cpu_blocks", self.num_cpu_blocks, 2)
            if self.lazy:
                raise ConfigError("lazy is of the simple connector; leave it out")


class BlockConfig(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The knobs of one vLLM engine.

    Units: pools in blocks, budgets and lengths in tokens, `watermark` a share of the
    pool. `hash_algo` chain64 is kvlab's own, for replays (blocks/hashing.py).
    Raises: ConfigError for a number out of its range, or a pool too large to model.
    Source: vLLM 0.33.0, config/scheduler.py and config/cache.py.

    >>> BlockConfig(num_gpu_blocks=11, block_size=4).usable_tokens
    40
    """

    num_gpu_blocks: int = 64
    block_size: int = 16
    watermark: float = 0.0
    max_num_batched_tokens: int = 2048
    max_num_seqs: int = 128
    enable_caching: bool = True
    max_model_len: int = 4096
    long_prefill_token_threshold: int = 0
    policy: Policy = "fcfs"
    scheduler_reserve_full_isl: bool = True
    enable_chunked_prefill: bool = True
    hash_algo: HashAlgo = "sha256_cbor"
    async_scheduling: bool = False
    kv_load_failure_policy: Literal["fail", "recompute"] = "fail"
    l2: L2Config | None = None

    def __post_init__(self) -> None:
        for name in (
            "num_gpu_blocks", "block_size", "max_num_batched_tokens", "max_num_seqs",
            "max_model_len",
        ):  # fmt: skip
            _at_least(name, getattr(self, name), 1)
        _at_least("long_prefill_token_threshold", self.long_prefill_token_threshold, 0)
        check_pool("num_gpu_blocks", self.num_gpu_blocks * self.block_size)
        if not 0 <= self.watermark < 1:
            raise ConfigError(f"watermark is {self.watermark}; use 0 up to below 1")

    @property
    def usable_tokens(self) -> int:
        """Tokens that requests can hold: all blocks but the null block."""
        return (self.num_gpu_blocks - 1) * self.block_size

    def check_start(self) -> None:
        """Refuse what vLLM's own start-up refuses. A recorded script is taken as it is.

        Raises: ConfigError if a step cannot give each sequence a token, or if one
        request of max_model_len tokens would outgrow the pool (it would preempt
        itself and never be admitted again).
        """
        if self.max_num_batched_tokens < self.max_num_seqs:
            raise ConfigError(
                f"max_num_batched_tokens {self.max_num_batched_tokens} is less than "
                f"max_num_seqs {self.max_num_seqs}; a step owes each sequence a token"
            )
        need = -(-self.max_model_len // self.block_size)
        if need > self.num_gpu_blocks - 1:
            raise ConfigError(
                f"one request of max_model_len {self.max_model_len} needs {need} "
                f"blocks, {self.num_gpu_blocks - 1} are usable; raise num_gpu_blocks "
                "or lower max_model_len"
            )


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigError(f"{name} is {value}; use at least {least}")
