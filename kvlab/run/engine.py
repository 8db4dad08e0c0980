"""How do the parts make one SGLang engine?

`Engine` builds pools, tree, controller and scheduler from one config and one rule
book, and gives all of them the same emitter. With a model its pools hold K and V.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..cache.hiradix import HiRadixCache
from ..cache.radix import RadixCache
from ..config import EngineConfig
from ..memory.kv_tensors import KVTensors
from ..memory.pool import Compute, Mode, Slots, fingerprints
from ..memory.pools import Tensors, make_pools
from ..memory.transfer import HandTransfer, InstantTransfer
from ..pages import Pages, slots_of
from ..record.events import Tokens
from ..record.trace import QUIET, Emitter
from ..rules import Rules
from ..schedule.radix_scheduler import RadixScheduler

Forward = Callable[[KVTensors, HandTransfer, str, Tokens, Slots, int], None]
"""A model, told where K and V lie and which loads may be under way; then as `Compute`.
"""


class Engine:
    """One engine: `cache`, `scheduler`, the two pools and the link between them.

    `tensors` says which K and V the pools hold, and `forward` computes them.
    `host_cache_type` is the two-tier cache, for lessons that need a faulty one.
    Raises: ConfigError where the pools do not fit.

    >>> engine = Engine(EngineConfig(pool_tokens=16), Rules.v0_5_14())
    >>> engine.cache.allocator.available, engine.host_total
    (16, 33)
    """

    def __init__(
        self,
        config: EngineConfig,
        rules: Rules,
        *,
        emit: Emitter = QUIET,
        mode: Mode = "fingerprints",
        link: HandTransfer | None = None,
        tensors: Tensors | None = None,
        forward: Forward | None = None,
        host_cache_type: type[HiRadixCache] = HiRadixCache,
    ) -> None:
        self.config = config
        self.rules = rules
        self.device_pool, self.host_pool = make_pools(config, mode, tensors)
        self.link = link or InstantTransfer()
        self.cache: RadixCache
        self.host_cache: HiRadixCache | None = None
        if config.tree == "hiradix":
            self.cache = self.host_cache = host_cache_type(
                config,
                rules,
                emit,
                device_pool=self.device_pool,
                host_pool=self.host_pool,
                link=self.link,
            )
            if tensors is not None:
                self.host_cache.controller.bytes_per_token = tensors.form.token_bytes
        else:
            self.cache = RadixCache(config, rules, emit)
        self.compute: Compute | None = None
        if forward is not None and self.device_pool.kv is not None:
            self.compute = partial(forward, self.device_pool.kv, self.link)
        self.scheduler = RadixScheduler(
            self.cache, config, self.device_pool, emit, self.compute
        )

    def fill(self, tokens: Tokens, pages: Pages) -> None:
        """Write what a forward pass over the tokens writes into the pages.

        Changes: the device pool.
        """
        self.device_pool.write(pages, fingerprints(tokens))
        if self.compute is not None:
            self.compute("", tokens, slots_of(pages, self.config.page_size), 0)

    @property
    def host_total(self) -> int:
        """The host pool, in tokens; 0 without one."""
        return self.config.host_pages * self.config.page_size

    @property
    def host_available(self) -> int:
        """Free host tokens; 0 without a host pool."""
        return self.host_cache.host.available if self.host_cache else 0
