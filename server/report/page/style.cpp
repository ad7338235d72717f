// The style sheet of a report. Its colours are taken from web/src/palette.ts and style.css, where
// they are measured for contrast and for colour-blind eyes;
// tests/server/report/page/report_html_test.cpp compares them.

#include "server/report/page/sections.h"

namespace stepscope {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light;--ground:#f5f6f8;--panel:#ffffff;--text:#16202b;--muted:#55606b;--line:#e1e5ea;
--accent:#0b5cad;--neutral:#5f6b76;--threshold:#8a5300;--block:#e9ecf0;
--s0:#0b5cad;--s1:#b67a20;--s2:#e0347f;--s3:#2b1038;--s4:#841812;--s5:#8890d0;
--green:#1a6e36;--red:#b3261e;--amber:#8a5300;--grey:#5f6b76;
--green-ground:#e6f4ea;--red-ground:#fcedec;--amber-ground:#fdf3e0}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--ground:#0f1419;--panel:#171d24;
--text:#e6eaee;--muted:#a4afbb;--line:#2c3540;--accent:#6cb2ff;--neutral:#a4afbb;--threshold:#f0b429;
--block:#202832;--s0:#6cb2ff;--s1:#ffc08f;--s2:#d0498f;--s3:#d9f24f;--s4:#8f5bff;--s5:#8a6606;
--green:#6fce85;--red:#ff9a92;--amber:#f0b429;--grey:#a4afbb;
--green-ground:#16301f;--red-ground:#3a1b1a;--amber-ground:#33270f}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);
font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
main,footer{max-width:1080px;margin:0 auto;padding:16px}
footer{color:var(--muted);padding-top:0}
header{padding:8px 0 4px}
h1{font-size:26px;line-height:1.2;margin:0 0 6px;overflow-wrap:anywhere}
h2{font-size:19px;margin:0 0 10px}
h3{font-size:16px;margin:0 0 4px}
h4{font-size:14px;margin:14px 0 4px}
p{margin:6px 0}
a{color:var(--accent)}
code{font-size:12px;overflow-wrap:anywhere}
main>section{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:16px;
margin:14px 0}
.rule{border-top:1px solid var(--line);padding-top:16px;margin-top:20px}
.rule:first-of-type{border-top:0;padding-top:0;margin-top:0}
.note{color:var(--muted);font-size:13px}
.sentence{font-size:16px}
.live{font-weight:600;color:var(--amber)}
.advice{border-left:3px solid var(--accent);padding:4px 12px;margin:10px 0}
ol.advice{padding-left:32px}
ol.advice li{margin:6px 0}
.chip{display:inline-block;padding:1px 9px;border-radius:10px;font-size:12px;font-weight:600;
color:var(--grey);background:var(--block);white-space:nowrap}
.green{color:var(--green);background:var(--green-ground)}
.red{color:var(--red);background:var(--red-ground)}
.amber{color:var(--amber);background:var(--amber-ground)}
nav ul,.keys,.wholes{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:4px 16px}
.wholes{display:block}
.wholes li{margin:6px 0}
.wholes .named{display:grid;grid-template-columns:150px minmax(0,3fr) minmax(0,2fr);gap:0 12px;align-items:center;margin:3px 0}
.whole{font-weight:600;font-size:13px}
.wholes .note{display:block}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(155px,1fr));gap:10px 20px;margin:8px 0}
.facts div{min-width:0}
dt{color:var(--muted);font-size:12px}
dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;margin:8px 0}
table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid var(--line);vertical-align:middle;white-space:nowrap}
.words{white-space:normal;min-width:220px}td:last-child{padding-right:0}
thead th{color:var(--muted);font-weight:600}
tbody th{font-weight:600}
details{margin:10px 0}
summary{color:var(--muted);font-weight:600;cursor:pointer}
figure{margin:14px 0}
figcaption{font-weight:600;font-size:13px;margin-bottom:4px}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:0 24px}
.chart{display:grid;grid-template-columns:auto 1fr;gap:2px 8px;font-size:12px;color:var(--muted)}
.scale{display:flex;flex-direction:column;justify-content:space-between;text-align:right;
min-width:44px;line-height:1}
.below{grid-column:2;display:flex;justify-content:space-between}
svg{display:block;overflow:hidden}
.plot{width:100%;height:140px;border-left:1px solid var(--line);border-bottom:1px solid var(--line)}
.strip{width:100%;min-width:180px;height:16px}
.tall{height:32px}
.bar{height:20px}
.swatch{display:inline-block;width:12px;height:12px;vertical-align:-1px}
.ground{fill:var(--block)}
.rest{fill:var(--neutral);fill-opacity:.35}
.s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--s4)}
.s5{fill:var(--s5)}
line,path{vector-effect:non-scaling-stroke;fill:none}
.stripe{stroke:var(--panel);stroke-width:2}
.whisker{stroke:var(--text);stroke-width:1}
.middle{stroke:var(--panel);stroke-width:2}
.mark{stroke:var(--threshold);stroke-width:1.5;stroke-dasharray:4 3}
.grid{stroke:var(--line);stroke-width:1}
.band{fill:var(--s0);fill-opacity:.22}
.shade{fill:var(--threshold);fill-opacity:.25}
.curve{stroke:var(--s0);stroke-width:1.5}
@media (max-width:600px){main,footer{padding:10px}main>section{padding:12px}
.wholes .named{grid-template-columns:1fr;margin:8px 0}}
@media screen and (max-width:600px){table,tbody{display:block}thead{display:none}
tr{display:grid;grid-template-columns:1fr 1fr;gap:4px 12px;padding:8px 0;border-bottom:1px solid var(--line)}
th,td{display:block;min-width:0;padding:0;border:0;white-space:normal;overflow-wrap:anywhere}
th,.words{grid-column:1/-1}td::before{content:attr(data-label);display:block;color:var(--muted);font-size:12px}}
@page{size:A4;margin:14mm}
@media print{body{background:#fff;font-size:10px;line-height:1.4;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}main>section{border:0;padding:0}nav{display:none}
h1{font-size:20px}h2{font-size:15px}h3{font-size:13px}h4,.sentence{font-size:11px}
.note,.whole,figcaption,summary,table{font-size:10px}.chip,.chart,dt,code{font-size:9px}
.chip{padding:0 6px}p,details{margin:4px 0}figure{margin:8px 0}.rule{padding-top:8px;margin-top:10px}
.facts{grid-template-columns:repeat(auto-fill,minmax(110px,1fr));gap:4px 12px}
th,td{white-space:normal}.words{min-width:0}.scroll{overflow:visible}.strip{min-width:90px}.plot{height:110px}
h2,h3,h4,summary,figcaption,.keys,.lead,main>section>.sentence,.note:has(+.scroll),thead{break-after:avoid}
figure,tr,.facts,.wholes li,.chart,.lead,.sentence{break-inside:avoid}
figure:has(.wholes),figure:has(table){break-inside:auto}
a{color:inherit;text-decoration:none}
details::details-content{content-visibility:visible;display:block;block-size:auto}
details>summary{list-style:none}details>summary::-webkit-details-marker{display:none}}
)css";

}  // namespace

std::string_view ReportStyle() {
  return kStyle;
}

}  // namespace stepscope
