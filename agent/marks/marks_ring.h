#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/wire/mark.h"

namespace stepscope {

// The reading end of one mark ring, mapped from the descriptor that a training process passed. The
// process may write anything into it at any time: every position is checked on use, and the seal
// against shrinking makes the mapping safe to touch. Not for use by several threads at once.
class MarkRingReader {
 public:
  // Invalid when the descriptor is not a sealed memfd of the size that its header claims.
  static Result<MarkRingReader> Map(const Descriptor& memory);
  MarkRingReader(MarkRingReader&& other) noexcept;
  MarkRingReader& operator=(MarkRingReader&&) = delete;
  ~MarkRingReader();

  // Passes on all marks that are complete, oldest first, at most one ring full of them, and gives
  // their slots back to the writer.
  void Read(const std::function<void(const Mark&)>& take);

  // Sets the control word: the process reads its socket at the end of its step.
  void Call();

  // Wall clock minus CLOCK_MONOTONIC, as the writer wrote it when it made the ring, or connected to
  // the agent.
  Duration clock_base() const;
  // The number of marks that the writer dropped because the ring was full, or overwrote unread.
  std::uint64_t dropped() const;
  // Whether another agent has read from this ring before.
  bool continued() const { return continued_; }
  std::size_t bytes() const { return RingBytes(head_.slots); }

 private:
  MarkRingReader(std::uint64_t* words, RingHead head);
  MarkSlot CopySlot(std::uint64_t position) const;

  std::uint64_t* words_ = nullptr;
  RingHead head_;
  std::uint64_t next_ = 0;  // our own: the ring's read position is for the writer only
  std::uint64_t overrun_ = 0;
  bool continued_ = false;
};

}  // namespace stepscope
