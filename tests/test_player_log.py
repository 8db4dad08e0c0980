"""Does the log hold the run, in few bytes?"""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import pytest
from bench import Bench
from played import golden, played

from kvlab import Workbench
from kvlab.config import EngineConfig
from kvlab.pages import to_runs
from kvlab.record import events as ev
from kvlab.record.snapshot import State
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.run.accelerators import accelerator
from kvlab.run.cost import Cost
from kvlab.run.generators import poisson, shared_system
from kvlab.run.model_shapes import model_shape
from kvlab.run.script import InsertOp, RequestStartOp, Script
from kvlab.run.timed_engine import TimedEngine
from kvlab.run.whole import run_script
from kvlab.run.workload import OpenLoop
from kvlab.views import columns
from kvlab.views.block_log import BLOCK_WATCHES
from kvlab.views.block_log import KINDS as BLOCK_KINDS
from kvlab.views.block_questions import BLOCK_QUESTIONS
from kvlab.views.columns import BATCH, COLUMNS, PATH, columns_of
from kvlab.views.frame import frame_at
from kvlab.views.kind_words import BLOCK_KIND_WORDS, KIND_WORDS
from kvlab.views.log import KINDS, fields_of, player_log
from kvlab.views.patches import Patches
from kvlab.views.phrases import PHRASES
from kvlab.views.player_words import UI_WORDS
from kvlab.views.questions import QUESTIONS
from kvlab.views.sentences import entry_of
from kvlab.views.slots import runs
from kvlab.views.streams import from_varints, pack, unpack, varints
from kvlab.views.theme import LOOKS, Words
from kvlab.views.theme_dark import DARK_LOOKS, PAGES
from kvlab.views.watches import WATCHES

FOLDER = Path(__file__).parent / "goldens"
GOLDENS = sorted((FOLDER / "sglang").glob("*"))
NEWER = sorted((FOLDER / "sglang23").glob("*"))
SAMPLE = [
    p for p in GOLDENS + NEWER if p.stat().st_size < 40_000 or p.name[:3] == "r29"
]
"""Of the long random goldens, which are alike, only some."""


@pytest.fixture(scope="module")
def timed() -> Trace:
    """A run on a clock: requests are sent, wait, decode in jumps, copies take time."""
    config = EngineConfig.of(
        {"pool_tokens": 4096, "host_tokens": 8192, "page_size": 16}
    )
    trace = Trace(Header(config=config, rules=Rules.v0_5_23()))
    cost = Cost(model_shape("llama-3-8b"), accelerator("a100"), link_rate=4e9)
    asks = shared_system(
        40, poisson(30.0, seed=3), length=500, outputs=250, share=0.4, groups=5,
        spread=0.6,
    )  # fmt: skip
    TimedEngine(config, trace.header.rules, cost, emit=trace, conservativeness=0.1).run(
        OpenLoop(asks)
    )
    return trace


class Reader:
    """Plays patches as the player does: it adds, and knows nothing else."""

    def __init__(self, made: Patches) -> None:
        self.made = made
        self.columns = [defaultdict(int) for _ in COLUMNS]
        self.taken = [0] * (BATCH + 1)
        self.next: dict[int, int] = {}
        self.turns: dict[str, list[int]] = {"1": [], "2": []}
        self.runs = {"1": 0, "2": 0}
        self.at = 0

    def catch_up(self) -> None:
        for column in self.made.column[self.at :]:
            self._play(column)
        self.at = len(self.made.column)

    def row(self, name: str) -> dict[int, int]:
        return self.columns[COLUMNS.index(name)]

    def _play(self, column: int) -> None:
        made, place = self.made, self.taken[column]
        self.taken[column] += 1
        first, value = made.first[column][place], made.value[column][place]
        if column == BATCH:
            for request, stage in list(self.row("stage").items()):
                if stage == columns.STAGES.index("running"):
                    self.row("kv")[request] += value
                    self.row("outputs")[request] += value
        elif column == PATH:
            while first:
                self.row("lock")[first] += value
                first = self.row("parent")[first]
        elif COLUMNS[column] in columns.DELTAS:
            self.columns[column][first] += value
        elif COLUMNS[column] in columns.OWNERS:
            self._paint(column, place, first, value)
        else:
            self.columns[column][first] = value

    def _paint(self, column: int, place: int, turn: int, owner: int) -> None:
        size = self.made.count[column][place]
        code = self.made.position[column][place]
        owners, places = self.columns[column], self.columns[column + 1]
        covered = self._handed_out(COLUMNS[column][-1], turn, size)
        assert len({owners[page] for page in covered}) == 1  # one number is added
        if first := places[covered[0]]:  # and positions that go on are another's
            assert [places[p] for p in covered] == list(range(first, first + size))
        onward = code == columns.ONWARD
        position = self.next.get(column, 0) if onward else code - columns.PLACE
        for page in covered:
            owners[page] = owner
            if code == columns.RESET:
                places[page] = 0
            elif code >= columns.ONWARD:
                position += 1
                places[page] = position
        if code >= columns.ONWARD:
            self.next[column] = position

    def _handed_out(self, tier: str, turn: int, size: int) -> list[int]:
        """Return the pages of these turns."""
        handed = self.made.turns[int(tier) - 1]
        pages = self.turns[tier]
        for first, count in zip(
            handed.first[self.runs[tier] :], handed.count[self.runs[tier] :],
            strict=True,
        ):  # fmt: skip
            pages += range(first, first + count, 1 if count > 0 else -1)
        self.runs[tier] = len(handed.first)
        return pages[turn : turn + size]


def differing(reader: Reader, state: State) -> list[str]:
    """Return where the patches' columns are not the snapshot's."""
    wanted = columns_of(state, reader.made.requests)
    wrong = []
    for name, rows in wanted.items():
        have = {row: value for row, value in reader.row(name).items() if value}
        if name in ("account", "place"):
            continue
        if name[:-1] == "owner":
            have = {row: owner for row, owner in have.items() if owner > columns.LOOSE}
        elif name != "life" and COLUMNS.index(name) < COLUMNS.index("stage"):
            have = {row: v for row, v in have.items() if row in wanted["life"]}
        if have != rows:
            wrong.append(f"{name}: {set(have.items()) ^ set(rows.items())}")
    for stage, ids in (("waiting", state.waiting), ("running", state.running)):
        places, number = reader.row("place"), columns.STAGES.index(stage)
        mine = [r for r, s in reader.row("stage").items() if s == number]
        order = sorted(mine, key=lambda r: places[r])
        if order != [reader.made.requests[id] for id in ids]:
            wrong.append(stage)
    now, host = state.account(), state.host_account()
    known = state.nodes.values()
    twice = [n for n in known if n.pages is not None and n.host_pages is not None]
    coming = sum(len(n.tokens) for n in twice if n.loading is not None)
    copies = sum(len(n.tokens) for n in twice) - coming
    account = [now.available, now.evictable, now.protected, host.host_only + coming,
               host.available, copies]  # fmt: skip
    if [reader.row("account")[row] for row in range(6)] != account:
        wrong.append("account")
    return wrong


def fold_both(trace: Trace, name: str = "") -> None:
    """Play the patches beside the fold, and compare: every event of a short run, one
    in 41 of a long one, and the last."""
    made = Patches(trace)
    reader = Reader(made)
    every = 1 if len(trace) < 400 else 41
    for index in range(len(trace)):
        made.step(index)
        if index % every == 0 or index == len(trace) - 1:
            reader.catch_up()
            assert differing(reader, made.state) == [], f"{name}: event {index}"


@pytest.mark.parametrize("path", SAMPLE, ids=lambda p: f"{p.parent.name}/{p.stem[:3]}")
def test_adding_the_patches_gives_every_snapshot_of_a_golden(path):
    fold_both(played(path), path.name.split(".")[0])


def test_adding_the_patches_gives_every_snapshot_of_a_run_on_a_clock(timed):
    kinds = {type(event) for event in timed.events}
    assert {ev.Sent, ev.Clock, ev.Forward, ev.Decode, ev.Retract} <= kinds
    assert {ev.Load, ev.LoadDone, ev.Backup, ev.BackupDone, ev.Batch} <= kinds
    fold_both(timed)


def test_a_request_that_runs_although_its_prefill_was_cut_runs_in_the_log_too():
    config = EngineConfig(pool_tokens=20, tree="radix", chunked_prefill_size=2)
    script = Script(
        name="", about="", config=config, rules=Rules.v0_5_14(), manual_dma=True,
        ops=[RequestStartOp("a", [1, 2, 3])],
    )  # fmt: skip
    fold_both(run_script(script))


def test_pages_that_a_dropped_node_and_the_tree_hold_are_drawn_as_the_tree_s():
    config = EngineConfig(
        pool_tokens=32, host_tokens=25, write_policy="write_back",
        load_back_threshold=0,
    )  # fmt: skip
    asked = [*range(11), *range(90, 99)]
    script = Script(
        name="", about="", config=config, rules=Rules.v0_5_14(), manual_dma=True,
        ops=[
            InsertOp([*range(12)]), InsertOp([*range(20, 36)]),
            InsertOp([*range(40, 50)]), RequestStartOp("a", asked),
        ],
    )  # fmt: skip
    trace = run_script(script)
    fold_both(trace)
    frame = frame_at(trace, len(trace))
    (dropped,) = frame.state.orphans.values()
    (insert,) = (n for n in frame.state.nodes.values() if len(n.tokens) == len(asked))
    assert set(dropped.pages) < set(insert.pages)
    drawn = {run.node for run in runs(frame, "L1")}
    assert insert.id in drawn and dropped.id not in drawn


def test_a_log_says_everything_that_its_events_say():
    trace = golden("s10")
    contents, columns = unpack(player_log(trace))
    assert contents["events"] == len(trace)
    seen = dict.fromkeys(KINDS.values(), 0)
    for index, event in enumerate(trace.events):
        kind = KINDS[type(event)]
        assert contents["variants"][columns["variant"][index]] == entry_of(
            event, PHRASES
        )
        assert columns["cause"][index] == (
            index - event.cause if event.cause >= 0 else 0
        )
        for name, type_ in fields_of(type(event)):
            if type_ == "i":
                value = columns[f"{kind}.{name}"][seen[kind]]
                assert value == int(getattr(event, name))
        seen[kind] += 1


def test_a_large_run_takes_at_most_ten_bytes_an_event():
    trace = golden("r29")
    over = len(player_log(trace)) - len(player_log(trace, 0))
    assert over * 4 / 3 / len(trace) < 10  # as base64, in a page


def test_scattered_slots_take_at_most_ten_bytes_an_event_too():
    bench = Workbench(pool_tokens=2_000, host_tokens=4_000)
    draw = random.Random(7)
    while len(bench.trace) < 12_000:
        first = draw.randrange(400) * 1000
        prompt = list(range(first, first + draw.randrange(16, 64)))
        prompt += [draw.randrange(10**6) for _ in range(draw.randrange(16, 64))]
        bench.insert(prompt)
        if draw.random() < 0.2:
            bench.ack_write()
    trace = bench.trace
    late = [e for e in trace.events[-2000:] if isinstance(e, ev.Alloc)]
    runs = sum(len(to_runs(e.pages)) for e in late)
    assert runs > 5 * len(late)  # they are scattered
    over = len(player_log(trace)) - len(player_log(trace, 0))
    assert over * 4 / 3 / len(trace) < 10


def test_varints_keep_every_number():
    numbers = [0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31), 2**50]
    assert from_varints(varints(numbers)).tolist() == numbers
    assert from_varints(varints([])).tolist() == []


def test_a_log_that_was_cut_off_is_refused():
    log = pack({"name": "x"}, [])
    with pytest.raises(ValueError, match="damaged or cut off"):
        unpack(log[:-4])
    with pytest.raises(ValueError, match="not a log"):
        unpack(b"PK\x03\x04")


def test_the_same_run_gives_the_same_bytes():
    trace = golden("s14")
    assert player_log(trace) == player_log(trace)


def test_a_run_that_does_not_fold_is_shown_up_to_there():
    trace = golden("s14")
    events = [*trace.events[:20], ev.Demote(-1, 999), *trace.events[20:]]
    contents, columns = unpack(player_log(Trace(trace.header, events)))
    assert contents["events"] == 20
    assert "event 20 (Demote): does not fit" in contents["fault"][0]
    assert len(columns["variant"]) == len(columns["size"]) == 20


# --- the words


def test_every_string_is_there_in_english_and_in_chinese():
    tables: list[dict[str, Words]] = [PHRASES, UI_WORDS, WATCHES]
    tables += [KIND_WORDS, BLOCK_KIND_WORDS, BLOCK_WATCHES]
    for questions in (QUESTIONS, BLOCK_QUESTIONS):
        tables += [question.answers for question in questions.values()]
        tables.append({kind: question.asks for kind, question in questions.items()})
    for table in tables:
        for name, words in table.items():
            assert words.en.strip() and words.zh.strip(), name
            names = [set(_braces(text)) for text in words]
            assert names[0] == names[1], f"{name}: {words}"


def _braces(text: str) -> list[str]:
    return [part.split("}")[0] for part in text.split("{")[1:]]


def test_a_question_offers_verdicts_that_the_sentences_know():
    for kind, question in QUESTIONS.items():
        for entry in question.answers:
            assert entry.split()[0] == kind.split()[0] and entry in PHRASES, entry


@pytest.mark.parametrize(
    ("kinds", "words"), [(KINDS, KIND_WORDS), (BLOCK_KINDS, BLOCK_KIND_WORDS)]
)
def test_every_kind_has_words_of_its_own(kinds, words):
    assert set(words) == set(kinds.values())
    for lang in (0, 1):
        assert len({said[lang] for said in words.values()}) == len(words)


@pytest.mark.parametrize("questions", [QUESTIONS, BLOCK_QUESTIONS])
def test_every_answer_says_by_other_words_what_it_differs_in(questions):
    for name, question in questions.items():
        for lang in (0, 1):
            marked = [
                words[lang].split("*")[1::2] for words in question.answers.values()
            ]
            assert all(marked), f"{name}: {marked}"
            assert len(set(map(tuple, marked))) == len(marked), f"{name}: {marked}"


def test_every_state_has_a_look_by_day_and_by_night():
    assert set(DARK_LOOKS) == set(LOOKS)


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4
                  for p in parts]  # fmt: skip
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    a, b = sorted((light(one), light(other)))
    return (b + 0.05) / (a + 0.05)


def test_every_edge_stands_out_three_to_one_from_its_page():
    for day, state in enumerate(LOOKS):
        assert contrast(LOOKS[state].edge, PAGES["bg"][0]) >= 3, (day, state)
        assert contrast(DARK_LOOKS[state][2], PAGES["bg"][1]) >= 3, state
    for name in ("ink", "ink2", "ink3", "link", "ok", "alert"):
        for ground in (0, 1):
            assert contrast(PAGES[name][ground], PAGES["well"][ground]) >= 4.5, name


def test_the_patches_say_a_host_lock_of_a_node_that_is_split_under_it():
    cache = Bench(rules=Rules.v0_5_23(), host_tokens=128)
    cache.insert(range(100, 112))
    cache.ack_write()
    cache.cache.evict(12)
    node = cache.node(range(100, 112))
    old = cache.cache.inc_host_lock_ref(node)
    cache.match(range(100, 105))
    young = cache.cache.inc_host_lock_ref(node)
    cache.cache.dec_host_lock_ref(node, old)
    cache.cache.dec_host_lock_ref(node, young)
    fold_both(cache.trace)
