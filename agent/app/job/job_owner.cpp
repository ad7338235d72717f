#include "agent/app/job/job_owner.h"

#include <pwd.h>

#include <array>

#include "core/base/detached_thread.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kOwnerPatience = 50ms;

// "" where the machine does not know the user.
std::string NameOfUser(std::uint32_t uid) {
  std::array<char, 16'384> text{};
  passwd user{}, *found = nullptr;
  if (getpwuid_r(uid, &user, text.data(), text.size(), &found) != 0 || found == nullptr) return "";
  return Printable(user.pw_name, 63);
}

}  // namespace

JobOwner::JobOwner(std::uint32_t uid)
    : uid_(uid), known_(std::make_shared<Guarded<std::optional<std::string>>>()) {
  StartDetachedThread("owner", [uid, known = known_] {
    std::string name = NameOfUser(uid);
    known->Change([&](auto& state) { state = std::move(name); });
  });
  // Mostly it is a file, and the start of the job need not be told twice.
  known_->Wait({}, kOwnerPatience, [](const auto& state) { return state.has_value(); });
}

void JobOwner::Learn(const Environment& environment) {
  if (slurm_user_.empty()) slurm_user_ = Printable(environment("SLURM_JOB_USER"), 63);
  if (account_.empty()) account_ = Printable(environment("SLURM_JOB_ACCOUNT"), 63);
}

std::string JobOwner::User() const {
  const auto name = known_->Read([](const auto& state) { return state; });
  if (name && !name->empty()) return *name;
  return slurm_user_.empty() ? Format("uid {}", uid_) : slurm_user_;
}

}  // namespace stepscope
