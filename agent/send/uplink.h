#pragma once

#include <memory>
#include <string>

#include "agent/send/token.h"
#include "agent/spool/recording.h"
#include "core/base/result.h"
#include "core/http/client.h"

namespace stepscope {

// Where the service is, and how to show who we are.
struct UplinkOptions {
  std::string server{};
  std::string ca_file{}, cert_file{}, key_file{};  // for https
  std::string token_file{}, token{};               // the file goes before
  bool insecure_http = false;  // a token may travel in the clear, also to another machine
};

// The way to the service: where pushes go, with the token; or into a recording, which takes
// everything. One thread posts and refreshes; Stop may
// be called from any.
class Uplink {
 public:
  // Invalid when the URL or a file is no good, or the token would travel in the clear.
  static Result<std::unique_ptr<Uplink>> Make(const UplinkOptions& options);

  static std::unique_ptr<Uplink> To(std::unique_ptr<RecordingWriter> recording);

  // Where the token was replaced in its file since, the new one is tried at once.
  Result<HttpAnswer> Post(std::string body);

  // Who the service takes us for, and what it says of itself.
  Result<HttpAnswer> AskWhoAmI();

  // Whether the file holds another token than the one that was shown last.
  bool RefreshToken() { return token_.Refresh(); }

  void Stop();

  // Where people look at the job, or for the recording.
  std::string PageOf(const std::string& job) const;

 private:
  Uplink(std::unique_ptr<HttpClient> client, std::string base, Token token)
      : client_(std::move(client)), base_(std::move(base)), token_(std::move(token)) {}

  explicit Uplink(std::unique_ptr<RecordingWriter> recording) : recording_(std::move(recording)) {}

  Result<HttpAnswer> Record(const std::string& body);
  Result<HttpAnswer> Send(HttpRequest request);
  Result<HttpAnswer> SendOnce(HttpRequest& request);

  std::unique_ptr<RecordingWriter> recording_;  // this or the client is there
  std::unique_ptr<HttpClient> client_;
  std::string base_;  // the path of the server's URL, without '/' at its end
  Token token_;
};

}  // namespace stepscope
