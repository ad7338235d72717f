import { withKeys } from "../../query";
import { search } from "../../router";
import type { Span } from "../view";

// Links to what is on screen, and the way into the clipboard.

/** The way of a page without TLS, to which the browser does not lend its clipboard. */
function copySelected(text: string): boolean {
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "unseen" });
  (document.fullscreenElement ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

/** Copies a text; says whether it could. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** The link to this view, with one chart of it in sight; `moment` keeps a span of time that goes on growing here. */
export function linkHere(show: string | null, moment: Span | null, startMs: number): string {
  const { origin, pathname } = window.location;
  const relative = (ms: number) => String(Math.round(ms - startMs));
  const span = moment === null ? {} : { from: relative(moment.fromMs), to: relative(moment.toMs) };
  return origin + pathname + withKeys(search.peek(), { ...(show === null ? {} : { show }), ...span });
}
