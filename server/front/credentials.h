#pragma once

#include <string>
#include <string_view>

#include "server/access/access.h"
#include "server/edge/http/message.h"

namespace stepscope {

// The credentials in a head. The cookie counts only under the name for its kind of connection, and
// only when it is there once.
Credentials CredentialsOf(const Request& head);

// The value of Set-Cookie that signs a browser in, for so many seconds; "" and 0 sign it out.
// Over TLS the name begins with "__Host-", so that no other host and no plain connection can set
// it.
std::string SessionCookie(const Request& head, std::string_view secret, std::int64_t seconds);

}  // namespace stepscope
