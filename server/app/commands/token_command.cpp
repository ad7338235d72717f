#include "server/app/commands/token_command.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "server/access/issue.h"
#include "server/app/commands/token_options.h"
#include "server/app/service_database.h"
#include "server/store/access/audit.h"

namespace stepscope {
namespace {

constexpr int kPage = 500;

// The user at the command line, for the record of changes.
std::string UserName() {
  const passwd* user = getpwuid(geteuid());
  return Format("{} (command line)", user ? std::string(user->pw_name) : Format("{}", geteuid()));
}

Status Note(Connection& connection, std::string action, std::string target, Time now) {
  return InsertAudit(
      connection, {0, ToMicros(now), "", UserName(), std::move(action), std::move(target), "", ""});
}

std::vector<std::string> NamesIn(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : Split(list, ',')) {
    if (!Trim(name).empty()) names.emplace_back(Trim(name));
  }
  return names;
}

Result<TokenOrder> ReadOrder(const Arguments& arguments) {
  const Result<std::int64_t> days = ParseInt(arguments["--expires"], "--expires");
  if (!days) return days.error();
  TokenOrder order{.name = arguments["--name"],
                   .role = ParseRole(arguments["--role"]).value_or(Role::kNone),
                   .expires_days = *days};
  order.scopes = NamesIn(arguments["--scope"]);
  order.nodes = NamesIn(arguments["--nodes"]);
  const Status good = CheckOrder(order);
  return good ? Result<TokenOrder>(order) : Invalid("token create: " + good.error().message);
}

Status CheckCreate(const Arguments& arguments) {
  const Result<TokenOrder> order = ReadOrder(arguments);
  return order ? Status() : Status(order.error());
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::string ReachOf(const TokenRow& token) {
  const std::string jobs = token.scopes.empty() ? "all jobs" : Joined(token.scopes);
  return token.nodes.empty() ? jobs : Format("{} on nodes {}", jobs, Joined(token.nodes));
}

std::string Day(std::int64_t at_us) {
  return ToRfc3339(FromMicros(at_us)).substr(0, 10);
}

std::string_view StateOf(const TokenRow& token, Time now) {
  if (token.revoked_us) return "revoked";
  return token.expires_us < ToMicros(now) ? "expired" : "valid";
}

std::string LineOf(const TokenRow& token, Time now) {
  return Format("{:<8}  {:<8}  {:<7}  {:<10}  {:<10}  {}  ({})\n", token.token_id, token.role,
                StateOf(token, now), Day(token.expires_us),
                token.last_used_us ? Day(*token.last_used_us) : "never", token.name,
                ReachOf(token));
}

Status CheckNothing(const Arguments&) {
  return {};
}

Status CheckRevoke(const Arguments& arguments) {
  if (arguments.rest.size() == 1) return {};
  return Invalid("token revoke: one token is wanted, by the eight letters in its text");
}

// The words are checked before the database is looked for.
struct Verb {
  TokenVerb (*about)();
  Status (*check)(const Arguments&);
  Result<TokenAnswer> (*run)(Connection&, const Arguments&, Time);
};
constexpr Verb kVerbs[] = {{TokenCreate, CheckCreate, CreateToken},
                           {TokenList, CheckNothing, ListAllTokens},
                           {TokenRevoke, CheckRevoke, RevokeOneToken}};

int Run(const Verb& verb, Words words) {
  const TokenVerb about = verb.about();
  const Result<Arguments> arguments = ReadVerb(about, words);
  if (!arguments) return Complain(arguments.error().message, kUsage);
  if (arguments->help) return Print(stdout, HelpOf(about)), 0;
  Settings settings;
  Status good = verb.check(*arguments);
  if (good) good = ReadDataSettings(*arguments, settings);
  if (!good) return Complain(good.error().message, kUsage);
  if (Status found = CheckHasDatabase(settings); !found)
    return Complain(found.error().message, kFailed);
  StartLog("stepscope-server", LogLevel::kWarning);
  Result<ServiceDatabase> database = OpenServiceDatabase(settings);
  if (!database) return Complain(database.error().message, kFailed);
  const auto answer = verb.run(*database->connection, *arguments, SystemClock().Now());
  if (!answer) return Complain(answer.error().message, kFailed);
  Print(stderr, answer->note);
  Print(stdout, answer->out);
  return 0;
}

std::string TokenHelp() {
  std::string text = "stepscope-server token: who may do what.\n\n";
  for (const Verb& verb : kVerbs) {
    text += Format("  stepscope-server token {:<7} {} (--help)\n", verb.about().name,
                   verb.about().sentence);
  }
  return text;
}

}  // namespace

Result<TokenAnswer> CreateToken(Connection& connection, const Arguments& arguments, Time now) {
  const Result<TokenOrder> order = ReadOrder(arguments);
  if (!order) return order.error();

  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Result<IssuedToken> issued = IssueToken(connection, *order, UserName(), ToMicros(now));
  if (!issued) return issued.error();
  const TokenRow& row = issued->row;
  if (Status noted = Note(connection, "token.create", row.token_id, now); !noted) {
    return noted.error();
  }
  if (Status committed = transaction->Commit(); !committed) return committed.error();

  return TokenAnswer{issued->text + "\n",
                     Format("token {} of {}: {} for {}, until {}; it is not shown again\n",
                            row.token_id, row.name, row.role, ReachOf(row), Day(row.expires_us))};
}

Result<TokenAnswer> ListAllTokens(Connection& connection, const Arguments&, Time now) {
  TokenAnswer answer;
  std::string cursor;
  do {
    const Result<TokenPage> page = ListTokens(connection, cursor, kPage);
    if (!page) return page.error();
    for (const TokenRow& token : page->items) answer.out += LineOf(token, now);
    cursor = page->next;
  } while (!cursor.empty());
  answer.note = answer.out.empty() ? "there are no tokens; token create --help makes the first\n"
                                   : "id        role      state    until       last used   name\n";
  return answer;
}

Result<TokenAnswer> RevokeOneToken(Connection& connection, const Arguments& arguments, Time now) {
  const std::string& id = arguments.rest[0];

  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status revoked = RevokeToken(connection, id, ToMicros(now)); !revoked) {
    return revoked.error();
  }
  if (Status noted = Note(connection, "token.revoke", id, now); !noted) return noted.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();

  return TokenAnswer{"",
                     Format("token {} is revoked; where it is in use it ends within 30 s\n", id)};
}

int RunToken(Words words) {
  const std::string_view what = words.empty() ? "" : words[0];
  if (what == "--help" || what == "-h") return Print(stdout, TokenHelp()), 0;
  for (const Verb& verb : kVerbs) {
    if (verb.about().name == what) return Run(verb, words.subspan(1));
  }
  return Complain("token: say what to do: create, list or revoke (see token --help)", kUsage);
}

}  // namespace stepscope
