"""Who knows what of whom, and who touched which element last?

The order that a device's streams keep, for `watched_device`. A line is a stream, or the
host: what is done there is done in order. It knows what it did, what an event told it
that it waited for, and what the host knew when it gave it work. An access that does not
know of a write before it, or a write that does not know of an access before it, is a
fault.
"""

from __future__ import annotations

import numpy as np
import torch

STREAMS = 4096
"""A moment is one number: the tick of a stream * STREAMS + the stream's number."""


class Memory:
    """When each stream wrote and read here last: the whole, or, where `fine`, each
    element. `home` is the stream whose allocator it came from, None if it is pinned.
    """

    def __init__(self, device, inner, home, stamp, fine=False):
        self.device, self.home, self.fine = device, home, fine
        size = inner.untyped_storage().nbytes() // inner.element_size() if fine else 1
        self.written = np.full(size, stamp)
        self.read = {}
        self.told = {home}

    def __del__(self):
        if self.home is None:
            return
        known = self.device.known(self.home)
        for marks in (self.written, *self.read.values()):
            for stream, tick in self.device.latest(marks).items():
                if stream not in self.told and known.get(stream, 0) < tick:
                    self.device.fault(f"memory is freed while {stream} uses it")

    def note(self, tensor, index, stream, stamp, write):
        """Check an access against those before, and note it."""
        known, at = self.device.known(stream), self._places(tensor, index)
        self._ordered(self.written[at], known, stream, write, "wrote")
        if write:
            for read in self.read.values():
                self._ordered(read[at], known, stream, write, "reads")
            self.written[at] = stamp
        else:
            self.read.setdefault(stream, np.zeros_like(self.written))[at] = stamp

    def _places(self, tensor, index):
        if not self.fine:
            return ...
        inner = tensor.inner
        all_ = torch.arange(len(self.written)).as_strided(
            inner.size(), inner.stride(), inner.storage_offset()
        )
        return all_[index].reshape(-1).numpy()

    def _ordered(self, marks, known, stream, write, did):
        for other, tick in self.device.latest(marks).items():
            if known.get(other, 0) < tick:
                verb = "writes over" if write else "reads"
                self.device.fault(f"{stream} {verb} what {other} {did}, unordered")


class Line:
    """A stream, or the host: what is done there is done in order."""

    def __init__(self, device, name):
        self.device, self.name = device, name
        self.number = len(device.lines)
        self.clock = {}
        device.lines.append(self)

    def __repr__(self):
        return self.name

    def learn(self, clock):
        for line, tick in clock.items():
            self.clock[line] = max(tick, self.clock.get(line, 0))

    def tick(self):
        self.clock[self] = self.clock.get(self, 0) + 1
        return self.clock[self] * STREAMS + self.number

    def wait_stream(self, other):
        self.learn(other.clock)

    def wait_event(self, event):
        self.learn(event.clock)


class Event:
    def __init__(self, device):
        self.device, self.clock, self.asked = device, {}, 0

    def record(self, stream):
        self.clock = dict(stream.clock)

    def query(self):
        """Not there at the first two questions."""
        self.asked += 1
        if self.asked > 2:
            self.device.host.learn(self.clock)
        return self.asked > 2

    def synchronize(self):
        self.device.host.learn(self.clock)
