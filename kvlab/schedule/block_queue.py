"""In which order do waiting requests stand?

FCFS: by arrival, those sent back in front. Priority: by (priority, arrival, id).
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable, Iterator
from operator import attrgetter

from ..block_config import Policy
from .block_request import BlockRequest

_RANK = attrgetter("rank")


class BlockQueue:
    """A queue of requests under one policy.

    Cost: FCFS O(1) at both ends; priority O(n) to insert.

    >>> queue = BlockQueue("fcfs")
    >>> for id in "ab": queue.append(BlockRequest(id, [1], 1))
    >>> queue.put_first([BlockRequest("c", [1], 1)]); [r.id for r in queue]
    ['c', 'a', 'b']
    """

    def __init__(self, policy: Policy) -> None:
        self._by_rank = policy == "priority"
        self._requests: deque[BlockRequest] = deque()

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[BlockRequest]:
        return iter(self._requests)

    @property
    def first(self) -> BlockRequest:
        """The request that is served next."""
        return self._requests[0]

    def append(self, request: BlockRequest) -> None:
        """Put a request last, or to its place by rank."""
        if self._by_rank:
            insort(self._requests, request, key=_RANK)
        else:
            self._requests.append(request)

    def put_first(self, requests: Iterable[BlockRequest]) -> None:
        """Put requests before all others in the order given, or to their places."""
        if self._by_rank:
            for request in requests:
                self.append(request)
        else:
            self._requests.extendleft(reversed(list(requests)))

    def pop(self) -> BlockRequest:
        """Take the first request out."""
        return self._requests.popleft()

    def remove(self, request: BlockRequest) -> None:
        """Take a request out. Cost: O(n)."""
        self._requests.remove(request)
