"""Does the log begin with its newest line?

Log stores show and export the newest first. Read as it stands, such a log tells of a
queue that drains where one grew. A track's own clock says which way it runs.
Left out: two clocks in one log (diagnose.py notes its jumps).
"""

from __future__ import annotations

from .samples import Recording, Track

_FEW = 3
_MOSTLY = 9
"""So many steps back for each one forward; fewer are jumps of a clock."""


def turn_backwards(recording: Recording) -> None:
    """Put the oldest report first in every track whose newest was.

    Changes: those tracks, and the jumps of the clock that this explains.
    """
    for track in recording.tracks.values():
        if track.count["earlier"] > max(_FEW, _MOSTLY * track.count["later"]):
            _turn(track)
            recording.jumps = 0
            recording.note("the newest line comes first: read from the end")


def _turn(track: Track) -> None:
    track.samples.reverse()
    track.firsts, track.lasts = track.lasts, track.firsts
    track.first_time, track.last_time = track.last_time, track.first_time
    track.count["earlier"], track.count["later"] = 0, track.count["earlier"]
    for kept in track.events.values():
        kept.reverse()
