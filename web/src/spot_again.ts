import type { Spot } from "./spot";

// After Back the page is built and filled anew: once it is as long as it was, it is scrolled and the focus goes where it was.

const kPatienceMs = 5000;
const kTouched = ["wheel", "keydown", "pointerdown", "touchstart"] as const;

let stopper = new AbortController();

/** Leads back to the spot; a reader who does something meanwhile stays there. */
export function leadBack({ top, focus, nth }: Spot): void {
  stopper.abort();
  stopper = new AbortController();
  const { signal } = stopper;
  const stop = () => stopper.abort();
  for (const event of kTouched) window.addEventListener(event, stop, { signal, passive: true, capture: true });
  const until = performance.now() + kPatienceMs;
  let there = false;
  const attempt = () => {
    if (signal.aborted) return;
    const late = performance.now() > until;
    const page = document.documentElement;
    if (!there && (late || page.scrollHeight - page.clientHeight >= top)) {
      there = true;
      window.scrollTo(0, top);
    }
    const element = document.querySelectorAll<HTMLElement>(focus)[nth];
    if (!late && !(there && element)) return void requestAnimationFrame(attempt);
    stop();
    const held = document.activeElement;
    if (held === null || held === document.body || held.id === "content") element?.focus({ preventScroll: true });
  };
  attempt();
}
