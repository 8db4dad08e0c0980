"""How does a judgement become a diagnosis in the reader's language?

Rules answer with sentences that are said in either language; here each is said in one,
beside the numbers and the curves. Names of causes, verdicts and facts are the
contract's and stay as they are.
Left out: the rules (rules_*.py), the sentences in Chinese (zh.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ..record.diagnosis import Considered, Diagnosis, Quote
from .causes import CAUSES
from .facts import facts
from .lanes import timeline
from .said import Lang, Text, joined, say, to
from .samples import Recording
from .verdict import Judgement

_MOST_SERVERS = 6


def tell(
    recording: Recording,
    found: Judgement,
    inputs: tuple[str, ...],
    notes: Iterable[Text],
    lang: Lang,
) -> Diagnosis:
    """Return what was found, in one language."""
    finding, cause = found.finding, CAUSES[found.finding.cause]
    names = {id(o.track): recording.label(o.track) for o in found.opinions}
    given = dict.fromkeys(quoted(quote, lang) for quote in finding.quotes)
    quotes = tuple(sorted(given, key=lambda quote: _order(inputs, quote)))
    drawn = timeline(found, names, quotes, lang)
    told = [*notes, *_remarks(recording), *_servers(recording, found)]
    partial = bool(recording.damaged or recording.unusable)
    return Diagnosis(
        status="partial" if partial else "ok",
        engine=recording.engine,
        kind=recording.kind,
        verdict=cause.verdict,
        cause=finding.cause,
        confidence=finding.confidence,
        facts=facts(recording, found),
        reasons=tuple(to(why, lang) for why in finding.why),
        next=tuple(to(step, lang) for step in finding.next or cause.next),
        says=to(cause.says, lang),
        evidence=quotes,
        considered=_considered(found, lang),
        notes=tuple(to(note, lang) for note in told),
        inputs=inputs,
        lanes=drawn.lanes,
        marks=drawn.marks,
        timed=drawn.timed,
        lang=lang,
    )


def quoted(quote: Quote, lang: Lang) -> Quote:
    """Return the quote with the names of its fields in one language.

    >>> quoted(Quote("usage 0.97, queue 2", "a.log:3"), "zh").text
    '占用率 0.97, 排队 2'
    """
    parts = []
    if (whole := to(quote.text, lang)) != quote.text:
        return replace(quote, text=whole)  # an event's own name
    for part in quote.text.split(", "):
        name, _, value = part.rpartition(" ")
        parts.append(f"{to(name, lang)} {value}" if name else to(part, lang))
    return replace(quote, text=", ".join(parts)) if lang == "zh" else quote


def _order(inputs: tuple[str, ...], quote: Quote) -> tuple[int, int]:
    """Return a key by which evidence stands as in the input, oldest first."""
    name, _, line = quote.place.rpartition(":")
    at = inputs.index(name) if name in inputs else len(inputs)
    return at, int(line) if line.isdecimal() else 0


def _remarks(recording: Recording) -> list[Text]:
    """Return what is to be said of the input itself."""
    told: list[Text] = [*recording.notes, *recording.unusable]
    if recording.damaged:
        told.append(
            say(
                "{} damaged lines were counted and not trusted, the first at {}",
                recording.damaged,
                recording.damaged_at[0],
            )
        )
    if recording.jumps:
        told.append(
            say(
                "the clock goes back {} times: if lines of several servers are mixed "
                "here, give each server's log alone",
                recording.jumps,
            )
        )
    if falls := sum(track.count["falls"] for track in recording.tracks.values()):
        told.append(
            say(
                "counters fall {} times: the engine started anew, or the scrapes are "
                "out of order or of several servers; give each server a folder",
                falls,
            )
        )
    return told


def _servers(recording: Recording, found: Judgement) -> list[Text]:
    """Return what each server shows, as one note; none where there is one server."""
    seen: dict[str, list[str]] = {}
    for one in found.opinions:
        seen.setdefault(one.track.source, []).append(one.best.cause)
    if len(seen) < 2:
        return []
    shown: list[Text] = [
        f"{name or 'unnamed'} {', '.join(sorted(set(causes)))}"
        for name, causes in [*seen.items()][:_MOST_SERVERS]
    ]
    if (more := len(seen) - len(shown)) > 0:
        shown.append(say("and {} more", more))
    return [
        say(
            "{} servers are in this input, the verdict is on {}: {}",
            len(seen),
            recording.label(found.about.track),
            joined("; ", shown),
        )
    ]


def _considered(found: Judgement, lang: Lang) -> tuple[Considered, ...]:
    """Return the causes that are not the answer, each once, with the reason."""
    told: dict[str, Text] = {}
    for other in found.about.others:
        if other.cause == found.finding.cause or other.cause in told:
            continue
        if other.holds and CAUSES[other.cause].verdict == "not_enough_evidence":
            continue  # what cannot be said is no rival of what was
        why = joined("; ", other.why)
        told[other.cause] = say("also seen: {}", why) if other.holds else why
    return tuple(Considered(cause, to(why, lang)) for cause, why in told.items())
