"""Which pictures do the README and the notebooks show, and how are they made?

    python -m kvlab.lessons.pictures assets

draws all of them anew; a test says that the files in `assets/` are these. A module of
stories names those of its notebook in its `PICTURES`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..record.events import Step
from ..record.trace import AnyTrace, Trace
from ..run.workbench import Workbench
from ..views.block_export import render_blocks, render_both
from ..views.export import What, render, render_film
from ..views.phrases import PHRASES
from ..views.sentences import entry_of
from ..views.theme import LANGS
from .both_engines import both
from .command import command, parser
from .scenarios import SCENARIOS, modules
from .scenarios.nb11 import dashboard
from .stages import Blocks
from .title_collapse import SETTINGS, figure, play


class Picture(NamedTuple):
    """One view of a scenario, right before the op of that name begins, for the `nth`
    time; at the end where none is named."""

    name: str
    scenario: str
    before_op: str
    what: What
    nth: int = 1


class BlockPicture(NamedTuple):
    """One view of a run of vLLM, right before the step of that number."""

    name: str
    run: Callable[[], Blocks]
    step: int
    what: str


class Moments(NamedTuple):
    """One step of a run, the first of that entry of phrases.py, as one picture; or,
    of several entries, every step of theirs as a film."""

    name: str
    run: Callable[[], Trace]
    entries: tuple[str, ...]


class Accounts(NamedTuple):
    """The accounts of several runs, of either engine, over one time."""

    name: str
    runs: Callable[[], Sequence[AnyTrace]]


def chain() -> Trace:
    """Return a run in which a path of two nodes leaves L1 and comes back."""
    bench = Workbench(name="chain", pool_tokens=24, host_tokens=32)
    for end in (8, 16):
        bench.insert(range(end))
    bench.ack_write()
    bench.evict(16)
    bench.load_back(range(16))
    bench.ack_load()
    return bench.trace


AnyPicture = Picture | BlockPicture | Moments | Accounts

PICTURES: tuple[AnyPicture, ...] = (
    *(Picture(*each) for module in modules()
      for each in getattr(module, "PICTURES", ())),
    *(BlockPicture(*each) for module in modules()
      for each in getattr(module, "BLOCK_PICTURES", ())),
    Moments("refused.svg", lambda: SCENARIOS["thirty_seconds"]().trace,
            ("admit no_token",)),
    Moments("chain.svg", chain, ("demote", "loadback load", "load", "loaddone")),
    Accounts("both.svg", both),
)  # fmt: skip


def draw(picture: AnyPicture, folder: Path) -> list[Path]:
    """Draw one picture into the folder, in English and in Chinese (`.zh` in its name);
    return both. Changes: the files."""
    if isinstance(picture, Moments):
        return draw_moments(picture, folder)
    if isinstance(picture, Accounts):
        runs, files = picture.runs(), _files(picture.name, folder)
        for lang, file in zip(LANGS, files, strict=True):
            render_both(runs, file, lang)
        return files
    if isinstance(picture, BlockPicture):
        return draw_blocks(picture, folder)
    trace = SCENARIOS[picture.scenario]().trace
    step = _begin(trace, picture.before_op, picture.nth)
    files = _files(picture.name, folder)
    for lang, file in zip(LANGS, files, strict=True):
        render(trace, step, picture.what, file, lang)
    return files


def draw_blocks(picture: BlockPicture, folder: Path) -> list[Path]:
    """Draw a moment of a run of vLLM into the folder, likewise. Changes: the files."""
    trace = picture.run().trace
    at = next(
        index
        for index, event in enumerate(trace.events)
        if isinstance(event, Step) and event.number == picture.step
    )
    files = _files(picture.name, folder)
    for lang, file in zip(LANGS, files, strict=True):
        render_blocks(trace, at, picture.what, file, lang)
    return files


def draw_moments(picture: Moments, folder: Path) -> list[Path]:
    """Draw a step or a film into the folder, likewise. Changes: the files."""
    trace = picture.run()
    steps = [
        index + 1
        for index, event in enumerate(trace.events)
        if entry_of(event, PHRASES) in picture.entries
    ]
    files = _files(picture.name, folder)
    for lang, file in zip(LANGS, files, strict=True):
        if len(picture.entries) == 1:
            render(trace, steps[0], "step", file, lang)
        else:
            render_film(trace, steps, file, lang)
    return files


def _files(name: str, folder: Path) -> list[Path]:
    stem, ending = Path(name).stem, Path(name).suffix
    return [folder / name, folder / f"{stem}.zh{ending}"]


def _begin(trace: Trace, op: str, nth: int) -> int:
    if not op:
        return len(trace)
    found = [
        index
        for index, event in enumerate(trace.events)
        if isinstance(event, Step) and event.op == op
    ]
    return found[nth - 1]


def draw_title(folder: Path, seeds: int = 10) -> list[Path]:
    """Draw the first article's title, in both languages, over so many seeds; return
    both. Changes: the files. Cost: a second a seed."""
    others = [play(SETTINGS[0], seed)[0] for seed in range(1, seeds)]
    files = [folder / "title.svg", folder / "title.zh.svg"]
    for lang, file in zip(LANGS, files, strict=True):
        file.write_text(figure(SETTINGS[0], 0, lang, others), "utf-8")
    return files


def draw_dashboard(folder: Path) -> list[Path]:
    """Draw the graphs that notebook 11 asks about, in both languages; return both.
    Changes: the files. Cost: a second."""
    files = _files("11-dashboard.svg", folder)
    for lang, file in zip(LANGS, files, strict=True):
        file.write_text(dashboard(lang), "utf-8")
    return files


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Draw all of them; return the exit status."""
    options = parser("pictures", __doc__)
    options.add_argument("folder", type=Path, metavar="FOLDER")
    folder = options.parse_args(argv).folder
    for each in PICTURES:
        draw(each, folder)
    draw_title(folder)
    draw_dashboard(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
