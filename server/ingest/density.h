#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// Whether ticks could be kept if they went on like this: 600 s of a metric have to fit into its
// block (kBlockLimits), since what is acknowledged must not be dropped later. Some close ticks say
// nothing; a 2,048th of a block that comes in less than a 2,048th of its time does. Whatever
// passes, passes in pieces, too. Borrows the times, which may be in any order.
class Density {
 public:
  explicit Density(const std::vector<std::int64_t>& at_us) : at_us_(at_us) {}

  // A device of a metric, and at which of the times it has a value; empty: at all.
  void Add(std::string_view metric, const std::vector<std::uint8_t>& present);

  struct Fault {
    std::string metric;  // "": whatever they are of, so many instants are too many
    std::string detail;
  };
  std::optional<Fault> Find() const;

 private:
  struct Rows {
    std::size_t devices = 0;
    std::vector<std::uint8_t> some;  // where one of them has a value
  };
  const std::vector<std::int64_t>& at_us_;
  std::map<std::string, Rows, std::less<>> metrics_;
};

// Whether ascending times are so far apart that so many columns fit in any case: nearly always.
bool AreFarApart(const std::vector<std::int64_t>& at_us, std::size_t columns);

}  // namespace stepscope
