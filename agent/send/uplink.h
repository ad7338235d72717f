#pragma once

#include <memory>
#include <string>

#include "agent/send/token.h"
#include "agent/spool/recording.h"
#include "core/base/result.h"
#include "core/http/client.h"

namespace stepscope {

// The service's address, and the agent's credentials.
struct UplinkOptions {
  std::string server{};
  std::string ca_file{}, cert_file{}, key_file{};  // for https
  std::string token_file{}, token{};               // the file is stronger
  bool insecure_http = false;  // the token may be sent unencrypted, also to another machine
  Duration request_limit = std::chrono::seconds(30);  // from the first byte sent to the last read
  // A job of many ranks and nodes has a long description; answers to pushes are short.
  std::size_t answer_bytes = 4 * 1024 * 1024;
};

// The connection to the service that pushes go through, with the token; or a recording, which
// accepts everything. One thread posts and refreshes; any thread may call Stop.
class Uplink {
 public:
  // Invalid when the URL or a file cannot be used, or the token would be sent unencrypted.
  static Result<std::unique_ptr<Uplink>> Make(const UplinkOptions& options);

  static std::unique_ptr<Uplink> To(std::unique_ptr<RecordingWriter> recording);

  // Sends a push. If the token is refused and its file has another one by now, tries that at once.
  Result<HttpAnswer> Post(std::string body);

  // Sends anything else: `path` is below the server's URL, with its query.
  Result<HttpAnswer> PostTo(const std::string& path, std::string type, std::string body);

  // Sends a body that is read as it is sent: so many bytes.
  Result<HttpAnswer> PostBody(const std::string& path, std::string type, ReadBodyAt read,
                              std::uint64_t bytes);

  // Asks for the session: the agent's identity, and the service's version and time.
  Result<HttpAnswer> AskWhoAmI();

  // Asks whether a job has ended, which the right to send to it is enough for.
  Result<HttpAnswer> AskStatus(const std::string& job);
  // Asks for what the service knows of a job.
  Result<HttpAnswer> AskJob(const std::string& job);
  // Asks for its story in a few lines of text.
  Result<HttpAnswer> AskCard(const std::string& job);

  // Reads the token's file; whether it holds another token than the last one used.
  bool RefreshToken() { return token_.Refresh(); }

  void Stop();

  // The address of the job's page, or the recording's path.
  std::string PageOf(const std::string& job) const;

 private:
  Uplink(std::unique_ptr<HttpClient> client, std::string base, Token token)
      : client_(std::move(client)), base_(std::move(base)), token_(std::move(token)) {}

  explicit Uplink(std::unique_ptr<RecordingWriter> recording) : recording_(std::move(recording)) {}

  Result<HttpAnswer> Record(const std::string& body);
  Result<HttpAnswer> Send(HttpRequest request, const std::string& type = "");
  Result<HttpAnswer> SendOnce(HttpRequest& request, const std::string& type);

  std::unique_ptr<RecordingWriter> recording_;  // null: there is a client
  std::unique_ptr<HttpClient> client_;
  std::string base_;  // the path of the server's URL, without a '/' at its end
  Token token_;
};

}  // namespace stepscope
