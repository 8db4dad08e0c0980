"""How does a learner get an exercise, and learn whether an answer is right?

`check("07.E1")` is the exercise as a form to answer; `check("07.E1", answer)` is the
verdict. All happens in the kernel: no service, no network, no file. A seed draws the
numbers; another seed, other numbers.
Left out: the form (form.py), the files for otter (otter.py).
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from random import Random
from typing import Any

from ..errors import KvlabError
from ..views.theme import Lang
from .exercises import EXERCISES
from .form import Form, Prediction
from .grading import Verdict, grade
from .kinds import Choice, Exercise, Fill

_ASK = object()


def exercise(id: str) -> Exercise:
    """Return the exercise of that name. Raises: KvlabError if there is none."""
    found = EXERCISES.get(str(id))
    if found is None:
        near = get_close_matches(str(id), EXERCISES, 3) or sorted(EXERCISES)[:3]
        raise KvlabError(f"no exercise {id!r}; there are {', '.join(near)}, ...")
    return found


def draw(id: str, seed: int) -> Random:
    """Return the source of an exercise's numbers for a seed."""
    return Random(f"{id} {seed}")


def check(
    id: str, answer: Any = _ASK, *, seed: int = 0, lang: Lang | None = None
) -> Form | Verdict:
    """Return the exercise as a form, or the verdict on an answer to it.

    The answer is a key (choice), a number or a dict of parts (fill), a list of keys
    (order), a function, a sentence, or a form that was filled in. `lang` is the
    folder's (`language`), or the browser's.
    Raises: KvlabError if there is no such exercise.

    >>> check("07.E1", {"demoted": 0, "deleted": 0, "lost": 0}).right
    False
    """
    asked = exercise(id)
    if answer is _ASK:
        return Form(asked, lambda seed: draw(id, seed), seed, lang or language())
    if isinstance(answer, Form):
        answer, seed = answer.answer, answer.seed
    verdict = grade(asked, answer, draw(id, seed))
    return verdict._replace(lang=lang or language() or "en")


def predict(id: str, *, seed: int = 0, lang: Lang | None = None) -> Prediction:
    """Return a prediction to commit to; the run appears once that is done.

    Beneath the run stands what was seen, if the course asks it (07.S for 07.P).
    Raises: KvlabError if there is no such prediction.
    """
    asked = exercise(id)
    if not isinstance(asked, Choice | Fill):
        raise KvlabError(f"{id} is no prediction: use check({id!r})")
    seen = EXERCISES.get(f"{id[:2]}.S{id[4:]}")
    return Prediction(asked, seen, draw, seed, lang or language())


def language(folder: Path | None = None) -> Lang | None:
    """Return the language of a notebook's folder: `zh` holds the Chinese ones.

    None where the folder says nothing: then the browser decides.
    """
    folder = folder or Path.cwd()
    if folder.name == "zh":
        return "zh"
    return "en" if folder.name == "notebooks" else None
