"""Which style sheet do the HTML views share?

Everything lies under a class that begins with `kv-`, so that nothing of the notebook
changes; the measures are those of the player's design notes. Over 1180 px the card
stands beside tree and pools, below that under the controls: nothing above the controls
changes its height, so they stay where they are.
Left out: colours and fonts, which come from theme.py.
"""

from __future__ import annotations

from .markup import Markup
from .theme import ALERT, BG, INK, INK2, INK3, LINE, LINE2, MONO, OK, UI, WELL

SHEET = Markup(f"""
.kv-card,.kv-root{{font:13px/1.4 {UI};color:{INK};font-variant-numeric:tabular-nums}}
.kv-card{{background:{WELL};padding:12px 16px;max-width:356px;box-sizing:border-box}}
.kv-card svg{{display:block;flex:none;max-width:100%}}
.kv-cardhead,.kv-headline{{display:flex;gap:8px;align-items:flex-start}}
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

PLAYER_SHEET = Markup(f"""
.kv-root{{container-type:inline-size;background:{BG};border:1px solid {LINE};
border-radius:4px;overflow:hidden!important}}
.kv-root .kv-grid{{display:grid;overflow:visible;
grid-template-columns:minmax(0,384fr) minmax(0,540fr);
grid-template-areas:"bar bar" "head head" "tree pool" "queue queue" "time time"
"ctl ctl" "why why"}}
.kv-queue{{display:flex;gap:4px 24px;align-items:center}}
.kv-queue h3{{width:auto}}.kv-queue h3 small{{display:none}}
.kv-why .kv-card{{max-width:none;display:grid;gap:0 28px;
grid-template-columns:minmax(0,27fr) minmax(0,33fr) minmax(0,24fr)}}
.kv-why .kv-name{{font-size:10.5px}}.kv-why .kv-op{{padding:0 3px}}
@container (min-width:1180px){{
.kv-root .kv-grid{{grid-template-columns:minmax(0,1fr) 540px 356px;
grid-template-rows:auto auto auto auto auto auto 1fr;
grid-template-areas:"bar bar bar" "head head head" "tree pool why" "queue pool why"
"time time why" "ctl ctl why" ". . why"}}
.kv-queue{{display:block}}.kv-queue h3 small{{display:inline}}
.kv-root .kv-why,.kv-root .kv-pool{{border-left:1px solid {LINE}}}
.kv-why .kv-card{{display:block}}
.kv-why .kv-name{{font-size:11px}}.kv-why .kv-op{{padding:0 6px}}}}
.kv-root .kv-grid>*{{margin:0;min-width:0;width:auto;height:auto;overflow:visible}}
.kv-root .widget-html-content{{width:100%;font:13px/1.4 {UI};color:{INK}}}
.kv-root .kv-bar{{grid-area:bar;border-bottom:1px solid {LINE};padding:4px 16px;
align-items:center;justify-content:space-between}}
.kv-root .kv-head{{grid-area:head;border-bottom:1px solid {LINE};padding:8px 16px;
min-height:64px}}
.kv-root .kv-tree{{grid-area:tree;padding:12px 16px}}
.kv-root .kv-pool{{grid-area:pool}}
.kv-root .kv-grid>.kv-wait{{grid-area:queue;overflow:hidden;padding:4px 16px;
border-top:1px solid {LINE}}}
.kv-root .kv-time{{grid-area:time;border-top:1px solid {LINE};padding:8px 16px}}
.kv-root .kv-ctl{{grid-area:ctl;padding:0 12px 8px;align-items:center;
border-bottom:1px solid {LINE}}}
.kv-root .kv-why{{grid-area:why;background:{WELL}}}
.kv-root svg{{display:block}}
.kv-tree svg,.kv-pool svg,.kv-time svg{{width:100%;height:auto}}
.kv-tree svg{{max-width:440px}}.kv-pool svg{{max-width:600px}}
.kv-title{{display:flex;gap:12px;font-size:12px;color:{INK2};white-space:nowrap;
overflow:hidden}}.kv-title b{{color:{INK}}}.kv-code{{font-family:{MONO}}}
.kv-headline svg{{flex:none;margin-top:19px}}
.kv-kind{{font:12px/18px {MONO};color:{INK2}}}
.kv-say{{font-weight:600;font-size:18px;line-height:24px}}
.kv-root h3{{font:600 12px/16px {UI};margin:8px 0;display:flex;gap:8px;color:{INK}}}
.kv-root h3 small{{font-weight:400;color:{INK3};font-size:11px}}
.kv-chips{{display:flex;gap:6px;align-items:center;min-height:32px;white-space:nowrap;
font-size:12px;color:{INK3}}}
.kv-lane{{min-width:48px;color:{INK2};flex:none}}
.kv-chip{{display:inline-flex;gap:7px;align-items:center;height:26px;padding:0 8px;
border:1px solid {LINE2};border-radius:4px;background:{BG};color:{INK}}}
.kv-chip b{{font:600 12px {MONO}}}.kv-chip small{{color:{INK2};font-size:11px}}
.kv-here{{border-color:{INK};box-shadow:inset 0 0 0 1px {INK}}}
.kv-root .kv-grid>.kv-cursor{{grid-area:time;padding:8px 16px 0;pointer-events:none;
z-index:1}}
.kv-cursor>*,.kv-over{{position:relative;height:100%}}
.kv-line{{position:absolute;top:0;bottom:0;border-left:1.5px solid {INK}}}
.kv-line:after{{content:"";position:absolute;left:-6px;bottom:0;
border:5px solid transparent;border-bottom-color:{INK};border-top:0}}
.kv-empty{{color:{INK3};padding:16px;font-size:12px}}
""")
"""The sheet of the player, on top of the card's."""
