import { signal } from "@preact/signals";
import { type FunctionComponent, render } from "preact";
import { useEffect } from "preact/hooks";
import { startKeys } from "./keys";
import { match, path, startRouter } from "./router";
import { Shell } from "./shell";
import { Empty, Loading, reportFault, watchFaults } from "./states";
import "./style.css";

interface Pages {
  jobs: FunctionComponent;
  job: FunctionComponent<{ readonly name: string }>;
}
const pages = signal<Partial<Pages>>({});

// Each page is a file of its own: the list does not wait for the charts.
const kLoaders = {
  jobs: async () => ({ jobs: (await import("./jobs/page")).JobsPage }),
  job: async () => ({ job: (await import("./job/page")).JobPage }),
};
const asked = new Set<keyof Pages>();

function pageOf<Name extends keyof Pages>(name: Name): Partial<Pages>[Name] {
  if (!asked.has(name)) {
    asked.add(name);
    kLoaders[name]().then(
      (loaded) => (pages.value = { ...pages.peek(), ...loaded }),
      () => reportFault(new Error("A part of this page could not be loaded. Reload to try again.")),
    );
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

function Page() {
  const route = match(path.value);
  if (route.page === "none") return <NotFound />;
  if (route.page === "jobs") {
    const Jobs = pageOf("jobs");
    return Jobs ? <Jobs /> : <Loading what="the jobs" class="loading-page" />;
  }
  const Job = pageOf("job");
  return Job ? <Job key={route.name} name={route.name} /> : <Loading what="the job" class="loading-page" />;
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

watchFaults();
startRouter();
startKeys();
const root = document.getElementById("app");
if (root) render(<App />, root);
