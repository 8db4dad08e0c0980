"""Do causes read as one chain, from the request to what it cost others?"""

from __future__ import annotations

from kvlab.record import events as ev
from kvlab.run.script import RequestStartOp
from kvlab.run.workbench import Workbench

OLD, WANTED, OTHER = range(0, 14), range(100, 120), range(200, 230)


def test_admission_load_eviction_backup_and_loss_are_one_chain():
    bench = Workbench(pool_tokens=32, host_tokens=40, write_policy="write_back")
    for tokens in (OLD, WANTED):
        bench.insert(tokens)
        bench.evict(32)
    bench.insert(OTHER)
    bench.do(RequestStartOp("r", [*WANTED, 999], max_new=1))
    events = bench.trace.events
    lost = max(i for i, event in enumerate(events) if isinstance(event, ev.EvictHost))
    kinds = [type(events[i]).__name__ for i in bench.trace.chain(lost)]
    assert kinds == [
        "Step", "Candidate", "LoadBack", "Evict", "TryBackup", "Evict", "EvictHost",
    ]  # fmt: skip
    assert events[bench.trace.chain(lost)[-2]].tier == "L2"
