#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace stepscope {

// How many streams share the memory that the frames of an agent may take. Any thread may use it.
class StreamCount {
 public:
  std::size_t streams() const { return std::max<std::size_t>(streams_, 1); }

  // Counts one stream while it exists; without a count the stream has all memory for itself.
  class Member {
   public:
    explicit Member(StreamCount* count) : count_(count) {
      if (count_ != nullptr) ++count_->streams_;
    }
    ~Member() {
      if (count_ != nullptr) --count_->streams_;
    }
    Member(const Member&) = delete;

    std::size_t streams() const { return count_ == nullptr ? 1 : count_->streams(); }

   private:
    StreamCount* const count_;
  };

 private:
  std::atomic<std::size_t> streams_ = 0;
};

}  // namespace stepscope
