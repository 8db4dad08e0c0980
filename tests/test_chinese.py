"""Does the Chinese read as one engineer wrote it?

One word for one thing in notebooks, exercises, claims, the player and `diagnose`;
Chinese punctuation; bold where English has italics, which slant Chinese characters.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kvlab.glossary import GLOSSARY

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks/zh").glob("*.ipynb"))
HAN = r"[\u4e00-\u9fff]"
INSTEAD = {
    r"加载|回载|载入": "取回",
    r"驱逐|淘汰": "逐出",
    r"使用率|用量": "占用率",
    r"受保护": "被锁定",
    r"上锁": "加锁",
    r"(?<!水位)水线": "水位线",
    r"提示词|提示 token": "prompt",
    r"轨迹": "trace",
    r"空闲链?表": "空闲列表",
    r"成本模型": "代价模型",
    r"host 命中|外部命中(?!率)|本地命中": "L1 命中、L2 命中",
    r"幸存|受害": "留下的、让位的",
    r"(?<!chunked )(?<![\w./（])prefill(?![\w（])": "预填充",
    r"(?<![\w./（])decode(?!\w)": "解码",
}
"""What is never said in Chinese here, and what is said instead."""


def prose(path: Path) -> Iterator[str]:
    """Yield the Markdown cells of a notebook, without code and without addresses."""
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            text = re.sub(r"```.*?```", "", "".join(cell["source"]), flags=re.DOTALL)
            yield re.sub(r"`[^`]*`|(?<=\])\([^)]*\)", "_", text)


def strings(path: Path) -> Iterator[str]:
    """Yield the Chinese strings of a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and re.search(HAN, value):
            yield value


SAID = [(path.name, text) for path in NOTEBOOKS for text in prose(path)] + [
    (path.name, text)
    for path in sorted((ROOT / "kvlab").rglob("*.py"))
    if re.search(HAN, path.read_text("utf-8"))
    for text in strings(path)
]


def found(pattern: str) -> list[str]:
    """Return where a pattern stands, with its surroundings."""
    return [
        f"{name}: {text[max(0, m.start() - 12) : m.end() + 12]!r}"
        for name, text in SAID
        for m in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize(("other", "word"), INSTEAD.items(), ids=INSTEAD.values())
def test_a_thing_has_one_word(other, word):
    assert found(other) == [], f"say {word}"


def test_the_words_are_those_of_the_glossary():
    told = " ".join(term.zh for term in GLOSSARY.values())
    for word in ("取回", "占用率", "被锁定", "水位线", "预填充", "降级", "可逐出"):
        assert word in told


def test_chinese_sentences_have_chinese_punctuation():
    assert found(rf"{HAN}[,;:!?](?!\w)|(?<=\S)[,;!?]{HAN}") == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_chinese_character_stands_in_italics(path):
    for text in prose(path):
        plain = re.sub(r"\*\*[^*\n]+\*\*", "_", text)
        slanted = re.findall(r"\*([^*\s](?:[^*\n]*[^*\s])?)\*", plain)
        assert [words for words in slanted if re.search(HAN, words)] == []
