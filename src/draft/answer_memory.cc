#include "draft/answer_memory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "draft/answer_file.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".answers";

}  // namespace

AnswerMemory::AnswerMemory(std::int64_t vocab_size, std::uint64_t model, std::string folder)
    : vocab_size_(vocab_size), model_(model), folder_(std::move(folder)) {}

std::string AnswerMemory::PathOf(std::uint64_t id) const {
  return fmt::format("{}/{:016x}{}", folder_, id, kSuffix);
}

AnswerMemory::Owner& AnswerMemory::Find(std::uint64_t id) {
  const auto found = std::ranges::find(owners_, id, &Owner::id);
  if (found != owners_.end()) {
    owners_.splice(owners_.begin(), owners_, found);
    return owners_.front();
  }
  if (owners_.size() == kMostOwners) {
    SaveOne(owners_.back());
    owners_.pop_back();
  }
  owners_.push_front({.id = id, .knowledge = std::make_shared<DraftKnowledge>(vocab_size_)});
  Load(owners_.front());
  return owners_.front();
}

std::shared_ptr<DraftKnowledge> AnswerMemory::Of(std::uint64_t owner) {
  return Find(owner).knowledge;
}

void AnswerMemory::Remember(std::uint64_t owner, std::span<const TokenId> answer) {
  if (answer.empty()) return;
  Owner& found = Find(owner);
  found.knowledge->Remember(answer);
  found.changed = true;
}

bool AnswerMemory::changed() const {
  return !folder_.empty() && std::ranges::any_of(owners_, &Owner::changed);
}

void AnswerMemory::Load(const Owner& owner) const {
  if (folder_.empty()) return;
  const std::string path = PathOf(owner.id);
  const auto tokens = ReadAnswerFile(path, model_, vocab_size_, DraftKnowledge::kAnswerTokens);
  if (tokens) {
    owner.knowledge->Restore(*tokens);
  } else if (tokens.error().kind == ErrorKind::kBadInput) {
    std::error_code error;
    fs::remove(path, error);
  }
}

void AnswerMemory::SaveOne(Owner& owner) const {
  if (folder_.empty() || !std::exchange(owner.changed, false)) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  // Without it the next start knows less, no more.
  static_cast<void>(WriteAnswerFile(PathOf(owner.id), model_, owner.knowledge->Answers()));
}

void AnswerMemory::Save() {
  for (Owner& owner : owners_) SaveOne(owner);
}

void AnswerMemory::Clear() {
  // Running sequences hold on to theirs: what they hold is emptied, too.
  for (Owner& owner : owners_) owner.knowledge->Clear();
  owners_.clear();
  if (folder_.empty()) return;
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().filename().string().find(kSuffix) != std::string::npos) {
      files.push_back(entry.path());
    }
  }
  for (const fs::path& file : files) fs::remove(file, error);
}

}  // namespace vivace
