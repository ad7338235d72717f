import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { count } from "../format";
import { type Poll, poll } from "../poll";
import { zoneOf } from "../settings";
import { Fault } from "../states";
import { type ChangePage, listChanges } from "./calls";
import { When } from "./list";

/** The newest changes that anybody made. `version` grows with each change that this page makes. */
export function Changes({ version }: { readonly version: number }) {
  const page = useSignal<ChangePage | null>(null);
  const opened = useSignal<Poll | null>(null);
  useEffect(() => {
    const ask = async (stop: AbortSignal) => void (page.value = await listChanges(stop));
    const found = poll(ask, () => null);
    opened.value = found;
    return () => found.stop();
  }, [version, page, opened]);

  const zone = zoneOf("utc");
  const items = page.value?.items ?? [];
  const total = page.value?.total ?? 0;
  return (
    <section class="card changes" aria-labelledby="changes-title">
      <div class="section-head">
        <h2 id="changes-title">Changes</h2>
        {total > items.length ? <p>the newest {count(items.length)} of {count(total)}; all of them are at <code>/api/v1/audit</code></p> : null}
      </div>
      {opened.value === null ? null : <Fault what="The changes" poll={opened.value} />}
      {page.value !== null && items.length === 0 ? <p class="faint">Nobody has changed anything yet.</p> : null}
      <ol class="transitions">
        {items.map((change) => (
          <li key={`${change.at_us} ${change.action} ${change.target}`}>
            <When us={change.at_us} zone={zone} />
            <b>{change.name}</b>
            <code>{change.action}</code>
            <span class="rule-words">{change.target}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
