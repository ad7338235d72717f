#include "server/postgres/postgres_roles.h"

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr char kFindRole[] = R"(
select rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls
from pg_roles
where rolname = 'stepscope')";
constexpr char kMakeRole[] = "create role stepscope login";
constexpr char kTakeRights[] = R"(
alter role stepscope nosuperuser nocreatedb nocreaterole noreplication nobypassrls)";
constexpr char kFindDatabase[] = "select 1 from pg_database where datname = 'stepscope'";
constexpr char kMakeDatabase[] = "create database stepscope owner stepscope";

// The first role of a cluster stays a superuser for ever, so it is renamed; a session cannot rename
// its own role, so it becomes another one for that.
constexpr char kSplitRole[] = R"(
create role stepscope_change superuser;
set local session authorization stepscope_change;
alter role stepscope rename to stepscope_superuser;
create role stepscope login;
alter database stepscope owner to stepscope)";

// Objects with numbers below 16384 belong to PostgreSQL. A sequence goes with the table that it
// belongs to.
constexpr char kGiveAway[] = R"(
set local search_path = pg_catalog;
do $$
declare
    statement text;
begin
    for statement in
        select format('alter table %s owner to stepscope', oid::regclass)
        from pg_class
        where oid >= 16384 and relkind in ('r', 'p', 'v', 'm') and relnamespace in (
            select oid
            from pg_namespace
            where nspname !~ '^pg_')
        union all
        select format('alter sequence %s owner to stepscope', oid::regclass)
        from pg_class
        where oid >= 16384 and relkind = 'S' and oid not in (
            select objid
            from pg_depend
            where classid = 'pg_class'::regclass and deptype in ('a', 'i'))
        union all
        select format('alter routine %s owner to stepscope', oid::regprocedure)
        from pg_proc
        where oid >= 16384
    loop
        execute statement;
    end loop;
end
$$;
reset session authorization;
drop role stepscope_change)";

// An earlier version that was killed before it made the database has left none.
Status MakeDatabase(Connection& connection, const char* statement) {
  const Result<Rows> found = connection.Query(kFindDatabase);
  if (!found) return found.error();
  return found->empty() ? connection.Execute(statement) : Status();
}

Status SplitRole(const OpenAs& open) {
  Result<std::unique_ptr<Connection>> first = open(kServiceRole, kFirstDatabase);
  if (!first) return first.error();
  if (Status made = MakeDatabase(**first, "create database stepscope"); !made) return made;
  Result<std::unique_ptr<Connection>> own = open(kServiceRole, kServiceDatabase);
  if (!own) return own.error();
  Result<Transaction> transaction = Transaction::Begin(**own);
  if (!transaction) return transaction.error();
  for (const char* statement : {kSplitRole, kGiveAway}) {
    if (Status done = (*own)->Execute(statement); !done) return done;
  }
  if (Status done = transaction->Commit(); !done) return done;
  LogInfo("the service's role in its PostgreSQL is no superuser any more");
  return {};
}

Status PrepareRole(Connection& connection) {
  const Result<Rows> found = connection.Query(kFindRole);
  if (!found) return found.error();
  if (found->empty()) return connection.Execute(kMakeRole);
  return found->Bool(0, 0) ? connection.Execute(kTakeRights) : Status();
}

}  // namespace

Status PrepareRoles(const OpenAs& open) {
  Result<std::unique_ptr<Connection>> superuser = open(kSuperuserRole, kFirstDatabase);
  if (!superuser) {
    if (Status split = SplitRole(open); !split) return split;
    superuser = open(kSuperuserRole, kFirstDatabase);
  }
  if (!superuser) return superuser.error();
  if (Status role = PrepareRole(**superuser); !role) return role;
  return MakeDatabase(**superuser, kMakeDatabase);
}

}  // namespace stepscope
