// Requests one behind the other in one stream of bytes: each ends where its head says.

#include <gtest/gtest.h>

#include "tests/support/edge_bytes.h"

namespace stepscope {
namespace {

// Paths and bodies of all requests in the bytes, and what stands behind the last whole one.
std::string ReadAll(std::string_view bytes) {
  std::string all;
  while (!bytes.empty()) {
    HeadReader head;
    std::size_t taken = 0;
    const Progress progress = head.Feed(bytes, taken);
    if (progress == Progress::kFault) return all + ToText(head.refusal());
    if (progress == Progress::kMore) return all + "more of a head";
    bytes.remove_prefix(taken);
    BodyReader body(head.head(), {});
    taken = 0;
    if (body.progress() == Progress::kMore) body.Feed(bytes, taken);
    if (body.progress() == Progress::kMore) return all + "more of a body";
    bytes.remove_prefix(taken);
    all += Format("{} {} [{}]\n", head.head().method, head.head().path, body.Take());
  }
  return all;
}

// T15: of three requests in one segment the stock server answered one.
TEST(Pipeline, ThreeRequestsInOnePieceAreThree) {
  EXPECT_EQ(ReadAll("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
                    "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
                    "\r\nGET /c HTTP/1.1\r\nHost: a\r\n\r\n"),
            "GET /a []\nPOST /b [hi]\nGET /c []\n");
}

// T15: the body behind a GET was read as the next request.
TEST(Pipeline, ABodyIsNeverReadAsARequest) {
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS", "POST"}) {
    const std::string length = Format("{} /a HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}",
                                      method, hidden.size(), hidden);
    EXPECT_EQ(ReadAll(length), Format("{} /a [{}]\n", method, hidden));
    const std::string chunks = Format(
        "{} /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n",
        method, hidden.size(), hidden);
    EXPECT_EQ(ReadAll(chunks), Format("{} /a [{}]\n", method, hidden));
  }
}

// Classic smuggling: each pair of readers that disagrees is separated by a refusal.
TEST(Pipeline, WhatTwoReadersCouldTakeDifferentlyIsRefused) {
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const char* framing : {"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
                              "Content-Length: 0\r\nContent-Length: 33\r\n",
                              "Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n",
                              "Transfer-Encoding : chunked\r\n", "Transfer-Encoding: x\r\n",
                              "X: y\nTransfer-Encoding: chunked\r\n",
                              "Transfer-Encoding:\x0b"
                              "chunked\r\n",
                              " Transfer-Encoding: chunked\r\n"}) {
    const std::string outcome =
        ReadAll(Format("POST /a HTTP/1.1\r\nHost: a\r\n{}\r\n0\r\n\r\n{}", framing, hidden));
    EXPECT_TRUE(outcome.starts_with("refused ")) << framing << outcome;
  }
}

}  // namespace
}  // namespace stepscope
