import { valueOf } from "../query";
import { search, setKeys } from "../router";

// How the charts of a page lie: their columns and their height. The link keeps both, also from part to part.

export function LayoutChoice() {
  return (
    <span class="layout-choice">
      <label>
        <span>Columns</span>
        <select value={valueOf(search.value, "cols")} onChange={(event) => setKeys({ cols: event.currentTarget.value }, true)}>
          <option value="">auto</option>
          {["1", "2", "3", "4"].map((many) => (
            <option key={many} value={many}>
              {many}
            </option>
          ))}
        </select>
      </label>
      <label class="tick">
        <input type="checkbox" checked={valueOf(search.value, "density") === "compact"} onChange={(event) => setKeys({ density: event.currentTarget.checked ? "compact" : null }, true)} />
        <span>Compact</span>
      </label>
    </span>
  );
}
