"""Do copies on a device's own streams keep the order that correctness needs?"""

from __future__ import annotations

import pytest
from current_stream import CurrentStream

from kvlab.errors import ConfigError
from kvlab.memory.streams import StreamTransfer
from kvlab.memory.transfer import Steps


class FakeEvent:
    def __init__(self, log):
        self.log, self.done, self.name = log, False, ""

    def record(self, stream):
        self.name = f"{stream.name}{len(stream.events)}"
        stream.events.append(self)
        self.log.append(f"record {self.name}")

    def query(self):
        return self.done

    def synchronize(self):
        self.done = True
        self.log.append(f"synchronize {self.name}")


class FakeStream:
    def __init__(self, name, log):
        self.name, self.log, self.events = name, log, []

    def wait_stream(self, other):
        self.log.append(f"{self.name} after {other.name}")

    def wait_event(self, event):
        self.log.append(f"{self.name} waits for {event.name}")


class FakeDevice(CurrentStream):
    """A device's module: notes what it is asked, and finishes only when told."""

    def __init__(self):
        self.log = []
        self._names = iter(("write", "load"))
        self._current = FakeStream("compute", self.log)

    def Stream(self):
        return FakeStream(next(self._names), self.log)

    def Event(self):
        return FakeEvent(self.log)


@pytest.fixture
def device():
    return FakeDevice()


@pytest.fixture
def link(device):
    return StreamTransfer(module=device)


def load(link, device, tag, layers=3):
    def step(layer):
        return lambda: device.log.append(
            f"move {tag}.{layer} on {device.current_stream().name}"
        )

    link.submit("load", tag, 0, Steps([step(layer) for layer in range(layers)]))


def test_a_copy_goes_behind_what_was_computed_with_an_event_after_each_layer(
    link, device
):
    load(link, device, 7, layers=2)
    assert device.log == [
        "load after compute",
        "move 7.0 on load", "record load0", "move 7.1 on load", "record load1",
    ]  # fmt: skip


def test_a_layer_waits_for_its_own_event_of_the_last_load(link, device):
    load(link, device, 1)
    load(link, device, 2)
    device.log.clear()
    link.wait_layer(1)
    assert device.log == ["compute waits for load4"]


def test_a_layer_beyond_the_steps_waits_for_the_last(link, device):
    load(link, device, 1, layers=1)
    device.log.clear()
    link.wait_layer(2)
    assert device.log == ["compute waits for load0"]


def test_nothing_is_waited_for_without_a_load(link, device):
    link.submit("write", 1, 0, lambda: None)
    device.log.clear()
    link.wait_layer(0)
    assert device.log == []


def test_a_poll_notices_a_copy_only_when_its_last_layer_is_there(link, device):
    load(link, device, 1, layers=2)
    events = link._streams["load"].events
    events[0].done = True
    link.poll()
    assert (link.collect("load"), link.pending("load")) == ([], 1)
    events[1].done = True
    link.poll()
    assert (link.collect("load"), link.pending("load")) == ([1], 0)


def test_a_later_copy_is_not_done_before_an_earlier_one(link, device):
    load(link, device, 1, layers=1)
    load(link, device, 2, layers=1)
    link._streams["load"].events[1].done = True
    link.poll()
    assert link.collect("load") == []


def test_who_completes_a_copy_waits_for_its_last_layer(link, device):
    load(link, device, 1, layers=2)
    load(link, device, 2, layers=2)
    device.log.clear()
    assert link.complete("load", 1) == 1
    assert device.log == ["synchronize load1"]
    assert (link.collect("load"), link.pending("load")) == ([1], 1)


def test_a_copy_of_nothing_is_done_at_once(link):
    link.submit("write", 1, 0, Steps([]))
    link.poll()
    assert link.collect("write") == [1]


def test_a_device_that_is_not_the_current_one_is_refused(device):
    device.current_device = lambda: 0
    with pytest.raises(ConfigError, match=r"which cuda:1 is not; .*set_device\(1\)"):
        StreamTransfer("cuda:1", module=device)
    assert StreamTransfer("cuda:0", module=device).pending("load") == 0
