"""Which stream does work go to? What the stand-ins for a device have in common."""

from __future__ import annotations

from contextlib import contextmanager


class CurrentStream:
    """A device whose work goes to one stream at a time, `_current`, as torch.cuda's."""

    def current_stream(self, device=None):
        return self._current

    @contextmanager
    def stream(self, stream):
        before, self._current = self._current, stream
        yield
        self._current = before
