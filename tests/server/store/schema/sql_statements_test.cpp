#include "server/store/schema/sql_statements.h"

#include <gtest/gtest.h>

#include <string>

#include "server/store/schema/migrations.h"

namespace stepscope {
namespace {

using Texts = std::vector<std::string_view>;

TEST(SqlStatements, AreCutAtSemicolons) {
  EXPECT_EQ(SqlStatements("select 1;\n select 2 ;"), (Texts{"select 1", "select 2"}));
  EXPECT_EQ(SqlStatements("select 1"), (Texts{"select 1"}));
  EXPECT_EQ(SqlStatements(""), Texts{});
  EXPECT_EQ(SqlStatements(" ;; \n"), Texts{});
}

TEST(SqlStatements, ASemicolonWithinATextEndsNone) {
  const Texts whole = {"select ';', 'it''s; so'", "select \";\"",        "do $$ begin; end $$",
                       "do $f$ a; $$ b; $f$",     "select 1 /* one; */", "select $1, $2"};
  for (const std::string_view one : whole) {
    EXPECT_EQ(SqlStatements(std::string(one) + "; select 2"), (Texts{one, "select 2"})) << one;
  }
}

TEST(SqlStatements, CommentsStandAloneInNone) {
  EXPECT_EQ(SqlStatements("-- it's so;\nselect 1; -- the end;\n"),
            (Texts{"-- it's so;\nselect 1"}));
}

TEST(SqlStatements, WhatNeverEndsIsTheLastOne) {
  for (const std::string_view open : {"select 'a; b", "select \"a; b", "do $$ a; b", "/* a; b"}) {
    EXPECT_LE(SqlStatements(open).size(), 1U) << open;
  }
}

TEST(SqlStatements, TakeMigrationsApartWithoutLoss) {
  for (const Migration& migration : Migrations()) {
    std::size_t bytes = 0;
    for (const std::string_view one : SqlStatements(migration.sql)) bytes += one.size() + 1;
    EXPECT_LE(bytes, migration.sql.size() + 1);
    EXPECT_GE(bytes + 400, migration.sql.size()) << migration.name;
  }
}

}  // namespace
}  // namespace stepscope
