"""A device "cuda" on a CPU, on which every access must come after what it needs.

For tests of code that a GPU runs. Each operation is done at once, and noted: by which
stream, on which elements, and what that stream knew of the others then. A stream knows
what it did, what an event told it that it waited for, and what the host knew when it
launched. An access that does not know of the write before it, or a write that does not
know of an access before it, is a fault, though the bytes may be right this time. So is

- a mix of devices, or arithmetic on fp8, which CUDA refuses (an error, as there);
- a copy beside the computation to or from memory that is not pinned;
- memory that is freed while a stream uses it of which its allocator was not told.

Left out: numbers. They are a CPU's; kernels, their order of summation and their speed
are not here.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager

import torch
from current_stream import CurrentStream
from torch.overrides import TorchFunctionMode
from watched_order import STREAMS, Event, Line, Memory

ATEN, METHOD = torch.ops.aten, torch.Tensor
COPY, INDEX, INDEX_PUT = ATEN.copy_.default, ATEN.index.Tensor, ATEN.index_put_.default
SELECT = ATEN.index_select.default
TAKES_INDEX = (INDEX, INDEX_PUT)
FP8_ABLE = (ATEN._to_copy.default, ATEN.view.dtype, COPY, ATEN.detach.default)


class Watched(torch.Tensor):
    """A tensor of the device, or of pinned memory; `inner` has the numbers."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner, memory):
        where = "meta" if memory.home is not None else "cpu"
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), strides=inner.stride(), dtype=inner.dtype, device=where,
            storage_offset=inner.storage_offset(),
        )  # fmt: skip
        made.inner, made.memory = inner, memory
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        found = [a for a in _leaves(args) if isinstance(a, Watched)]
        return found[0].memory.device.run(func, args, kwargs or {})


class Device(CurrentStream, TorchFunctionMode):
    """torch's module of the device, and while entered, what torch does there."""

    def __init__(self):
        super().__init__()
        self.lines, self.faults = [], []
        self.host, self.compute = Line(self, "host"), Line(self, "compute")
        self._current = self.compute
        self._names = ("write", "load")

    # --- torch.cuda

    def Stream(self):
        return Line(self, self._names[len(self.lines) % 2])

    def Event(self):
        return Event(self)

    def synchronize(self, device=None):
        for line in self.lines:
            self.host.learn(line.clock)

    def mem_get_info(self, device=None):
        return 2**30, 2**31

    # --- what is known when

    def known(self, line):
        """What a line knows of the others if it is given work now."""
        line.learn(self.host.clock)
        return line.clock

    def latest(self, marks):
        """The last moment of each line among marks; 0 is none."""
        found = {}
        for mark in set(marks.tolist()):
            if mark:
                line, tick = self.lines[mark % STREAMS], mark // STREAMS
                found[line] = max(tick, found.get(line, 0))
        return found

    def fault(self, what):
        if what not in self.faults:
            self.faults.append(what)

    # --- operations

    def run(self, func, args, kwargs):
        """Do an operation of aten on watched tensors, and note what it touches."""
        tensors = [a for a in _leaves(args) if _is_tensor(a)]
        near = [a for a in tensors if _on_device(a)]
        self._refuse(func, args, tensors, near)
        out = func(*_mapped(_bare, args), **kwargs)
        schema, parent = func._schema, None
        for tensor in tensors if _is_tensor(out) else []:
            if _storage(_bare(tensor)) == _storage(out):
                parent = tensor
        if parent is not None and not schema.is_mutable:
            return Watched(out, parent.memory)
        line = self._current if near else self.host
        self.known(line)
        stamp = line.tick()
        for argument, value in zip(schema.arguments, args, strict=False):
            write = argument.alias_info is not None and argument.alias_info.is_write
            index = _touched(func, args) if value is args[0] else ...
            for tensor in _leaves([value]):
                if isinstance(tensor, Watched):
                    tensor.memory.note(tensor, index, line, stamp, write)
        if func is COPY:
            self._copied(args, kwargs, line)
        if schema.is_mutable:
            return args[0]
        return self._outcome(out, kwargs, line, stamp, bool(near))

    def _outcome(self, out, kwargs, line, stamp, near):
        to_host = "device" in kwargs and kwargs["device"] is not None
        if not _is_tensor(out) or to_host:
            self.host.learn(line.clock)  # the host waits for the answer
            return out
        return Watched(out, Memory(self, out, line, stamp)) if near else out

    def _copied(self, args, kwargs, line):
        to, source, *rest = args
        if _on_device(to) and _on_device(source):
            return
        if not (kwargs.get("non_blocking") or any(rest)):
            self.host.learn(line.clock)
        elif not (isinstance(to, Watched) and isinstance(source, Watched)):
            self.fault("a copy that nobody waits for, of memory that is not pinned")

    def _refuse(self, func, args, tensors, near):
        if func is not COPY and near:
            free = _leaves(args[1]) if func in TAKES_INDEX else []
            for tensor in tensors:
                if not (_on_device(tensor) or tensor.dim() == 0 or _in(tensor, free)):
                    raise RuntimeError(f"{func}: tensors on cuda:0 and on cpu")
        if func not in FP8_ABLE and any("float8" in str(t.dtype) for t in tensors):
            raise NotImplementedError(f"{func} not implemented for 'Float8_e4m3fn'")

    # --- calls from Python

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        if func == METHOD.device.__get__:
            return torch.device("cuda:0") if _on_device(args[0]) else func(*args)
        if name in _OWN and _is_tensor(args[0]):
            return _OWN[name](self, func, *args, **kwargs)
        if _names_device(kwargs.get("device")) or kwargs.get("pin_memory"):
            return self._make(func, args, kwargs)
        if name in ("__getitem__", "__setitem__") and _on_device(args[0]):
            args = (args[0], *_mapped(self._brought, args[1:2]), *args[2:])
        return func(*args, **kwargs)

    def _to(self, func, tensor, *args, **kwargs):
        named = str(next(iter(args), kwargs.get("device")))
        if named == "cpu":
            return self._cpu(METHOD.cpu, tensor)
        if not _names_device(named):
            return func(tensor, *args, **kwargs)
        if _on_device(tensor):
            return tensor
        return self._brought(tensor, kwargs.get("non_blocking", False))

    def _cpu(self, func, tensor):
        if _on_device(tensor):
            return self.run(ATEN._to_copy.default, (tensor,), {"device": "cpu"})
        return tensor

    def _shown(self, func, tensor):
        """What Python reads of pinned memory, now."""
        if not isinstance(tensor, Watched):
            return func(tensor)
        if _on_device(tensor):
            return self._shown(func, self._cpu(func, tensor))
        self.run(ATEN.clone.default, (tensor,), {})
        return func(tensor.inner)

    def _brought(self, tensor, non_blocking=False):
        """A copy on the device of what lies on the host."""
        if not _is_tensor(tensor) or _on_device(tensor):
            return tensor
        made = self._fresh(torch.empty_like(_bare(tensor)))
        self.run(COPY, (made, tensor), {"non_blocking": non_blocking})
        return made

    def _make(self, func, args, kwargs):
        pinned = kwargs.pop("pin_memory", False)
        near = _names_device(kwargs.pop("device", None))
        inner = func(*args, **kwargs)
        if near:
            return self._fresh(inner, fine=func is torch.zeros)
        return Watched(inner, Memory(self, inner, None, self.host.tick(), pinned))

    def _fresh(self, inner, fine=False):
        self.known(self._current)
        stamp = self._current.tick()
        return Watched(inner, Memory(self, inner, self._current, stamp, fine))


_OWN = {
    "to": Device._to, "cpu": Device._cpu, "numpy": Device._shown,
    "tolist": Device._shown,
}  # fmt: skip


@contextmanager
def watched(monkeypatch):
    """Let "cuda" be a watched device; yield it."""
    device, module = Device(), torch.get_device_module
    with ExitStack() as stack:
        patch = stack.enter_context(monkeypatch.context())
        patch.setattr(
            torch, "get_device_module",
            lambda name: device if _names_device(name) else module(name),
        )  # fmt: skip
        patch.setattr(
            METHOD, "record_stream", lambda tensor, line: tensor.memory.told.add(line)
        )
        patch.setattr(torch.cuda, "is_available", lambda: True)
        stack.enter_context(device)
        yield device


def _touched(func, args):
    """The elements of the first argument that an operation touches."""
    if func in TAKES_INDEX:
        return tuple(slice(None) if i is None else _bare(i) for i in args[1])
    if func is SELECT:
        return (*[slice(None)] * args[1], _bare(args[2]))
    return ...


def _leaves(values):
    found = []
    for value in values:
        found += _leaves(value) if isinstance(value, list | tuple) else [value]
    return found


def _mapped(change, values):
    return [
        type(value)(_mapped(change, value))
        if isinstance(value, list | tuple)
        else change(value)
        for value in values
    ]


def _is_tensor(value):
    return isinstance(value, torch.Tensor)


def _on_device(value):
    return isinstance(value, Watched) and value.memory.home is not None


def _names_device(value):
    return isinstance(value, str | torch.device) and str(value).startswith("cuda")


def _in(tensor, others):
    return any(tensor is other for other in others)


def _bare(value):
    return value.inner if isinstance(value, Watched) else value


def _storage(tensor):
    return tensor.untyped_storage().data_ptr()
