#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/wire/mark.h"

namespace stepscope {

// Whether a ring may lie in a file system of this kind (statfs): touching a hole in huge pages can
// end the agent. Invalid for any but tmpfs with pages of the machine's size.
Status CheckRingMemory(std::int64_t kind, std::int64_t block_bytes);

// The reading end of one mark ring, in the memory that a training process passed. The process may
// write anything into it at any time: every position is checked on use, and the seal against
// shrinking makes the header, which is mapped, safe to touch. Slots are read as a file: a hole in
// it takes no memory then. Not for use by several threads at once.
class MarkRingReader {
 public:
  // Takes the descriptor over when it is a ring. Invalid when it is not a sealed memfd of the size
  // that its header claims.
  static Result<MarkRingReader> Map(Descriptor& memory);
  MarkRingReader(MarkRingReader&& other) noexcept;
  MarkRingReader& operator=(MarkRingReader&&) = delete;
  ~MarkRingReader();

  // Passes on the marks that are complete, oldest first, at most one ring full of them and at most
  // `most`, and gives their slots back to the writer. Returns how many.
  std::size_t Read(const std::function<void(const Mark&)>& take, std::size_t most);

  // Gives up the marks that were not read, which count as dropped.
  void Skip();

  // Sets the control word: the process reads its socket at the end of its step.
  void Call();

  // Wall clock minus CLOCK_MONOTONIC, as the writer wrote it when it made the ring, or connected to
  // the agent.
  Duration clock_base() const;
  // The number of marks that the writer dropped because the ring was full, or overwrote unread, and
  // of those that were given up.
  std::uint64_t dropped() const;
  // Whether another agent has read from this ring before.
  bool continued() const { return continued_; }
  std::size_t bytes() const { return RingBytes(head_.slots); }

 private:
  MarkRingReader(std::uint64_t* words, RingHead head, Descriptor memory);
  // The marks that wait, at most a ring full.
  std::uint64_t Waiting();
  void GiveBack();

  Descriptor memory_;
  std::uint64_t* words_ = nullptr;  // the header
  RingHead head_;
  std::uint64_t next_ = 0;  // our own: the ring's read position is for the writer only
  std::uint64_t overrun_ = 0;
  bool continued_ = false;
};

}  // namespace stepscope
