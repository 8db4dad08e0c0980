"""Does `kvlab replay --timing model` keep its contract?"""

from __future__ import annotations

import json

import pytest

from kvlab.cli import main
from kvlab.errors import InputError

TIMED = [
    "--timing", "model", "--concurrency", "open", "--output-tokens", "trace",
    "--model", "llama-3-70b", "--accelerator", "h100", "--tp", "8",
]  # fmt: skip


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.jsonl"
    lines = [
        {"timestamp": 40 * i, "input_length": 1500, "output_length": 30 + i,
         "hash_ids": [0, 2 * i + 1, 2 * i + 2]}
        for i in range(12)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def replay(capsys, *options):
    status = main(["replay", *map(str, options), "--json"])
    printed = capsys.readouterr()
    return status, json.loads(printed.out) if status == 0 else printed.err


def test_a_replay_on_a_clock_tells_the_contract_s_figures(trace, capsys):
    status, figures = replay(capsys, trace, "--page-size", 512, *TIMED)
    assert status == 0
    assert figures["requests"] == 12
    assert figures["output_tokens"] == sum(range(30, 42))
    assert figures["ttft_s"].keys() == {"mean", "p50", "p90", "p99"}
    assert 0 < figures["ttft_s"]["p50"] <= figures["ttft_s"]["p99"]
    before = ("queue", "load", "prefill")
    parts = sum(figures["parts_s"][part] for part in before)
    assert figures["ttft_s"]["mean"] == pytest.approx(parts)


def test_a_recorded_run_says_what_was_printed(trace, capsys, tmp_path):
    from kvlab.record.metrics import metrics
    from kvlab.record.trace_file import read_trace

    run = tmp_path / "run.jsonl"
    options = ("--page-size", 512, "--host-ratio", 2, "--pool-tokens", 8192)
    _, figures = replay(capsys, trace, *options, *TIMED, "--record", run)
    told = metrics(read_trace(run))
    names = set(told.__struct_fields__) & figures.keys()
    assert {name: getattr(told, name) for name in names} == {
        name: figures[name] for name in names
    }


def test_a_slower_link_or_device_is_felt(trace, capsys):
    _, fast = replay(capsys, trace, *TIMED)
    _, slow = replay(capsys, trace, *TIMED, "--accelerator", "a100")
    assert slow["ttft_s"]["p99"] > fast["ttft_s"]["p99"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--timing", "model"], "add --concurrency open, or closed with --users"),
        (["--concurrency", "closed", "--users", "3"], "needs a clock; add --timing"),
        (
            [*TIMED, "--concurrency", "closed"],
            "has no users; say how many with --users",
        ),
        ([*TIMED, "--concurrency", "closed", "--users", "0"], "is 0; use 1 or more"),
        ([*TIMED, "--users", "3"], "are of a closed loop; add --concurrency closed"),
        (["--concurrency", "open"], "needs a clock; add --timing model"),
        (["--schedule-policy", "lpm"], "nobody waits; add --timing model"),
        (["--output-tokens", "trace"], "needs a clock; add --timing model"),
        ([*TIMED, "--tp", "0"], "tp is 0; use 1 to 1024"),
        ([*TIMED, "--link-gbps", "-1"], "the link moves"),
        ([*TIMED, "--model", "gpt-9"], "no model 'gpt-9'"),
        ([*TIMED, "--accelerator", "abacus"], "no accelerator 'abacus'"),
        ([*TIMED, "--max-running", "0"], "is 0; use 1 or more"),
        ([*TIMED, "--chunked-prefill-size", "-5"], "chunked_prefill_size is -5"),
        ([*TIMED, "--engine", "vllm", "--tp", "0"], "tp is 0; use 1 to 1024"),
    ],
)
def test_options_that_make_no_sense_are_one_line_and_exit_2(
    trace, capsys, options, message
):
    status, error = replay(capsys, trace, *options)
    assert status == 2
    (line,) = [line for line in error.splitlines() if line.startswith("kvlab:")]
    assert message in line


def test_metrics_and_log_are_written_where_asked(trace, capsys, tmp_path):
    folder, log = tmp_path / "metrics", tmp_path / "engine.log"
    folder.mkdir()
    options = ("--metrics-dir", folder, "--metrics-every", 0.5, "--engine-log", log)
    status, figures = replay(capsys, trace, *TIMED, *options)
    assert status == 0
    assert len(list(folder.iterdir())) == int(figures["virtual_s"] / 0.5) + 2
    assert log.read_text().count("Prefill batch") == figures["prefills"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--metrics-dir", "nowhere"], "nowhere: is no directory; make it first"),
        (["--engine-log", "no/where.log"], "its folder does not exist; make it first"),
        (["--metrics-dir", ".", "--metrics-every", "0"], "is 0.0; use 0.001 to"),
    ],
)
def test_a_place_that_takes_no_metrics_is_told_before_the_run(
    trace, capsys, options, message
):
    status, error = replay(capsys, trace, *TIMED, *options)
    assert status == 2
    assert message in error


def test_scrapes_of_two_runs_are_not_mixed(trace, capsys, tmp_path):
    options = (*TIMED, "--metrics-dir", tmp_path)
    assert replay(capsys, trace, *options)[0] == 0
    status, error = replay(capsys, trace, *options)
    assert status == 2
    assert f"{tmp_path}: holds scrapes of a run; name an empty folder" in error


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, InputError("f", "is full", "x")])
def test_scrapes_that_cannot_all_be_written_leave_none(
    engine, stop, trace, capsys, tmp_path, monkeypatch
):
    folder = tmp_path / "metrics"
    folder.mkdir()

    def once(path, content):
        if any(folder.iterdir()):
            raise stop
        path.write_bytes(content)

    monkeypatch.setattr("kvlab.run.scrapes.replace_file", once)
    options = (*TIMED, "--metrics-dir", folder, "--metrics-every", "0.1")
    status, _ = replay(capsys, trace, *options, "--engine", engine)
    assert status == (130 if stop is KeyboardInterrupt else 2)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_more_scrapes_than_a_folder_can_bear_are_refused_and_nothing_is_written(
    engine, capsys, tmp_path
):
    far = tmp_path / "far.jsonl"
    far.write_text(
        '{"timestamp": 0, "input_length": 9, "output_length": 2, "hash_ids": [1]}\n'
        '{"timestamp": 150000, "input_length": 9, "output_length": 2, "hash_ids": [2]}'
    )
    folder = tmp_path / "metrics"
    folder.mkdir()
    options = ("--metrics-dir", folder, "--metrics-every", 0.001)
    record = ("--record", tmp_path / "run.kvtrace", "--engine", engine)
    status, error = replay(capsys, far, *TIMED, *options, *record)
    assert status == 2
    assert "files of a run of 150 s; 100,000 are the most; use 0.002 or more" in error
    assert list(folder.iterdir()) == [] and not (tmp_path / "run.kvtrace").exists()


# --- traces of other formats

TURNS = [
    {"session_id": "a", "timestamp": 0, "input_length": 64, "output_length": 9,
     "hash_ids": [1]},
    {"session_id": "a", "delay": 500, "input_length": 130, "output_length": 9,
     "hash_ids": [1, 2, 3]},
]  # fmt: skip


def test_a_later_turn_is_sent_when_the_one_before_it_has_left(capsys, tmp_path):
    path = tmp_path / "turns.jsonl"
    path.write_text("\n".join(map(json.dumps, TURNS)))
    _, once = replay(capsys, path, *TIMED, "--limit", 1, "--block-size", 64)
    _, both = replay(capsys, path, *TIMED, "--block-size", 64)
    assert both["virtual_s"] > once["virtual_s"] + 0.5
    assert (both["requests"], both["device_hit_tokens"]) == (2, 64)


def closed(capsys, trace, users, *options):
    loop = ("--concurrency", "closed", "--users", users)
    status, figures = replay(capsys, trace, *TIMED, *loop, *options)
    assert status == 0
    return figures


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_of_a_closed_loop_as_many_run_as_there_are_users(engine, trace, capsys):
    base = ("--engine", engine, "--page-size", 16)
    found = [closed(capsys, trace, users, *base) for users in (1, 4, 10**9)]
    assert [figures["peak_running"] for figures in found] == [1, 4, 12]
    assert [figures["requests"] for figures in found] == [12, 12, 12]
    one, *_ = found
    assert one["virtual_s"] == pytest.approx(one["e2e_s"]["mean"] * 12)


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_a_user_thinks_between_turns_and_takes_the_next_session_at_once(
    engine, capsys, tmp_path
):
    path = tmp_path / "turns.jsonl"
    later = {"session_id": "b", "timestamp": 900_000, "input_length": 64,
             "output_length": 9, "hash_ids": [1]}  # fmt: skip
    path.write_text("\n".join(map(json.dumps, [*TURNS, later])))
    base = ("--block-size", 64, "--engine", engine, "--page-size", 16)
    figures = closed(capsys, path, 1, *base)
    served = figures["e2e_s"]["mean"] * 3
    assert figures["virtual_s"] == pytest.approx(served + 0.5)
    assert closed(capsys, path, 2, *base)["peak_running"] == 2


def test_outputs_that_no_pool_could_hold_are_cut_to_the_pool(capsys, tmp_path):
    path = tmp_path / "azure.csv"
    path.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2024-05-10 00:00:00+00:00,1000000000,5\n"
        "2024-05-10 00:00:01+00:00,48,2147483647\n"
    )
    options = ("--pool-tokens", 8192)
    status, figures = replay(capsys, path, *TIMED, *options)
    assert status == 0
    assert figures["refused"] == [["r0", 10**9 + 5 + 1, 8192]]
    assert figures["output_tokens"] == 8192 - 48 - 2


def test_hash_ids_are_not_made_up_for_a_trace_without_them(capsys, tmp_path):
    path = tmp_path / "azure.csv"
    path.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00,4,5\n"
    )
    status, error = replay(capsys, path, "--unit")
    assert (status, error.strip()) == (
        2, f"kvlab: --unit: {path} has no hash ids; leave it out"
    )  # fmt: skip


def test_both_engines_cut_outputs_to_what_their_pool_could_hold(capsys, tmp_path):
    path = tmp_path / "azure.csv"
    path.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00,48,2147483647\n"
    )
    options = (*TIMED, "--pool-tokens", 8192, "--page-size", 16)
    _, tree = replay(capsys, path, *options)
    _, blocks = replay(capsys, path, *options, "--engine", "vllm")
    assert tree["output_tokens"] == 8192 - 48 - 16 - 1
    assert blocks["output_tokens"] == 8192 - 48


def test_the_text_tells_the_parts_one_a_line(trace, capsys):
    assert main(["replay", str(trace), *TIMED]) == 0
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    parts = {name: float(value) for key, name, *rest in words if key == "parts_s"
             for value in rest}  # fmt: skip
    assert [*parts] == ["queue", "load", "prefill", "decode", "requeue", "recompute"]
    assert parts["prefill"] > 0
    assert ["refused", "none"] in words


def test_the_text_tells_who_could_never_run_and_the_others_run(trace, capsys):
    """Half the prompts leave no page. The others' outputs are cut to 31: what the pool
    could admit beside 1,504 tokens, a page and one more."""
    rows = trace.read_text().splitlines()
    rows[6:] = [row.replace("1500", "1536") for row in rows[6:]]
    trace.write_text("\n".join(rows))
    options = [*TIMED, "--pool-tokens", "1552", "--page-size", "16"]
    assert main(["replay", str(trace), *options]) == 0
    out = capsys.readouterr().out
    assert "refused                r6 needs 1,588 of 1,552 tokens; r7 needs" in out
    assert "; and 3 more\n" in out
    assert f"output_tokens          {30 + 5 * 31}\n" in out
