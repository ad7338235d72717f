import type { JSX } from "preact";

// Small pictures beside words; the word says it, the picture helps. So all are hidden from readers.

const kShapes = {
  dot: <circle cx="8" cy="8" r="5" fill="currentColor" />,
  check: <path d="M3 8.5l3.2 3.2L13 4.8" fill="none" stroke="currentColor" stroke-width="2.2" />,
  cross: <path d="M4 4l8 8M12 4l-8 8" fill="none" stroke="currentColor" stroke-width="2.2" />,
  square: <rect x="3.5" y="3.5" width="9" height="9" rx="1" fill="currentColor" />,
  half: (
    <>
      <circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path d="M8 3a5 5 0 0 0 0 10z" fill="currentColor" />
    </>
  ),
  bang: (
    <path
      d="M8 1.8l6.6 12H1.4zM8 6.2v3.6M8 11.2v1.2"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linejoin="round"
    />
  ),
  wait: (
    <>
      <circle cx="3.5" cy="8" r="1.4" fill="currentColor" />
      <circle cx="8" cy="8" r="1.4" fill="currentColor" />
      <circle cx="12.5" cy="8" r="1.4" fill="currentColor" />
    </>
  ),
  dash: <path d="M3.5 8h9" stroke="currentColor" stroke-width="2" />,
  sun: (
    <path
      d="M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6L13 13M13 3l-1.4 1.4M4.4 11.6L3 13"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
    />
  ),
  moon: <path d="M12.8 9.6A5.4 5.4 0 0 1 6.4 3.2a5.4 5.4 0 1 0 6.4 6.4z" fill="currentColor" />,
  person: (
    <path
      d="M8 2.2a2.9 2.9 0 1 0 0 5.8 2.9 2.9 0 0 0 0-5.8zM2.6 14a5.4 4.4 0 0 1 10.8 0"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
    />
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.2" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path d="M10.2 10.2L14 14" stroke="currentColor" stroke-width="1.6" />
    </>
  ),
} satisfies Record<string, JSX.Element>;

export type IconName = keyof typeof kShapes;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {kShapes[name]}
    </svg>
  );
}
