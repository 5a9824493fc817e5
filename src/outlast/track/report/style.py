"""The style sheet of a report: quiet, legible on a phone, light or dark as the reader likes, and fit to print."""

from __future__ import annotations

#: Ledger column → colour on white, colour on black. Blue is useful, grey is preparation, orange is what was wasted.
LEDGER_COLOURS = {
    "queued": ("#e3e6ea", "#2a3038"),
    "fetching": ("#c9d1d9", "#3d4650"),
    "environment": ("#aeb8c2", "#525c67"),
    "restoring": ("#94a0ac", "#68737f"),
    "starting": ("#7b8894", "#7f8b97"),
    "useful": ("#0072b2", "#58b4f0"),
    "saving": ("#8cc4e8", "#2f6f9f"),
    "replayed": ("#f0a868", "#b8763a"),
    "lost": ("#d55e00", "#ff8b4d"),
}

_LIGHT = "--paper:#fff;--ink:#1f2328;--soft:#656d76;--line:#e2e6ea;--card:#f6f8fa;--good:#00704f;--bad:#b54000"
_DARK = "--paper:#0d1117;--ink:#e6edf3;--soft:#8b949e;--line:#2b3138;--card:#161b22;--good:#35c79a;--bad:#ff8b4d"

_RULES = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,'Segoe UI','PingFang SC','Microsoft YaHei','Noto Sans CJK SC',
'Noto Sans',sans-serif}
main{max-width:1000px;margin:0 auto;padding:32px 20px 48px}
h1{font-size:26px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:17px;margin:36px 0 12px}
p{margin:8px 0}
.soft{color:var(--soft)}
.state{font-size:14px;font-weight:600;padding:2px 10px;border-radius:99px;border:1px solid;vertical-align:4px;
white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.calm{color:var(--soft)}
.message{white-space:pre-wrap;overflow-wrap:anywhere;border-left:3px solid var(--line);
padding:2px 0 2px 12px;margin:14px 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px;margin:20px 0 0}
.tile{background:var(--card);border-radius:10px;padding:12px 14px}
.tile b{display:block;font-size:20px;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px}
.curves{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:20px 24px}
.curves svg{width:100%;height:auto;display:block}
.bars{display:grid;grid-template-columns:max-content 1fr;gap:6px 12px;align-items:center;
font-variant-numeric:tabular-nums}
.bars .name{color:var(--soft);white-space:nowrap;text-align:right}
.bars .fact{grid-column:2;color:var(--soft);font-size:13px;margin:-2px 0 6px;overflow-wrap:anywhere}
.bar{display:flex;height:16px;gap:1px;border-radius:3px;overflow:hidden;min-width:2px}
.bar i{display:block;min-width:1px}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:14px 0 0;padding:0;list-style:none;font-size:13px;
color:var(--soft)}
.key i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{font-weight:500;color:var(--soft);text-align:left;font-size:13px}
th,td{padding:5px 16px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
td,th{white-space:nowrap}
.w{white-space:normal;overflow-wrap:anywhere;min-width:120px}
.r{text-align:right;padding-right:28px}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:0 40px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:0;margin:0;align-content:start}
dt,dd{padding:5px 16px 5px 0;border-bottom:1px solid var(--line);margin:0}
dt{color:var(--soft);max-width:200px;overflow-wrap:anywhere}
dd{overflow-wrap:anywhere;white-space:pre-wrap}
pre,code{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',
'Noto Sans Mono CJK SC',monospace}
pre{background:var(--card);border-radius:10px;padding:14px 16px;margin:0;white-space:pre-wrap;
overflow-wrap:anywhere}
footer{margin-top:40px;color:var(--soft);font-size:13px}
@media(max-width:520px){main{padding:20px 14px 32px}h1{font-size:22px}dl{grid-template-columns:1fr}
dt{border:0;padding-bottom:0;max-width:none}dd{padding-top:0}}
@media print{body{font-size:9.5pt}pre,code{font-size:7.5pt}h1{font-size:18pt}
h2{font-size:12pt;margin-top:22px}main{padding:0;max-width:none}h2{break-after:avoid}
.curves svg,.tile,tr,dl>*{break-inside:avoid}.curves{grid-template-columns:1fr 1fr}
.wide{overflow:visible}.bar,.bar i,.key i,.tile,pre{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
@page{size:A4;margin:14mm}
"""


def page_style() -> str:
    """All rules. Dark only on a screen: paper is white."""
    light = "".join(f".l-{name}{{background:{colours[0]}}}" for name, colours in LEDGER_COLOURS.items())
    dark = "".join(f".l-{name}{{background:{colours[1]}}}" for name, colours in LEDGER_COLOURS.items())
    return (
        f":root{{color-scheme:light dark;{_LIGHT}}}{light}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{_DARK}}}{dark}}}{_RULES}"
    )
