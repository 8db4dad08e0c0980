"""What does the tree take over from a request, and what is given back?

The row of a request, when its tokens go into the tree:

        0        owned_len      prefix_len          whole       end
        |- tree's -|-- duplicates --|- taken over ----|- tail ----|
                      freed                              stays, or freed at the end

Duplicates are tokens that somebody else cached meanwhile; the tail is a partial page.
0.5.23 knows one checkpoint for both cases and reads the tree's pages without a second
match; what the tree and the request hold afterwards is the same.
Source: SGLang 0.5.14, mem_cache/radix_cache.py, cache_finished_req and
cache_unfinished_req; 0.5.23, mem_cache/unified_radix_cache.py, checkpoint_into_tree.
"""

from __future__ import annotations

from ..cache.radix import InsertResult, RadixCache
from ..geometry import floor_page
from ..memory.req_to_token import ReqToTokenPool
from ..pages import Pages
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
        _insert(cache, rows.pages(row, 0, whole), request, whole)
        cache.allocator.free(rows.pages(row, whole, end))
    else:
        first = whole if cache.rules.freed_pages_sorted else start
        cache.allocator.free(rows.pages(row, start, first))
        cache.allocator.free(rows.pages(row, first, end))
    cache.dec_lock_ref(request.node)
    rows.free(row)
    request.row, request.last_node = None, None
    request.kv_len = request.prefix_len = 0
    request.owned_len = request.inserted_len = 0


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
    start, whole = request.owned_len, floor_page(request.fill_len, cache.page_size)
    pages = rows.pages(row, 0, whole)
    found = _insert(cache, pages, request, whole, chunked=chunked)
    match = cache.match_inserted(found.last)
    cut = start // cache.page_size
    if found.double_len > start:
        rows.write(row, start, match.pages[cut:], whole)
    emit(ev.Row, request.id, cut, rows.pages(row, start, request.fill_len))
    cache.move_lock_ref(request.node, match.last_device)
    request.last_node = match.last_device
    request.owned_len = match.device_len
    request.prefix_len = request.fill_len
    emit(
        ev.Cached, request.id, match.last_device.id, match.device_len,
        request.inserted_len,
    )  # fmt: skip


def _insert(
    cache: RadixCache,
    pages: Pages,
    request: Request,
    whole: int,
    *,
    chunked: bool = False,
) -> InsertResult:
    """Insert the request's first `whole` tokens; duplicates are freed. If they go
    beyond the prompt, set the prompt apart, where the release does so."""
    found = cache.insert(
        request.tokens(whole),
        pages,
        owned=request.owned_len,
        priority=request.priority,
        chunked=chunked,
        inserted_len=request.inserted_len,
        known=request.last_node,
    )
    request.inserted_len = max(request.inserted_len, whole)
    prompt = floor_page(len(request.prompt), cache.page_size)
    if cache.rules.checkpoint_cuts_prompt and 0 < prompt < whole:
        cache.cut_prompt(request.tokens(prompt), request.priority + 1)
    return found


def _row(request: Request) -> int:
    assert request.row is not None, f"request {request.id} has no row"
    return request.row
