#pragma once

#include "core/base/result.h"
#include "server/api/http/answer.h"

namespace stepscope {

// Parts of answers that list things page by page.

// The reply when there is no page: a cursor of another list is refused, all else is the error.
Result<Reply> PageFault(const Request& request, const Error& error);

// {"items": [...], "next": cursor or null, "total": N} of a page as server/store gives it.
template <typename Page, typename ToItem>
OrderedJson PageJson(const Page& page, ToItem to_item, const char* member = "items") {
  OrderedJson items = OrderedJson::array();
  for (const auto& item : page.items) items.push_back(to_item(item));
  return {{member, std::move(items)}, {"next", NullIfEmpty(page.next)}, {"total", page.total}};
}

}  // namespace stepscope
