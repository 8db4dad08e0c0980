"""How does an engine answer a script, op by op?

`ScriptRunner.step` carries out one op and returns what happened, in the words of the
recorded states. Steps and their order are those of the recordings (see the field by
field description of the goldens).
Left out: ops that name no request (tree_ops.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cache.key import as_tokens
from ..errors import InputError
from ..record import events as ev
from ..schedule.admission import Answer, PrefillAdder
from ..schedule.request import Request
from . import script as sc
from .tree_ops import Result, TreeOps


class ScriptRunner(TreeOps):
    """One engine that carries out one script.

    >>> config = sc.EngineConfig(pool_tokens=8, tree="radix")
    >>> script = sc.Script(name="", about="", config=config,
    ...     rules=sc.Rules.v0_5_14(), manual_dma=True, ops=[])
    >>> ScriptRunner(script).step(0, sc.InsertOp([1, 2, 3]))
    {'prefix_len': 0, 'allocated': 3}
    """

    def step(self, number: int, op: sc.AnyOp) -> Result:
        """Carry out one op. Changes: the engine.

        Raises: EngineFault where an assertion of the real engine would fail; InputError
        for a new request with the name of one that is still in the engine.
        """
        self._where = f"{self._name}: ops[{number}]"
        with self._emit.of(ev.Step, number, op.__struct_config__.tag, _title(op)):
            result = _STEPS[type(op)](self, op)
            self.engine.scheduler.end_step()
            return result

    # --- one request at a time

    def _request_start(self, op: sc.RequestStartOp) -> Result:
        request = Request(
            op.id, as_tokens(op.tokens), op.max_new, op.priority, op.ignore_eos
        )
        return self._start(request, op.first_out, op.finish_at_prefill)

    def _start(self, request: Request, first_out: int, at_prefill: bool) -> Result:
        scheduler = self.engine.scheduler
        if not self.manual:
            scheduler.check_events()
        self._arrive(request)
        scheduler.waiting.remove(request)
        scheduler.match(request)
        adder = scheduler.adder()
        result: Result = {
            "device_hit": request.device_hit,
            "host_hit": request.host_hit,
            "rem_total_before": adder.rem_total,
        }
        answer = adder.add_one(request)
        admitted = request in adder.can_run
        result |= {"admit": answer.value, "admitted": admitted}
        if not admitted:
            self._emit(ev.Drop, request.id)
            scheduler.start_loading()
            return result
        result |= {
            "loaded": request.prefix_len - request.device_hit,
            "extend": request.extend_len,
            "rem_total_after": adder.rem_total,
            "cur_rem_after": adder.cur_rem,
            "rem_input_after": adder.rem_input,
        }
        scheduler.start_loading()
        evictable = self.engine.cache.evictable_size
        scheduler.place([request])
        result["evictable_drop_in_alloc"] = evictable - self.engine.cache.evictable_size
        self._after_prefill(request, first_out, at_prefill)
        return result

    def _arrive(self, request: Request) -> None:
        scheduler = self.engine.scheduler
        chunked = [scheduler.chunked] if scheduler.chunked else []
        live = [*scheduler.waiting, *scheduler.running, *chunked]
        if any(other.id == request.id for other in live):
            raise InputError(
                f"{self._where}: request {request.id!r}", "is still in the engine",
                "give each request a name of its own",
            )  # fmt: skip
        scheduler.arrive(request)

    def _after_prefill(self, request: Request, token: int, at_prefill: bool) -> None:
        scheduler = self.engine.scheduler
        scheduler.output(request, token)
        if at_prefill:
            scheduler.finish(request)
        else:
            scheduler.keep_running(request)
            if request.fill_len < request.length - 1:  # cut, and yet it runs
                self._emit(ev.Batch, tuple(r.id for r in scheduler.running))
        scheduler.end_step()

    def _decode(self, op: sc.DecodeOp) -> Result:
        request = self._find(op.id)
        if request is None:
            return {"skipped": True}
        if not self.engine.scheduler.decode(request, op.token):
            return {"would_retract": True}
        return {"kv_len": request.kv_len}

    def _request_finish(self, op: sc.RequestFinishOp) -> Result:
        request = self._find(op.id)
        if request is None:
            return {"skipped": True}
        kv_len = request.kv_len
        self.engine.scheduler.finish(request, insert=op.is_insert)
        return {"kv_len": kv_len}

    def _find(self, id: str) -> Request | None:
        running = self.engine.scheduler.running
        return next((r for r in running if r.id == id), None)

    def _request(self, op: sc.RequestOp) -> Result:
        max_new = len(op.out) if op.max_new is None else op.max_new
        id = f"request {len(self._first_out)}"
        self._first_out[id] = op.out[0]
        request = Request(id, as_tokens(op.tokens), max_new, op.priority)
        result = self._start(request, op.out[0], at_prefill=len(op.out) == 1)
        if result["admitted"] and len(op.out) > 1:
            steps = 0
            for token in op.out[1:]:
                if not self.engine.scheduler.decode(request, token):
                    result["would_retract"] = True
                    break
                steps += 1
            self.engine.scheduler.finish(request)
            result["decoded"] = steps
        return result

    # --- the whole queue

    def _round(self, op: sc.RoundOp) -> Result:
        scheduler = self.engine.scheduler
        if not self.manual:
            scheduler.check_events()
        for new in op.new:
            self._first_out[new.id] = new.first_out
            self._arrive(
                Request(
                    new.id, as_tokens(new.tokens), new.max_new, new.priority,
                    new.ignore_eos,
                )
            )  # fmt: skip
        result: Result = {"start": None, "tried": []}

        def watch(
            request: Request | None, answer: Answer | None, adder: PrefillAdder
        ) -> None:
            if request is None:
                result["start"] = _remainders(adder)
            elif answer is None:
                result["tried"].append(_continued(request, adder))
            else:
                result["tried"].append(_tried(request, answer, adder))

        ran, finished = scheduler.prefill_round(self._says, watch)
        result["ran"] = [request.id for request in ran]
        if finished:
            result["finished"] = [request.id for request in finished]
        return result

    def _says(self, request: Request) -> int:
        """Return what a prefill says: as before, where the request was retracted."""
        said = request.outputs
        return said[0] if said else self._first_out[request.id]

    def _decode_step(self, op: sc.DecodeStepOp) -> Result:
        scheduler = self.engine.scheduler
        if self.engine.host_cache:
            self.engine.host_cache.writing_check()
        if not scheduler.running:
            return {"bs": 0}
        ratio = scheduler.ratio
        report = scheduler.prepare_decode()
        result: Result = {"need": report.need}
        if not report.fits:
            result |= {
                "retracted": [request.id for request in report.retracted],
                "aborted": [request.id for request in report.aborted],
                "ratio_before": ratio,
                "ratio_after": scheduler.ratio,
                "gained": report.gained,
            }
        batch = list(scheduler.running)
        result |= {"bs": len(batch), "finished": []}
        for request in batch:
            decoded = scheduler.decode(request, op.token)
            assert decoded, f"no room to decode {request.id} after the check"
            if len(request.outputs) >= request.max_new:
                scheduler.finish(request)
                result["finished"].append(request.id)
        return result


def _title(op: sc.AnyOp) -> str:
    """Return a few words on the op's operands, for a picture's headline."""
    id = getattr(op, "id", "")
    tokens = getattr(op, "tokens", None)
    size = getattr(op, "n", None)
    if tokens:
        if len(tokens) == 1:
            return f"{id} {tokens[0]} (1 token)".strip()
        return f"{id} {tokens[0]}..{tokens[-1]} ({len(tokens)} tokens)".strip()
    if isinstance(op, sc.AckWriteOp | sc.AckLoadOp):
        return "all" if op.k is None else str(op.k)
    return str(id) if size is None else str(size)


def _remainders(adder: PrefillAdder) -> Result:
    return {
        "rem_total": adder.rem_total,
        "cur_rem": adder.cur_rem,
        "rem_input": adder.rem_input,
        "rem_chunk": adder.rem_chunk,
    }


def _continued(request: Request, adder: PrefillAdder) -> Result:
    return {
        "id": request.id,
        "r": "chunked_continue",
        "extend": request.extend_len,
        "unfinished": request.fill_len < request.length,
        **_remainders(adder),
    }


def _tried(request: Request, answer: Answer, adder: PrefillAdder) -> Result:
    return {
        "id": request.id,
        "r": answer.value,
        "added": request in adder.can_run,
        "device_hit": request.device_hit,
        "host_hit": request.host_hit,
        "prefix": request.prefix_len,
        "extend": request.extend_len,
        **_remainders(adder),
    }


_STEPS: dict[type[Any], Callable[[ScriptRunner, Any], Result]] = {
    sc.MatchOp: ScriptRunner._match,
    sc.InsertOp: ScriptRunner._insert,
    sc.LockOp: ScriptRunner._lock,
    sc.UnlockOp: ScriptRunner._unlock,
    sc.EvictOp: ScriptRunner._evict,
    sc.EvictHostOp: ScriptRunner._evict_host,
    sc.AckWriteOp: ScriptRunner._ack_write,
    sc.AckLoadOp: ScriptRunner._ack_load,
    sc.CheckEventsOp: ScriptRunner._check_events,
    sc.LoadBackOp: ScriptRunner._load_back,
    sc.RequestStartOp: ScriptRunner._request_start,
    sc.DecodeOp: ScriptRunner._decode,
    sc.RequestFinishOp: ScriptRunner._request_finish,
    sc.RequestOp: ScriptRunner._request,
    sc.RoundOp: ScriptRunner._round,
    sc.DecodeStepOp: ScriptRunner._decode_step,
}
