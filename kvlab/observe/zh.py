"""What are the sentences in Chinese?

Left out: the sentences themselves, which stand in English where they are meant.
"""

from __future__ import annotations

ZH: dict[str, str] = {}
