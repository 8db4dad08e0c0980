"""How do the parts make one SGLang engine?

`Engine` builds pools, tree, controller and scheduler from one config and one rule
book, and gives all of them the same emitter.
"""

from __future__ import annotations

from ..cache.hiradix import HiRadixCache
from ..cache.radix import RadixCache
from ..config import EngineConfig
from ..memory.pool import KVPool, Mode
from ..memory.transfer import HandTransfer, InstantTransfer
from ..record.trace import QUIET, Emitter
from ..rules import Rules
from ..schedule.radix_scheduler import RadixScheduler


class Engine:
    """One engine: `cache`, `scheduler`, the two pools and the link between them.

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
    ) -> None:
        self.config = config
        self.rules = rules
        page = config.page_size
        self.device_pool = KVPool((config.device_pages + 1) * page, page, mode)
        self.host_pool = KVPool(config.host_pages * page, page, mode)
        self.link = link or InstantTransfer()
        self.cache: RadixCache
        self.host_cache: HiRadixCache | None = None
        if config.tree == "hiradix":
            self.cache = self.host_cache = HiRadixCache(
                config,
                rules,
                emit,
                device_pool=self.device_pool,
                host_pool=self.host_pool,
                link=self.link,
            )
        else:
            self.cache = RadixCache(config, rules, emit)
        self.scheduler = RadixScheduler(self.cache, config, self.device_pool, emit)

    @property
    def host_total(self) -> int:
        """The host pool, in tokens; 0 without one."""
        return self.config.host_pages * self.config.page_size

    @property
    def host_available(self) -> int:
        """Free host tokens; 0 without a host pool."""
        return self.host_cache.host.available if self.host_cache else 0
