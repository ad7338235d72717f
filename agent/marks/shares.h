#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepscope {

// Who has how much of something of which all users together may have `most`. The agent's own user
// may have what the others have left, and an eighth of it is kept for that user. Another user may
// have half of what the rest has left, so that no few users can take it all.
class Shares {
 public:
  Shares(std::size_t most, std::uint32_t own_user) : most_(most), own_user_(own_user) {}

  void Add(std::uint32_t user, std::size_t amount);
  // Starts anew, in the memory that it has.
  void Clear() { amounts_.clear(); }

  std::size_t all() const;
  std::size_t Of(std::uint32_t user) const;
  // The most that this user may have.
  std::size_t Most(std::uint32_t user) const;
  // Whether the user may have this much more.
  bool HasRoom(std::uint32_t user, std::size_t more) const { return Of(user) + more <= Most(user); }
  // How much more the user may have.
  std::size_t Room(std::uint32_t user) const;

 private:
  std::size_t most_;
  std::uint32_t own_user_;
  struct Amount {
    std::uint32_t user;
    std::size_t amount;
  };
  std::vector<Amount> amounts_;
};

}  // namespace stepscope
