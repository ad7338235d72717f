#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace stepscope {

// Connects from this address to the port; -1 when refused.
int ConnectTo(int port, const std::string& from = "127.0.0.1");
int ConnectTo6(int port);  // over [::1]
int ConnectToFile(const std::string& path);

// A client that sends exactly the given bytes. Waits at most 10 s for anything.
class RawClient {
 public:
  explicit RawClient(int port) : RawClient(Socket{ConnectTo(port)}) {}
  struct Socket {
    int descriptor;
  };
  explicit RawClient(Socket connected);  // takes ownership
  virtual ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool Send(std::string_view bytes);  // false when the peer is gone
  void EndSending();                  // half closes
  std::string ReadAnswer();           // one answer, head and body by Content-Length
  std::string ReadToEnd();
  bool IsClosed();  // waits for the end of the connection; false when 10 s pass or bytes come
  bool HasNews(int within_ms);  // bytes or the end
  void SendAtOnce();            // from now on, each piece in a segment of its own
  void Break();                 // by a reset

 protected:
  virtual ssize_t Put(std::string_view bytes);
  virtual ssize_t Get(char* to, std::size_t size);
  int socket() const { return socket_; }

 private:
  bool Fill();
  int socket_;
  std::string buffer_;
};

int StatusOf(const std::string& answer);
std::string BodyOf(const std::string& answer);
std::string HeaderOf(const std::string& answer, std::string_view name);  // "" when absent

}  // namespace stepscope
