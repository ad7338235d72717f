/** Saves a file, as a click on a link does. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Saves a text as a table file. */
export const saveText = (name: string, csv: string): void => saveFile(name, new Blob([csv], { type: "text/csv" }));
