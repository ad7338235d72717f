#include "server/store/postgres/citus_error.h"

#include <gtest/gtest.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

TEST(CitusError, ADuplicateThatComesWithoutAStateIsOne) {
  const Error error =
      CitusError("XX000", "duplicate key value violates unique constraint \"frames_pkey_102008\"");
  EXPECT_EQ(error.code, Code::kConflict);
  EXPECT_EQ(CitusError("XX000", "cache lookup failed").code, Code::kInternal);
  EXPECT_EQ(CitusError("23505", "duplicate key").code, Code::kConflict);
}

TEST(CitusError, AMachineThatIsAwayMayComeBack) {
  for (const char* state : {"08006", "08001", "58030"}) {
    const Error error = CitusError(
        state, "connection to the remote node stepscope@10.1.2.3:5432 failed with the error");
    EXPECT_EQ(error.code, Code::kUnavailable);
    EXPECT_EQ(error.message,
              Format("database: a machine of the cluster does not answer ({})", state));
  }
}

TEST(CitusError, ASessionThatEndedWithItsMachineIsNoFaultOfOurs) {
  for (const char* said : {"failure on connection marked as essential: 8589934592",
                           "connection not open", "server closed the connection unexpectedly"}) {
    EXPECT_EQ(CitusError("XX000", said).code, Code::kUnavailable) << said;
    EXPECT_EQ(CitusError("XX000", said).message,
              "database: a machine of the cluster does not answer (XX000)");
  }
}

TEST(CitusError, ARefusedStatementIsAFaultOfOurs) {
  const Error error = CitusError("0A000", "could not create distributed plan");
  EXPECT_EQ(error.code, Code::kInternal);
  EXPECT_EQ(error.message, "database: could not create distributed plan (0A000)");
}

TEST(CitusError, AddressesAreLeftOut) {
  for (const char* address : {"stepscope@10.1.2.3:5432", "db-3.example:6000", "[fd00::7]:5432",
                              "x@[fd00::7]:5432", "fd00::7:5432", "x@2001:db8:0:1:2:3:4:5:5432"}) {
    const Error error = CitusError("55000", Format("the server on {} ended; again", address));
    EXPECT_EQ(error.message,
              "database: the server on a machine of the cluster ended; again (55000)");
  }
}

}  // namespace
}  // namespace stepscope
