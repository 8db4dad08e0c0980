"""How does a moment of a block run, or the time of two runs, become a file?

As export.py for runs of the tree: SVG, PNG or text by the path's ending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..record.trace import BlockTrace, Trace
from .block_account import block_account_svg, block_account_text
from .block_frame import BlockFrame, block_frame_at
from .block_pool_map import block_pool_svg, block_pool_text
from .block_queue import block_queue_svg, block_queue_text
from .both_accounts import both_accounts, both_accounts_text
from .export import ending_of, save
from .readings import readings
from .theme import Lang

BlockView = Callable[[BlockFrame, Lang], str]

BLOCK_PICTURES: dict[str, BlockView] = {
    "pool": block_pool_svg, "account": block_account_svg, "queue": block_queue_svg,
}  # fmt: skip

BLOCK_TEXTS: dict[str, BlockView] = {
    "pool": block_pool_text, "account": block_account_text, "queue": block_queue_text,
}  # fmt: skip


def render_blocks(
    trace: BlockTrace, step: int, what: str, path: str | Path, lang: Lang = "en"
) -> None:
    """Draw `what` after the first `step` events into the file, whole or not at all.

    Changes: the file. Raises: InputError on an unknown view or ending, or a file that
    cannot be written; TraceError if the run has no such step.
    """
    target = Path(path)
    ending = ending_of(target, what, BLOCK_PICTURES)
    views = BLOCK_TEXTS if ending == ".txt" else BLOCK_PICTURES
    save(target, views[what](block_frame_at(trace, step), lang))


def render_both(
    runs: Sequence[Trace | BlockTrace], path: str | Path, lang: Lang = "en"
) -> None:
    """Draw the accounts of runs of either engine over one time axis into the file.

    Changes, Raises: as `render_blocks`.
    """
    target = Path(path)
    ending = ending_of(target, "account", BLOCK_PICTURES)
    told = [readings(run) for run in runs]
    view = both_accounts_text if ending == ".txt" else both_accounts
    save(target, view(told, lang))
