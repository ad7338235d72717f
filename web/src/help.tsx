import { useLayoutEffect, useRef } from "preact/hooks";
import { shortcuts } from "./keys";
import { keysOn, setKeysOn } from "./settings";

/** The list of keys; also the place where they are switched off. */
export function Help({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {shortcuts.value.map(({ keys, help }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key === "Escape" ? "Esc" : key}</kbd>
              ))}
            </dt>
            <dd>{help}</dd>
          </div>
        ))}
      </dl>
      <label class="tick">
        <input
          type="checkbox"
          checked={keysOn.value}
          onChange={(event) => setKeysOn(event.currentTarget.checked)}
        />
        Single keys act while no field has the focus
      </label>
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
