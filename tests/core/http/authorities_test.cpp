#include "core/http/authorities.h"

#include <gtest/gtest.h>

#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

TEST(FindAuthorities, KnowsWhereDistributionsKeepThem) {
  for (const char* place :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    test::FakeRoot root;
    EXPECT_EQ(FindAuthorities(root.path()), "");
    root.Write(place, "a certificate");
    EXPECT_EQ(FindAuthorities(root.path()), root.path() + place);
  }
}

}  // namespace
}  // namespace stepscope
