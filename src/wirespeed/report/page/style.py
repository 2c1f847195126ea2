"""Style and script of the self-contained page: no request leaves it, both languages and both colour schemes are inside."""

STYLE = """
:root{--ink:#16202c;--soft:#5b6b7c;--line:#dfe5ec;--paper:#fbfcfd;--card:#fff;--accent:#0b6bcb;--bad:#c4314b;--warn:#b86e00;--good:#1a7f4b;
--for:#0b6bcb;--against:#8a95a1;--code:#f2f5f8;--quote:#eaf3fd}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa9b8;--line:#2b3744;--paper:#0f151c;--card:#161e27;--accent:#5aa9f5;--bad:#ff7b8f;
--warn:#f0ad4e;--good:#4cc38a;--for:#5aa9f5;--against:#71808f;--code:#1c2631;--quote:#14283d}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI","Noto Sans","PingFang SC","Noto Sans CJK SC",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2.2rem 1.2rem 5rem}
header{display:flex;justify-content:space-between;align-items:baseline;gap:1rem;color:var(--soft);font-size:.86rem}
header b{color:var(--accent);letter-spacing:.02em}
h3.bad,h3.warn,h3.good,h3.plain{font-size:1.05rem;text-transform:none;letter-spacing:0}
h1{font-size:1.9rem;line-height:1.25;margin:1.2rem 0 .6rem;letter-spacing:-.01em}
h2{font-size:1.28rem;margin:2.4rem 0 .5rem}h3{font-size:.8rem;text-transform:uppercase;letter-spacing:.07em;color:var(--soft);margin:1.3rem 0 .35rem}
.bad{color:var(--bad)}.warn{color:var(--warn)}.good{color:var(--good)}
p{margin:.4rem 0}.soft{color:var(--soft)}
section.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.1rem 1.3rem;margin:1rem 0;overflow-wrap:break-word;overflow-x:auto}
.card h2{margin:.1rem 0 .3rem}.tags{display:flex;gap:.5rem;flex-wrap:wrap;align-items:center;font-size:.84rem;color:var(--soft)}
.tag{border:1px solid var(--line);border-radius:99px;padding:.08rem .6rem}.tag.cause{color:var(--accent);border-color:currentColor;font-family:ui-monospace,monospace}
table.spans td:first-child{overflow-wrap:anywhere}table.spans td{white-space:nowrap}table.spans td:first-child{white-space:normal;min-width:12rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}th,td{text-align:left;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:500}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;margin:.5rem 0}dt{color:var(--soft)}dd{margin:0}
pre,code{font:13.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{background:var(--code);border-radius:8px;padding:.5rem .75rem;margin:.3rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
pre.quote{background:var(--quote);border-left:3px solid var(--accent);border-radius:0 8px 8px 0}
pre.quote .at{color:var(--soft);user-select:none;margin-right:.8em}
.evidence{display:grid;grid-template-columns:5.2rem 1fr;gap:.2rem .9rem;margin:.55rem 0}.evidence>.says{grid-column:2}.evidence>pre{grid-column:2}
ul{margin:.3rem 0;padding-left:1.2rem}li{margin:.25rem 0}svg{display:block;max-width:100%;height:auto}svg text{font:inherit}
.bars{display:grid;grid-template-columns:minmax(7rem,max-content) minmax(4rem,11rem) 3rem 1fr;gap:.45rem .8rem;align-items:center;font-size:.92rem}
.bars>b{font:600 .85rem ui-monospace,monospace;overflow-wrap:anywhere}.bars>span{background:var(--code);border-radius:8px;height:14px}
.bars i{display:block;height:14px;border-radius:8px}.bars>em{font-style:normal;text-align:right}.bars>div{color:var(--soft)}
@media(max-width:40rem){.bars{grid-template-columns:1fr 3rem}.bars>span{grid-column:1}.bars>b,.bars>div{grid-column:1/3}}
svg.way{min-width:760px;max-width:none;width:100%}.card h3:first-child,.picture h3:first-child{margin-top:.1rem}
.picture{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1rem 1.2rem;margin:1rem 0;overflow-x:auto}
button{font:inherit;color:var(--accent);background:none;border:1px solid var(--line);border-radius:99px;padding:.1rem .8rem;cursor:pointer}
details summary{cursor:pointer;color:var(--soft);font-size:.88rem;margin-top:.6rem}
body.en [lang=zh],body.zh [lang=en]{display:none!important}
@media print{button{display:none}section.card{break-inside:avoid}}
"""

SCRIPT = """
const b=document.body,flip=document.getElementById("flip");
flip.onclick=()=>{const zh=b.classList.toggle("zh");b.classList.toggle("en",!zh);document.documentElement.lang=zh?"zh":"en"};
"""
