import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { count, plural } from "../format";
import { type Poll, poll } from "../poll";
import { valueOf, withKeys } from "../query";
import { search } from "../router";
import { Empty, Fault, Loading } from "../states";
import { Changes } from "./changes";
import { listTokens, type Token, type TokenPage } from "./calls";
import { Create } from "./create";
import { TokenList } from "./list";
import { Revoke } from "./revoke";

const kPeriodMs = 30_000;

/** A page of the list of tokens, and the poll that keeps it fresh. */
function useTokens(page: Signal<TokenPage | null>): Poll | null {
  const found = useSignal<Poll | null>(null);
  const cursor = valueOf(search.value, "cursor");
  useEffect(() => {
    const ask = async (stop: AbortSignal) => void (page.value = await listTokens(cursor, stop));
    const opened = poll(ask, () => kPeriodMs);
    found.value = opened;
    return () => opened.stop();
  }, [cursor, found, page]);
  return found.value;
}

function Pager({ next }: { readonly next: string | null }) {
  const later = valueOf(search.value, "cursor") !== "";
  if (!later && next === null) return null;
  const link = (cursor: string | null) => `/tokens${withKeys(search.value, { cursor })}`;
  return (
    <nav class="pager" aria-label="Pages of the list">
      {later ? <a href={link(null)}>‹ First page</a> : <span />}
      {next === null ? null : <a href={link(next)}>Next page ›</a>}
    </nav>
  );
}

function ForAdmins() {
  return (
    <Empty title="Tokens are for admins" whole>
      <p>
        Your token has another role: it may not see or change tokens. Go to <a href="/jobs">the jobs</a>.
      </p>
    </Empty>
  );
}

function List({ page, revoke }: { readonly page: TokenPage; readonly revoke: (token: Token) => void }) {
  if (page.tokens.length === 0) return <Empty title="No tokens yet"><p>The first one is made above.</p></Empty>;
  return <TokenList tokens={page.tokens} revoke={revoke} />;
}

function noteOf(page: TokenPage | null): string {
  if (page === null) return "\u00a0";
  const all = plural(page.total, "token");
  return page.total > page.tokens.length ? `${count(page.tokens.length)} of ${all}` : all;
}

export function TokensPage() {
  const page = useSignal<TokenPage | null>(null);
  const asked = useSignal<Token | null>(null);
  const version = useSignal(0);
  const opened = useTokens(page);
  useEffect(() => void (document.title = "Tokens · Stepscope"), []);
  const error = opened?.state.value.error ?? null;
  if (error?.status === 403) return <ForAdmins />;
  const changed = () => {
    opened?.retry();
    version.value += 1;
  };
  const loading = page.value === null && error === null;
  return (
    <>
      <div class="page-head">
        <h1>Tokens</h1>
        <p class="faint list-note">{noteOf(page.value)}</p>
      </div>
      <Create changed={changed} />
      {opened === null ? null : <Fault what="The list of tokens" poll={opened} />}
      {loading ? <Loading what="the tokens" class="loading-list" /> : null}
      {page.value === null ? null : <List page={page.value} revoke={(token) => (asked.value = token)} />}
      <Pager next={page.value?.next ?? null} />
      {loading ? null : <Changes version={version.value} />}
      {asked.value === null ? null : <Revoke token={asked.value} close={() => (asked.value = null)} revoked={changed} />}
    </>
  );
}
