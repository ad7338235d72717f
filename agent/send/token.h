#pragma once

#include <string>

#include "core/base/result.h"

namespace stepscope {

// The agent's credential at the service. From a file, which is read again when the service refuses
// the token, or a fixed value. Never logged, never in an error.
class Token {
 public:
  // The file's token when there is a file, else `value`; neither: no token. Invalid names the file.
  static Result<Token> Make(const std::string& file, const std::string& value);

  const std::string& text() const { return text_; }  // "": none

  // Reads the file again; returns whether it holds another token now. A file that cannot be read
  // changes nothing.
  bool Refresh();

 private:
  std::string file_;
  std::string text_;
};

// The token in a file: one line of visible characters.
Result<std::string> ReadToken(const std::string& path);

// Invalid, as a sentence for the log, when other users of the machine may read the file.
Status CheckPrivate(const std::string& path);

}  // namespace stepscope
