#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// A client that says exactly what it is told to, byte by byte. Waits at most 10 s for anything.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool Send(std::string_view bytes);  // false when the other side is gone
  void EndSending();                  // half closes
  std::string ReadAnswer();           // one answer, head and body by Content-Length
  std::string ReadToEnd();
  bool IsClosed();  // waits for the end of the connection; false when 10 s pass or bytes come

 private:
  bool Fill();
  int socket_;
  std::string buffer_;
};

int StatusOf(const std::string& answer);
std::string BodyOf(const std::string& answer);
std::string HeaderOf(const std::string& answer, std::string_view name);  // "" when absent

}  // namespace stepscope
