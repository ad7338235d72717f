import { signal } from "@preact/signals";
import { type FunctionComponent, render } from "preact";
import { useEffect } from "preact/hooks";
import { signedOut } from "./api";
import { startAhead } from "./job/ahead";
import { startKeys } from "./keys";
import { match, path, search, startRouter } from "./router";
import { startSession } from "./session";
import { Shell } from "./shell";
import { Empty, Loading, loadChunk, watchFaults } from "./states";
import "./style.css";
import type { Tab } from "./tabs";

interface Pages {
  jobs: FunctionComponent;
  job: FunctionComponent<{ readonly name: string; readonly tab: Tab }>;
  compare: FunctionComponent;
  fleet: FunctionComponent;
  alerts: FunctionComponent;
  settings: FunctionComponent;
  tokens: FunctionComponent;
  login: FunctionComponent;
}
const pages = signal<Partial<Pages>>({});

// Each page is a chunk of its own, so that the list does not wait for the charts.
const kLoaders = {
  jobs: async () => ({ jobs: (await import("./jobs/page")).JobsPage }),
  job: async () => ({ job: (await import("./job/page")).JobPage }),
  compare: async () => ({ compare: (await import("./compare/page")).ComparePage }),
  fleet: async () => ({ fleet: (await import("./fleet/page")).FleetPage }),
  alerts: async () => ({ alerts: (await import("./alerts/page")).AlertsPage }),
  settings: async () => ({ settings: (await import("./settings_page/page")).SettingsPage }),
  tokens: async () => ({ tokens: (await import("./tokens/page")).TokensPage }),
  login: async () => ({ login: (await import("./login/page")).LoginPage }),
};
const asked = new Set<keyof Pages>();

function pageOf<Name extends keyof Pages>(name: Name): Partial<Pages>[Name] {
  if (!asked.has(name)) {
    asked.add(name);
    loadChunk<Partial<Pages>>(kLoaders[name], (loaded) => (pages.value = { ...pages.peek(), ...loaded }));
  }
  return pages.value[name];
}

function NotFound() {
  useEffect(() => void (document.title = "Page not found · Stepscope"), []);
  return (
    <Empty title="Page not found" whole>
      <p>
        There is nothing at <code>{path.value}</code>. Go to <a href="/jobs">the jobs</a>.
      </p>
    </Empty>
  );
}

/** The page of this address, or the login page. The address stays, so that signing in leads back to the page. */
function Page() {
  const route = match(path.value);
  if (route.page === "none") return <NotFound />;
  if (signedOut.value || route.page !== "job") {
    const Found = pageOf(signedOut.value || route.page === "job" ? "login" : route.page);
    return Found ? <Found /> : <Loading what="the page" class="loading-page" />;
  }
  const Job = pageOf("job");
  return Job ? <Job key={route.name} name={route.name} tab={route.tab} /> : <Loading what="the job" class="loading-page" />;
}

function App() {
  const current = path.value;
  useEffect(() => {
    if (document.activeElement === document.body || !document.activeElement) return;
    document.getElementById("content")?.focus({ preventScroll: true });
  }, [current]);
  return (
    <Shell>
      <Page />
    </Shell>
  );
}

/** Loads what this address needs while the frame of the page is drawn. */
function startPage(): void {
  const route = match(path.value);
  if (route.page === "job") startAhead(route.name, route.tab, search.value);
  if (route.page !== "none") pageOf(route.page);
}

watchFaults();
startRouter();
startPage();
startSession();
startKeys();
const root = document.getElementById("app");
if (root) render(<App />, root);
