// What loads a page's chunks: it begins to fetch all that a chunk imports when the chunk itself is fetched. Vite's own does the same for
// style sheets, other bases and nonces, of which there are none here, and takes a third of a kilobyte more of every page. A version of
// Vite that has it under another name stops the build.

const kModule = "\0vite/preload-helper.js";
const kName = "export const __vitePreload =";

const kLean = `const asked = new Set();
${kName} (load, files = []) => {
  for (const file of files) {
    if (asked.has(file)) continue;
    asked.add(file);
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.crossOrigin = "";
    link.href = "/" + file;
    document.head.appendChild(link);
  }
  return load();
};`;

/** The plugin for Vite. */
export function leanPreloadPlugin() {
  let found = false;
  return {
    name: "lean-preload",
    apply: "build",
    transform(code, id) {
      if (id !== kModule) return null;
      if (!code.includes(kName)) throw new Error("Vite: its preload helper looks otherwise; look at tools/lean_preload.mjs");
      found = true;
      return { code: kLean, map: null, moduleSideEffects: false };
    },
    buildEnd(fault) {
      if (!fault && !found) throw new Error("Vite: it has no preload helper any more; look at tools/lean_preload.mjs");
    },
  };
}
