import { useSignal } from "@preact/signals";
import type { ApiError } from "../api";
import { dateTime, plural } from "../format";
import { valueOf, withKeys } from "../query";
import { search, setKeys } from "../router";
import { serviceNow, zoneOf } from "../settings";
import { faultWords } from "../states";
import { Status } from "../status";
import { tabPath } from "../tabs";
import { type Delivery, type DeliveryPage, retryDelivery, type Webhook } from "./calls";
import { attemptWords, deliveryWords, styleOf } from "./words";

// The log of messages, the newest first: what became of each, every attempt, and a way to send it again.

function Attempts({ found }: { readonly found: Delivery }) {
  if (found.attempts.length === 0) return null;
  return (
    <details class="rule-history">
      <summary>{plural(found.attempts.length, "attempt")}</summary>
      <ol>
        {found.attempts.map((attempt, i) => (
          <li key={i}>
            {dateTime(attempt.at_us, zoneOf("utc"))}: {attemptWords(attempt)}
            {attempt.answer ? <pre tabIndex={0} aria-label="Begin of the answer"><code>{attempt.answer}</code></pre> : null}
          </li>
        ))}
      </ol>
    </details>
  );
}

const timeHead = () => (zoneOf("utc") === "local" ? "Time (local)" : "Time (UTC)");

function Row({ found, hook, changed }: { readonly found: Delivery; readonly hook: Webhook | undefined; readonly changed: () => void }) {
  const fault = useSignal("");
  const again = () => retryDelivery(found.id).then(changed, (error: ApiError) => (fault.value = faultWords(error)));
  const style = styleOf(found);
  return (
    <tr>
      <td class="figure" data-label={timeHead()}>{dateTime(found.created_us, zoneOf("utc"), false)}</td>
      <td data-label="Event">
        {found.event}
        {found.job === null ? null : <a class="group" href={tabPath(found.job, "overview")}>{found.job}</a>}
      </td>
      <td class="wrap alert-url" data-label="Webhook">{hook?.url ?? `webhook ${found.webhook}, deleted`}</td>
      <td class="wrap" data-label="What became of it">
        <Status style={style} word={style.word} /> <span class="faint">{deliveryWords(found, serviceNow.value)}</span>
        <Attempts found={found} />
        <span role="alert">{fault.value}</span>
      </td>
      <td>
        {hook && (found.state === "delivered" || found.state === "dead") ? (
          <button type="button" onClick={() => void again()}>
            Send again<span class="unseen"> message {found.id}</span>
          </button>
        ) : null}
      </td>
    </tr>
  );
}

/** Whose messages are shown: those about a job, to a webhook. */
function Filters({ hooks }: { readonly hooks: readonly Webhook[] }) {
  const [job, webhook] = [valueOf(search.value, "job"), valueOf(search.value, "webhook")];
  return (
    <form class="filters" aria-label="Messages" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Job</span>
        <input key={job} value={job} maxLength={63} placeholder="all jobs" autocomplete="off" spellcheck={false}
          onChange={(event) => setKeys({ job: event.currentTarget.value.trim(), cursor: null })} />
      </label>
      {hooks.length < 2 && webhook === "" ? null : (
        <label>
          <span>Webhook</span>
          <select value={webhook} onChange={(event) => setKeys({ webhook: event.currentTarget.value, cursor: null })}>
            <option value="">all</option>
            {hooks.map(({ id, url }) => (
              <option key={id} value={id}>
                {url.length > 60 ? `${url.slice(0, 59)}…` : url}
              </option>
            ))}
          </select>
        </label>
      )}
    </form>
  );
}

/** What the log has, in words. */
function countWords(total: number): string {
  const filtered = ["job", "webhook"].some((key) => valueOf(search.value, key as "job") !== "");
  if (total > 0) return `${plural(total, "message")}, the newest first`;
  return filtered ? "No message of these was sent" : "No message was sent yet";
}

function Pager({ next }: { readonly next: string | null }) {
  const later = valueOf(search.value, "cursor") !== "";
  if (!later && next === null) return null;
  const link = (cursor: string | null) => `/alerts${withKeys(search.value, { cursor })}`;
  return (
    <nav class="pager" aria-label="Pages of the log">
      {later ? <a href={link(null)}>‹ First page</a> : <span />}
      {next === null ? null : <a href={link(next)}>Next page ›</a>}
    </nav>
  );
}

export function Log({ page, hooks, changed }: { readonly page: DeliveryPage; readonly hooks: readonly Webhook[]; readonly changed: () => void }) {
  return (
    <section class="card facts" aria-labelledby="log-title">
      <div class="section-head">
        <h2 id="log-title">Log</h2>
        <p>{countWords(page.total)}</p>
      </div>
      <Filters hooks={hooks} />
      {page.items.length === 0 ? null : (
        <div class="scroll row-cards" tabIndex={0} role="region" aria-label="Messages">
          <table>
            <thead>
              <tr>
                {[timeHead(), "Event", "Webhook", "What became of it"].map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
                <td />
              </tr>
            </thead>
            <tbody>
              {page.items.map((found) => (
                <Row key={found.id} found={found} hook={hooks.find(({ id }) => id === found.webhook)} changed={changed} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager next={page.next} />
    </section>
  );
}
