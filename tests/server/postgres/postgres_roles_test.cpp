#include "server/postgres/postgres_roles.h"

#include "tests/server/postgres/embedded_fixture.h"

namespace stepscope {
namespace {

class PostgresRoles : public Embedded {
 protected:
  std::unique_ptr<Connection> ConnectAsSuperuser() {
    return std::move(*Connection::Open(postgres_->superuser_url()));
  }
  std::string Ask(const std::string& sql) {
    const Result<Rows> rows = Connect()->Query(sql);
    return rows ? rows->Text(0, 0) : rows.error().message;
  }
  // Whether the service's role has any right that its own database does not give.
  std::string Rights() {
    return Ask(
        "select concat(rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, "
        "pg_has_role('pg_execute_server_program', 'member')) "
        "from pg_roles where rolname = current_user");
  }
  // The roles as an earlier version made them: initdb's superuser is the service's.
  void JoinRoles() {
    ASSERT_TRUE(ConnectAsSuperuser()->Execute(R"(
create role joined superuser;
set session authorization joined;
alter database stepscope owner to stepscope_superuser;
drop role stepscope;
alter role stepscope_superuser rename to stepscope;
reset session authorization;
drop role joined)"));
  }
};

TEST_F(PostgresRoles, TheServiceIsNoSuperuserAndStartsNoProgram) {
  ASSERT_TRUE(Start());
  EXPECT_EQ(Rights(), "ffffff");
  EXPECT_NE(Ask("copy (select 1) to program 'true'").find("42501"), std::string::npos)
      << Ask("copy (select 1) to program 'true'");
  EXPECT_FALSE(Connect()->Execute("create role other superuser"));
  EXPECT_TRUE(Connect()->Execute("create table own (x integer); analyze"));
}

TEST_F(PostgresRoles, AFolderOfAnEarlierVersionIsChangedAndWorksOn) {
  ASSERT_TRUE(Start());
  JoinRoles();
  ASSERT_EQ(Rights(), "tttttt");
  ASSERT_TRUE(Connect()->Execute(R"(
create table kept (kept_id bigint generated always as identity primary key, x bigserial);
create table parted (x integer) partition by range (x);
create table part partition of parted for values from (0) to (9);
create sequence apart;
create function twice(x integer) returns integer language sql as 'select 2 * x';
insert into kept default values)"));
  for (int start = 0; start < 2; ++start) {
    postgres_.reset();
    const Status started = Start();
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(Rights(), "ffffff");
    EXPECT_TRUE(Connect()->Execute(R"(
insert into kept default values;
alter table kept add column y integer;
alter table kept drop column y;
insert into parted values (1);
select nextval('apart');
create or replace function twice(x integer) returns integer language sql as 'select x + x';
alter table part add check (x < 9))"));
  }
  EXPECT_EQ(Ask("select count(*) from kept"), "3");
  EXPECT_EQ(Ask("select count(*) from pg_roles where rolname !~ '^pg_'"), "2");
}

TEST_F(PostgresRoles, RightsThatSomebodyGaveAreTakenAtTheNextStart) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(ConnectAsSuperuser()->Execute("alter role stepscope superuser"));
  postgres_.reset();
  ASSERT_TRUE(Start());
  EXPECT_EQ(Rights(), "ffffff");
}

}  // namespace
}  // namespace stepscope
