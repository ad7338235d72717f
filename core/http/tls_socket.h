#pragma once

#include <openssl/bio.h>

#include <memory>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// The socket below TLS. OpenSSL reads some messages (HelloRequest, tickets) in loops of its own, so
// at the deadline the socket acts as if nothing more had come. It raises no SIGPIPE.
struct TlsSocket {
  int descriptor = -1;
  SteadyTime deadline{};
};

struct FreeBioMethod {
  void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};
using BioMethod = std::unique_ptr<BIO_METHOD, FreeBioMethod>;

// The BIO method of a TlsSocket; outlives every BIO made from it. Null when out of memory.
BioMethod MakeTlsSocketMethod();

// A BIO on the socket, which outlives it. Null when out of memory.
BIO* MakeTlsSocketBio(const BIO_METHOD* method, TlsSocket& socket);

}  // namespace stepscope
