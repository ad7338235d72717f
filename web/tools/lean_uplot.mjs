// Takes out of uPlot what no chart here uses, a quarter of its size: times as dates, other scales than linear, legends, scatter plots,
// other lines than straight ones, plots on their side, and what it offers to programs. Each cut must be found as often as it says, so that a new version of
// uPlot in which the code looks otherwise stops the build.

const kModule = /uplot[\\/]dist[\\/]uPlot\.esm\.js$/;

/** [what it is, how it looks, what takes its place, how often it is there] */
const kCuts = [
  ["smooth lines", /\t\(paths\.spline[^\n]*\n/g, "", 1],
  ["bars", /\t\(paths\.bars[^\n]*\n/g, "", 1],
  ["stairs", /\t\(paths\.stepped[^\n]*\n/g, "", 1],
  ["functions for programs", /uPlot\.(join|addGap|clipGaps|fmtDate|tzDate|rangeLog|rangeAsinh|orient|assign|fmtNum|rangeNum)\s*= \w+;/g, "", 11],
  ["times as dates", /const FEAT_TIME          = true;/g, "const FEAT_TIME = false;", 1],
  ["steps of dates", /= genTimeStuffs\((1|1e-3)\);/g, "= [[], null, null];", 2],
  ["words for dates", /\tconst _tzDate  = [\s\S]*?const _timeSeriesVal [^\n]*\n/g, "", 1],
  ["scales of dates", /let isTime = [^;]*;/g, "const isTime = false;", 3],
  ["scales that are not linear", /\b(\w+\.)?distr ==\s+(2|3|4|100)(?=\W)/g, "false", 30],
  ["marks of a logarithmic scale", /sc\.distr >= 3/g, "false", 1],
  ["axes that are not linear", /xScaleDistr == \d/g, "false", 6],
  ["words for numbers", /\b([as]v) \|\| num(Axis|Series)Vals?\b/g, "$1", 2],
  ["legends", /const showLegend = legend\.show;/g, "const showLegend = false;", 1],
  ["scatter plots", /\bmode == 2\b/g, "false", 16],
  ["a series in focus", /const cursorFocus = focus\.prox >= 0;/g, "const cursorFocus = false;", 1],
  ["series and bands that come and go", /\tself\.(addSeries|delSeries|setSeries|addBand|setBand|delBand|setLegend|posToIdx|batch) = \w+;\n/g, "", 9],
  ["points under the cursor", /if \(shouldSetLegend \|\| cursorOnePt\)/g, "if (false)", 1],
  ["elements of points", /let pt = points\.show\(self, si\);/g, "const pt = null;", 1],
  ["selections of a part of the height", /\bdrag\.y\b/g, "false", 4],
  ["a width that makes a selection one of the width alone", /let uni = drag\.uni;/g, "const uni = null;", 1],
  ["a line of the cursor across", /\bhCursor &&/g, "false &&", 2],
  ["words along an axis", /axis\.label != null/g, "false", 3],
  ["plots that lie on their side", /\bscaleX\.ori == 0/g, "true", 24],
  ["plots that stand", /\bscaleX\.ori == 1/g, "false", 9],
  ["ranges around values, which each axis has of its own", /(function _rangeNum\(_min, _max, cfg\) \{\n)/g, "$1\treturn [_min - 1, _max + 1];\n", 1],
  ["a font that each axis replaces", /(const font {6}= '12px system-ui)[^']*/g, "$1", 1],
  ["the kind of a plot", /\bmode == 1\b/g, "true", 15],
  // What follows is cut from what the lines above have left.
  ["axes and series of dates", /\bisTime (\?|&&)/g, "false $1", 6],
  ["words for dates that are made at the start", /const (days3|months3|localTz|numFormatter) = [^\n]*\n/g, "", 4],
  ["names of days and months", /const engNames = \{[\s\S]*?\};\n/g, "", 1],
  ["steps that no axis has", /const (wholeIncrs|\[ timeIncrsM?s,?) [^\n]*\n/gi, "", 3],
  ["steps of two", /\ngenIncrs\(2, -53, 53, \[1\]\);/g, "", 1],
  ["values under the cursor", /\tif \(cursor\.dataIdx == null\) \{[\s\S]*?\n\t\}\n/g, "", 1],
  ["points at the values under the cursor", /\/\/ closest pt values[\s\S]*?(?=\/\/ if only using single hover point)/g, "", 1],
  ["points that are made for that", /const pt = null;[\s\S]*?return pt;\n\t\t\}/g, "return null;", 1],
  ["how these points look", /\t\tshow: +cursorPointShow,[\s\S]*?cursorPointFill,\n/g, "", 1],
  ["series that are shown and hidden by other plots", /\tevents\["setSeries"\] = [\s\S]*?\n\t\};\n/g, "", 1],
  ["rectangles of plots that stand", /const rectV = rect\(1\);\n/g, "", 1],
  ["lines of plots that stand", /const drawAccV[^\n]*\n/g, "", 1],
  ["round corners", /function rect\(ori\) \{[\s\S]*?\n\}\n/g, "function rect() { return (p, x, y, w, h) => p.rect(x, y, w, h); }\n", 1],
  ["questions for a series in focus", /\bcursorFocus(?=\)| &&)/g, "false", 5],
  ["questions for the one point of a cursor", /\bcursorOnePt(?=\)| \|\|| \?)/g, "false", 4],
  ["questions for a legend", /\bshowLegend(?=\)| &&)/g, "false", 9],
  ["ways to draw plots that stand", /\bsx\.ori == 0/g, "true", 1],
  ["gaps of plots that stand", /const rect = ori == 0/g, "const rect = true", 1],
];

/** The text of uPlot without those parts. Throws where a cut does not fit. */
export function leanUplot(text) {
  return kCuts.reduce((code, [what, form, instead, times]) => {
    const found = code.match(form)?.length ?? 0;
    if (found !== times) throw new Error(`uPlot: ${what}: found ${found} times, not ${times}; look at tools/lean_uplot.mjs`);
    return code.replace(form, instead);
  }, text);
}

/** The plugin for Vite; only what is built is made smaller. */
export function leanUplotPlugin() {
  return {
    name: "lean-uplot",
    apply: "build",
    transform: (code, id) => (kModule.test(id) ? { code: leanUplot(code), map: null } : null),
  };
}
