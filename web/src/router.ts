import { computed, signal } from "@preact/signals";
import { type Changes, withKeys } from "./query";
import { type Spot, spotNow } from "./spot";
import { isTab, type Tab } from "./tabs";

// Paths are things, queries are views of them. A link inside the page is an ordinary <a>; the click
// is taken over here, so that opening in a new tab and copying keep working.

export type Route =
  | { readonly page: "jobs" }
  | { readonly page: "job"; readonly name: string; readonly tab: Tab }
  | { readonly page: "compare" }
  | { readonly page: "fleet" }
  | { readonly page: "alerts" }
  | { readonly page: "settings" }
  | { readonly page: "tokens" }
  | { readonly page: "none" };

export function match(path: string): Route {
  if (path === "/" || path === "/jobs" || path === "/jobs/") return { page: "jobs" };
  if (path === "/tokens") return { page: "tokens" };
  if (path === "/compare") return { page: "compare" };
  if (path === "/fleet") return { page: "fleet" };
  if (path === "/alerts") return { page: "alerts" };
  if (path === "/settings") return { page: "settings" };
  const [, name, tab = "overview"] = /^\/jobs\/([^/]+)(?:\/([a-z]+))?\/?$/.exec(path) ?? [];
  if (name === undefined || !isTab(tab) || path.endsWith("/overview")) return { page: "none" };
  try {
    return { page: "job", name: decodeURIComponent(name), tab };
  } catch {
    return { page: "none" };
  }
}

const here = () => ({ path: window.location.pathname, search: window.location.search });

export const place = signal({ path: "/", search: "" });
export const search = computed(() => place.value.search);
export const path = computed(() => place.value.path);

export function navigate(url: string, replace = false): void {
  if (url === window.location.pathname + window.location.search) return;
  if (!replace) window.history.replaceState(spotNow(), "");
  window.history[replace ? "replaceState" : "pushState"](null, "", url);
  place.value = here();
}

/** Changes keys of the query; `replace` leaves no entry for Back. */
export function setKeys(changes: Changes, replace = false): void {
  const { pathname, search: now } = window.location;
  navigate(pathname + withKeys(now, changes), replace);
}

function onClick(event: MouseEvent): void {
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!plain || event.defaultPrevented || !link || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href, window.location.href);
  if (url.origin !== window.location.origin || url.hash || match(url.pathname).page === "none") return;
  event.preventDefault();
  navigate(url.pathname + url.search);
  window.scrollTo(0, 0);
}

function onPop({ state }: PopStateEvent): void {
  place.value = here();
  // A reader who is not led back still has the page.
  if (state !== null) import("./spot_again").then(({ leadBack }) => leadBack(state as Spot), () => {});
}

export function startRouter(): void {
  place.value = here();
  window.addEventListener("popstate", onPop);
  document.addEventListener("click", onClick);
}
