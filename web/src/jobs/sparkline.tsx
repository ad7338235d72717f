import { percent } from "../format";
import type { Values } from "../model";

const kWidth = 72;
const kHeight = 20;

/** The path of the line, interrupted at gaps; a single value between two gaps is a short line. */
function strokes(values: Values): string {
  const step = kWidth / Math.max(1, values.length);
  const y = (value: number) => kHeight - 1 - (Math.min(100, Math.max(0, value)) / 100) * (kHeight - 2);
  let path = "";
  values.forEach((value, i) => {
    if (value === null) return;
    const joined = i > 0 && values[i - 1] !== null;
    const from = `${joined ? "L" : "M"}${(i * step).toFixed(1)} ${y(value).toFixed(1)}`;
    path += `${from}H${((i + 1) * step).toFixed(1)}`;
  });
  return path;
}

/** The utilisation over the whole job in 24 parts, from 0 to 100 %. */
export function Sparkline({ mean, values, of }: { mean: number | null; values: Values | null; of: string }) {
  if (mean === null && !values?.some((value) => value !== null)) {
    return <span class="faint" title={`No ${of} samples yet`}>–</span>;
  }
  return (
    <span class="spark">
      <span class="spark-value">{percent(mean)}</span>
      <svg
        viewBox={`0 0 ${kWidth} ${kHeight}`}
        width={kWidth}
        height={kHeight}
        role="img"
        aria-label={`${of} over the job, mean ${percent(mean)}`}
      >
        <path class="spark-ground" d={`M0 ${kHeight - 0.5}H${kWidth}`} />
        <path class="spark-line" d={strokes(values ?? [])} />
      </svg>
    </span>
  );
}
