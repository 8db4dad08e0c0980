"""What does the command line answer, to good input and to bad?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kvlab.cli import _parser, main
from kvlab.record.trace_file import read_trace

GOLDENS = Path(__file__).parent / "goldens" / "sglang"
GOLDEN = GOLDENS / "s10_chain_load_back.json"


def line(timestamp: int, length: int, ids: list[int]) -> str:
    return json.dumps(
        {
            "timestamp": timestamp,
            "input_length": length,
            "output_length": 5,
            "hash_ids": ids,
        }
    )


@pytest.fixture
def trace(tmp_path) -> Path:
    """Three requests of two blocks; they share the first."""
    path = tmp_path / "trace.jsonl"
    lines = [line(i, 1000, [0, 10 + i]) for i in range(3)]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(capsys, *argv: object) -> tuple[int, str, str]:
    """Run a command; return its status, stdout and stderr."""
    status = main([str(word) for word in argv])
    out, err = capsys.readouterr()
    return status, out, err


def refused(capsys, *argv: object) -> str:
    """Run a command that must be refused; return the one line it says."""
    status, out, err = run(capsys, *argv)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    return err


# --- replay


def test_replay_prints_the_figures_as_one_json_object(capsys, trace):
    status, out, _ = run(capsys, "replay", trace, "--json", "--pool-tokens", 5000)
    figures = json.loads(out)
    assert status == 0
    assert figures["requests"] == 3
    assert figures["input_tokens"] == 3000
    assert figures["device_hit_tokens"] == 2 * 512
    assert figures["computed_tokens"] == 3000 - 2 * 512
    assert figures["ttft_s"] is None


def test_l2_is_a_ratio_of_the_whole_pages_of_l1(capsys, trace, tmp_path):
    run(capsys, "replay", trace, "--pool-tokens", 5000, "--page-size", 512,
        "--host-ratio", 8, "--record", tmp_path / "run.jsonl")  # fmt: skip
    config = read_trace(tmp_path / "run.jsonl").header.config
    assert config.device_pages * 512 == 4608
    assert config.host_pages * 512 == (4608 * 8 // 512 + 1) * 512


PROMISED = [
    "requests", "input_tokens", "output_tokens", "device_hit_tokens",
    "host_hit_tokens", "loaded_back_tokens", "computed_tokens", "hit_rate",
    "evicted_tokens", "backed_up_tokens", "host_evicted_tokens", "lost_tokens",
    "retractions", "preemptions", "peak_running", "peak_waiting", "l2_peak_usage",
    "ttft_s", "events", "wall_s", "cpu_s", "requests_per_s", "requests_per_cpu_s",
    "tree_sha256",
]  # fmt: skip


def test_replay_prints_every_promised_figure(capsys, trace):
    _, out, _ = run(capsys, "replay", trace, "--json")
    assert set(PROMISED) <= json.loads(out).keys()


def test_unit_makes_every_hash_id_one_token(capsys, trace):
    _, out, _ = run(capsys, "replay", trace, "--json", "--unit", "--pool-tokens", 10)
    figures = json.loads(out)
    assert (figures["input_tokens"], figures["device_hit_tokens"]) == (6, 2)


def test_unique_removes_all_sharing(capsys, trace):
    _, out, _ = run(capsys, "replay", trace, "--json", "--unique")
    assert json.loads(out)["device_hit_tokens"] == 0


def test_limit_takes_the_first_requests(capsys, trace):
    _, out, _ = run(capsys, "replay", trace, "--json", "--limit", 1)
    assert json.loads(out)["requests"] == 1


def test_a_recorded_run_says_the_same_as_the_counters(capsys, trace, tmp_path):
    from kvlab.record.metrics import metrics
    from kvlab.record.trace_file import read_trace

    saved = tmp_path / "run.jsonl.gz"
    options = ("--pool-tokens", 1600, "--host-tokens", 2000, "--json")
    _, out, _ = run(capsys, "replay", trace, *options, "--record", saved)
    figures = json.loads(out)
    traced = metrics(read_trace(saved))
    for name in PROMISED:
        if hasattr(traced, name):
            assert getattr(traced, name) == figures[name], name
    assert figures["evicted_tokens"] > 0
    assert figures["backed_up_tokens"] > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--pool-tokens", -1), "pool_tokens is -1"),
        (("--pool-tokens", 10**12), "32-bit"),
        (("--pool-tokens", 2**31 - 1), "at most 268435456 are modelled"),
        (("--pool-tokens", 2**28, "--host-ratio", 2), "host pool is 536870913"),
        (("--engine", "vllm", "--pool-tokens", 10**23), "at most 268435456"),
        (("--page-size", 0), "page_size is 0"),
        (("--pool-tokens", 8, "--page-size", 16), "holds no page of 16"),
        (
            ("--pool-tokens", 100, "--host-tokens", 100, "--rules", "0.5.14"),
            "refuses to start",
        ),
        (("--rules", "0.5.14+nothing"), "no rule 'nothing'"),
        (("--rules", "0.5.14+reclaims_duplicates"), "needs load_protects_source"),
        (("--host-tokens", 2000001, "--page-size", 16), "not a multiple"),
        (("--policy", "best"), "best"),
        (("--rules", "9.9"), "no rule book"),
        (("--limit", 0), "limit is 0"),
        (("--unit", "--page-size", 4), "--unit"),
        (("--pool-tokens", 900), "use a larger pool"),
    ],
)
def test_options_that_cannot_work_are_refused_in_one_line(
    capsys, trace, options, words, monkeypatch
):
    monkeypatch.setattr("kvlab.cli.replay.note", lambda *_: None)
    assert words in refused(capsys, "replay", trace, *options)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no requests"),
        ("\x00\x01\x02", ""),
        ("not json\n", ":1"),
        (line(0, 1000, [1]), ":1"),
        (line(0, 10**12, [1]), ":1"),
        (line(0, 5, [0]) + "\n" + line(0, -5, [0]), ":2"),
    ],
    ids=["empty", "binary", "no-json", "blocks", "huge", "negative"],
)
def test_a_file_that_is_no_trace_is_refused_with_its_line(
    capsys, tmp_path, content, words
):
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    saved = tmp_path / "run.jsonl"
    said = refused(capsys, "replay", path, "--record", saved)
    assert str(path) in said
    assert words in said
    assert not saved.exists()


def test_a_directory_is_no_trace(capsys, tmp_path):
    assert "directory" in refused(capsys, "replay", tmp_path)


def test_a_missing_file_is_named(capsys, tmp_path):
    assert "nowhere.jsonl" in refused(capsys, "replay", tmp_path / "nowhere.jsonl")


def test_a_folder_that_does_not_exist_is_noticed_before_the_work(
    capsys, trace, tmp_path
):
    said = refused(capsys, "replay", trace, "--record", tmp_path / "no" / "run.jsonl")
    assert "folder does not exist" in said


# --- conform


def test_conform_reports_equal_records_and_exits_0(capsys):
    status, out, _ = run(capsys, "conform", GOLDEN, "--json")
    report = json.loads(out)
    assert status == 0
    assert report["files"] == 1
    assert report["records"] == report["equal"] > 0
    assert report["differences"] == []


def test_conform_names_a_changed_number_and_exits_1(capsys, tmp_path):
    golden = json.loads(GOLDEN.read_text())
    golden["records"][4]["state"]["dev_avail"] += 1
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(golden))
    status, out, _ = run(capsys, "conform", changed, "--json")
    report = json.loads(out)
    assert status == 1
    assert report["equal"] == report["records"] - 1
    (found,) = report["differences"]
    assert (found["record"], found["field"]) == (4, "state.dev_avail")
    assert found["expected"] == found["got"] + 1


def test_conform_of_a_script_without_records_is_refused(capsys, tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"config": {"pool_tokens": 8}, "ops": []}))
    assert "no recorded states" in refused(capsys, "conform", script)


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ({"op": "fly"}, "fly"),
        ({"op": "evict", "n": -1}, "n is -1"),
        ({"op": "insert", "tokens": [1, "x"]}, "ops[0]"),
        ({"op": "insert", "tokens": [-1]}, "-1"),
    ],
)
def test_a_script_with_an_impossible_op_is_refused(capsys, tmp_path, op, words):
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"config": {"pool_tokens": 8}, "ops": [op]}))
    assert words in refused(capsys, "conform", script)


# --- render


@pytest.mark.parametrize("what", ["tree", "pool", "timeline", "account"])
@pytest.mark.parametrize("ending", ["svg", "txt"])
def test_render_draws_any_step_of_a_script(capsys, tmp_path, what, ending):
    target = tmp_path / f"picture.{ending}"
    options = ("--step", 20, "--what", what, "-o", target)
    status, out, _ = run(capsys, "render", GOLDEN, *options)
    assert (status, out) == (0, "")
    assert target.stat().st_size > 100


def test_render_refuses_a_step_beyond_the_run(capsys, tmp_path):
    target = tmp_path / "picture.svg"
    said = refused(capsys, "render", GOLDEN, "--step", 10**6, "-o", target)
    assert "1000000" in said.replace(",", "")
    assert not target.exists()


def test_play_says_how_many_events_its_page_has(capsys, tmp_path):
    target = tmp_path / "page.html"
    words = ["play", str(GOLDEN), "-o", str(target), "--events"]
    assert main([*words, "20"]) == 0
    assert "page.html: 20 events" in capsys.readouterr().err
    assert "--events: is -4; use 1 or more" in refused(capsys, *words, "-4")


def test_render_refuses_an_ending_that_it_does_not_know(capsys, tmp_path):
    target = tmp_path / "picture.xyz"
    assert ".svg" in refused(capsys, "render", GOLDEN, "-o", target)


# --- the whole


def test_every_command_tells_an_example_its_exits_and_its_defaults(capsys):
    commands = next(a for a in _parser()._actions if a.choices and "play" in a.choices)
    for name, parser in commands.choices.items():
        said = " ".join(parser.format_help().split())
        assert f"example: kvlab {name}" in said
        assert "exit status: 0 done, " in said
        for action in parser._actions:
            if action.option_strings and action.default and action.dest != "help":
                assert f"(default {str(action.default)[:2]}" in said, action.dest


def test_help_answers_without_loading_torch():
    code = "import sys, kvlab.cli; kvlab.cli._parser(); print('torch' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "False"


def test_stopping_a_command_leaves_no_file(capsys, trace, tmp_path, monkeypatch):
    def stop(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kvlab.run.replay_trace.SerialReplay.serve_all", stop)
    saved = tmp_path / "run.jsonl"
    status, _, err = run(capsys, "replay", trace, "--record", saved)
    assert (status, saved.exists()) == (130, False)
    assert "stopped" in err


# --- what tried to break it


def test_conform_refuses_a_golden_whose_end_is_missing(capsys, tmp_path):
    golden = json.loads(GOLDEN.read_text())
    golden["records"] = golden["records"][:1]
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps(golden))
    assert f"1 records of {len(golden['ops'])} ops" in refused(capsys, "conform", cut)


@pytest.mark.parametrize("command", ["replay", "conform", "render"])
def test_deep_nesting_is_refused_in_one_line(capsys, tmp_path, command):
    deep = tmp_path / "deep.json"
    deep.write_text('{"a":' * 100_000)
    target = ("-o", tmp_path / "x.svg") if command == "render" else ()
    assert "nested too deeply" in refused(capsys, command, deep, *target)


@pytest.mark.parametrize("command", ["play", "export"])
def test_a_directory_is_no_target(capsys, tmp_path, command):
    kind = ("--to", "csv") if command == "export" else ()
    said = refused(capsys, command, "three_fates", *kind, "-o", tmp_path)
    assert "a directory" in said


def test_a_name_that_is_too_long_is_refused(capsys, tmp_path):
    assert "too long" in refused(capsys, "conform", tmp_path / ("a" * 300))
