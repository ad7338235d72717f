#include "server/store/access/sessions.h"

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kDeleteEnded[] = R"(
delete from sessions
where expires_us < $1 or last_used_us < $2)";
constexpr char kInsertSession[] = R"(
insert into sessions (session_hash, token_id, created_us, last_used_us, expires_us)
values ($1, $2, $3, $4, $5))";
constexpr char kTouchSession[] = R"(
update sessions
set last_used_us = $2
where session_hash = $1 and last_used_us < $2 - 60000000)";
constexpr char kDelete[] = "delete from sessions where session_hash = $1";

}  // namespace

Status InsertSession(Connection& connection, const SessionRow& session,
                     std::int64_t unused_since_us) {
  const Status removed =
      Done(connection.Query(kDeleteEnded, {session.created_us, unused_since_us}));
  if (!removed) return removed;
  return Done(connection.Query(
      kInsertSession, {Parameter::Bytes(session.session_hash), session.token_id, session.created_us,
                       session.last_used_us, session.expires_us}));
}

Result<std::optional<SignedIn>> FindSession(Connection& connection,
                                            const std::string& session_hash) {
  const Result<Rows> rows = connection.Query(
      Format("select {}, sessions.created_us, sessions.last_used_us, sessions.expires_us "
             "from sessions join tokens using (token_id) where session_hash = $1",
             kTokenColumns),
      {Parameter::Bytes(session_hash)});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<SignedIn>();
  SignedIn found{{}, ReadToken(*rows, 0)};
  found.session = {session_hash, found.token.token_id, rows->Int(0, kTokenColumnCount),
                   rows->Int(0, kTokenColumnCount + 1), rows->Int(0, kTokenColumnCount + 2)};
  return std::optional(std::move(found));
}

Status TouchSession(Connection& connection, const std::string& session_hash, std::int64_t now_us) {
  return Done(connection.Query(kTouchSession, {Parameter::Bytes(session_hash), now_us}));
}

Status DeleteSession(Connection& connection, const std::string& session_hash) {
  return Done(connection.Query(kDelete, {Parameter::Bytes(session_hash)}));
}

}  // namespace stepscope
