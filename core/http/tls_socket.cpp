#include "core/http/tls_socket.h"

#include <sys/socket.h>

#include <cerrno>

#include "core/base/clock.h"

namespace stepscope {
namespace {

TlsSocket& SocketOf(BIO* bio) {
  return *static_cast<TlsSocket*>(BIO_get_data(bio));
}

bool IsLaterForTls(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

int ReadBio(BIO* bio, char* to, int size) {
  const TlsSocket& socket = SocketOf(bio);
  BIO_clear_retry_flags(bio);
  if (SystemClock().Steady() >= socket.deadline) return BIO_set_retry_read(bio), -1;
  const ssize_t count = recv(socket.descriptor, to, static_cast<std::size_t>(size), 0);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  if (count < 0 && IsLaterForTls(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

int WriteBio(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t count = send(SocketOf(bio).descriptor, from, static_cast<std::size_t>(size),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0 && IsLaterForTls(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

long Control(BIO* bio, int what, long, void*) {
  if (what == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return what == BIO_CTRL_FLUSH ? 1 : 0;
}

}  // namespace

BioMethod MakeTlsSocketMethod() {
  BioMethod method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stepscope socket"));
  if (!method) return nullptr;
  BIO_meth_set_read(method.get(), ReadBio);
  BIO_meth_set_write(method.get(), WriteBio);
  BIO_meth_set_ctrl(method.get(), Control);
  return method;
}

BIO* MakeTlsSocketBio(const BIO_METHOD* method, TlsSocket& socket) {
  BIO* bio = BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, &socket);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace stepscope
