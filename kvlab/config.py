"""With which settings does an engine start, and which make no sense?

One frozen record holds every knob with SGLang's name and unit; a run's header carries
it. Left out: which rules the release follows (rules.py).
"""

from __future__ import annotations

import re
from typing import Any, Literal, Self, get_args, get_type_hints

import msgspec
from msgspec import Struct

from .errors import ConfigError
from .geometry import floor_page, host_size
from .rules import Rules

Tree = Literal["radix", "hiradix"]
WritePolicy = Literal["write_through", "write_through_selective", "write_back"]
EvictionPolicy = Literal["lru", "lfu", "fifo", "mru", "filo", "priority", "slru"]

MAX_TOKENS = 2**31 - 1
"""Slots and token ids are 32-bit numbers, as in the engines' kernels."""

MAX_POOL = 2**28
"""The largest pool that is modelled, in tokens: more than eight of today's devices, or
two terabytes of host memory, hold of a small model. Its free list takes 1 GiB here."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The knobs of an engine, which may come from outside."""

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Self:
        """Return the settings that a mapping from outside describes.

        Raises: ConfigError on an unknown name, a wrong type or an impossible value.
        """
        try:
            return msgspec.convert(settings, cls)
        except msgspec.ValidationError as error:
            raise ConfigError(_told(cls, str(error))) from None


def _told(settings: type[Settings], error: str) -> str:
    """Return what is wrong; of a word that is unknown, with those that are known.

    >>> _told(EngineConfig, "Invalid enum value 'oak' - at `$.tree`")
    "tree is 'oak'; use radix, hiradix"
    """
    found = re.fullmatch(r"Invalid enum value (.+) - at `\$\.(\w+)`", error)
    if found is None:
        return error
    known = get_args(get_type_hints(settings)[found[2]])
    return f"{found[2]} is {found[1]}; use {', '.join(known)}"


class EngineConfig(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The knobs of one SGLang engine.

    Units: pools and budgets in tokens. `host_tokens` is exact; None asks the engine's
    own ratio rule. Thresholds of None take the release's default.
    Raises: ConfigError for a number out of its range, a pool that holds no page or is
    too large to model, or host tokens that are not whole pages.
    Source: SGLang 0.5.14, server_args.py; for thresholds mem_cache/hiradix_cache.py,
    for `clip_max_new` managers/schedule_policy.py, CLIP_MAX_NEW_TOKENS.

    >>> EngineConfig(pool_tokens=64).host_pages
    129
    """

    pool_tokens: int
    tree: Tree = "hiradix"
    host_tokens: int | None = None
    hicache_ratio: float = 2.0
    page_size: int = 1
    eviction_policy: EvictionPolicy = "lru"
    write_policy: WritePolicy = "write_through"
    load_back_threshold: int | None = None
    write_through_threshold: int | None = None
    need_sort: bool = False
    new_token_ratio: float = 0.0
    max_prefill_tokens: int = 16384
    chunked_prefill_size: int | None = None
    clip_max_new: int = 4096

    def __post_init__(self) -> None:
        for name in ("pool_tokens", "page_size", "max_prefill_tokens"):
            _at_least(name, getattr(self, name), 1)
        for name in ("clip_max_new", "host_tokens", "load_back_threshold"):
            _at_least(name, getattr(self, name), 0)
        for name in ("chunked_prefill_size", "write_through_threshold"):
            _at_least(name, getattr(self, name), 1)
        if not 0 < self.hicache_ratio <= 1000:
            raise ConfigError(f"hicache_ratio is {self.hicache_ratio}; use 0 to 1000")
        if not 0 <= self.new_token_ratio <= 1:
            raise ConfigError(f"new_token_ratio is {self.new_token_ratio}; use 0 to 1")
        if self.pool_tokens < self.page_size:
            raise ConfigError(
                f"pool_tokens {self.pool_tokens} holds no page of {self.page_size}; "
                "raise pool_tokens or lower page_size"
            )
        if self.tree == "hiradix":
            self._whole_pages("host_tokens", self.host_tokens)
        check_pool("pool_tokens", self.pool_tokens)
        check_pool("host pool", self.host_pages * self.page_size)

    def _whole_pages(self, name: str, tokens: int | None) -> None:
        if tokens is not None and tokens % self.page_size:
            nearest = floor_page(tokens, self.page_size) or self.page_size
            raise ConfigError(
                f"{name} {tokens} is not a multiple of page_size {self.page_size}; "
                f"use {nearest}"
            )

    @property
    def device_pages(self) -> int:
        """Usable pages of L1; the padding page 0 comes on top."""
        return self.pool_tokens // self.page_size

    @property
    def host_pages(self) -> int:
        """Pages of L2; 0 for a plain radix tree."""
        if self.tree == "radix":
            return 0
        if self.host_tokens is not None:
            return self.host_tokens // self.page_size
        size = host_size(self.pool_tokens, self.hicache_ratio, self.page_size)
        return size // self.page_size

    @property
    def backup_threshold(self) -> int:
        """Hits after which an insert asks for a backup: 1 for write_through, else 2."""
        if self.write_through_threshold is not None:
            return self.write_through_threshold
        return 1 if self.write_policy == "write_through" else 2

    @property
    def load_threshold(self) -> int:
        """Fewest tokens that are worth a load_back."""
        return 10 if self.load_back_threshold is None else self.load_back_threshold

    def check_start(self, rules: Rules) -> None:
        """Refuse what the release's own start-up refuses.

        Raises: ConfigError if a chunk is not whole pages, or if the host pool is not
        larger than the device pool and the rules ask for it. A recorded script is
        taken as it is, without this check.
        """
        self._whole_pages("chunked_prefill_size", self.chunked_prefill_size)
        host = self.host_pages * self.page_size
        device = self.device_pages * self.page_size
        if self.tree == "hiradix" and rules.host_must_exceed_device and host <= device:
            raise ConfigError(
                f"host pool of {host} tokens is not larger than the device pool of "
                f"{device}; SGLang {rules.name} refuses to start: use at least "
                f"{device + self.page_size} host tokens"
            )


def check_pool(name: str, tokens: int) -> None:
    """Refuse a pool that is too large to be modelled, before anything is allocated.

    Raises: ConfigError with both sizes.
    """
    if tokens > MAX_POOL:
        raise ConfigError(f"{name} is {tokens} tokens; at most {MAX_POOL} are modelled")


def _at_least(name: str, value: int | None, least: int) -> None:
    if value is None:
        return
    if value < least:
        raise ConfigError(f"{name} is {value}; use at least {least}")
    if value > MAX_TOKENS:
        raise ConfigError(f"{name} is {value}; at most {MAX_TOKENS} fit a 32-bit slot")
