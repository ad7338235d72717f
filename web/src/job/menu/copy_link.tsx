import { useSignal } from "@preact/signals";
import type { Span } from "../view";
import { copyText, linkHere } from "./copy";
import { Disclosure } from "./disclosure";

interface CopyProps {
  /** The chart that the link puts in sight. */
  readonly show: string | null;
  readonly span: Span;
  readonly startMs: number;
  /** The view follows a running job: the reader chooses whether the link does so, too. */
  readonly live: boolean;
}

/** The buttons that copy a link, and whether that was done. */
export function CopyButtons({ show, span, startMs, live }: CopyProps) {
  const said = useSignal("");
  const copy = (moment: Span | null) => async () => {
    said.value = (await copyText(linkHere(show, moment, startMs))) ? "Copied" : "The browser refused; the address bar has the link";
    window.setTimeout(() => (said.value = ""), 4000);
  };
  return (
    <>
      <button type="button" onClick={copy(null)}>{live ? "Copy link that follows live" : "Copy link"}</button>
      {live ? <button type="button" onClick={copy(span)}>Copy link to this moment</button> : null}
      <span class="more-said" role="status">{said.value}</span>
    </>
  );
}

/** The button of a whole page. */
export function CopyLink(props: Omit<CopyProps, "show">) {
  return props.live ? <Disclosure word="Copy link" about="to this view"><CopyButtons {...props} show={null} /></Disclosure> : <CopyButtons {...props} show={null} />;
}
