#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/http/client.h"

namespace stepscope {

// The way to the service: where pushes go, with the token that is in the token file at that time.
// One thread posts; Stop may be called from any.
class Uplink {
 public:
  // Invalid when the URL, the CA file or the token file is no good.
  static Result<std::unique_ptr<Uplink>> Make(const std::string& server, const std::string& ca_file,
                                              const std::string& token_file);

  Result<HttpAnswer> Post(std::string body);
  void Stop() { client_->Stop(); }

  // Where people look at the job.
  std::string PageOf(const std::string& job) const;

 private:
  Uplink(std::unique_ptr<HttpClient> client, std::string base, std::string token_file)
      : client_(std::move(client)), base_(std::move(base)), token_file_(std::move(token_file)) {}

  std::unique_ptr<HttpClient> client_;
  std::string base_;  // the path of the server's URL, without '/' at its end
  std::string token_file_;
};

// The token in a file: one line of visible characters.
Result<std::string> ReadToken(const std::string& path);

}  // namespace stepscope
