#include "agent/app/job/job_naming.h"

#include <grp.h>
#include <pwd.h>

#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "agent/launch/process_start.h"
#include "core/base/detached_thread.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kThreadsOfUser = 4;
constexpr int kMostThreads = 32;
constexpr std::size_t kMostAccounts = 1024;
constexpr std::size_t kMostAnswers = 1024;

using Ids = std::pair<std::uint32_t, std::uint32_t>;  // user and group

// May wait for a directory of users.
Account ReadAccount(const Ids& ids) {
  Account account{.uid = ids.first};
  std::array<char, 16'384> text{};
  passwd user{}, *found_user = nullptr;
  group group{}, *found_group = nullptr;
  if (getpwuid_r(ids.first, &user, text.data(), text.size(), &found_user) == 0 && found_user) {
    account.user = found_user->pw_name;
  }
  if (getgrgid_r(ids.second, &group, text.data(), text.size(), &found_group) == 0 && found_group) {
    account.group = found_group->gr_name;
  }
  return account;
}

// One question about a process.
using Question = std::tuple<std::int64_t, std::uint32_t, std::uint32_t, std::string>;

}  // namespace

struct JobNaming::Known {
  struct State {
    std::map<Ids, Account> accounts;
    std::map<Question, std::optional<Result<std::string>>> answers;  // none: being found out
    std::map<std::uint32_t, int> threads;                            // by user
    int all_threads = 0;
  };
  const std::string root;
  const NamePatterns allowed;
  Guarded<State> state{};

  // Runs `work` on a thread of its own, unless the user has enough of them.
  bool Start(std::uint32_t user, const std::shared_ptr<Known>& self, std::function<void()> work) {
    const bool room = state.Change([user](State& all) {
      if (all.all_threads >= kMostThreads || all.threads[user] >= kThreadsOfUser) return false;
      ++all.all_threads;
      ++all.threads[user];
      return true;
    });
    if (!room) return false;
    const auto end = [user](State& all) {
      --all.all_threads;
      if (--all.threads[user] == 0) all.threads.erase(user);
    };
    const bool started = StartDetachedThread("names", [self, work = std::move(work), end] {
      work();
      self->state.Change(end);
    });
    if (!started) state.Change(end);
    return started;
  }

  Account LearnAccount(const Ids& ids) {
    const auto known = state.Read([&](const State& all) {
      const auto found = all.accounts.find(ids);
      return found == all.accounts.end() ? std::nullopt : std::optional(found->second);
    });
    if (known) return *known;
    Account account = ReadAccount(ids);
    state.Change([&](State& all) {
      if (all.accounts.size() >= kMostAccounts) all.accounts.clear();
      all.accounts[ids] = account;
    });
    return account;
  }
};

JobNaming::JobNaming(std::string root, NamePatterns allowed)
    : known_(new Known{.root = std::move(root), .allowed = std::move(allowed)}) {}

Result<std::string> JobNaming::Find(Known& known, const std::string& said,
                                    const MarkCaller& caller) {
  const ProcessStart start =
      said.empty() ? ReadProcessStart(known.root, caller.pid) : ProcessStart();
  const auto names = NamesOfProcess(said, start.environment);
  if (!names) return names.error();
  if (known.allowed.AllowEvery()) return names->job;
  const Account account = known.LearnAccount({caller.user, caller.group});
  if (Status allowed = known.allowed.Check(names->job, account); !allowed) return allowed.error();
  return names->job;
}

std::optional<Account> JobNaming::AccountOf(const MarkCaller& caller) const {
  if (known_->allowed.AllowEvery()) return Account{.uid = caller.user};
  return known_->state.Read([&](const Known::State& all) {
    const auto found = all.accounts.find({caller.user, caller.group});
    return found == all.accounts.end() ? std::nullopt : std::optional(found->second);
  });
}

std::optional<Result<std::string>> JobNaming::NameOf(const MarkHello& hello,
                                                     const MarkCaller& caller) const {
  if (!hello.job.empty() && AccountOf(caller)) return Find(*known_, hello.job, caller);
  const Question question{caller.pid, caller.user, caller.group, hello.job};
  std::optional<Result<std::string>> answer;
  const bool asked = known_->state.Change([&](Known::State& all) {
    const auto found = all.answers.find(question);
    if (found == all.answers.end()) return false;
    answer = found->second;
    if (answer) all.answers.erase(found);
    return true;
  });
  if (asked) return answer;
  known_->Start(caller.user, known_, [known = known_, question, caller, said = hello.job] {
    known->state.Change([&](Known::State& all) {
      // Answers that nobody came back for.
      if (all.answers.size() >= kMostAnswers) {
        std::erase_if(all.answers, [](const auto& each) { return each.second.has_value(); });
      }
      all.answers.try_emplace(question);
    });
    Result<std::string> found = Find(*known, said, caller);
    known->state.Change([&](Known::State& all) { all.answers[question] = std::move(found); });
  });
  return std::nullopt;
}

std::optional<Status> JobNaming::MayName(const std::string& job, const MarkCaller& caller) const {
  if (const auto account = AccountOf(caller)) return known_->allowed.Check(job, *account);
  known_->Start(caller.user, known_, [known = known_, caller] {
    known->LearnAccount({caller.user, caller.group});
  });
  return std::nullopt;
}

}  // namespace stepscope
