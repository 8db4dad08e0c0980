"""Does `kvlab diagnose` say of every request trace what the trace can say?"""

from __future__ import annotations

import gzip
import json

import pytest

from kvlab.cli import main


def lines(*rows: dict) -> str:
    return "\n".join(json.dumps(row) for row in rows) + "\n"


MOONCAKE = lines(
    {"timestamp": 0, "input_length": 1000, "output_length": 10, "hash_ids": [1, 2]},
    {"timestamp": 4000, "input_length": 1100, "output_length": 50,
     "hash_ids": [1, 2, 3]},
)  # fmt: skip
DIALECT = lines(
    {"timestamp": 0, "input_length": 128, "output_length": 10, "hash_ids": [1, 2],
     "session_id": "a"},
    {"delay": 500, "input_length": 192, "output_length": 50, "hash_ids": [1, 2, 3],
     "session_id": "a"},
)  # fmt: skip
TEXT = lines(
    {"timestamp": 0, "input_length": 100, "output_length": 10, "text_input": "a b"},
    {"timestamp": 4000, "input_length": 200, "output_length": 50, "text_input": "c"},
)
BAILIAN = lines(
    {"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.0, "input_length": 32,
     "output_length": 10, "type": "text", "turn": 1, "hash_ids": [7, 8]},
    {"chat_id": 2, "parent_chat_id": 1, "timestamp": 4.0, "input_length": 48,
     "output_length": 50, "type": "text", "turn": 2, "hash_ids": [7, 8, 9]},
)  # fmt: skip
BURST_6 = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,100,10,110,Conversation log\n9,GPT-4,200,50,250,API log\n"
)
BURST_8 = (
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total "
    "tokens,Log Type\n19440110.0,s1,1.5,ChatGPT,100,10,110,Conversation "
    "log\n19440114.0,s1,2.5,GPT-4,200,50,250,API log\n"
)
AZURE_2023 = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:17:03.9799600,100,10\n2023-11-16 18:17:07.9799600,200,50\n"
)
AZURE_2024 = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2024-05-10 00:00:00+00:00,100,10\n2024-05-10 00:00:04+00:00,200,50\n"
)
AZURE_LMM = (
    "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n"
    "2025-05-10 00:00:00.000,0,100,10\n2025-05-10 00:00:04.000,3,200,50\n"
)
FORMATS = {
    "mooncake": (MOONCAKE, 2100, 60, 1150, 4.0, 512, 1024 / 2100),
    "mooncake-dialect": (DIALECT, 320, 60, 242, None, 64, 128 / 320),
    "mooncake without ids": (TEXT, 300, 60, 250, 4.0, None, None),
    "bailian": (BAILIAN, 80, 60, 98, 4.0, 16, 32 / 80),
    "burstgpt of 6": (BURST_6, 300, 60, 250, 4.0, None, None),
    "burstgpt of 8": (BURST_8, 300, 60, 250, 4.0, None, None),
    "azure of 2023": (AZURE_2023, 300, 60, 250, 4.0, None, None),
    "azure of 2024": (AZURE_2024, 300, 60, 250, 4.0, None, None),
    "azure with images": (AZURE_LMM, 300, 60, 250, 4.0, None, None),
}
"""Text; input and output tokens; largest request; seconds; block; ideal hit rate."""


def told(capsys, path) -> dict:
    assert main(["diagnose", str(path), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_trace_says_its_requests_tokens_blocks_and_hits(
    capsys, tmp_path, name, packed
):
    text, asked, made, largest, seconds, block, rate = FORMATS[name]
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    got = told(capsys, path)
    facts = got["facts"]
    assert (got["kind"], got["cause"]) == ("trace", "trace_only")
    assert facts["n_requests"] == 2
    assert facts["total_input_tokens"] == asked
    assert facts["total_output_tokens"] == made
    assert facts["max_request_tokens"] == largest
    assert facts["duration_s"] == seconds
    assert facts["block_size"] == block
    assert facts["has_prefix_identity"] is (block is not None)
    assert facts["ideal_hit_rate_tokens"] == (rate and round(rate, 4))
    assert name.split()[0] in facts["trace_format"] or name.startswith("mooncake")


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "x", "conversations": [{"from": "human", "value": "hi"}]}]',
        '{"session_id": "s", "turns": [{"llm_calls": []}], "llm_calls": []}',
        '{"backend": "sglang", "completed": 3, "total_input_tokens": 9, "ttfts": [1]}',
        '{"timestamp": 0, "input_length": 1000, "output_length": 1, "hash_ids": [1]}',
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,many,3\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n",
    ],
    ids=["sharegpt", "copilot", "benchmark", "too few ids", "no number", "no rows"],
)
def test_what_is_no_such_trace_is_one_line(capsys, tmp_path, text):
    path = tmp_path / "trace.jsonl"
    path.write_text(text)
    assert main(["diagnose", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"kvlab: {path}")
    assert err.count("\n") == 1
