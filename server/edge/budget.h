#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stepscope {

// A number of bytes of memory that many share. Safe from any thread.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t most) : most_(most) {}

  std::size_t used() const { return used_; }

  // A part of the budget, given back when destroyed.
  class Hold {
   public:
    Hold() = default;
    explicit Hold(ByteBudget& budget) : budget_(&budget) {}
    Hold(Hold&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Hold() { Set(0); }

    // Grows or shrinks; says whether all parts together are still within the budget.
    bool Set(std::size_t bytes) {
      if (!budget_) return true;
      const std::size_t used = budget_->used_ += bytes - bytes_;  // wraps when it shrinks
      const bool grew = bytes > std::exchange(bytes_, bytes);
      return !grew || used <= budget_->most_;
    }

   private:
    ByteBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

 private:
  const std::size_t most_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace stepscope
