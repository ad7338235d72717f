// Descriptors that a client of the unix socket sends along. It chooses one that takes long to
// close: a TCP socket that lingers over bytes that its other side does not take.

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "tests/server/edge/edge_test.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

constexpr int kLingerSeconds = 8;
constexpr Duration kAtOnce = 4s;

// Two ends of a TCP connection; the first lingers when it is closed.
class LingeringSocket {
 public:
  LingeringSocket() {
    const Descriptor listener(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener.get(), at, size), 0);
    EXPECT_EQ(listen(listener.get(), 1), 0);
    EXPECT_EQ(getsockname(listener.get(), at, &size), 0);
    first_ = Descriptor(socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(connect(first_.get(), at, size), 0);
    second_ = Descriptor(accept(listener.get(), nullptr, nullptr));
    const linger lingers{1, kLingerSeconds};
    EXPECT_EQ(setsockopt(first_.get(), SOL_SOCKET, SO_LINGER, &lingers, sizeof lingers), 0);
    const std::string bytes(64 * 1024, 'x');
    while (send(first_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }
  int descriptor() const { return first_.get(); }
  // The sender's own copy goes without a wait while another is on its way.
  void Forget() { first_ = Descriptor(); }

 private:
  Descriptor first_, second_;
};

// Sends the bytes and, along with them, the socket. False when the kernel refuses that.
bool SendAlong(int to, std::string bytes, const LingeringSocket& sent) {
  iovec piece{bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int descriptor = sent.descriptor();
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  return sendmsg(to, &message, MSG_NOSIGNAL) >= 0;
}

class PassedDescriptors : public EdgeTest {
 protected:
  bool Listen(bool refuse_descriptors) {
    Result<Listener> listener = Listener::Open({.path = path_}, refuse_descriptors);
    if (!listener) return false;
    const bool takes = listener->takes_descriptors();
    edge_.Listen(std::move(*listener));
    return takes;
  }
  Descriptor Connect() const { return Descriptor(ConnectToFile(path_)); }
  void ExpectOthersAreAnsweredAtOnce() const {
    const SteadyTime start = SystemClock().Steady();
    EXPECT_EQ(StatusOf(Ask(Get("/others"))), 200);
    RawClient client(RawClient::Socket{ConnectToFile(path_)});
    client.Send(Get("/others"));
    EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
    EXPECT_LT(SystemClock().Steady() - start, kAtOnce);
  }

  const test::FakeRoot folder_;
  const std::string path_ = folder_.path() + "/http.sock";
};

TEST_F(PassedDescriptors, AreRefusedByTheKernelOrKeepNobodyWaiting) {
  const bool takes = Listen(true);
  LingeringSocket sent;
  const Descriptor client = Connect();
  EXPECT_EQ(SendAlong(client.get(), Get("/healthz"), sent), takes);
  if (takes) sent.Forget();
  ExpectOthersAreAnsweredAtOnce();
}

TEST_F(PassedDescriptors, OfAnOlderKernelAreClosedElsewhere) {
  ASSERT_TRUE(Listen(false));
  LingeringSocket sent;
  const Descriptor client = Connect();
  ASSERT_TRUE(SendAlong(client.get(), Get("/healthz"), sent));
  sent.Forget();
  ExpectOthersAreAnsweredAtOnce();
  char byte = 0;
  EXPECT_LE(recv(client.get(), &byte, 1, 0), 0) << "and the client is cut off";
}

TEST_F(PassedDescriptors, ThatNobodyReadAreClosedElsewhereToo) {
  ASSERT_TRUE(Listen(false));
  LingeringSocket sent;
  {
    const Descriptor client = Connect();
    const std::string held = Get("/hold");
    ASSERT_GT(send(client.get(), held.data(), held.size(), 0), 0);
    ASSERT_TRUE(AreHeld(1));
    ASSERT_TRUE(SendAlong(client.get(), Get("/more"), sent));
    sent.Forget();
  }
  OpenGate();
  ExpectOthersAreAnsweredAtOnce();
}

TEST_F(PassedDescriptors, AreOfNoConcernToHonestClients) {
  ASSERT_TRUE(Listen(false));
  RawClient client(RawClient::Socket{ConnectToFile(path_)});
  for (const char* target : {"/one", "/two"}) {
    client.Send(Get(target));
    EXPECT_EQ(BodyOf(client.ReadAnswer()), std::string("GET ") + target + "?");
  }
}

}  // namespace
}  // namespace stepscope
