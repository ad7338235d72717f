#pragma once

#include <memory>
#include <string>

#include "server/store/postgres/database.h"

namespace stepscope {

// A fresh, migrated database for one test, on a real PostgreSQL: one cluster for each test program,
// started at first use in a temporary folder, or the server of STEPSCOPE_TEST_DATABASE_URL. Dropped
// with the object; connections that are still open are closed then. A cluster that cannot be
// started ends the program with the reason.
class TestDatabase {
 public:
  TestDatabase();
  // An empty database, without the migrations.
  static TestDatabase Empty();
  TestDatabase(TestDatabase&&) = delete;
  ~TestDatabase();
  void AddCitus() const;  // to an empty one, of the cluster that STEPSCOPE_CITUS_URL names

  const std::string& url() const { return url_; }
  std::unique_ptr<Connection> Connect() const;  // ends the program when it cannot
  std::unique_ptr<Connection> ConnectAsSuperuser() const;

  // Ends every session with this database, as a crash of PostgreSQL would. Returns their number.
  int EndSessions() const;

 private:
  explicit TestDatabase(const std::string& pattern);
  std::string name_, url_;
};

}  // namespace stepscope
