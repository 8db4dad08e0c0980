"""Where does the course deal with each paragraph of the two articles?

        python -m kvlab.lessons.coverage ARTICLE_1 ARTICLE_2     compares your copies

The articles are not shipped: a paragraph is known by its number and the first twelve
digits of its SHA-256, with runs of blanks as one. It has claims, which the ledger plays
and the notebook of each claim shows, or a reason why it has none.
Left out: the claims (claims/).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct


class Paragraph(Struct, frozen=True):
    """One paragraph: `claims` are ids, `reason` says why there are none."""

    article: int
    number: int
    digest: str
    claims: tuple[str, ...]
    reason: str


def paragraphs() -> Iterator[Paragraph]:
    """Yield the paragraphs of both articles, in order."""
    for line in re.sub(r"\n {20}", " ", _TABLE).strip().splitlines():
        place, digest, rest = line.split(maxsplit=2)
        article, number = place.split(".")
        reason = rest[2:] if rest.startswith("- ") else ""
        claims = () if reason else tuple(rest.split())
        yield Paragraph(int(article), int(number), digest, claims, reason)


def digests(text: str) -> list[str]:
    """Return the digest of each paragraph of a text.

    >>> digests("one\\n\\ntwo  words\\n") == digests("one\\n\\n\\ntwo words")
    True
    """
    parts = re.split(r"\n\s*\n", text)
    plain = (" ".join(part.split()) for part in parts)
    return [sha256(each.encode()).hexdigest()[:12] for each in plain if each]


def strangers(article: int, text: str) -> list[int]:
    """Return the numbers of paragraphs that the table does not know."""
    known = {p.digest for p in paragraphs() if p.article == article}
    return [n for n, each in enumerate(digests(text), 1) if each not in known]


def main(argv: Sequence[str] | None = None) -> int:
    """Compare copies of the articles with the table; 0 if it knows every paragraph."""
    names = list(sys.argv[1:] if argv is None else argv)
    if len(names) != 2:
        print("kvlab: give both articles, in order, as text files", file=sys.stderr)
        return 2
    status = 0
    for article, name in enumerate(names, 1):
        try:
            unknown = strangers(article, Path(name).read_text("utf-8"))
        except (OSError, UnicodeDecodeError):
            print(f"kvlab: {name}: no readable text; name another", file=sys.stderr)
            return 2
        status |= bool(unknown)
        told = f"paragraphs {unknown} are not covered" if unknown else "covered"
        print(f"article {article}: {told}")
    return int(status)


_TABLE = """
1.1    e714a37f85a4 S1-0-1
1.2    f5e22ccc7ab8 - what the article is
1.3    6878c4dc30f4 S1-0-1
1.4    49fcd000e9d5 S1-0-2 S1-5.4-1
1.5    73ac262ef9a1 - what follows
1.6    c616de071dc8 - a heading
1.7    99ad73db7765 - a heading
1.8    910f1574697c S1-1.1-1
1.9    a98648e8f772 S1-1.1-1
1.10   f4c9db361ad0 S1-1.1-2 S1-1.1-3 S1-1.1-4 S1-1.1-5 S1-1.1-6
1.11   83ba6065e6e9 S1-1.1-7 S1-1.1-8
1.12   cacc7473d98d - leads over
1.13   f426a04ddbca S1-1.1-9
1.14   af0bbb1774d5 S1-1.1-10 S1-1.1-11
1.15   e19219df7857 - a heading
1.16   1bc64f55f725 - leads over
1.17   f4a13e678525 S1-1.2-1 S1-1.2-2 S1-1.2-3
1.18   5bbff514314d S1-1.2-4
1.19   bb773f673bd2 S1-1.2-4
1.20   a3c1b2e0cc2d S1-1.2-4
1.21   68d705b6d43f S1-1.2-5 S1-1.2-6 S1-1.2-7
1.22   d95323a3e7e3 S1-1.2-8
1.23   77c93e5ff849 - a heading
1.24   a8634f44d84a S1-2.1-2
1.25   74f5a16cde97 - a heading
1.26   4f8f2f5a024d S1-2.1-1
1.27   26003e130fd2 S1-2.1-1
1.28   cefc7227c30e S1-2.1-3 S1-2.1-4
1.29   697b7c507326 S1-2.1-4
1.30   95accc2db7e4 S1-2.1-2 S1-2.1-7
1.31   8c8522a91778 S1-2.1-5 S1-2.1-6
1.32   37cbc7868e3c - a heading
1.33   9646086bb71a S1-2.2-1
1.34   1bf67a0bca66 S1-2.2-2 S1-2.3-2
1.35   cba646a5cabc S1-2.2-3
1.36   1362cace7fbd S1-2.2-3 S1-2.2-4 S1-2.2-5 S1-2.2-6 S1-2.2-7 S1-2.2-8
1.37   61ccd92fbe25 - a heading
1.38   a50e5a9ae673 S1-2.3-1 S1-2.1-3 S1-2.2-1
1.39   ebdb599dd6e4 S1-2.3-1
1.40   4e823b87029d - a heading
1.41   7d332f35f673 S1-2.1-5 S1-2.1-6 S1-2.3-1
1.42   a6907ea51c88 - a heading
1.43   52d8de54fe3c - leads over
1.44   7feca74d4505 S1-3.1-2
1.45   92881ea50243 S1-3.1-1 S1-3.1-3 S1-3.1-4 S1-2.1-4
1.46   486a6601985f - leads over
1.47   e9eb9a6b639e S1-3.2-1 S1-3.2-2 S1-3.2-3
1.48   d028d0895b31 S1-3.3-1 S1-3.3-2 S1-3.2-3
1.49   112a9879b3a1 - a heading
1.50   2e14da1e5e0e S1-4.0-1 S1-4.0-2
1.51   71b9b566b734 - a heading
1.52   496cf6acab35 S1-4.1-1 S1-4.1-2 S1-4.1-3 S1-4.1-4
1.53   fb2a55f64376 S1-4.1-5 S1-4.1-6
1.54   bbcffc48c355 - a heading
1.55   8d1ef85bc989 - leads over
1.56   e60958a69c9a S1-4.2-1 S1-4.2-2 S1-4.2-3
1.57   b03e54ce2cd3 S1-4.2-4 S1-4.2-5
1.58   6691855c7f0a S1-4.2-6 S1-1.2-8
1.59   7720bff5d3f4 S1-4.2-7 S1-4.2-8
1.60   d9b113dd555a - a heading
1.61   8f373ddaeab9 S1-4.1-1 S1-4.2-6 S1-1.2-8
1.62   fdb77d00553c - a heading
1.63   35053705d180 S1-5.1-1 S1-5.2-1 S1-5.2-2 S1-5.2-3 S1-5.3-1 S1-5.3-2 S1-5.3-3
                    S1-5.3-4 S1-5.3-5 S1-5.3-6 S1-5.4-1 S1-5.4-2 S1-5.5-1
1.64   4ccd2e0378cd - a heading
1.65   c799e3cdc59a S1-5.3-2 S1-5.4-1 S1-5.4-2
1.66   f161fe1220a5 S1-5.6-1
1.67   ad18e3ac5743 - a heading
1.68   706c9dcb9601 - leads over
1.69   2ba29a148b29 S1-3.3-1 S1-5.7-1 S1-5.7-2 S1-5.6-2
1.70   4262c45dc797 - a heading
1.71   ac7db52f3fbf S1-2.2-6 S1-6.0-1 S1-6.0-2
1.72   ce7550bda04b - a heading
1.73   97a7c871092d - a list of sources; each card names its own
1.74   6572a54b53b7 - a list of sources; each card names its own
1.75   a43b8d966e90 - a list of sources; each card names its own
1.76   3accaa60b3a9 - a list of sources; each card names its own
1.77   8224c4e89aed - a heading
2.1    4e061bc60834 - a heading
2.2    971478053803 - what the article is
2.3    cbd6549f4f06 S2-3.2-6 S2-4.2-1
2.4    cb3f91d54eee - a rule
2.5    9ce220b6493b - a heading
2.6    e0e027ec2c1e S2-1-1 S2-1-2
2.7    ef5a6ce3e4b1 - asks what follows
2.8    9125999ce164 S2-1-3
2.9    0aa6cf042e6a S2-2.1-3 S2-4.1-2
2.10   8d9ddea9cdb2 - leads over
2.11   cb3f91d54eee - a rule
2.12   83bfb5aa266a - a heading
2.13   54f5483f3c50 S2-6-2
2.14   4fcceacce57d - a heading
2.15   655f496b20c6 S2-2.1-1 S2-2.1-3
2.16   e7c5604a2c37 S2-2.1-1 S2-2.1-2 S2-2.1-3
2.17   c0ff4b04a8e2 - leads over
2.18   8e42a54dd2da - a heading
2.19   4784c48c5b96 S2-2.2-1
2.20   e749f4438dd3 - a heading
2.21   fe155b390d38 S2-2.2-1
2.22   81ec13c1c323 S2-2.2-2 S2-2.2-3
2.23   eb299514a9e4 S2-2.1-1 S2-2.1-2
2.24   7d1e3badb857 - a heading
2.25   079e1ccf7891 S2-2.2-4
2.26   a93c06c1d98d S2-2.2-4 S2-2.2-5
2.27   d27285814f63 S2-2.2-5
2.28   b38cbcdf66ec - a heading
2.29   609a26db8e7e S2-5.0-1
2.30   a74bff2fb926 S2-5.0-1
2.31   336277b40453 S2-2.2-6 S2-2.2-7
2.32   190dc0b24c00 - a heading
2.33   7839d57b9807 S2-2.2-8
2.34   564dc9922b3e S2-2.2-8
2.35   4ef8f6b15535 - a heading
2.36   d370d61964f7 S2-2.2-9
2.37   95cebea3f65a S2-2.2-9 S2-2.2-11
2.38   d606d324fee4 S2-2.2-9 S2-2.2-10 S2-2.2-12
2.39   b65f04c50638 - a heading
2.40   245532415575 - leads over
2.41   33141ecde5bf S2-2.3-1
2.42   43f39e4ea435 S2-2.3-1
2.43   87077c203924 S2-2.3-2
2.44   cb3f91d54eee - a rule
2.45   6526360b53dd - a heading
2.46   1c4db7d5d78e S2-3.0-1
2.47   e0aaf4f59de6 - a heading
2.48   6966c9fbcc19 S2-3.1-1 S2-3.1-3
2.49   e465e7bcde3a S2-3.1-1
2.50   55846dc29fce S2-3.1-2
2.51   288f76a4e5e4 - a heading
2.52   d4c1bab39cdb S2-3.2-8
2.53   add3602f8338 S2-3.2-9 S2-3.2-1 S2-3.2-3 S2-3.2-6 S2-3.2-8
2.54   43b13001d006 S2-3.2-1
2.55   c7a1dcfc99f1 S2-3.2-1 S2-3.2-2 S2-3.2-7
2.56   e5f41dc56d0e S2-3.2-3
2.57   de0d7b168edd S2-3.2-3 S2-3.2-4 S2-3.2-5
2.58   ce802329840d S2-3.2-6
2.59   632278b091ef S2-3.2-6
2.60   2fbbcbba8d99 S2-3.2-6
2.61   edd956445987 S2-3.2-6 S2-4.1-2
2.62   42cf62969bfd S2-3.2-6 S2-3.2-7
2.63   2701b2aa460e - a heading
2.64   6336d92c04a9 S2-3.3-1 S2-2.2-7
2.65   b98f365633c9 S2-3.3-2
2.66   8deb2c88e68b S2-3.3-3
2.67   3d6de02efca2 S1-4.0-1 S2-3.2-7
2.68   cb3f91d54eee - a rule
2.69   5de2b54c73ce - a heading
2.70   e33eb0921722 S2-4.1-2 S2-4.4-3
2.71   45b10436a687 - a heading
2.72   7e2c2c62bd8a S2-4.1-2
2.73   bbef6caf866d S2-4.1-1 S2-4.1-2
2.74   193e633d9298 S2-4.1-1
2.75   c06720888c46 - a heading
2.76   8c0f557b5d64 S2-4.2-1 S2-4.2-2
2.77   1005f08a8373 S2-4.2-1
2.78   c2079556a366 S2-4.2-1
2.79   e0fceffcbb89 - a heading
2.80   b77b554c3fe7 S2-4.3-1 S2-4.3-2
2.81   aea5fddf3148 S2-4.3-1
2.82   8fdfd8304860 S2-4.3-2
2.83   1bce0251ebe4 S2-4.3-1 S2-4.3-4
2.84   4ae962ebbae5 S2-4.3-2 S2-4.3-3
2.85   fad034b55260 - a heading
2.86   e51b9b3f07fb - leads over
2.87   509e8310bae4 S2-4.2-1
2.88   d4f4370c5408 S2-4.4-7
2.89   68a99f75c1d5 S2-4.4-1
2.90   b641bd9a3202 S2-4.4-2
2.91   e755c3ea3185 S2-4.2-1
2.92   1ad4168ba08d S2-4.4-3
2.93   a4b6306b5f9c - leads over
2.94   49d6cf08b9b0 S2-4.4-4
2.95   e97eb75541c9 S2-4.4-5
2.96   74d85d538bbf S2-4.4-6
2.97   cb3f91d54eee - a rule
2.98   339ab1270eac - a heading
2.99   3eec05d8fc52 S2-5.0-1 S2-5.1-5
2.100  99f5ecb1ec16 - a heading
2.101  e7347a0a41d2 S2-2.1-1 S2-2.2-2 S2-3.2-1 S2-3.2-3 S2-5.1-1 S2-5.1-2 S2-5.1-3
                    S2-5.1-4 S2-5.1-5 S2-5.1-6
2.102  cb3f91d54eee - a rule
2.103  fc888fff703e - a heading
2.104  b033093b4e4b S2-6-2
2.105  30add31c5d97 S2-6-1 S2-6-2 S2-6-3
2.106  57771e99baa4 S2-6-4
2.107  cb3f91d54eee - a rule
2.108  dd74324c290c - a heading
2.109  203d701edbe3 S2-7-1
2.110  cb3f91d54eee - a rule
2.111  743a19f0bd9a - a heading
2.112  5abd6d06ef8b - further reading
"""

if __name__ == "__main__":
    sys.exit(main())
