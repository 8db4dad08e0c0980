"""How often does `kvlab diagnose` name the sickness, if its size is not a chosen one?

The mirrors were made to be told apart. Here each is drawn many times: faster and slower
arrivals, longer and shorter prompts and answers, a larger and a smaller pool, the
sickness itself weak and strong. A weak one may hurt nobody: a cap above what ever runs,
a link that keeps up. Then `healthy` is no mistake, and the table cannot tell it from
one; what it shows is which sickness is taken for which.

    python -m kvlab.lessons.mirror_grid --runs 10       ten of each, some minutes

Left out: loads that no mirror has (sessions, several ranks, vLLM).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace
from tqdm import tqdm

from .mirrors import FORMS, MIRRORS, Load, Mirror, Outcome, ceiling, outcomes


def drawn(mirror: Mirror, seed: int) -> Mirror:
    """Return the mirror with sizes drawn by the seed: each between half and twice of
    what it was, the answers of the healthy ones shorter than those of the ceiling.

    >>> drawn(MIRRORS[1], 3).max_running in range(1, 6)
    True
    """
    dice = np.random.default_rng([seed, MIRRORS.index(mirror)])

    def times() -> float:
        return float(2.0 ** dice.uniform(-1, 1))

    usual = Load()
    load = Load(
        rate=usual.rate * times() ** 0.5,
        length=round(usual.length * times()),
        outputs=round(usual.outputs * times()),
        share=float(dice.uniform(0.4, 0.8)),
    )
    pool = times() ** (0.5 if mirror.workload is ceiling else 1)
    return replace(
        mirror,
        load=load,
        pool_tokens=round(mirror.pool_tokens * pool) // 64 * 64,
        link=mirror.link * (times() if mirror.link < 1e9 else 1.0),
        max_running=mirror.max_running and int(dice.integers(1, 6)),
        leaks=mirror.leaks and int(dice.integers(1, 17)),
    )


def grid(runs: int, first: int = 0) -> Iterator[Outcome]:
    """Play so many draws of each sickness and yield what is said of each form."""
    draws = [(m, seed) for m in MIRRORS for seed in range(first, first + runs)]
    for mirror, seed in tqdm(draws, unit=" runs", disable=not sys.stderr.isatty()):
        yield from outcomes(drawn(mirror, seed), seed)


def confusion(found: Sequence[Outcome]) -> str:
    """Return, for each form, what was planted against what was said, as text."""
    lines = []
    for form in FORMS:
        mine = [outcome for outcome in found if outcome.form == form]
        right = sum(outcome.right for outcome in mine)
        lines.append(f"{form}: {right} of {len(mine)} as planted")
        for mirror in MIRRORS:
            said = Counter(o.cause for o in mine if o.mirror == mirror.name)
            want = mirror.causes[FORMS.index(form)]
            row = [f"{cause} {n}{'' if cause == want else ' (!)'}"
                   for cause, n in said.most_common()]  # fmt: skip
            if row:
                lines.append(f"  {mirror.name:16} {', '.join(row)}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; always 0, since a weak sickness may go unseen."""
    parser = argparse.ArgumentParser(
        prog="python -m kvlab.lessons.mirror_grid", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="of each")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    arguments = parser.parse_args(argv)
    if not 1 <= arguments.runs <= 1000:
        print(f"kvlab: --runs {arguments.runs}: use 1 to 1000", file=sys.stderr)
        return 2
    print(confusion(list(grid(arguments.runs, arguments.first))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
