#include "server/edge/mailbox.h"

#include <sys/eventfd.h>

#include "core/base/log.h"

namespace stepscope {

Mailbox::Mailbox() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!event_) LogError("no eventfd: out of descriptors");
}

void Mailbox::Wake() const {
  eventfd_write(event_.get(), 1);
}

Mail Mailbox::Take() {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
  return mail_.Change([](Content& content) {
    content.told = false;
    return std::exchange(content.mail, {});
  });
}

}  // namespace stepscope
