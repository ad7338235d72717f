// Ctrl and the wheel zoom a picture of time around the pointer, as in a map; so does a pinch on a touchpad.

const kTogetherMs = 80; // turns of the wheel in this time are one zoom, so that few spans are asked for

/** Which part of the span one turn of the wheel leaves: 100 units are a notch. */
export const wheelFactor = (delta: number) => Math.min(4, Math.max(0.25, 2 ** (delta / 250)));

/** Listens to a place until the function that it gives is called; `timeAt` is the time at a position, null where there is none. */
export function listenToWheel(place: HTMLElement, timeAt: (clientX: number) => number | null, turn: (by: number, aroundMs: number) => void): () => void {
  let delta = 0;
  let timer = 0;
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    delta += event.deltaY;
    const ms = timeAt(event.clientX);
    if (timer !== 0 || ms === null) return;
    timer = window.setTimeout(() => {
      const by = wheelFactor(delta);
      [delta, timer] = [0, 0];
      turn(by, ms);
    }, kTogetherMs);
  };
  place.addEventListener("wheel", onWheel, { passive: false });
  return () => {
    window.clearTimeout(timer);
    place.removeEventListener("wheel", onWheel);
  };
}
