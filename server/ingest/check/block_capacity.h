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
// into its block (kBlockLimits), since what is acknowledged must not be dropped later. Three
// numbers are compared with the room, for each metric and window of 600 s:
// - the instants of all devices together;
// - the rate of one device, between any two of its values a second or more apart;
// - the rate of all devices together, between any two instants ten seconds or more apart.
// So a burst that is over within a second is no rate, nor are devices that have each an instant of
// their own. Ticks that pass do so in pieces, too: of the rows or the devices. Borrows the times,
// which may be in any order and come twice.
class BlockCapacity {
 public:
  explicit BlockCapacity(const std::vector<std::int64_t>& at_us);

  // A device of a metric, and at which of the times it has a value; empty: at all of them.
  void Add(std::string_view metric, const std::vector<std::uint8_t>& present);

  struct Fault {
    std::string metric;  // "": the instants are too many for any metric
    std::string detail;
  };
  std::optional<Fault> Find() const;

 private:
  struct Rows {
    std::int64_t devices = 0;
    std::string some;  // a byte for each time: whether any device has a value
    std::set<std::string>
        of_a_device;  // such bytes of each device; most devices have theirs together
  };
  std::vector<std::int64_t> TimesOf(std::string_view some) const;

  const std::vector<std::int64_t>& at_us_;
  std::vector<std::size_t> order_;  // ascending by time
  std::map<std::string, Rows, std::less<>> metrics_;
};

// Whether ascending times are so far apart that this number of columns fits in any case, as nearly
// always.
bool AreFarApart(const std::vector<std::int64_t>& at_us, std::size_t columns);

}  // namespace stepscope
