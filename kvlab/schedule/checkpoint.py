"""What does the tree take over from a request, and what is given back?

The row of a request, when its tokens go into the tree:

        0        owned_len      prefix_len          whole       end
        |- tree's -|-- duplicates --|- taken over ----|- tail ----|
                      freed                              stays, or freed at the end

Duplicates are tokens that somebody else cached meanwhile; the tail is a partial page.
Source: SGLang 0.5.14, mem_cache/radix_cache.py, cache_finished_req and
cache_unfinished_req.
"""

from __future__ import annotations

from ..cache.radix import RadixCache
from ..geometry import floor_page
from ..memory.req_to_token import ReqToTokenPool
from ..record import events as ev
from ..record.trace import Emitter
from .request import Request


def cache_finished(
    cache: RadixCache,
    rows: ReqToTokenPool,
    request: Request,
    *,
    insert: bool = True,
) -> None:
    """Give the tree what the request computed, free the rest, unlock its path.

    Without `insert` (retraction, abort) all that the tree does not own is freed.
    Changes: the tree, the free list, the request's row, which is given back.
    """
    row = _row(request)
    end, start = request.kv_len, request.owned_len
    whole = floor_page(end, cache.page_size)
    if insert:
        tokens, pages = request.tokens(whole), rows.pages(row, 0, whole)
        prefix_len = cache.insert(tokens, pages, priority=request.priority)
        cache.allocator.free(rows.pages(row, start, prefix_len))
    else:
        cache.allocator.free(rows.pages(row, start, whole))
    cache.allocator.free(rows.pages(row, whole, end))
    cache.dec_lock_ref(request.node)
    rows.free(row)
    request.row, request.last_node = None, None
    request.kv_len = request.prefix_len = request.owned_len = 0


def cache_unfinished(
    cache: RadixCache,
    rows: ReqToTokenPool,
    request: Request,
    emit: Emitter,
    *,
    chunked: bool = False,
) -> None:
    """Give the tree what is computed so far; the request goes on with the tree's pages
    and moves its lock there. A partial page stays with the request.

    Changes: the tree, the free list, the row, locks.
    """
    row = _row(request)
    whole = floor_page(request.fill_len, cache.page_size)
    tokens, pages = request.tokens(whole), rows.pages(row, 0, whole)
    prefix_len = cache.insert(tokens, pages, priority=request.priority, chunked=chunked)
    start = request.owned_len
    cache.allocator.free(rows.pages(row, start, prefix_len))
    match = cache.match_prefix(tokens)
    cut = start // cache.page_size
    rows.write(row, start, match.pages[cut:], whole)
    emit(ev.Row, request.id, cut, rows.pages(row, start, request.fill_len))
    cache.dec_lock_ref(request.node)
    cache.inc_lock_ref(match.last_device)
    request.last_node = match.last_device
    request.owned_len = match.device_len
    request.prefix_len = request.fill_len
    emit(ev.Cached, request.id, match.last_device.id, match.device_len)


def _row(request: Request) -> int:
    assert request.row is not None, f"request {request.id} has no row"
    return request.row
