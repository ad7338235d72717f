import { count, instant, metric, type TimeZone } from "../format";
import type { Panel } from "./panels";
import type { Trace } from "./traces";
import type { Span } from "./view";

// The numbers of a chart as table rows and as CSV: for the keyboard, for screen readers, and for other programs.

const kMostRows = 200;

interface Cell {
  readonly trace: Trace;
  readonly row: number | undefined;
}
interface Line {
  readonly ms: number;
  readonly cells: readonly Cell[];
}

function linesOf(panel: Panel, span: Span): readonly Line[] {
  const rows = panel.traces.map((trace) => new Map(trace.timesMs.map((ms, row) => [ms, row])));
  const times = [...new Set(panel.traces.flatMap((trace) => trace.timesMs))];
  return times
    .filter((ms) => ms >= span.fromMs && ms <= span.toMs)
    .sort((a, b) => a - b)
    .map((ms) => ({
      ms,
      cells: panel.traces.map((trace, i) => ({ trace, row: rows[i]?.get(ms) })),
    }));
}

function columnsOf(trace: Trace): readonly (readonly [string, Trace["mean"]])[] {
  const mean = [trace.label, trace.mean] as const;
  if (!trace.low || !trace.high) return [mean];
  return [mean, [`${trace.label}, lowest`, trace.low], [`${trace.label}, highest`, trace.high]];
}

const at = (values: Trace["mean"], row: number | undefined) => (row === undefined ? null : (values[row] ?? null));

/** A text of a table file. An apostrophe keeps a spreadsheet from reading a name as a formula. */
function quote(text: string): string {
  return `"${text.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
}

/** Times in ISO 8601 and UTC, numbers in their own unit, gaps empty. */
export function csvOf(panel: Panel, span: Span): string {
  const heads = panel.traces.flatMap((trace) => columnsOf(trace).map(([head]) => quote(panel.unit ? `${head} (${panel.unit})` : head)));
  const lines = linesOf(panel, span).map(({ ms, cells }) => {
    const values = cells.flatMap(({ trace, row }) => columnsOf(trace).map(([, column]) => at(column, row) ?? ""));
    return [new Date(ms).toISOString(), ...values].join(",");
  });
  return `${[["time", ...heads].join(","), ...lines].join("\n")}\n`;
}

interface TableProps {
  readonly panel: Panel;
  readonly span: Span;
  readonly startMs: number;
  readonly zone: TimeZone;
}

export function ChartTable({ panel, span, startMs, zone }: TableProps) {
  const lines = linesOf(panel, span);
  const shown = lines.slice(0, kMostRows);
  const more = lines.length > shown.length ? `, first ${count(shown.length)} of ${count(lines.length)} rows; CSV has all` : "";
  return (
    <div class="chart-table" tabIndex={0} role="region" aria-label={`${panel.title} as a table`}>
      <table>
        <caption>{`${panel.title}${more}`}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {panel.traces.flatMap((trace) => columnsOf(trace).map(([head]) => <th key={head} scope="col">{head}</th>))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ ms, cells }) => (
            <tr key={ms}>
              <th scope="row">{instant(ms, startMs, zone, 1)}</th>
              {cells.flatMap(({ trace, row }) =>
                columnsOf(trace).map(([head, column]) => <td key={head}>{metric(at(column, row), panel.unit)}</td>))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
