#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agent/spool/files.h"

namespace stepscope::test {

// A file system in memory that forgets unsynced bytes, tears and reorders writes in sectors of 512
// bytes, can become full, and fails when the test asks for it. Not for several threads.
class ModelFiles : public Files {
 public:
  explicit ModelFiles(unsigned seed = 1) : dice_(seed) {}

  // The n-th call from now fails with this code, and does a part of its work or none.
  void FailAt(std::uint64_t call, Code code) { fail_at_ = calls_ + call, fail_code_ = code; }
  void FailNothing() { fail_at_ = 0; }
  std::uint64_t calls() const { return calls_; }
  bool failed() const { return fail_at_ != 0 && calls_ >= fail_at_; }
  void SetRoom(std::uint64_t bytes) { room_ = bytes; }

  // The process ends; the machine goes on.
  void Kill() { locked_.clear(); }

  void LosePower() {
    Kill();
    std::map<std::string, Entry> left;
    // Ordered by age, since folders have random names, so that the same random numbers do the same.
    std::map<std::pair<std::size_t, std::string>, std::string> paths;
    for (const auto* each : {&entries_, &durable_}) {
      for (const auto& [path, entry] : *each) paths[AgeOf(path)] = path;
    }
    for (const auto& [age, path] : paths) {
      const auto& from = dice_() % 2 == 0 ? entries_ : durable_;
      if (const auto found = from.find(path); found != from.end()) left.insert(*found);
      // An entry that is synced and still there cannot be lost.
      const auto both = durable_.find(path);
      if (both != durable_.end() && entries_.contains(path)) left.insert(*both);
    }
    std::erase_if(left, [&](const auto& each) { return !left.contains(FolderOf(each.first)); });
    for (auto& [path, entry] : left) {
      if (entry) entry = std::make_shared<Inode>(Torn(*entry));
    }
    entries_ = durable_ = std::move(left);
  }

  // All paths, for tests that damage files.
  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : entries_) {
      if (entry) paths.push_back(path);
    }
    return paths;
  }
  std::string& Content(const std::string& path) { return entries_.at(path)->content; }
  std::uint64_t used() const {
    std::uint64_t bytes = 0;
    for (const auto& [path, entry] : entries_) bytes += entry ? entry->content.size() : 0;
    return bytes;
  }

  Result<std::vector<FileEntry>> List(const std::string& folder) override {
    if (auto error = Fault()) return *error;
    if (!IsFolder(folder)) return NotFound(folder);
    std::vector<FileEntry> list;
    for (const auto& [path, entry] : entries_) {
      if (path.empty() || FolderOf(path) != folder) continue;
      const std::string name = folder.empty() ? path : path.substr(folder.size() + 1);
      list.push_back(
          {name, entry == nullptr, entry ? entry->content.size() : 0, entry ? entry->changed : 0});
    }
    std::ranges::sort(list, {}, [&](const FileEntry& entry) { return AgeOf(entry.name); });
    return list;
  }
  Status MakeFolder(const std::string& path) override {
    if (auto error = Fault()) return *error;
    if (entries_.contains(path)) return Conflict(path);
    entries_[path] = nullptr;
    folders_.push_back(path);
    return {};
  }
  Status RemoveFolder(const std::string& path) override {
    if (auto error = Fault()) return *error;
    if (!IsFolder(path)) return NotFound(path);
    for (const auto& [each, entry] : entries_) {
      if (!each.empty() && FolderOf(each) == path) return Internal("not empty");
    }
    entries_.erase(path);
    return {};
  }
  Status SyncFolder(const std::string& path) override {
    if (auto error = Fault()) return *error;
    if (!IsFolder(path)) return NotFound(path);
    const auto within = [&](const auto& each) {
      return !each.first.empty() && FolderOf(each.first) == path;
    };
    std::erase_if(durable_, within);
    for (const auto& each : entries_) {
      if (within(each)) durable_.insert(each);
    }
    return {};
  }
  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override {
    if (auto error = Fault()) return *error;
    if (!IsFolder(path)) return NotFound(path);
    auto [place, fresh] = locked_.try_emplace(path);
    if (place->second.lock()) return Conflict(path);
    auto held = std::make_shared<int>(0);
    place->second = held;
    return std::unique_ptr<FolderLock>(std::make_unique<ModelLock>(std::move(held)));
  }
  Result<std::unique_ptr<AppendedFile>> Create(const std::string& path,
                                               std::uint64_t reserved) override {
    if (auto error = Fault()) return *error;
    if (!IsFolder(FolderOf(path))) return NotFound(path);
    if (entries_.contains(path)) return Conflict(path);
    if (used() + reserved > room_) return Unavailable("no space");
    auto inode = std::make_shared<Inode>();
    inode->changed = ++ticks_;
    entries_[path] = inode;
    return std::unique_ptr<AppendedFile>(std::make_unique<ModelFile>(*this, std::move(inode)));
  }
  Status WriteAt(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    if (auto error = Fault()) return *error;
    if (!IsFolder(FolderOf(path))) return NotFound(path);
    Entry& entry = entries_[path];
    if (!entry) entry = std::make_shared<Inode>();
    std::string& content = entry->content;
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    content.replace(offset, bytes.size(), bytes);
    return {};
  }
  Result<std::string> Read(const std::string& path, std::uint64_t offset,
                           std::size_t bytes) override {
    if (auto error = Fault()) return *error;
    const auto found = entries_.find(path);
    if (found == entries_.end() || !found->second) return NotFound(path);
    const std::string& content = found->second->content;
    return offset >= content.size() ? std::string() : content.substr(offset, bytes);
  }
  Status Remove(const std::string& path) override {
    if (auto error = Fault()) return *error;
    return entries_.erase(path) == 1 ? Status() : Status(NotFound(path));
  }

 private:
  struct Inode {
    std::string content, durable;
    std::int64_t changed = 0;
    bool stuck = false;  // a sync failed: written bytes are forgotten, without an error
  };
  using Entry = std::shared_ptr<Inode>;  // null: a folder

  struct ModelLock : FolderLock {
    explicit ModelLock(std::shared_ptr<int> held) : held_(std::move(held)) {}
    std::shared_ptr<int> held_;
  };

  class ModelFile : public AppendedFile {
   public:
    ModelFile(ModelFiles& files, Entry inode) : files_(files), inode_(std::move(inode)) {}
    Status Append(std::string_view bytes) override {
      auto error = files_.Fault();
      const std::uint64_t left = files_.room_ - std::min(files_.room_, files_.used());
      if (!error && bytes.size() > left) error = Unavailable("no space");
      if (error) bytes = bytes.substr(0, std::min(left, files_.dice_() % (bytes.size() + 1)));
      inode_->content += bytes;
      inode_->changed = ++files_.ticks_;
      return error ? Status(*error) : Status();
    }
    Status Sync() override {
      if (auto error = files_.Fault()) return inode_->stuck = true, Status(*error);
      if (!inode_->stuck) inode_->durable = inode_->content;
      return {};
    }

   private:
    ModelFiles& files_;
    const Entry inode_;
  };

  static std::string FolderOf(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == path.npos ? "" : path.substr(0, slash);
  }
  // The age of a path: the time its folder was made first, and its name in there.
  std::pair<std::size_t, std::string> AgeOf(const std::string& path) const {
    const std::size_t slash = path.find('/');
    const auto folder = std::ranges::find(folders_, path.substr(0, slash));
    const std::string name = slash == path.npos ? "" : path.substr(slash);
    return {static_cast<std::size_t>(folder - folders_.begin()),
            folder == folders_.end() ? path : name};
  }
  bool IsFolder(const std::string& path) const {
    const auto found = entries_.find(path);
    return found != entries_.end() && found->second == nullptr;
  }
  std::optional<Error> Fault() {
    if (++calls_ != fail_at_) return std::nullopt;
    return Error{fail_code_, "made to fail"};
  }

  // Each sector is old or new, and the file has a random part of its new length.
  Inode Torn(const Inode& whole) {
    constexpr std::size_t kSector = 512;
    Inode torn = whole;
    const std::size_t old = whole.durable.size(), now = whole.content.size();
    const std::size_t size = now <= old ? now : old + dice_() % (now - old + 1);
    torn.content = whole.content.substr(0, size);
    for (std::size_t at = 0; at < size; at += kSector) {
      if (dice_() % 2 == 0) continue;
      for (std::size_t i = at; i < std::min(size, at + kSector); ++i) {
        torn.content[i] = i < old ? whole.durable[i] : '\0';
      }
    }
    torn.durable = torn.content;
    torn.stuck = false;
    return torn;
  }

  std::mt19937_64 dice_;
  std::uint64_t calls_ = 0, fail_at_ = 0;
  Code fail_code_ = Code::kInternal;
  std::uint64_t room_ = UINT64_MAX;
  std::int64_t ticks_ = 0;
  std::vector<std::string> folders_;
  std::map<std::string, Entry> entries_{{"", nullptr}}, durable_{{"", nullptr}};
  std::map<std::string, std::weak_ptr<int>> locked_;
};

}  // namespace stepscope::test
