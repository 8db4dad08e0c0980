"""What does the engine know of a request?

Four lengths tell where it stands, in tokens of prompt + outputs:

        |<-- owned_len -->|<----- held ----->|<- extend_len ->|
        0            (the tree's)        prefix_len        fill_len

`prefix_len` tokens have KV before the next prefill, `fill_len` after it. A token that
was sampled last has no KV yet, so `kv_len` is prompt + outputs - 1 while decoding.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..cache.tree import Node
from ..record.events import Tokens


@dataclass(eq=False)
class Request:
    """One request and its place in memory.

    Units: tokens. `owned_len` is SGLang's cache_protected_len, `inserted_len` its
    cache_inserted_len, `kv_len` its kv_committed_len, `row` its req_pool_idx.
    """

    id: str
    prompt: Tokens
    max_new: int
    priority: int = 0
    ignore_eos: bool = False
    outputs: list[int] = field(default_factory=list)
    row: int | None = None
    prefix_len: int = 0
    fill_len: int = 0
    owned_len: int = 0
    inserted_len: int = 0
    kv_len: int = 0
    device_hit: int = 0
    host_hit: int = 0
    last_node: Node | None = None
    best_match: Node | None = None

    @property
    def length(self) -> int:
        """Tokens of prompt and outputs."""
        return len(self.prompt) + self.num_outputs

    @property
    def num_outputs(self) -> int:
        """Tokens produced."""
        return len(self.outputs)

    def append(self, token: int) -> None:
        """Take the next output. Changes: `outputs`."""
        self.outputs.append(token)

    @property
    def extend_len(self) -> int:
        """Tokens that the next prefill computes."""
        return self.fill_len - self.prefix_len

    @property
    def node(self) -> Node:
        """The node that the request locks, or would lock."""
        assert self.last_node is not None, f"request {self.id} was never matched"
        return self.last_node

    def tokens(self, length: int) -> Tokens:
        """Return the first `length` tokens of prompt + outputs."""
        if length <= len(self.prompt):
            return self.prompt[:length]
        outputs = np.array(self.outputs[: length - len(self.prompt)], np.int32)
        return np.concatenate((self.prompt, outputs))
