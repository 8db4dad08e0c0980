"""Where is the reason of each decision?

One table from kinds to functions: `reason_of` asks it.
Left out: the reasons themselves (cache_reasons.py, request_reasons.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..record import events as ev
from ..record.events import Decision
from . import cache_reasons as cache
from . import request_reasons as request
from .frame import Frame
from .reason import Reason

REASONS: dict[type[Decision], Callable[[Frame, Any], Reason]] = {
    ev.Step: cache.step,
    ev.Match: cache.match,
    ev.Insert: cache.insert,
    ev.CutPrompt: cache.cut_prompt,
    ev.MakeRoom: cache.make_room,
    ev.Evict: cache.evict,
    ev.Victim: cache.victim,
    ev.Evicted: cache.evicted,
    ev.TryBackup: cache.try_backup,
    ev.SendWrites: cache.send_writes,
    ev.LoadBack: cache.load_back,
    ev.Candidate: request.candidate,
    ev.Admit: request.admit,
    ev.TooLarge: request.too_large,
    ev.CloseRound: request.close_round,
    ev.Prefill: request.prefill,
    ev.Chunk: request.chunk,
    ev.DecodeRoom: request.decode_room,
    ev.PickRetract: request.pick_retract,
    ev.Ratio: request.ratio,
}


def reason_of(frame: Frame) -> Reason:
    """Return why the frame's event, which must be a decision, came out as it did."""
    assert isinstance(frame.event, Decision), f"{frame.event} decides nothing"
    return REASONS[type(frame.event)](frame, frame.event)
