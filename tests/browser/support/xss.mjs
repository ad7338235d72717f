// Texts that try to become more than text. Whatever runs calls hit(); the tests listen for it.

const kRun = "hit(1)";

/** Elements that run something by themselves, or when they are touched. */
const kElements = [
  `<script>${kRun}</script>`,
  `<SCRIPT>${kRun}</SCRIPT>`,
  `<script >${kRun}</script\t>`,
  `<script src=data:,${kRun}></script>`,
  `<script type=module>${kRun}</script>`,
  `<script/x>${kRun}</script>`,
  `<scr<script>ipt>${kRun}</scr</script>ipt>`,
  `<img src=x onerror=${kRun}>`,
  `<img src=x onerror="${kRun}">`,
  `<img/src='x'/onerror='${kRun}'>`,
  `<img src=x:x onerror\n=\n${kRun}>`,
  `<img srcset=x onerror=${kRun}>`,
  `<image href=x onerror=${kRun}>`,
  `<svg onload=${kRun}>`,
  `<svg/onload=${kRun}//`,
  `<svg><script>${kRun}</script></svg>`,
  `<svg><script href=data:,${kRun} /></svg>`,
  `<svg><animate onbegin=${kRun} attributeName=x dur=1s></svg>`,
  `<svg><set attributeName=href to=javascript:${kRun}><a><text y=9>x</text></a></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>parent.${kRun}</script>"></iframe></foreignObject></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='${kRun}'/></svg>#x"></use></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${kRun}></style></mglyph></table></mtext></math>`,
  `<math href="javascript:${kRun}">x</math>`,
  `<body onload=${kRun}>`,
  `<body onpageshow=${kRun}>`,
  `<iframe srcdoc="<script>parent.${kRun}</script>"></iframe>`,
  `<iframe src="javascript:parent.${kRun}"></iframe>`,
  `<iframe onload=${kRun}></iframe>`,
  `<object data="javascript:${kRun}"></object>`,
  `<object data="data:text/html,<script>${kRun}</script>"></object>`,
  `<embed src="javascript:${kRun}">`,
  `<details open ontoggle=${kRun}><summary>x</summary></details>`,
  `<video src=x onerror=${kRun}></video>`,
  `<video><source onerror=${kRun}></video>`,
  `<audio src=x onerror=${kRun}></audio>`,
  `<input autofocus onfocus=${kRun}>`,
  `<select autofocus onfocus=${kRun}></select>`,
  `<textarea autofocus onfocus=${kRun}></textarea>`,
  `<button popovertarget=x onfocus=${kRun} autofocus>x</button>`,
  `<div popover id=x onbeforetoggle=${kRun}>x</div>`,
  `<a href="javascript:${kRun}" id=x tabindex=1 autofocus onfocus=${kRun}>x</a>`,
  `<a href="java\tscript:${kRun}">x</a>`,
  `<a href=" \u0001javascript:${kRun}">x</a>`,
  `<a href="data:text/html,<script>${kRun}</script>">x</a>`,
  `<form action="javascript:${kRun}"><input type=submit></form>`,
  `<form><button formaction="javascript:${kRun}">x</button></form>`,
  `<isindex action="javascript:${kRun}" type=image>`,
  `<marquee onstart=${kRun}>x</marquee>`,
  `<style>@keyframes x{}</style><b style="animation-name:x" onanimationstart="${kRun}">x</b>`,
  `<b style="transition:all 1s" ontransitionend=${kRun} onpointerenter=${kRun}>x</b>`,
  `<b onmouseover=${kRun} onclick=${kRun} style=position:fixed;inset:0>x</b>`,
  `<meta http-equiv=refresh content="0;url=javascript:${kRun}">`,
  `<meta http-equiv="Content-Security-Policy" content="script-src * 'unsafe-inline'">`,
  `<base href="https://example.invalid/">`,
  `<link rel=stylesheet href="data:text/css,*{display:none}">`,
  `<link rel=import href="data:text/html,<script>${kRun}</script>">`,
  `<style>*{display:none}</style>`,
  `<style>@import 'data:text/css,*{color:red}';</style>`,
  `<template><script>${kRun}</script></template>`,
  `<template shadowrootmode=open><script>${kRun}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${kRun}>"></noscript>`,
  `<xmp><p title="</xmp><img src=x onerror=${kRun}>"></xmp>`,
  `<plaintext><img src=x onerror=${kRun}>`,
  `<frameset onload=${kRun}>`,
  `<dialog open onclose=${kRun}>x</dialog>`,
  `<object type=text/x-scriptlet data=x onerror=${kRun}></object>`,
  `<x onclick=${kRun} tabindex=1 onfocus=${kRun} autofocus>x</x>`,
  `<%00script>${kRun}</script>`,
];

/** Texts that end the context they are in: attribute, comment, element, script, style. */
const kWaysOut = [
  (inner) => `"${inner}`,
  (inner) => `">${inner}`,
  (inner) => `'>${inner}`,
  (inner) => `\`>${inner}`,
  (inner) => `-->${inner}`,
  (inner) => `]]>${inner}`,
  (inner) => `</title>${inner}`,
  (inner) => `</textarea>${inner}`,
  (inner) => `</script>${inner}`,
  (inner) => `</style>${inner}`,
  (inner) => `</pre></code>${inner}`,
  (inner) => `</option></select>${inner}`,
  (inner) => `</text></svg>${inner}`,
  (inner) => `<!--><${inner}`,
  (inner) => `${"x".repeat(300)}${inner}`,
];
const kCarriers = [
  `<script>${kRun}</script>`,
  `<img src=x onerror=${kRun}>`,
  `<svg onload=${kRun}>`,
  `<iframe srcdoc="<script>parent.${kRun}</script>">`,
  `<input autofocus onfocus=${kRun} x="`,
  `<details open ontoggle=${kRun}>`,
];

/** Attributes without a tag of their own. */
const kAttributes = [
  ...["onfocus", "onerror", "onload", "onmouseover", "onclick", "onpointermove", "onanimationstart", "ontoggle"].flatMap((name) => [
    `" ${name}=${kRun} autofocus tabindex=1 x="`,
    `' ${name}='${kRun}' autofocus tabindex=1 x='`,
    `x ${name}=${kRun}`,
  ]),
  `" style="position:fixed;inset:0;background:red" x="`,
  `" href="javascript:${kRun}" x="`,
  `" dangerouslySetInnerHTML="{__html:'<img src=x onerror=${kRun}>'}`,
];

/** Addresses that are programs. */
const kAddresses = [
  `javascript:${kRun}`,
  `JaVaScRiPt:${kRun}`,
  `\tjavascript:${kRun}`,
  `java\nscript:${kRun}`,
  `java&#10;script:${kRun}`,
  `javascript&colon;${kRun}`,
  `javascript://%0a${kRun}`,
  `javascript:/*--></title></style></textarea></script><svg onload=${kRun}>*/`,
  `data:text/html,<script>${kRun}</script>`,
  `data:text/html;base64,PHNjcmlwdD5oaXQoMSk8L3NjcmlwdD4=`,
  `vbscript:${kRun}`,
  `blob:null/${kRun}`,
  "//example.invalid/x",
  "https://example.invalid/x",
  "\\\\example.invalid\\x",
  "/\\example.invalid/x",
  "../../../../etc/passwd",
  "http://user@example.invalid:80#@127.0.0.1/",
];

/** Programs for whatever would read a text as a program: script, templates, regular expressions. */
const kPrograms = [
  `';${kRun};//`,
  `";${kRun};//`,
  `\\";${kRun};//`,
  `\`;${kRun};//`,
  `\${${kRun}}`,
  `{{${kRun}}}`,
  `{{constructor.constructor('${kRun}')()}}`,
  `#{${kRun}}`,
  `<%= ${kRun} %>`,
  `[[${kRun}]]`,
  `');${kRun};('`,
  `\u2028${kRun}\u2029`,
  `*/${kRun}/*`,
  `-${kRun}-`,
  `1;${kRun}`,
  `function(){${kRun}}()`,
  `$&$1$\`$'`,
  `(?:a+)+$`,
  "%s%n%x%d%99999999d",
  "{0}{1}{}{name}",
];

/** Texts that must not be read a second time: entities, escapes of addresses and of script. */
const kEscaped = [
  `&lt;script&gt;${kRun}&lt;/script&gt;`,
  `&#60;img src=x onerror=${kRun}&#62;`,
  `&#x3c;script&#x3e;${kRun}&#x3c;/script&#x3e;`,
  `&amp;lt;img src=x onerror=${kRun}&amp;gt;`,
  `&lt`,
  `&nbsp;&quot;&apos;&#0;&#x0;&#xd800;`,
  `%3Cscript%3E${kRun}%3C/script%3E`,
  `%253Cscript%253E${kRun}%253C/script%253E`,
  `\\u003cscript\\u003e${kRun}\\u003c/script\\u003e`,
  `\\x3cimg src=x onerror=${kRun}\\x3e`,
  `\\74script\\76${kRun}`,
  `+ADw-script+AD4-${kRun}+ADw-/script+AD4-`,
  `\u00bcscript\u00be${kRun}\u00bc/script\u00be`,
  `\uff1cscript\uff1e${kRun}\uff1c/script\uff1e`,
  `\u2039script\u203a${kRun}\u2039/script\u203a`,
];

/** Characters that programs trip over, and names that objects have already. */
const kOdd = [
  "<", ">", "<>", "</", "<!", "<?", "<!doctype html>", "<!-- ", "<![CDATA[", "&", "\"", "'", "`", "\\", "\0", "a\0b",
  "a\rb", "a\r\nb", "\u001b[31mred\u001b[0m", "\u0007", "\u007f", "\u0085", "\u00a0", "\u00ad", "\u200b", "\u202eexe.gpj", "\u2066x\u2069",
  "\ufeffx", "\ufffd", "\uffff", "\u{1f4a9}", "e\u0301\u0302\u0303\u0304", "\u0627\u0644\u0639", "\u{e0041}", "\u05d0<b>\u05d1",
  "__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "then", "undefined", "null", "NaN", "true", "-0", "1e999",
  "=1+1", "@SUM(A1)", "+1", "-1", "=HYPERLINK(\"https://example.invalid\",\"x\")", "\t=1", "a,b;c|d", "../", "..\\", "%00", "%2e%2e%2f", "?a=b#c", "#x", "x".repeat(4000),
  "<".repeat(500), "a ".repeat(400), "/".repeat(60), "\"><".repeat(60),
];

export const kXss = [
  ...kElements,
  ...kWaysOut.flatMap((out) => kCarriers.map(out)),
  ...kAttributes,
  ...kAddresses,
  ...kPrograms,
  ...kEscaped,
  ...kOdd,
];

const kMachine = /(^|[._])(metric|unit|cursor|next|kind|id|at|created|started|ended|last_seen|access|phase)$|(^|\.|evaluation_)status$|_time$/;

/**
 * An answer with one of the texts in every field that holds text; what programs read stays: units,
 * times, keys of other calls. `textFor` gives the text for a path of keys.
 */
export function poison(answer, textFor, path = "") {
  if (typeof answer === "string") return kMachine.test(path) ? answer : textFor(path);
  if (answer === null || typeof answer !== "object") return answer;
  if (Array.isArray(answer)) return answer.map((part) => poison(part, textFor, path));
  return Object.fromEntries(Object.entries(answer).map(([key, part]) => [key, poison(part, textFor, path === "" ? key : `${path}.${key}`)]));
}

/** Elements and attributes that no page may have, whatever texts it shows. This function runs in the page. */
export function violations() {
  const allowed = new Set(
    ("html desc defs pattern head meta link title body div span p b a ul ol li dl dt dd h1 h2 h3 nav main header section button select option input label form " +
      "table caption thead tbody tr th td time code pre kbd canvas svg path rect circle g line text details summary dialog strong noscript script").split(" "));
  const own = (value) => /^(\/(?![\/\\])|#|data:image\/svg\+xml,%3Csvg|$)/.test(value);
  const found = [...window.hits];
  for (const element of document.querySelectorAll("*")) {
    const { localName } = element;
    if (!allowed.has(localName)) found.push(`<${localName}>`);
    if (localName === "script" && !/^\/assets\//.test(element.getAttribute("src"))) found.push("a script of its own");
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on")) found.push(`<${localName} ${name}>`);
      if (/^(href|src|action|formaction|data|xlink:href|srcset|srcdoc)$/.test(name) && !own(value)) found.push(`${name}=${value}`);
    }
  }
  return found;
}
