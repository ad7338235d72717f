import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { reportFault } from "../../states";
import type { ChartProps } from "../chart";
import { csvOf } from "../chart_table";
import { saveFile, saveText } from "../save_text";
import { summaryOf } from "../summary";
import { CopyButtons } from "./copy_link";
import { Disclosure } from "./disclosure";

/** The picture of a card as a file; what draws it is loaded when it is wanted. */
async function savePicture(props: ChartProps, plot: HTMLCanvasElement): Promise<void> {
  const { pictureOf } = await import("./picture");
  const { panel, span, zone, startMs, job } = props;
  const canvas = pictureOf(props, plot, summaryOf(panel, span, zone, startMs));
  canvas.toBlob((blob) => blob && saveFile(`${job}-${panel.id}.png`, blob));
}

function FullScreen({ card }: { readonly card: { readonly current: HTMLElement | null } }) {
  const full = useSignal(false);
  useEffect(() => {
    const look = () => (full.value = card.current !== null && document.fullscreenElement === card.current);
    document.addEventListener("fullscreenchange", look);
    return () => document.removeEventListener("fullscreenchange", look);
  }, []);
  if (!document.fullscreenEnabled) return null;
  const turn = () => void (full.value ? document.exitFullscreen() : card.current?.requestFullscreen())?.catch(reportFault);
  return <button type="button" onClick={turn}>{full.value ? "Leave full screen" : "Full screen"}</button>;
}

interface MenuProps extends ChartProps {
  readonly card: { readonly current: HTMLElement | null };
  readonly table: Signal<boolean>;
}

/** What can be done with a chart: its numbers as a table or a file, its picture, a link to it. */
export function ChartMenu({ card, table, ...props }: MenuProps) {
  const { panel, span, startMs, live, job } = props;
  const about = <span class="unseen"> of {panel.title}</span>;
  const save = () => {
    const plot = card.current?.querySelector("canvas");
    if (plot) savePicture(props, plot).catch(reportFault);
  };
  return (
    <span class="chart-menu">
      <button type="button" aria-pressed={table.value} onClick={() => (table.value = !table.value)}>
        Table{about}
      </button>
      <button type="button" onClick={() => saveText(`${job}-${panel.id}.csv`, csvOf(panel, span))}>
        CSV{about}
      </button>
      <Disclosure word="More" about={`about ${panel.title}`}>
        {table.value ? null : <button type="button" onClick={save}>PNG</button>}
        <CopyButtons show={panel.id} span={span} startMs={startMs} live={live} />
        <FullScreen card={card} />
      </Disclosure>
    </span>
  );
}
