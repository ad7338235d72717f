import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { clockAheadMs } from "../api";
import { ago, clockTime, zoneName } from "../format";
import { type Readiness, readReadiness } from "./calls";
import { poll, type Poll } from "../poll";
import { session } from "../session";
import { keysOn, kThemes, now, setKeysOn, setTheme, themeChoice, zoneOf } from "../settings";
import { Fault, Loading } from "../states";
import { kGreyStyle, Status } from "../status";

// The reader's own settings, which this browser keeps, and what the service says of itself.

const kPeriodMs = 10_000;

function Own() {
  return (
    <section class="card facts" aria-labelledby="own-title">
      <h2 id="own-title">This browser</h2>
      <fieldset class="alert-events">
        <legend>Theme</legend>
        {kThemes.map((theme) => (
          <label key={theme} class="tick">
            <input type="radio" name="theme" checked={themeChoice.value === theme} onChange={() => setTheme(theme)} />
            <span>{theme === "system" ? "as the system" : theme}</span>
          </label>
        ))}
      </fieldset>
      <label class="tick">
        <input type="checkbox" checked={keysOn.value} onChange={(event) => setKeysOn(event.currentTarget.checked)} />
        <span>
          Single keys act while no field has the focus; <kbd>?</kbd> lists them
        </span>
      </label>
      <p class="faint">The zone of times is part of each link: it is chosen at the top of the page.</p>
    </section>
  );
}

const kGood = { icon: "check", tone: "green" } as const;
const kBad = { icon: "cross", tone: "red" } as const;

/** What the service said last is not what it would say now: it is not repeated while nobody can ask. */
function Away({ okAt }: { readonly okAt: number }) {
  const zone = zoneOf("utc");
  const clock = zone === "relative" ? "" : `${clockTime(okAt + clockAheadMs.value, zone)} ${zoneName(zone)}, `;
  return (
    <section class="card facts" aria-labelledby="service-title">
      <h2 id="service-title">The service</h2>
      <p>
        <Status style={kGreyStyle} word="Not known" /> <span class="faint">It has not answered since {clock}{ago((now.value - okAt) / 1000)}.</span>
      </p>
    </section>
  );
}

function Service({ found }: { readonly found: Readiness }) {
  return (
    <section class="card facts" aria-labelledby="service-title">
      <h2 id="service-title">The service</h2>
      <p>
        <Status style={found.status === "ready" ? kGood : kBad} word={found.status === "ready" ? "Ready" : "Not ready"} more={found.version ? `version ${found.version}` : null} />
      </p>
      <ul class="checks">
        {(found.checks ?? []).map(({ name, ok, detail }) => (
          <li key={name}>
            <Status style={ok ? kGood : kBad} word={name} /> <span class="faint">{detail}</span>
          </li>
        ))}
      </ul>
      {found.checks === undefined ? <p><Status style={kGreyStyle} word="Your token may not see more" /></p> : null}
      <p class="faint">Options of the service stand in its configuration and are not changed from here.</p>
    </section>
  );
}

function More() {
  const who = session.value;
  return (
    <section class="card facts" aria-labelledby="more-title">
      <h2 id="more-title">More</h2>
      <ul class="missing">
        {who === null ? null : <li>You are {who.access === "open" ? "on this machine, and may do everything" : `${who.name}, with the role ${who.role}`}.</li>}
        <li>
          The same data as JSON: <a href="/api/v1/jobs">/api/v1/jobs</a>; figures of the service for Prometheus: <a href="/metrics">/metrics</a>.
        </li>
        <li>Stepscope has the Apache License 2.0. The page is made with Preact and uPlot, both under the MIT License.</li>
      </ul>
    </section>
  );
}

export function SettingsPage() {
  const found = useSignal<Readiness | null>(null);
  const asked = useSignal<Poll | null>(null);
  useEffect(() => void (document.title = "Settings · Stepscope"), []);
  useEffect(() => {
    const opened = poll(async (stop) => void (found.value = await readReadiness(stop)), () => kPeriodMs);
    asked.value = opened;
    return () => opened.stop();
  }, []);
  // What comes below waits until the height of what is above is known.
  const { okAt = null, error = null } = asked.value?.state.value ?? {};
  const settled = found.value !== null || error !== null;
  return (
    <>
      <div class="page-head">
        <h1>Settings</h1>
      </div>
      <Own />
      {asked.value === null ? null : <Fault what="The state of the service" poll={asked.value} />}
      {error !== null && okAt !== null ? <Away okAt={okAt} /> : null}
      {error === null && found.value !== null ? <Service found={found.value} /> : null}
      {settled ? <More /> : <Loading what="the state of the service" class="card loading-chart" />}
    </>
  );
}
