"""Which causes are there, what does each mean, and what to do next?

One row a cause: its verdict, one sentence, the next steps. Some are
kvlab's own, where no other name is true: `two_of_three_signs`, a full pool and a queue
whose third sign is missing, `l2_copies_hold_pool`, a pool full of copies in flight,
`l2_gives_less`, loads that bring less than was found, `leak_never_falls`, usage that
no finished request brings down, `wrong_slots`, a run whose slots were seen to hold
other prefixes than they should, `no_samples`, an input without any report, and eight
for a server that is down, stands, stood or lost requests:
`start_without_room`, `start_without_host_room`, `pool_alloc_failed`,
`device_out_of_memory`, `engine_stalled`, `step_took_long`, `engine_died`,
`kv_transfer_failed`.
Left out: how a cause is recognised (rules_*.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Verdict = Literal[
    "l1_bound", "cache_miss", "leak", "compute_bound", "l2_misconfigured", "healthy",
    "other", "not_enough_evidence",
]  # fmt: skip


class Cause(NamedTuple):
    """What a cause means to the reader. `next` are steps, the first one first."""

    verdict: Verdict
    says: str
    next: tuple[str, ...]


_MORE_L1 = (
    "add L1: more or larger GPUs, a higher mem_fraction_static or "
    "gpu_memory_utilization, TP/DP over more cards",
    "or make each token smaller (fp8 KV), or limit what comes in "
    "(max_running_requests, max_num_seqs, a rate limit at the gateway)",
    "do not enlarge L2 for this: admission never reads it",
)

CAUSES: dict[str, Cause] = {
    "pool_exhausted_retract": Cause(
        "l1_bound",
        "L1 is the limit: the pool is full, requests wait, running ones are retracted",
        _MORE_L1,
    ),
    "pool_exhausted_preempt": Cause(
        "l1_bound",
        "L1 is the limit: the pool is full, requests wait, running ones are preempted",
        _MORE_L1,
    ),
    "request_exceeds_pool": Cause(
        "l1_bound",
        "one request is larger than the pool can ever hold",
        (
            "find the largest request (input + max_new_tokens) and compare it "
            "with the pool",
            "lower context_len / max_model_len or the client's max tokens below "
            "the pool, or raise the pool above the request",
        ),
    ),
    "rank_imbalance_one_rank_full": Cause(
        "l1_bound",
        "one rank is full while others have room",
        (
            "look at how requests are routed to data-parallel ranks; balance by "
            "tokens, not round robin or session affinity alone",
            "more L1 does not cure this: the other ranks have room",
        ),
    ),
    "pd_decode_backlog": Cause(
        "l1_bound",
        "the decode side's pool is full and its backlog stands before it",
        (
            "add decode workers or L1 on them; the prefill side is not the limit",
            "watch #prealloc-req, #transfer-req and #retracted-req on decode "
            "workers, not #queue-req",
        ),
    ),
    "prefill_throughput": Cause(
        "compute_bound",
        "prefill compute is the limit; L1 has room",
        (
            "add prefill compute (replicas, TP) or a larger chunk; L1 has room",
            "or raise the hit rate so that fewer prompt tokens are computed",
        ),
    ),
    "prefix_broken_by_client": Cause(
        "cache_miss",
        "prompts that should share their beginning do not",
        (
            "compare two prompts that should share: look for timestamps, ids, "
            "salts or a changed template near the beginning",
            "kvlab diagnose on a request trace says how much could be shared at best",
        ),
    ),
    "l2_keys_never_match": Cause(
        "cache_miss",
        "L2 is asked and never hits",
        (
            "check that all processes hash alike (PYTHONHASHSEED), share chunk "
            "size, model name and TP layout, and that L2 is asked under the keys "
            "it was stored with",
            "until then switch L2 off: storing costs time and gives nothing",
        ),
    ),
    "working_set_exceeds_cache": Cause(
        "cache_miss",
        "what returns has been evicted before it does",
        (
            "give the cache more room (L2, a larger host pool) or route users to "
            "the replica that holds their prefix",
            "kvlab replay on a request trace shows the hit rate for any L1 and L2 size",
        ),
    ),
    "l2_written_never_read": Cause(
        "l2_misconfigured",
        "L2 is written and never read",
        (
            "check the load-back threshold and that the prefixes which return are "
            "the ones backed up (hybrid models may not support loading back)",
            "compare with a run without the host tier: its copies cost bandwidth",
        ),
    ),
    "l2_load_serialised": Cause(
        "l2_misconfigured",
        "requests wait behind L2 loads while L1 has room",
        (
            "raise the concurrency or bandwidth of L2 loads (connector threads, "
            "link, NUMA)",
            "or load less: a threshold below which recomputing is faster",
        ),
    ),
    "l2_copies_hold_pool": Cause(
        "l2_misconfigured",
        "copies between L1 and L2 hold the pool: the link is too slow for them",
        (
            "measure the link (host pinning, NUMA, PCIe width); more L1 fills as well",
            "write less: write_through_selective or write_back instead of "
            "write_through, or no L2 until the link keeps up",
            "compare with a run without the host tier",
        ),
    ),
    "l2_host_pressure": Cause(
        "l2_misconfigured",
        "the host tier drops or refuses what it is given",
        (
            "enlarge the host pool (hicache_ratio, hicache_size, the offload's "
            "CPU bytes) or write more selectively (write_through_selective)",
        ),
    ),
    "l2_gives_less": Cause(
        "l2_misconfigured",
        "L2 gives back less than it had found",
        (
            "switch L2 off until this is mended: where the engine does not compute "
            "again what failed to load, answers rest on KV that is not there",
            "what was found was gone before it was read: enlarge L2, or look at the "
            "disk or remote store behind it",
            "update the engine and LMCache together, and report the lines upstream",
        ),
    ),
    "leak_overcount": Cause(
        "leak",
        "the account counts tokens twice",
        (
            "pages were freed twice: look at abort and retraction paths of this "
            "release; update, and report the numbers upstream",
        ),
    ),
    "leak_undercount": Cause(
        "leak",
        "the account has lost tokens",
        (
            "tokens were lost: look at aborted requests and chunked prefill of "
            "this release; update, and report the numbers upstream",
        ),
    ),
    "leak_lock_ref": Cause(
        "leak",
        "tokens stay locked with nothing running",
        (
            "a lock was taken and not given back: look for aborted requests or "
            "copies in flight that never ended; update, restart, report",
        ),
    ),
    "leak_idle_usage": Cause(
        "leak",
        "the pool stays in use with nothing running or waiting",
        (
            "take two scrapes of the idle server a minute apart; if usage stays, "
            "restart and report the release",
        ),
    ),
    "leak_never_falls": Cause(
        "leak",
        "requests end and the pool does not get their tokens back",
        (
            "let the server go idle and look at the usage: tokens that stay are lost",
            "look at aborted requests (clients that time out); restart to get the "
            "pool back, update, and report the release",
        ),
    ),
    "start_without_room": Cause(
        "other",
        "the engine did not start: too little memory is left for KV",
        (
            "shorten the context (context_length / max_model_len), spread over more "
            "GPUs (tp), or quantize the weights",
            "or give the pool a larger share (mem_fraction_static, "
            "gpu_memory_utilization), if other processes do not use the GPU",
            "kvlab capacity MODEL --accelerator NAME --tp N says what fits",
        ),
    ),
    "start_without_host_room": Cause(
        "l2_misconfigured",
        "the engine did not start: the host has less memory free than L2 asks for",
        (
            "lower hicache_size or hicache_ratio: each rank of the node takes a pool "
            "of that size, and a container may have less than the host",
            "memory set aside as huge pages counts as taken; see what else fills it",
        ),
    ),
    "pool_alloc_failed": Cause(
        "other",
        "the pool refused tokens that the scheduler had counted on, and the engine "
        "ended",
        (
            "admission and allocator disagree: with pages of more than one token each "
            "request takes whole pages (requests times page_size), and running ones "
            "may have to be retracted first; update, report these numbers",
            "until then lower max_running_requests, or page_size",
            "this is the KV pool and no CUDA out of memory: a lower "
            "mem_fraction_static makes it worse",
        ),
    ),
    "device_out_of_memory": Cause(
        "other",
        "the engine ran out of device memory outside the KV pool",
        (
            "the pool is allocated once and is not what grew: lower "
            "mem_fraction_static / gpu_memory_utilization, or the chunk "
            "(chunked_prefill_size, max_num_batched_tokens), to leave room for "
            "activations",
            "look for another process on that GPU",
        ),
    ),
    "engine_stalled": Cause(
        "other",
        "requests run and no token is made: the engine stands",
        (
            "this is no lack of KV: take a stack dump of the scheduler and the "
            "workers (py-spy dump --pid PID) before the restart",
            "look at the GPUs (nvidia-smi, Xid in dmesg) and at collectives between "
            "ranks that never end",
        ),
    ),
    "step_took_long": Cause(
        "other",
        "a step took, or steps take, far longer than they should; it is no lack of KV",
        (
            "the first request of a shape compiles kernels or captures graphs: send "
            "one of each length before traffic, or compile ahead",
            "if it comes again, take a stack dump within it (py-spy dump --pid PID) "
            "and look at what else uses the GPU and the host",
        ),
    ),
    "kv_transfer_failed": Cause(
        "other",
        "requests were lost between prefill and decode: their KV did not come over",
        (
            "read the other side's log of the same minute: the reason stands behind "
            "KVTransferError, or that worker died or was started again",
            "time-outs beside a long prefill queue mean that prefill is late and not "
            "the link: add prefill workers, or raise "
            "SGLANG_DISAGGREGATION_WAITING_TIMEOUT if a late first token will do",
            "else look at the link: --disaggregation-ib-device, RDMA inside the "
            "container, the same release and page_size on both sides",
        ),
    ),
    "engine_died": Cause(
        "other",
        "the engine ended with an error of its own",
        (
            "read the traceback above that line; what the reports show before it "
            "need not be the reason",
        ),
    ),
    "wrong_slots": Cause(
        "other",
        "slots hold other contents than their prefix: answers are wrong",
        (
            "step to the event that wrote the slot last: kvlab play RUN -o out.html "
            "colours the pools by contents",
            "record the same run without the fault and kvlab compare both: the first "
            "event that differs is where they part",
        ),
    ),
    "state_slots_cap": Cause(
        "other",
        "recurrent-state slots are the limit, not KV tokens",
        (
            "raise the number of state slots (max_mamba_cache_size or the state's "
            "share of memory); KV tokens have room",
        ),
    ),
    "max_running_cap": Cause(
        "other",
        "the cap on running requests is the limit; L1 has room",
        ("raise max_running_requests / max_num_seqs if latency allows; L1 has room",),
    ),
    "admission_too_conservative": Cause(
        "other",
        "reservations are too large: requests wait beside free room",
        (
            "lower schedule_conservativeness, or send a true max_new_tokens: each "
            "request reserves room for all it might write",
        ),
    ),
    "eviction_stuck": Cause(
        "other",
        "the cache could be evicted and is not",
        (
            "the cache could be given up and is not: take a stack dump of the "
            "scheduler, check L2 writes that never end, update, restart",
        ),
    ),
    "sessions_pin_pool": Cause(
        "other",
        "idle sessions hold the pool",
        (
            "close idle streaming sessions or give them a timeout; more memory "
            "only delays this",
        ),
    ),
    "one_runner_blocks_queue": Cause(
        "other",
        "one runner or one refused request blocks those behind it",
        (
            "look at max_num_seqs / max_running_requests and at the size of the "
            "request that is next: one of the two keeps the rest out",
        ),
    ),
    "burst_drained": Cause(
        "not_enough_evidence",
        "a burst came and drained; it shows no lasting fault",
        (
            "take a log over a longer time, or one from the next burst: a queue "
            "that drains by itself needs no cure unless its latency hurts",
        ),
    ),
    "waiting_below_pin": Cause(
        "not_enough_evidence",
        "requests wait, and this input does not show why",
        (
            "bring more: two scrapes 30-60 s apart while requests wait, and the "
            "engine's start lines (pool, limits)",
        ),
    ),
    "single_scrape": Cause(
        "not_enough_evidence",
        "one reading shows no growth",
        ("take a second scrape 30-60 s later and pass both",),
    ),
    "trace_only": Cause(
        "not_enough_evidence",
        "a request trace says nothing about an engine",
        (
            "bring a log or two scrapes of the engine to learn what it did",
            "kvlab replay on this trace shows what a cache of any size would make "
            "of it",
        ),
    ),
    "input_damaged": Cause(
        "not_enough_evidence",
        "too much of the input is cut or damaged",
        (
            "take the log again without a terminal in between (docker logs > "
            "file, kubectl logs > file)",
        ),
    ),
    "two_of_three_signs": Cause(
        "not_enough_evidence",
        "the pool is full and requests wait; the third sign is missing",
        (
            "bring the third sign: the engine's log with its retract lines "
            "(SGLang), or two /metrics scrapes with num_preemptions_total (vLLM)",
        ),
    ),
    "no_samples": Cause(
        "not_enough_evidence",
        "no report of the engine's state is in the input",
        (
            "an idle vLLM prints no stats line at INFO: bring a log under load, "
            "or two scrapes of /metrics",
        ),
    ),
    "healthy": Cause(
        "healthy",
        "nothing to fix",
        ("nothing to fix; keep this as a baseline",),
    ),
    "occasional_retraction": Cause(
        "healthy",
        "nothing to fix: an isolated retraction is normal",
        ("nothing to fix: a retraction now and then is how the engine uses its pool",),
    ),
}
"""Every cause by its name."""
