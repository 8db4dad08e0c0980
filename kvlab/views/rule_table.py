"""How is a rule told: in a table of all, in a line beside a difference, on a picture?

Everything comes from the `Rule` beside each field of `Rules`.
Left out: which rule is responsible for a difference (lessons/what_changed.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from ..record.trace import AnyTrace, Header
from ..rule import DEFAULT, NEEDS, NEW, OLD, Rule
from ..rules import Rules, facts
from .markup import plain
from .theme import Lang, Words

YES, NO = Words("yes", "是"), Words("no", "否")
WIDTH = 88


def rules_text(names: Iterable[str] | None = None, lang: Lang = "en") -> str:
    """Return the table of the rules, or of those named, as text."""
    if names is not None:
        return "\n\n".join(_block(name, facts()[name], lang) for name in names)
    blocks = [_block(name, rule, lang) for name, rule in facts().items()]
    return "\n\n".join([_heading(len(blocks), lang), *blocks, _needs(lang)])


def _heading(number: int, lang: Lang) -> str:
    words = Words(
        "{n} rules in which SGLang {old} and {new} differ; {d} is the default.\n"
        "A combination is written {old}-evict_whole_need+load_protects_source.",
        "SGLang {old} 与 {new} 的 {n} 条不同规则；默认 {d}。\n"
        "组合写作 {old}-evict_whole_need+load_protects_source。",
    )
    return words.to(lang).format(n=number, old=OLD, new=NEW, d=DEFAULT)


def _block(name: str, rule: Rule, lang: Lang) -> str:
    answers = "   ".join(
        f"{release} {yes_no(rule.answer(release)).to(lang):3}" for release in (OLD, NEW)
    )
    lines = [f"{name:26} {answers}   {rule.golden or '–'}".rstrip()]
    effect = Words(rule.effect, rule.effect_zh).to(lang)
    lines += _wrapped(rule.about if lang == "en" else effect)
    lines += _wrapped(effect, "-> ") if lang == "en" else []
    lines += _wrapped("; ".join(rule.sources), "source: ")
    lines += _wrapped(rule.note, "note: ") if rule.note else []
    return "\n".join(lines)


def _wrapped(text: str, before: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="    " + before, break_on_hyphens=False,
        subsequent_indent="    " + " " * len(before),
    )  # fmt: skip


def _needs(lang: Lang) -> str:
    words = Words("{a} needs {b}:\n    {why}", "{a} 需要 {b}")
    return "\n".join(words.to(lang).format(a=a, b=b, why=why) for a, b, why in NEEDS)


def rules_markdown(lang: Lang = "en") -> str:
    """Return the table as Markdown, for a notebook."""
    names = Words("rule | {old} | {new} | golden | source | what it comes to",
                  "规则 | {old} | {new} | 录制 | 源码 | 后果")  # fmt: skip
    lines = ["| " + names.to(lang).format(old=OLD, new=NEW) + " |", "|---" * 6 + "|"]
    for name, rule in facts().items():
        answers = [yes_no(rule.answer(release)).to(lang) for release in (OLD, NEW)]
        source = "<br>".join(f"`{source}`" for source in rule.sources)
        effect = Words(rule.effect, rule.effect_zh).to(lang)
        cells = [f"`{name}`", *answers, rule.golden or "–", source, effect]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def rules_told() -> list[dict[str, Any]]:
    """Return the table as plain records, for JSON."""
    return [
        {
            "name": name,
            **{release: rule.answer(release) for release in (OLD, NEW)},
            "about": rule.about,
            "effect": rule.effect,
            "effect_zh": rule.effect_zh,
            "sources": list(rule.sources),
            "golden": rule.golden,
            "note": rule.note or None,
            "needs": [needed for needing, needed, _ in NEEDS if needing == name],
        }
        for name, rule in facts().items()
    ]


def yes_no(answer: bool) -> Words:
    """Return the word for an answer."""
    return YES if answer else NO


def rule_note(name: str, one: Rules, other: Rules) -> Words:
    """Return what a rule says that parted two runs, A and B: a title and lines."""
    rule = facts()[name]
    a, b = (yes_no(getattr(rules, name)) for rules in (one, other))
    source = "; ".join(rule.sources)
    golden = f" · golden {rule.golden}" if rule.golden else ""
    recorded = f" · 录制 {rule.golden}" if rule.golden else ""
    new = yes_no(rule.answer(NEW))
    return Words(
        f"Rule {name}: A {a.en}, B {b.en} ({new.en} since {NEW})\n"
        f"{rule.about}\n{rule.effect}\nSource: {source}{golden}",
        f"规则 {name}：A {a.zh}，B {b.zh}（{NEW} 起为{new.zh}）\n"
        f"{rule.effect_zh}\n源码：{source}{recorded}",
    )


def the_one_rule(one: AnyTrace, other: AnyTrace) -> list[Words]:
    """Return the note of the rule that parted two runs, if it is the only thing in
    which their headers differ; none otherwise, since nothing tells which it was."""
    a, b = one.header, other.header
    if not (isinstance(a, Header) and isinstance(b, Header)) or a.config != b.config:
        return []
    differing = [n for n in facts() if getattr(a.rules, n) != getattr(b.rules, n)]
    return [rule_note(differing[0], a.rules, b.rules)] if len(differing) == 1 else []


def mixed_note(rules: Rules) -> list[Words]:
    """Return the line that goes with every picture of a run whose rules no release
    had, with the rules as they are called; none for a release."""
    if rules.is_release:
        return []
    name = plain(rules.name, 600)
    return [
        Words(
            f"No release had these rules: {name}", f"没有任何发布版有这组规则：{name}"
        )
    ]
