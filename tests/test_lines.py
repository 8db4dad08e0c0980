"""Is every line of every release read in every wrapper, and a cut one not trusted?"""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from engine_text import clock, decode, log, prefill, retract, stamp, start, stats

from kvlab.errors import InputError
from kvlab.observe.diagnose import diagnose
from kvlab.observe.lines import LogReader
from kvlab.observe.records import find_records, read_at_once, read_record
from kvlab.observe.samples import Recording, Track
from kvlab.observe.source import Block, RawLine, blocks


def read(*texts: str) -> Recording:
    """Return the recording of these lines."""
    recording = Recording("log")
    raw = "\n".join(texts).encode().split(b"\n")
    LogReader(recording).read("a.log", [RawLine(n, x) for n, x in enumerate(raw, 1)])
    recording.settle()
    return recording


def only(recording: Recording) -> Track:
    (track,) = recording.tracks.values()
    return track


def one(*texts: str) -> dict[str, float]:
    """Return the fields of the only report in these lines."""
    (sample,) = only(read(*texts)).samples
    return sample.values


T = "[2026-05-01 10:00:00 TP0] "

# --- SGLang's releases

BATCHES = {
    "SP3": (
        "Prefill batch. #new-seq: 2, #new-token: 300, #cached-token: 100, cache hit "
        "rate: 8.31%, token usage: 0.50, #running-req: 7, #queue-req: 3",
        {"hit_rate_logged": 0.0831, "usage": 0.5, "running": 7, "queue": 3},
    ),
    "SP4": (
        "Prefill batch. #new-seq: 2, #new-token: 300, #cached-token: 100, token usage: "
        "0.50, #running-req: 7, #queue-req: 3, ",
        {"new_tokens": 300, "cached_tokens": 100, "queue": 3},
    ),
    "SP4-pd": (
        "Prefill batch. #new-seq: 2, #new-token: 300, #cached-token: 100, token usage: "
        "0.50, #unbootstrapped-req: 4, #queue-req: 3, #transferring-req: 5 ",
        {"bootstrap": 4, "queue": 3, "inflight": 5},
    ),
    "SP4b-iter": (
        "Prefill batch [12], #new-seq: 2, #new-token: 300, #cached-token: 100, token "
        "usage: 0.50, #running-req: 7, #queue-req: 3, #prealloc-req: 1, #inflight-req: "
        "2, input throughput (token/s): 812.10, ",
        {"bootstrap": 1, "inflight": 2, "prompt_tps": 812.1},
    ),
    "SP5": (
        "Prefill batch, #new-seq: 2, #new-token: 300, #cached-token: 100, token usage: "
        "0.50, #running-req: 7, #queue-req: 3, #pending-token: 9, cuda graph: False, "
        "input throughput (token/s): 812.10, est. prefill TFLOPS/s (per GPU): 123.4, "
        "fwd occupancy: 71.00%",
        {"pending_tokens": 9, "queue": 3},
    ),
    "SD3": (
        "Decode batch. #running-req: 7, #token: 500, token usage: 0.50, accept len: "
        "1.80, cuda graph: True, gen throughput (token/s): 90.10, #queue-req: 3, ",
        {"running": 7, "accept_len": 1.8, "gen_tps": 90.1},
    ),
    "SD4-pd": (
        "Decode batch, #running-req: 7, #token: 500, token usage: 0.50, accept len: "
        "1.80, accept rate: 0.60, pre-allocated usage: 0.10, #prealloc-req: 4, "
        "#transfer-req: 5, #retracted-req: 6, cuda graph: True, gen throughput "
        "(token/s): 90.10, #queue-req: 0, ",
        {"prealloc": 4, "transfer": 5, "retracted_queue": 6, "usage_prealloc": 0.1},
    ),
    "SD5": (
        "Decode batch, #running-req: 7, #cached-token: 3, #token: 500, token usage: "
        "0.50, accept len: 2.00, accept rate: 0.50, cap len: 4, block accept len: 2.0, "
        "npu graph: True, gen throughput (token/s): 90.10, #queue-req: 3",
        {"running": 7, "queue": 3, "usage": 0.5},
    ),
    "swa": (
        "Decode batch, #running-req: 7, #full token: 9, full token usage: 0.30, #swa "
        "token: 8, swa token usage: 0.80, cuda graph: True, gen throughput (token/s): "
        "90.10, #queue-req: 3",
        {"usage": 0.8, "usage_full": 0.3, "usage_swa": 0.8},
    ),
    "ssm": (
        "Decode batch, #running-req: 7, #full token: 9, full token usage: 0.30, mamba "
        "num: 8, mamba usage: 0.90, cuda graph: True, gen throughput (token/s): 90.10, "
        "#queue-req: 3",
        {"usage": 0.9, "usage_mamba": 0.9, "mamba_slots": 8},
    ),
    "hisparse": (
        "Decode batch, #running-req: 7, #token: 9, token usage: 0.30, #gpu token: 8, "
        "gpu token usage: 0.40, #cpu token: 9, cpu token usage: 0.95, cuda graph: "
        "True, gen throughput (token/s): 90.10, #queue-req: 3",
        {"usage": 0.4, "usage_cpu": 0.95},
    ),
}


@pytest.mark.parametrize("code", BATCHES)
def test_a_batch_line_of_each_release_is_read(code):
    text, wanted = BATCHES[code]
    found = one(T + text)
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Decode out of memory happened. #retracted_reqs: 2, #new_token_ratio: "
        "0.1 -> 0.2",
        "KV cache pool is full. Retract requests. #retracted_reqs: 2, "
        "#new_token_ratio: 0.1 -> 0.2",
        "KV cache pool is full. Retract requests. #retracted_reqs: 2, "
        "#aborted_retracted_reqs: 1, #new_token_ratio: 0.1 -> 0.2",
        "KV cache pool is full. Retract requests. #retracted_reqs: 2, "
        "#new_tokens_gained: 5, #mamba_num_gained: 1, #new_token_ratio: 0.1 -> 0.2",
    ],
    ids=["SR1", "SR2", "SR3", "SR4"],
)
def test_each_wording_of_a_retraction_is_read(text):
    assert only(read(T + text)).sums["retracted"] == 2


def test_a_retraction_printed_by_every_tensor_rank_counts_once():
    track = only(read(*(retract(9, 2, rank=f" TP{r}") for r in range(8))))
    assert (track.count["retract"], track.sums["retracted"]) == (1, 2)


def test_two_retractions_of_one_rank_count_twice():
    track = only(read(retract(9, 2), retract(9, 2)))
    assert track.sums["retracted"] == 4


def test_batch_lines_of_every_tensor_rank_count_once():
    recording = read(*(decode(t, 5, 0.5, 0, rank=f" TP{r}")
                       for t in (1, 2) for r in (0, 1)))  # fmt: skip
    assert only(recording).num_samples == 2


def test_data_parallel_ranks_are_kept_apart():
    recording = read(
        *(decode(1, 5, 0.5, d, rank=f" DP{d} TP{d} EP{d}") for d in (0, 1))
    )
    assert [track.name for track in recording.tracks.values()] == ["DP0", "DP1"]


def test_the_engines_start_says_its_limits():
    track = only(read(start(pool=777, cap=33, chunk=512), decode(1, 1, 0.1, 0)))
    assert track.known("pool_tokens") == 777
    assert track.known("max_running_requests") == 33


# --- vLLM's releases


V0 = (
    "INFO 10-02 11:15:05 metrics.py:349] Avg prompt throughput: 210.4 tokens/s, Avg "
    "generation throughput: 1220.5 tokens/s, Running: 31 reqs, Swapped: 2 reqs, "
    "Pending: 5 reqs, GPU KV cache usage: 73.8%, CPU KV cache usage: 1.5%."
)


def test_v0_is_read():
    found = one(V0)
    assert (found["swapped"], found["queue"], found["usage_cpu"]) == (2, 5, 0.015)


def test_v0_prints_its_hit_rates_on_a_line_of_their_own():
    hits = "INFO 10-02 11:15:05 metrics.py:365] Prefix cache hit rate: GPU: 61.50%, "
    track = only(read(V0, hits + "CPU: 0.00%", V0, hits + "CPU: 0.0"))
    assert track.last("hit_rate_logged") == 0.615
    assert track.num_samples == 2


@pytest.mark.parametrize("wrong", ["312.0%", "-3.0%", "nan%"])
def test_a_usage_that_cannot_be_is_damage(wrong):
    recording = read(V0, V0.replace("73.8%", wrong))
    assert recording.damaged == 1
    assert only(recording).high("usage") == 0.738


def test_v1_of_any_tag_is_read():
    plain = stats(1, 3, 4, 50.0).removeprefix("(APIServer pid=1) ")
    for tag in ("", "(EngineCore_0 pid=9) ", "(EngineCore_DP0 pid=9) ",
                "(Worker_TP3 pid=9) ", "(VllmWorker rank=1 pid=9) "):  # fmt: skip
        assert one(tag + plain)["queue"] == 4


def test_every_optional_part_of_v1_is_read():
    found = one(
        stats(1, 3, 9, 50.0,
              extra="Deferred: 2 reqs, KV fetch: 1 waiting to start, 2 in progress, 0 "
              "completed waiting, Preemptions: 3, ",
              after=", External prefix cache hit rate: 10.0%, MM cache hit rate: 5.0%")
    )  # fmt: skip
    assert found["deferred"] == 2
    assert found["kv_fetch"] == 3
    assert found["preemptions"] == 3
    assert found["external_hit_rate_logged"] == 0.1


def test_lines_padded_with_blanks_are_read():
    assert one(stats(1, 3, 4, 50.0) + "      ")["queue"] == 4


def test_two_records_on_one_line_are_both_read():
    track = only(read(stats(1, 3, 4, 50.0) + stats(11, 3, 5, 50.0)))
    assert [s.values["queue"] for s in track.samples] == [4, 5]


def test_the_two_forms_of_the_capacity_line_say_the_same():
    one_line = (
        "GPU KV cache size: 251,920 tokens, Maximum concurrency for 40,960 tokens "
    )
    for text in (
        one_line + "per request: 6.15x",
        one_line.replace(", Max", "\nINFO 05-01 10:00:00 [kv.py:1] Max")
        + "per request: 6.15x",
    ):
        track = only(read("INFO 05-01 10:00:00 [kv.py:1] " + text, stats(1, 1, 0, 5.0)))
        assert track.known("pool_tokens") == 251920
        assert track.known("max_concurrency_logged") == 6.15


def test_lmcache_lines_count_lookups_and_stores():
    at = "(EngineCore_DP0 pid=7) [2026-05-01 10:00:01,118] LMCache INFO: "
    track = only(read(
        at + "Reqid: a-0, Total tokens 900, LMCache hit tokens: 256, need to load: -16 "
        "(x.py:1:y)",
        at + "Stored 640 out of total 900 tokens. size: 0.1 gb, cost 4 ms, throughput: "
        "2 GB/s (x.py:1:y)",
        at + "Retrieved 256 out of 256 required tokens (x.py:1:y)",
        stats(1, 1, 0, 5.0),
    ))  # fmt: skip
    assert track.sums["lookup_tokens"] == 900
    assert track.sums["lookup_hits"] == 256
    assert track.sums["stored_tokens"] == 640


# --- leaks of every generation

LEAKS = {
    "SL1": "Warning: available_size=90, max_total_num_token=100\nKV cache pool leak "
           "detected!",
    "SL1b": "KV cache pool leak detected!available_size=90, "
           "self.max_total_num_tokens=100",
    "SL2": "token_to_kv_pool_allocator memory leak detected! available_size=90, "
           "protected_size=0, self.max_total_num_tokens=100\n"
           "self.token_to_kv_pool_allocator.available_size()=60\n"
           "self.tree_cache.evictable_size()=30",
    "SL3": "token_to_kv_pool_allocator memory leak detected! "
           "self.max_total_num_tokens=100, available_size=60, evictable_size=30, "
           "protected_size=0",
    "SL4": "token_to_kv_pool_allocator memory leak detected! full_available_size=60, "
           "full_evictable_size=30, self.token_to_kv_pool_allocator.size=100, "
           "self.tree_cache.full_protected_size()=0\n"
           "mamba_available_size=5, mamba_evictable_size=0",
    "SL5": "pool memory leak detected! [full] total=100, available=60, evictable=30, "
           "protected=0, session_held=0, uncached=0\n"
           "[swa] total=50, available=50, evictable=0, protected=0, session_held=0, "
           "uncached=0",
    "strict": "Full Pool Mem Leak Detected! [full] total=100, available=60, "
              "evictable=30, protected=0, session_held=0, uncached=0",
}  # fmt: skip


@pytest.mark.parametrize("code", LEAKS)
def test_an_account_of_each_generation_is_read_to_its_difference(code):
    track = only(read(decode(1, 1, 0.1, 0), *(T + LEAKS[code]).split("\n")))
    (sample,) = track.events["account:full"]
    assert sample.values["account_delta"] == -10


# --- wrappers

PLAIN = [decode(t, 5, 0.5, t) for t in (1, 2, 3)]


def cri(line: str) -> str:
    cut = len(line) // 2
    head = "2026-05-01T03:01:00.004512031Z stderr "
    return f"{head}P {line[:cut]}\n{head}F {line[cut:]}"


WRAPPERS = {
    "docker": lambda x: json.dumps({"log": x + "\n", "stream": "stderr", "time": "t"}),
    "cri": lambda x: f"2026-05-01T03:01:00.0Z stderr F {x}",
    "cri-partial": cri,
    "compose": lambda x: f"sglang-1  | {x}",
    "kubectl": lambda x: f"[pod/sglang-0/engine] {x}",
    "journalctl": lambda x: f"Nov 29 10:00:00 host1 sglang.service[77]: {x}",
    "ray": lambda x: f"(Engine pid=41, ip=10.0.0.7) {x}",
    "ansi": lambda x: f"\x1b[1;36m{x}\x1b[0;0m",
    "crlf": lambda x: f"{x}\r",
    "bom": lambda x: f"\ufeff{x}",
    "logging": lambda x: f"2026-05-01 10:00:00,123 - INFO - sglang - {x}",
    "json": lambda x: json.dumps({"levelname": "INFO", "message": x}),
    "journal-json": lambda x: json.dumps({"MESSAGE": x, "_HOSTNAME": "h"}),
    "docker-in-kubectl": lambda x: "[pod/a/b] " + json.dumps({"log": x + "\n"}),
    "no-bracket": lambda x: x.removeprefix("["),
    "wrapped": lambda x: x.replace("(token/s)", "(token/s\n)"),
    "wrapped-twice": lambda x: f"{x[:60]}\n{x[60:120]}\n{x[120:]}",
}  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapped_log_says_what_the_plain_one_says(wrapper):
    wrapped = [WRAPPERS[wrapper](line) for line in PLAIN]
    recording = read(*wrapped)
    want, got = only(read(*PLAIN)), only(recording)
    assert [s.values for s in got.samples] == [s.values for s in want.samples]
    assert recording.damaged == 0


def test_the_wrappers_clock_serves_a_line_without_one():
    lines = [
        f"2026-05-01T03:0{minute}:00.0Z stderr F {PLAIN[0].split('] ')[1]}"
        for minute in (1, 3)
    ]
    track = only(read(*lines))
    assert track.last_time - track.first_time == 120


def test_two_pods_in_one_log_are_two_schedulers():
    recording = read(*(f"[pod/{pod}/x] {line}" for line in PLAIN for pod in "ab"))
    assert [t.num_samples for t in recording.tracks.values()] == [3, 3]


def test_a_name_from_outside_cannot_move_the_terminal():
    line = json.dumps({"message": PLAIN[0], "pod_name": "a\x1b[2Jb"})
    (track,) = read(line).tracks.values()
    assert "\x1b" not in track.source


# --- times


@pytest.mark.parametrize(
    ("lines", "window"),
    [
        ([decode(1, 1, 0.1, 0), decode(61, 1, 0.1, 0)], 60),
        ([x.replace(":01 ", ":01.250 ") for x in
          (decode(1, 1, 0.1, 0), decode(61, 1, 0.1, 0))], 60),
        (["[23:59:50 TP0] " + PLAIN[0].split("] ")[1],
          "[00:00:10 TP0] " + PLAIN[0].split("] ")[1]], 20),
        ([stats(1, 1, 0, 5.0).replace("05-01 10:00:01", "12-31 23:59:59"),
          stats(1, 1, 0, 5.0).replace("05-01 10:00:01", "01-01 00:00:09")],
         10),
    ],
    ids=["plain", "milliseconds", "midnight", "new-year"],
)  # fmt: skip
def test_the_window_is_last_less_first(lines, window):
    track = only(read(*lines))
    assert track.last_time - track.first_time == window


def test_a_log_without_times_has_no_window(tmp_path):
    told = log(tmp_path, *(line.split("] ")[1] for line in PLAIN))
    assert told.facts["window_s"] is None
    assert told.facts["n_samples"] == 3


@pytest.mark.parametrize("date", ["0000-05-01", "2026-13-01", "2026-02-30"])
def test_a_date_of_no_calendar_is_no_time(date):
    track = only(read(*(line.replace("2026-05-01", date) for line in PLAIN)))
    assert (track.num_samples, track.first_time) == (3, None)


def test_a_clock_that_goes_back_is_told(tmp_path):
    told = log(tmp_path, *(decode(t, 5, 0.5, 0) for t in (100, 200, 50, 300)))
    assert told.facts["clock_jumps_back"] == 1
    assert any("clock goes back" in note for note in told.notes)


# --- damage


@pytest.mark.parametrize("keep", range(30, len(PLAIN[0]) - 1, 7))
def test_a_line_cut_anywhere_gives_no_wrong_value(keep):
    whole = read(PLAIN[0])
    recording = read(PLAIN[0][:keep], PLAIN[1])
    track = only(recording)
    assert track.samples[-1].values == only(read(PLAIN[1])).samples[0].values
    for sample in track.samples[:-1]:
        assert sample.values.items() <= only(whole).samples[0].values.items()


@pytest.mark.parametrize("lost", range(40, 160, 6))
def test_columns_lost_inside_a_line_are_damage(lost):
    line = prefill(1, 4096, 512, 0.5, 7, 3)
    recording = read(line[:lost] + line[lost + 17 :])
    for track in recording.tracks.values():
        for sample in track.samples:
            whole = only(read(line)).samples[0].values
            assert sample.values.items() <= whole.items()


@pytest.mark.parametrize(
    "text",
    [
        "Decode batch, #running-req: 7, #token: 9, token usage: 0.50, accept lda "
        "graph: True, gen throughput (token/s): 90.10, #queue-req: 3",
        "Prefill batch, #new-seq: 1, #new-token: 9, #cached-token: 0, token usage: "
        "0.50, #queue-req: 3, #pending-token: 9, cuda graph: False",
        "Decode batch, #running-req: 7, gen throughput (token/s): 90.10, token usage: "
        "0.50, #queue-req: 3",
    ],
    ids=["spliced-name", "field-missing", "wrong-order"],
)
def test_a_line_that_only_looks_whole_is_damage(text):
    assert read(T + text).damaged == 1


def test_a_field_of_a_later_release_does_not_hurt():
    line = PLAIN[0].replace("cuda graph", "#brand-new: 5, cuda graph")
    assert one(line) == one(PLAIN[0])


def test_a_line_as_long_as_the_cut_ones_is_not_trusted():
    wide = len(PLAIN[0])
    cut = [decode(t, 500 + t, 0.5, 1000)[:wide] for t in range(4)]
    recording = read(*cut, PLAIN[0])
    assert recording.damaged == 5


def test_a_line_of_a_gigabyte_takes_no_memory(tmp_path):
    path = tmp_path / "big.log"
    with open(path, "wb") as file:
        file.write(b"Decode batch, ")
        for _ in range(40):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + PLAIN[0].encode() + b"\n" + PLAIN[1].encode() + b"\n")
    lines = [line for block in blocks(path) for line in block.lines()]
    assert [line.whole for line in lines] == [False, True, True]
    assert len(lines[0].data) <= 1 << 16
    told = diagnose([path])
    assert (told.status, told.facts["n_lines_damaged"]) == ("partial", 1)


def test_a_foreign_log_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(InputError, match=r"0\.log: holds no line of SGLang"):
        log(tmp_path, "nginx: hello", "nginx: world")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\x00\x01\x02" * 100, "binary"),
        (b"<!DOCTYPE html><html><body>502</body></html>", "HTML"),
        (b'{\n "a": 1\n}\n', "JSON document"),
    ],
)
def test_what_is_no_log_at_all_is_named_for_what_it_is(tmp_path, content, words):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        diagnose([path])


# --- files


def test_gzip_is_read_like_the_plain_file(tmp_path):
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress("\n".join(PLAIN).encode()))
    assert diagnose([path]).facts["n_samples"] == 3


def test_a_gzip_cut_short_gives_what_it_has_and_says_so(tmp_path):
    path = tmp_path / "a.log.gz"
    lines = [decode(t, t % 90, 0.5, t * 7919 % 97) for t in range(3000)]
    path.write_bytes(gzip.compress("\n".join(lines).encode())[:-2000])
    told = diagnose([path])
    assert told.status == "partial"
    assert 0 < told.facts["n_samples"] < 3000
    assert any("cut short" in note for note in told.notes)


def test_a_zip_bomb_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("kvlab.observe.source._FREE_BYTES", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress((b"x" * 4095 + b"\n") * (2 << 10), 9))
    with pytest.raises(InputError, match="500 times"):
        diagnose([path])


def test_a_folder_of_rotated_files_is_one_log_oldest_first(tmp_path):
    (tmp_path / "s.log").write_text(PLAIN[2] + "\n")
    (tmp_path / "s.log.1").write_text(PLAIN[1] + "\n")
    (tmp_path / "s.log.2.gz").write_bytes(gzip.compress(PLAIN[0].encode()))
    (tmp_path / "notes.md").write_text("see ticket\n")
    told = diagnose([tmp_path])
    assert told.facts["window_s"] == 2
    assert told.facts["last_queue"] == 3
    assert "clock_jumps_back" not in told.facts


@pytest.mark.parametrize(
    "names",
    [("s.log.2", "s.log.1", "s.log"), ("s.log.10", "s.log.9", "s.log"),
     ("s.log-20260310", "s.log-20260311.gz", "s.log"),
     ("s.log.2026-03-10", "s.log.2026-03-11", "s.log")],
)  # fmt: skip
def test_rotated_files_named_as_a_shell_lists_them_are_one_log(tmp_path, names):
    for name, line in zip(names, PLAIN, strict=True):
        (tmp_path / name).write_text(line + "\n")
    told = diagnose(sorted(tmp_path.iterdir()))
    assert (told.facts["window_s"], told.facts["last_queue"]) == (2, 3)
    assert told.inputs == names
    assert told.facts["per_rank"] is None


def test_files_named_in_an_order_of_one_s_own_keep_it(tmp_path):
    for name, line in zip("bac", PLAIN, strict=True):
        (tmp_path / f"{name}.log-1").write_text(line + "\n")
    told = diagnose([tmp_path / f"{name}.log-1" for name in "bac"])
    assert told.inputs == ("b.log-1", "a.log-1", "c.log-1")


def test_standard_input_is_a_log(monkeypatch):
    data = io.BytesIO("\n".join(PLAIN).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    told = diagnose([Path("-")])
    assert told.facts["n_samples"] == 3


class Endless(io.RawIOBase):
    """Gives the same line for ever."""

    def readable(self) -> bool:
        return True

    def readinto(self, room) -> int:
        room[:] = (b"hello world\n" * (len(room) // 12 + 1))[: len(room)]
        return len(room)


def test_a_pipe_that_tells_nothing_of_an_engine_is_given_up(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    monkeypatch.setattr("kvlab.observe.diagnose.MOST_SILENT", 1 << 20)
    with pytest.raises(InputError, match="-: says nothing of an engine in 1 MiB; give"):
        diagnose([Path("-")])


def test_a_file_may_tell_nothing_of_an_engine_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr("kvlab.observe.diagnose.MOST_SILENT", 1)
    path = tmp_path / "a.log"
    path.write_text("hello world\n" * 100_000 + "\n".join(PLAIN))
    assert diagnose([path]).facts["n_samples"] == 3


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("kvlab.observe.source.ENDLESS", 1 << 20)
    said = "/dev/zero:1: has more than 1 MiB in one line; give a file of lines"
    with pytest.raises(InputError, match=said):
        diagnose([Path("/dev/zero")])


def test_progress_is_told_in_bytes(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("\n".join(PLAIN))
    seen: list[int] = []
    diagnose([path], progress=seen.append)
    assert sum(seen) == path.stat().st_size


def test_a_long_log_keeps_its_extremes_and_sums_in_bounded_memory():
    lines = [prefill(t, 100, 50, 0.5, 5, t % 7) for t in range(9000)]
    lines[4321] = prefill(4321, 100, 50, 0.98, 5, 4000)
    track = only(read(*lines))
    assert track.high("queue") == 4000
    assert track.sums["new_tokens"] == 900_000
    assert track.num_samples == 9000
    assert len(track.samples) <= 2048
    assert str(track.peaks["queue"].place) == "a.log:4322"


def test_the_helpers_write_whole_lines():
    assert clock(3661) == "11:01:01"
    assert stamp(0) == "[2026-05-01 10:00:00 TP0] "


# --- the short way and the long one


def test_a_line_that_is_read_at_once_says_what_it_says_the_long_way():
    texts = [T.replace("TP0", "DP3 TP1") + text for text, _ in BATCHES.values()]
    texts += [decode(3, 5, 0.5, 7), prefill(3, 800, 64, 0.5, 9, 2)]
    known = {text: read_at_once(text) for text in texts}
    assert sum(said is not None for said in known.values()) > len(texts) / 2
    for text, said in known.items():
        if said is not None:
            (found,) = find_records(text)
            assert said == (found, read_record(found))


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda line: line.replace("usage: 0.50", "usage: 7.50"),
        lambda line: line.replace("#queue-req: 7", "#queue-req: -7"),
        lambda line: line.replace("#queue-req: 7", "#queue-"),
        lambda line: line + " " + line,
        lambda line: line.replace("#token: 50000, ", "", 1).replace("token usage", "x"),
    ],
)
def test_a_line_that_is_not_whole_is_not_read_at_once(spoilt):
    line = decode(3, 5, 0.5, 7)
    assert read_at_once(line) is not None
    assert spoilt(line) != line
    assert read_at_once(spoilt(line)) is None


def test_lines_are_counted_whether_or_not_they_were_wanted():
    noise = ["GET /health 200"] * 40
    recording = read(*noise, decode(1, 3, 0.5, 0), *noise, decode(2, 3, 0.5, 1))
    assert recording.lines == 82
    assert [s.place.line for s in only(recording).samples] == [41, 82]


def test_a_record_goes_on_in_the_next_block():
    line = decode(1, 3, 0.5, 4).encode()
    recording = Recording("log")
    parts = [Block(1, line[:150] + b"\n"), Block(2, line[150:] + b"\nGET /\n")]
    LogReader(recording).read_blocks("a.log", parts)
    assert [s.values["queue"] for s in only(recording).samples] == [4]


def test_blocks_are_cut_at_line_ends_wherever_the_pieces_end(tmp_path, monkeypatch):
    text = b"\n".join(b"x" * (n % 50) for n in range(400)) + b"\n" + b"y" * 300 + b"\nz"
    path = tmp_path / "x"
    path.write_bytes(text)
    monkeypatch.setattr("kvlab.observe.source._READ", 97)
    monkeypatch.setattr("kvlab.observe.source.LONGEST", 200)
    found = [line for block in blocks(path) for line in block.lines()]
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    want = text.split(b"\n")
    assert [line.data for line in found] == [line[:200] for line in want]
    assert [line.number for line in found if not line.whole] == [401]


def test_numbers_without_end_are_no_numbers(tmp_path):
    long = "9" * 5000
    lines = [
        stats(1, 1, 0, 50.0, engine=long),
        stats(2, 1, 0, 50.0).replace("loggers.py", f"EngineCore_DP{long}"),
        stats(3, 1, 0, 50.0, extra=f"KV fetch: {long} waiting to start, 1 in progress, "
              "1 completed waiting, "),
        f"KV cache pool leak detected!available_size={long}, "
        f"self.max_total_num_tokens={long}",
    ]  # fmt: skip
    assert log(tmp_path, *lines).status
