#pragma once

#include <vector>

#include "core/base/descriptor.h"
#include "core/base/guarded.h"
#include "server/edge/listener.h"
#include "server/edge/workers.h"

namespace stepscope {

// Messages of other threads to the edge's thread.
struct Mail {
  std::vector<Done> done;
  std::vector<Listener> listeners;
  bool cut = false;  // end now, whatever is under way
};

// Wakes the edge's thread, which polls the descriptor. Safe from any thread.
class Mailbox {
 public:
  Mailbox();

  template <typename F>
  void Post(F&& change) {
    const bool first = mail_.Change([&](Content& content) {
      change(content.mail);
      return !std::exchange(content.told, true);
    });
    if (first) Wake();
  }
  Mail Take();

  int descriptor() const { return event_.get(); }

 private:
  struct Content {
    Mail mail;
    bool told = false;
  };
  void Wake() const;

  Descriptor event_;
  Guarded<Content> mail_;
};

}  // namespace stepscope
