#pragma once

#include <stop_token>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/http/client.h"
#include "core/http/lookup.h"
#include "server/alert/address_policy.h"

namespace stepscope {

struct PostOptions {
  const AddressPolicy& policy;
  std::string ca_file;  // authorities to trust; empty: those of the system
  Duration deadline;    // from the lookup of the name to the last byte of the answer
};

// Sends one message to a webhook's URL: only to addresses that the policy allows, over a connection
// to one of the checked addresses, whatever the name resolves to a moment later. At most 64 KiB of
// the answer are read. Ends soon after the stop. Invalid when the target is refused, Unavailable
// when there was no answer.
Result<HttpAnswer> PostToTarget(const std::string& url, const HttpRequest& request,
                                const PostOptions& options, NameLookup& lookup,
                                const std::stop_token& stop);

}  // namespace stepscope
