#include "server/postgres/storage.h"

#include <filesystem>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kLeastFreeShare = 0.1;
constexpr double kLeastFreeBytes = 2 * kGiB;
constexpr double kNearlyFullBytes = kGiB / 2;

}  // namespace

bool Storage::low() const {
  return free_bytes < kLeastFreeBytes && free_bytes < kLeastFreeShare * all_bytes;
}

bool Storage::nearly_full() const {
  return low() && free_bytes < kNearlyFullBytes;
}

std::string Storage::text() const {
  return Format("{:.1f} GiB free of {:.1f} GiB", free_bytes / kGiB, all_bytes / kGiB);
}

Result<Storage> LookAtStorage(const std::string& folder) {
  std::error_code fault;
  const std::filesystem::space_info space = std::filesystem::space(folder, fault);
  if (fault) return Unavailable("the data folder cannot be looked at: " + fault.message());
  return Storage{double(space.available), double(space.capacity)};
}

}  // namespace stepscope
