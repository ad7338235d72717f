// Where the reader is on a page: how far down, and which element has the focus. An entry of the history keeps it for Back.

export interface Spot {
  readonly top: number;
  readonly focus: string; // selector of the element, and which of its elements it is
  readonly nth: number;
}

function selectorOf({ id, tagName }: Element, href: string | null): string {
  if (id !== "") return `#${CSS.escape(id)}`;
  return href === null ? tagName : `a[href="${CSS.escape(href)}"]`; // a link is found among other rows, too
}

export function spotNow(): Spot {
  const element = document.activeElement ?? document.body;
  const focus = selectorOf(element, element.getAttribute("href"));
  return { top: window.scrollY, focus, nth: [...document.querySelectorAll(focus)].indexOf(element) };
}
