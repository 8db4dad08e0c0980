"""Which style sheet does a card in a notebook or on a page bring?

Everything lies under a class that begins with `kv-`, so that nothing of the notebook
changes; the measures are those of the player's design notes.
Left out: colours and fonts, which come from theme.py; the player's sheet (player/).
"""

from __future__ import annotations

from .markup import Markup
from .theme import ALERT, INK, INK2, INK3, LINE, LINE2, MONO, OK, UI, WELL

SHEET = Markup(f"""
.kv-card{{font:13px/1.4 {UI};color:{INK};font-variant-numeric:tabular-nums}}
.kv-card{{background:{WELL};padding:12px 16px;max-width:356px;box-sizing:border-box}}
.kv-card svg{{display:block;flex:none;max-width:100%}}
.kv-cardhead{{display:flex;gap:8px;align-items:flex-start}}
.kv-cardhead{{margin-bottom:8px}}
.kv-verdict{{font-weight:600;font-size:15px;line-height:20px}}
.kv-rule{{color:{INK2};font-size:12px;line-height:16px}}
.kv-sec{{border-top:1px solid {LINE};padding:7px 0}}
.kv-lab{{font-size:11px;color:{INK3};margin-bottom:3px}}
.kv-eq{{display:flex;align-items:flex-end;flex-wrap:wrap;margin-bottom:4px}}
.kv-term{{display:inline-flex;flex-direction:column}}
.kv-name{{display:flex;gap:3px;align-items:center;height:16px;font:11px/16px {MONO};
color:{INK2};white-space:nowrap}}
.kv-num{{font-weight:600;font-size:14px;line-height:19px}}
.kv-op{{padding:0 6px;font-size:13px;line-height:19px;color:{INK3}}}
.kv-term+.kv-term{{margin-left:18px}}
.kv-col .kv-sec:first-child{{border-top:0}}
.kv-test{{font-weight:600;font-size:15px;line-height:22px}}
.kv-ok{{color:{OK};margin-left:8px}}.kv-bad{{color:{ALERT};margin-left:8px}}
.kv-off{{color:{INK3};font-weight:400;font-size:12px;margin-left:8px}}
.kv-outside{{display:flex;gap:8px;align-items:center;border:1px dashed {LINE2};
border-radius:4px;padding:6px 8px;font-size:12px;color:{INK3}}}
.kv-outside s{{font-weight:600}}
.kv-chain{{font-size:12px;color:{INK2}}}.kv-chain b{{color:{INK};font-weight:600}}
.kv-source{{font:11px/1.5 {MONO};color:{INK3};border-top:1px solid {LINE};
padding-top:8px}}
""")
"""The sheet of a card."""
