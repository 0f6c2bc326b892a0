#include "draft/answer_memory.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/testing.h"
#include "draft/answer_file.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<TokenId>;
constexpr std::int64_t kVocab = 100;
constexpr std::uint64_t kModel = 77;

TokenId NextAfter(AnswerMemory& memory, std::uint64_t owner, const Tokens& context) {
  const auto knowledge = memory.Of(owner);
  const auto match = knowledge->answers.Find(context);
  return match.next < 0 ? -1 : knowledge->answers.at(match.next);
}

TEST(AnswerMemory, OwnersDoNotSeeEachOther) {
  AnswerMemory memory(kVocab, kModel, "");
  memory.Remember(1, Tokens{5, 6, 7});
  EXPECT_EQ(NextAfter(memory, 1, {5, 6}), 7);
  EXPECT_EQ(NextAfter(memory, 2, {5, 6}), -1);
}

TEST(AnswerMemory, ForgetsTheOwnerThatWasQuietLongest) {
  AnswerMemory memory(kVocab, kModel, "");
  memory.Remember(1000, Tokens{5, 6, 7});
  const auto held = memory.Of(1000);
  for (std::uint64_t owner = 0; owner < AnswerMemory::kMostOwners; ++owner) {
    memory.Remember(owner, Tokens{1, 2, 3});
  }
  EXPECT_EQ(NextAfter(memory, 1, {1, 2}), 3);
  EXPECT_EQ(NextAfter(memory, 1000, {5, 6}), -1);
  EXPECT_EQ(held->answers.Find(Tokens{5, 6}).length, 2);  // whole as long as it is held
}

TEST(AnswerMemory, ComesBackAfterARestart) {
  const FileTree files("answer_memory");
  const std::string folder = files.root() + "deep/answers";
  {
    AnswerMemory memory(kVocab, kModel, folder);
    memory.Remember(1, Tokens{5, 6, 7});
    memory.Remember(1, Tokens{5, 6, 8});
    memory.Remember(2, Tokens{5, 6, 9});
    EXPECT_TRUE(memory.changed());
    memory.Save();
    EXPECT_FALSE(memory.changed());
  }
  AnswerMemory memory(kVocab, kModel, folder);
  EXPECT_EQ(NextAfter(memory, 1, {5, 6}), 8);
  EXPECT_EQ(NextAfter(memory, 2, {5, 6}), 9);
  EXPECT_EQ(memory.Of(1)->successors.Next(6).next, 8);
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(entry.status().permissions() & fs::perms::all,
              fs::perms::owner_read | fs::perms::owner_write);
  }
}

TEST(AnswerMemory, IsClearedOnDiskAndInTheHandsOfOthers) {
  const FileTree files("answer_memory_clear");
  AnswerMemory memory(kVocab, kModel, files.root());
  memory.Remember(1, Tokens{5, 6, 7});
  const auto held = memory.Of(1);
  memory.Save();
  EXPECT_FALSE(fs::is_empty(files.root()));
  memory.Clear();
  EXPECT_TRUE(fs::is_empty(files.root()));
  EXPECT_EQ(held->answers.size(), 0);
  EXPECT_EQ(NextAfter(memory, 1, {5, 6}), -1);
}

// Whatever a file says: it is used whole or removed.
TEST(AnswerMemory, RemovesDamagedFiles) {
  const FileTree files("answer_memory_damage");
  {
    AnswerMemory memory(kVocab, kModel, files.root());
    memory.Remember(1, Tokens{5, 6, 7, 8, 9});
  }
  const fs::path path = fs::directory_iterator(files.root())->path();
  std::string good;
  {
    std::ifstream file(path, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto removed = [&](const std::string& bytes, std::uint64_t model = kModel) {
    std::ofstream(path, std::ios::binary) << bytes;
    AnswerMemory memory(kVocab, model, files.root());
    EXPECT_EQ(NextAfter(memory, 1, {5, 6}), -1);
    return !fs::exists(path);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    EXPECT_TRUE(removed(bytes)) << "byte " << i;
    EXPECT_TRUE(removed(good.substr(0, i))) << "length " << i;
  }
  EXPECT_TRUE(removed(good + "x"));
  EXPECT_TRUE(removed(good, kModel + 1));
  std::ofstream(path, std::ios::binary) << good;
  AnswerMemory memory(kVocab, kModel, files.root());
  EXPECT_EQ(NextAfter(memory, 1, {5, 6}), 7);
}

TEST(AnswerFile, RefusesTokensThatTheModelDoesNotHave) {
  const FileTree files("answer_file");
  const std::string path = files.root() + "a";
  for (const TokenId token : {-2, 100}) {
    ASSERT_TRUE(WriteAnswerFile(path, kModel, Tokens{1, token}).has_value());
    EXPECT_EQ(ReadAnswerFile(path, kModel, kVocab, 10).error().kind, ErrorKind::kBadInput);
  }
  ASSERT_TRUE(WriteAnswerFile(path, kModel, Tokens{1, -1, 99}).has_value());
  EXPECT_EQ(*ReadAnswerFile(path, kModel, kVocab, 3), (Tokens{1, -1, 99}));
  EXPECT_EQ(ReadAnswerFile(path, kModel, kVocab, 2).error().kind, ErrorKind::kBadInput);
}

TEST(AnswerFile, SaysWhyItCannotBeWritten) {
  const auto written = WriteAnswerFile("/nowhere/at/all", kModel, Tokens{1});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind, ErrorKind::kIo);
}

// A server with a folder that cannot be written goes on without it.
TEST(AnswerMemory, WorksWithoutADisk) {
  const FileTree files("answer_memory_none");
  files.Write("taken", "");
  AnswerMemory memory(kVocab, kModel, files.root() + "taken");
  memory.Remember(1, Tokens{5, 6, 7});
  memory.Save();
  EXPECT_EQ(NextAfter(memory, 1, {5, 6}), 7);
  memory.Clear();
}

}  // namespace
}  // namespace vivace
