import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

/** Buttons below a word. Escape, and the focus that goes elsewhere, close them. */
export function Disclosure({ word, about, children }: { readonly word: string; readonly about: string; readonly children: ComponentChildren }) {
  const box = useRef<HTMLDetailsElement>(null);
  const close = () => void (box.current && (box.current.open = false));
  return (
    <details
      ref={box}
      class="more"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !box.current?.open) return;
        event.stopPropagation();
        close();
        box.current.querySelector("summary")?.focus();
      }}
      onFocusOut={({ relatedTarget }) => relatedTarget instanceof Node && !box.current?.contains(relatedTarget) && close()}
    >
      <summary>
        {word}
        <span class="unseen"> {about}</span>
      </summary>
      <div class="more-list">{children}</div>
    </details>
  );
}
