#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// Whether ticks have room in blocks, also when they go on like this: 600 s of a metric have to fit
// into its block (kBlockLimits), since what is acknowledged must not be dropped later. Asked is
// for each metric and window of 600 s
// - how many instants there are, of all devices together;
// - how many came of one device from one of its values to any that is a second later or more;
// - how many came of all devices from one to any that is ten seconds later or more.
// So a burst that is over within a second says nothing of what goes on, nor do devices that have
// each an instant of their own. Whatever passes, passes in pieces, too: of the rows or the devices.
// Borrows the times, which may be in any order and stand twice.
class BlockCapacity {
 public:
  explicit BlockCapacity(const std::vector<std::int64_t>& at_us);

  // A device of a metric, and at which of the times it has a value; empty: at all.
  void Add(std::string_view metric, const std::vector<std::uint8_t>& present);

  struct Fault {
    std::string metric;  // "": whatever they are of, so many instants are too many
    std::string detail;
  };
  std::optional<Fault> Find() const;

 private:
  struct Rows {
    std::int64_t devices = 0;
    std::string some;                   // a byte for each time, where one of them has a value
    std::set<std::string> of_a_device;  // the same; most devices have theirs together
  };
  std::vector<std::int64_t> TimesOf(std::string_view some) const;

  const std::vector<std::int64_t>& at_us_;
  std::vector<std::size_t> order_;  // of the times
  std::map<std::string, Rows, std::less<>> metrics_;
};

// Whether ascending times are so far apart that so many columns fit in any case: nearly always.
bool AreFarApart(const std::vector<std::int64_t>& at_us, std::size_t columns);

}  // namespace stepscope
