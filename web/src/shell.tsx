import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { signedOut } from "./api";
import type { TimeZone } from "./format";
import { Icon } from "./icons";
import { useShortcuts } from "./keys";
import { match, navigate, path, setKeys } from "./router";
import { isAdmin, mayChange, session } from "./session";
import { nextTheme, themeChoice, zoneOf } from "./settings";
import { FaultBar, loadChunk, reportFault } from "./states";

const kThemeIcons = { system: "half", light: "sun", dark: "moon" } as const;
const kZones: readonly (readonly [TimeZone, string])[] = [
  ["relative", "Relative"],
  ["utc", "UTC"],
  ["local", "Local"],
];

/** The time zone of a page whose link names none. */
export function homeZone(): TimeZone {
  return match(path.value).page === "job" ? "relative" : "utc";
}

function setZone(zone: string): void {
  setKeys({ tz: zone === homeZone() ? null : zone }, true);
}

function Zone() {
  return (
    <label class="zone">
      <span class="unseen">Times</span>
      <select value={zoneOf(homeZone())} onChange={(event) => setZone(event.currentTarget.value)}>
        {kZones.map(([zone, word]) => (
          <option key={zone} value={zone}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

function NavLink({ href, word, here }: { href: string; word: string; here: boolean }) {
  const link = useRef<HTMLAnchorElement>(null);
  // On a narrow screen the links scroll sideways; others come when it is known what the reader may do.
  useEffect(() => {
    if (here) link.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  return (
    <a ref={link} href={href} aria-current={here ? "page" : undefined}>
      {word}
    </a>
  );
}

/** Who is signed in, where people sign in at all: a chunk of its own, as most services of one machine never need it. */
function Who() {
  const account = useSignal<FunctionComponent | null>(null);
  const named = session.value !== null && session.value.access !== "open";
  useEffect(() => void (named && loadChunk(() => import("./account"), ({ Account }) => (account.value = Account))), [named]);
  return account.value ? <account.value /> : null;
}

function Bar({ showHelp }: { readonly showHelp: () => void }) {
  const { page } = match(path.value);
  return (
    <header class="bar">
      <a class="brand" href="/jobs" aria-label="Stepscope">
        <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
          <rect width="16" height="16" rx="4" fill="currentColor" />
          <path class="brand-line" d="M3 11h3V8h3V5h4" fill="none" stroke-width="2" />
        </svg>
        <span class="brand-word">Stepscope</span>
      </a>
      <nav aria-label="Pages">
        {signedOut.value ? null : <NavLink href="/jobs" word="Jobs" here={page === "jobs"} />}
        {signedOut.value ? null : <NavLink href="/compare" word="Compare" here={page === "compare"} />}
        {signedOut.value ? null : <NavLink href="/fleet" word="Fleet" here={page === "fleet"} />}
        {mayChange.value && !signedOut.value ? <NavLink href="/alerts" word="Alerts" here={page === "alerts"} /> : null}
        {isAdmin.value && !signedOut.value ? <NavLink href="/tokens" word="Tokens" here={page === "tokens"} /> : null}
        {signedOut.value ? null : <NavLink href="/settings" word="Settings" here={page === "settings"} />}
      </nav>
      <div class="bar-tools">
        <Who />
        {signedOut.value ? null : <Zone />}
        <button type="button" class="tool" onClick={nextTheme} aria-label={`Theme: ${themeChoice.value}`}>
          <Icon name={kThemeIcons[themeChoice.value]} />
        </button>
        <button type="button" class="tool" onClick={showHelp} aria-label="Keys">
          ?
        </button>
      </div>
    </header>
  );
}

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const help = useSignal<FunctionComponent<{ readonly close: () => void }> | null>(null);
  const showHelp = () => void import("./help").then(({ Help }) => (help.value = Help), reportFault);
  const keys = useMemo(
    () => [
      { keys: "?", help: "Show this list", act: showHelp },
      { keys: "g j", help: "Go to the jobs", act: () => navigate("/jobs") },
      { keys: "g c", help: "Go to the comparison", act: () => navigate("/compare") },
      { keys: "g f", help: "Go to the fleet", act: () => navigate("/fleet") },
      { keys: "g a", help: "Go to the alerts", act: () => navigate("/alerts") },
      { keys: "T", help: "Next theme: system, light, dark", act: nextTheme },
    ],
    [help],
  );
  useShortcuts(keys);
  const Help = help.value;
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Bar showHelp={showHelp} />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <FaultBar />
      {Help ? <Help close={() => (help.value = null)} /> : null}
    </>
  );
}
