"""Is each request trace recognised by its fields, and a contradiction refused?"""

from __future__ import annotations

import gzip
import json

import pytest

from kvlab.cli import main
from kvlab.errors import InputError
from kvlab.observe.diagnose import diagnose
from kvlab.observe.trace_facts import trace_facts
from kvlab.record.trace_formats import open_requests


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace"


def rows(path, *made: object) -> dict:
    """Return what kvlab says of a file of these rows."""
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in made))
    return trace_facts(open_requests(path))


def mooncake(at: float, length: int, ids: list[int], **more: object) -> dict:
    return {"timestamp": at, "input_length": length, "output_length": 7,
            "hash_ids": ids, **more}  # fmt: skip


def test_mooncake_counts_leading_runs_of_known_blocks(path):
    facts = rows(
        path, mooncake(0, 1024, [1, 2]), mooncake(500, 1500, [1, 2, 3]),
        mooncake(2000, 700, [9, 2]),
    )  # fmt: skip
    assert facts["trace_format"] == "mooncake"
    assert facts["block_size"] == 512
    assert facts["duration_s"] == 2
    assert facts["ideal_hit_blocks"] == 2
    assert facts["ideal_hit_rate_blocks"] == round(2 / 7, 4)
    assert facts["max_request_tokens"] == 1507


def test_a_hit_on_a_partial_block_is_no_longer_than_the_prompt(path):
    facts = rows(path, mooncake(0, 700, [1, 2]), mooncake(1, 700, [1, 2]))
    assert facts["ideal_hit_tokens"] == 700


def test_a_dialect_names_the_block_size_that_fits(path):
    facts = rows(
        path,
        {"created_time": 0, "input_tokens": 100, "output_tokens": 5,
         "hash_ids": [1, 2], "session_id": "s"},
        {"created_time": 3000, "input_tokens": 70, "output_tokens": 5,
         "hash_ids": [1, 3], "session_id": "s"},
    )  # fmt: skip
    assert facts["trace_format"] == "mooncake-dialect"
    assert (facts["block_size"], facts["n_sessions"]) == (64, 1)
    assert facts["duration_s"] == 3


def test_turns_without_times_have_no_duration(path):
    facts = rows(path, {"session_id": 1, "delay": 5, "input_length": 9,
                        "output_length": 1})  # fmt: skip
    assert facts["duration_s"] is None
    assert facts["has_prefix_identity"] is False


def test_bailian_is_told_from_mooncake_by_its_chat_id(path):
    facts = rows(
        path,
        mooncake(0.5, 33, [1, 2, 3], chat_id=1, parent_chat_id=-1, type="text", turn=1),
        mooncake(60.5, 40, [1, 2, 9], chat_id=2, parent_chat_id=1, type="text", turn=2),
    )
    assert facts["trace_format"] == "bailian"
    assert (facts["block_size"], facts["duration_s"]) == (16, 60)


BURST6 = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
BURST8 = (
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,"
    "Total tokens,Log Type"
)


def test_burstgpt_of_six_columns_is_read_by_its_header(path):
    facts = rows(path, BURST6, "5,ChatGPT,472,18,490,Conversation log",
                 "45,GPT-4,10,0,10,API log")  # fmt: skip
    assert facts["trace_format"] == "burstgpt"
    assert facts["total_input_tokens"] == 482
    assert facts["n_failed_zero_output"] == 1
    assert facts["duration_s"] == 40


def test_burstgpt_of_eight_columns_is_read_by_its_header(path):
    facts = rows(path, BURST8, "5.0,,24,GPT-4,1916,632,2548,API log")
    assert (facts["total_input_tokens"], facts["total_output_tokens"]) == (1916, 632)


def test_columns_in_another_order_are_found(path):
    facts = rows(path, "Response tokens,Timestamp,Request tokens", "7,1.5,100")
    assert facts["total_input_tokens"] == 100


def test_azure_has_dates_of_seven_digits(path):
    facts = rows(
        path, "TIMESTAMP,ContextTokens,GeneratedTokens",
        "2023-11-16 18:17:03.9799600,4808,10", "2023-11-16 18:18:04.0799600,3180,8",
    )  # fmt: skip
    assert facts["trace_format"] == "azure-2023"
    assert facts["duration_s"] == 60.1


def test_azure_2024_has_offsets_and_azure_lmm_a_column_more(path):
    facts = rows(
        path, "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens",
        "2024-05-10 00:00:00+00:00,2,48,10", "2024-05-10 01:00:01+01:00,0,31,8",
    )  # fmt: skip
    assert facts["trace_format"] == "azure-2024"
    assert facts["duration_s"] == 1
    assert facts["total_input_tokens"] == 79


@pytest.mark.parametrize(
    "date", ["2023-02-30 00:00:00", "2023-11-16 25:00:00", "2023-00-01 00:00:00"]
)
def test_a_date_that_no_calendar_has_is_refused(path, date):
    with pytest.raises(InputError, match=f":2: '{date}' is no date and time"):
        rows(path, "TIMESTAMP,ContextTokens,GeneratedTokens", f"{date},4808,10")


def test_a_cell_without_end_is_refused_with_its_line(path):
    with pytest.raises(InputError, match=":2: is no line of CSV"):
        rows(path, "Timestamp,Request tokens,Response tokens", f"1,{'x' * 200_000},3")


def test_gzip_and_a_byte_order_mark_do_not_matter(path):
    text = "\ufeff" + json.dumps(mooncake(0, 512, [1]))
    path.write_bytes(gzip.compress(text.encode()))
    assert trace_facts(open_requests(path))["n_requests"] == 1


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ((mooncake(0, 512, [1]), mooncake(0, 513, [1])), ":2: input_length 513"),
        ((mooncake(0, -5, []),), "input_length is -5"),
        ((mooncake(-1, 5, [1]),), "timestamp is -1"),
        ((BURST6, "5,ChatGPT,472,18,491,x"), ":2: Total tokens 491 is not 472 + 18"),
        ((BURST6, "5,ChatGPT,472"), ":2: has 3 columns, the header 6"),
        ((BURST6, "5,GPT-4,many,1,2,x"), "'many' is no count"),
        ((BURST6, "soon,GPT-4,1,1,2,x"), "'soon' is no time"),
        (("TIMESTAMP,ContextTokens,GeneratedTokens", "today,1,2"), "no date"),
        (("TIMESTAMP,ContextTokens,GeneratedTokens",), "no requests"),
        (({"id": 1, "conversations": []},), "ShareGPT"),
        (({"backend": "x", "ttfts": [1.0]},), "benchmark"),
        (({"a": 1},), "no input_length"),
        ((json.dumps(mooncake(0, 512, [1])), "{"), ":2: is not JSON"),
        (("name,age", "x,1"), "no request trace"),
        ((mooncake(0, 3, [1], chat_id=1), mooncake(0, 3, [1])), ":2: has no chat_id"),
        (({"chat_id": 1, "input_length": 3},), ":1: has no timestamp"),
        (
            (*[{"timestamp": 0, "input_length": 3}] * 200, mooncake(0, 3, [1])),
            ":201: has hash_ids, the first rows have none",
        ),
        (("",), "no requests"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_line(path, made, words):
    with pytest.raises(InputError) as told:
        rows(path, *made)
    assert words in str(told.value)
    assert str(path) in str(told.value)


def test_the_command_says_what_a_trace_can_say(capsys, path):
    path.write_text(json.dumps(mooncake(0, 512, [1])))
    assert main(["diagnose", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("not_enough_evidence: trace_only")
    assert "bring a log or two scrapes" in out


def test_a_trace_comes_alone(path, tmp_path):
    path.write_text(json.dumps(mooncake(0, 512, [1])))
    other = tmp_path / "other"
    other.write_text(json.dumps(mooncake(0, 512, [1])))
    with pytest.raises(InputError, match="alone"):
        diagnose([path, other])
