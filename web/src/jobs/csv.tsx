import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../api";
import { count, plural } from "../format";
import { saveText } from "../job/save_text";
import { search } from "../router";
import { faultWords } from "../states";
import { kMostJobs, readAllJobs } from "./all_jobs";

// The button that saves all jobs of the list as a file, says how far it is, and stops it.

export function CsvButton({ total }: { readonly total: number | null }) {
  const running = useSignal<AbortController | null>(null);
  const said = useSignal("");
  useEffect(() => () => running.peek()?.abort(), []);

  const save = async () => {
    const stopper = new AbortController();
    running.value = stopper;
    said.value = "";
    const told = (jobs: number) => (said.value = `${count(jobs)} of ${total === null ? "more jobs" : plural(total, "job")} read …`);
    try {
      const { text, whole } = await readAllJobs(search.peek(), told, stopper.signal);
      saveText(whole ? "jobs.csv" : `jobs-first-${kMostJobs}.csv`, text);
      said.value = whole ? "" : `The file has the first ${count(kMostJobs)} jobs. Filter the list for the others.`;
    } catch (fault) {
      said.value = stopper.signal.aborted ? "" : `No file was made. ${fault instanceof ApiError ? faultWords(fault) : String(fault)}`;
    }
    running.value = null;
  };

  return (
    <span class="csv">
      <button type="button" onClick={() => (running.value === null ? void save() : running.value.abort())}>
        {running.value === null ? "CSV" : "Stop CSV"}
      </button>
      <span role="status">{said.value}</span>
    </span>
  );
}
