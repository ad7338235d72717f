import type { ComponentChildren } from "preact";
import { ago, dateTime, duration, type TimeZone } from "../format";
import { narrow, serviceNow, zoneOf } from "../settings";
import { kGreyStyle, type StatusStyle, Status } from "../status";
import type { Token } from "./calls";

// The tokens as a table, and as cards where it is narrow.

const kSoonMs = 14 * 86_400_000;

function remaining(us: number, nowMs: number): string {
  return duration(Math.max(0, Math.round((us / 1000 - nowMs) / 1000)));
}

interface TokenStatus extends StatusStyle {
  readonly word: string;
  readonly more?: string;
  readonly works: boolean;
}

/** Whether a token works, and for how long. */
export function tokenStatusOf(token: Token, nowMs: number): TokenStatus {
  const { expires_us: expires } = token;
  if (token.revoked_us !== null) return { ...kGreyStyle, word: "Revoked", works: false };
  if (expires / 1000 <= nowMs) return { ...kGreyStyle, word: "Expired", works: false };
  if (expires / 1000 - nowMs > kSoonMs) return { icon: "check", tone: "green", word: "Active", works: true };
  return { icon: "bang", tone: "amber", word: "Active", more: `${remaining(expires, nowMs)} left`, works: true };
}

export function When({ us, zone }: { us: number | null; zone: TimeZone }) {
  if (us === null) return <span class="faint">never</span>;
  const exact = dateTime(us, "utc");
  const seconds = (serviceNow.value - us / 1000) / 1000;
  const relative = seconds >= 0 ? ago(seconds) : `in ${remaining(us, serviceNow.value)}`;
  return (
    <time dateTime={new Date(us / 1000).toISOString()} title={exact}>
      {zone === "relative" ? relative : dateTime(us, zone, false)}
    </time>
  );
}

function Scopes({ token }: { readonly token: Token }) {
  const names = (list: readonly string[]) => list.map((name) => <code key={name}>{name}</code>);
  return (
    <span class="scopes">
      {token.scopes.length === 0 ? <span class="faint">all jobs</span> : names(token.scopes)}
      {token.nodes.length === 0 ? null : <><span class="faint">on nodes</span>{names(token.nodes)}</>}
    </span>
  );
}

function State({ token }: { readonly token: Token }) {
  const status = tokenStatusOf(token, serviceNow.value);
  return <Status style={status} word={status.word} more={status.more} />;
}

interface RowProps {
  readonly token: Token;
  readonly zone: TimeZone;
  readonly revoke: (token: Token) => void;
}

function Action({ token, revoke }: RowProps) {
  if (!tokenStatusOf(token, serviceNow.value).works) return null;
  return (
    <button type="button" onClick={() => revoke(token)}>
      Revoke<span class="unseen"> {token.name}</span>
    </button>
  );
}

function Row(props: RowProps) {
  const { token, zone } = props;
  return (
    <tr>
      <th scope="row">
        {token.name}
        <span class="group">{token.id}</span>
      </th>
      <td>{token.role}</td>
      <td><Scopes token={token} /></td>
      <td class="figure">
        <When us={token.created_us} zone={zone} />
        <span class="group">by {token.created_by}</span>
      </td>
      <td class="figure"><When us={token.last_used_us} zone={zone} /></td>
      <td class="figure"><When us={token.revoked_us ?? token.expires_us} zone={zone} /></td>
      <td><State token={token} /></td>
      <td><Action {...props} /></td>
    </tr>
  );
}

function Card(props: RowProps) {
  const { token, zone } = props;
  const fact = (word: string, value: ComponentChildren) => (
    <span>
      {word} {value}
    </span>
  );
  return (
    <li class="card job-card">
      <div class="job-card-head">
        <span class="token-name">{token.name}</span>
        <State token={token} />
      </div>
      <div class="job-card-line">
        <span>{token.role}</span>
        <Scopes token={token} />
        {fact("created", <><When us={token.created_us} zone={zone} /> by {token.created_by}</>)}
        {fact("last used", <When us={token.last_used_us} zone={zone} />)}
        {fact(token.revoked_us === null ? "expires" : "revoked", <When us={token.revoked_us ?? token.expires_us} zone={zone} />)}
      </div>
      <div><Action {...props} /></div>
    </li>
  );
}

export function TokenList({ tokens, revoke }: { tokens: readonly Token[]; revoke: (token: Token) => void }) {
  const zone = zoneOf("utc");
  const rows = { zone, revoke };
  if (narrow.value) {
    return <ul class="cards" aria-label="Tokens">{tokens.map((token) => <Card key={token.id} token={token} {...rows} />)}</ul>;
  }
  const suffix = zone === "utc" ? " (UTC)" : zone === "local" ? " (local)" : "";
  return (
    <div class="card table-card">
      <table>
        <caption class="unseen">Tokens</caption>
        <thead>
          <tr>
            {["Name", "Role", "Jobs", `Created${suffix}`, `Last used${suffix}`, `Ends${suffix}`, "State"].map((head) => (
              <th key={head} scope="col">{head}</th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>{tokens.map((token) => <Row key={token.id} token={token} {...rows} />)}</tbody>
      </table>
    </div>
  );
}
