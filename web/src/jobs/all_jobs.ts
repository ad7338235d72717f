import { address, readCsv, serviceMs } from "../api";
import { asParameters } from "./filters";

// All jobs of the list as one file: the service sends 500 at a time, so the pages are read one after the other and joined.

const kPage = 500;
const kMostPages = 200; // their text is about 20 MB
export const kMostJobs = kMostPages * kPage;

export interface JobsTable {
  readonly text: string;
  readonly whole: boolean; // false: there are more jobs than a file may have
}

/** The jobs of the link from the first one on, whichever page of the list is on screen. `told` hears how many jobs have come, each time before more are asked for. */
export async function readAllJobs(link: string, told: (jobs: number) => void, stop: AbortSignal, mostPages = kMostPages): Promise<JobsTable> {
  const asked = { ...asParameters(link, serviceMs()), limit: kPage, format: "csv" };
  const parts: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await readCsv(address("/jobs", { ...asked, cursor }), stop);
    parts.push(parts.length === 0 ? page.text : page.text.slice(page.text.indexOf("\n") + 1)); // one line of heads
    cursor = page.next;
    if (cursor !== null) told(parts.length * kPage);
  } while (cursor !== null && parts.length < mostPages);
  return { text: parts.join(""), whole: cursor === null };
}
