#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "gtest/gtest.h"
#include "hub/catalogue.h"
#include "hub/home.h"
#include "hub/sha256.h"
#include "hub/store.h"

namespace vivace {
namespace {

const PullEvents kQuiet = {.say = [](const std::string&) {},
                           .progress = [](std::uint64_t, std::uint64_t) {}};

// A home folder of its own, and files to be downloaded from it.
class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = testing::TempDir() + "store_" + test->name();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    setenv("VIVACE_HOME", (root_ + "/home").c_str(), 1);
  }
  CatalogueEntry Entry(const std::string& content, const std::string& sha256) {
    const std::string path = root_ + "/source.bin";
    std::ofstream(path) << content;
    return {.name = "tiny",
            .quant = "q8_0",
            .file = "tiny.gguf",
            .size = content.size(),
            .sha256 = sha256,
            .sources = {{.label = "disk", .url = "file://" + path, .parts = {}}}};
  }

  std::string root_;
  // echo -n abc | sha256sum
  const std::string abc_ = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
};

TEST(CatalogueTest, NamesAreUniqueAndTheDefaultsExist) {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_TRUE(names.insert(entry.full_name()).second) << entry.full_name();
    EXPECT_FALSE(entry.sources.empty());
    EXPECT_TRUE(entry.file.ends_with(".gguf"));
  }
  EXPECT_EQ(FindInCatalogue(kDefaultModel)->full_name(), "qwen2.5-0.5b-instruct:q4_k_m");
  EXPECT_EQ(FindInCatalogue(kFallbackModel)->sha256.size(), 64U);
}

TEST(CatalogueTest, FindsNamesInAnyCaseAndExplainsOthers) {
  EXPECT_EQ(FindInCatalogue("SmolLM2-135M-Instruct:Q4_1")->quant, "q4_1");
  EXPECT_NE(FindInCatalogue("smollm2-135m-instruct:q9").error().message.find("allowed is q4_1"),
            std::string::npos);
  EXPECT_NE(FindInCatalogue("gpt-9").error().message.find("smollm2-135m-instruct"),
            std::string::npos);
}

TEST(CatalogueTest, RepositoriesCannotLeaveTheFolder) {
  EXPECT_EQ(EntryOfRepository("hf:org/repo/file.gguf")->file, "file.gguf");
  for (const char* text : {"hf:org/repo", "hf:org/repo/../../x.gguf", "hf:../repo/x.gguf",
                           "hf:org/repo/.gguf", "hf:org/repo/a b.gguf", "hf:org/repo/x.bin"}) {
    EXPECT_FALSE(EntryOfRepository(text).has_value()) << text;
  }
}

TEST_F(StoreTest, Sha256MatchesTheStandard) {
  std::ofstream(root_ + "/abc") << "abc";
  EXPECT_EQ(*Sha256OfFile(root_ + "/abc"), abc_);
}

TEST_F(StoreTest, PullsListsAndRemoves) {
  const CatalogueEntry entry = Entry("abc", abc_);
  const auto path = Pull(entry, kQuiet);
  ASSERT_TRUE(path.has_value()) << path.error().message;
  EXPECT_EQ(*path, root_ + "/home/models/tiny.gguf");
  EXPECT_EQ(ListModels().size(), 1U);
  EXPECT_EQ(ListModels()[0].name, "tiny:q8_0");
  EXPECT_EQ(ListModels()[0].sha256, abc_);
  ASSERT_TRUE(RemoveModel(entry).has_value());
  EXPECT_TRUE(ListModels().empty());
  EXPECT_EQ(RemoveModel(entry).error().kind, ErrorKind::kNotFound);
}

TEST_F(StoreTest, AWrongHashNeverBecomesAModel) {
  const CatalogueEntry entry = Entry("abd", abc_);
  const auto path = Pull(entry, kQuiet);
  ASSERT_FALSE(path.has_value());
  EXPECT_NE(path.error().message.find("expected " + abc_), std::string::npos);
  EXPECT_FALSE(IsLocal(entry));
  EXPECT_TRUE(ListModels().empty());
}

TEST_F(StoreTest, APartialDownloadIsContinued) {
  const CatalogueEntry entry = Entry("abc", abc_);
  std::filesystem::create_directories(ModelsFolder());
  std::ofstream(PathOf(entry) + ".part") << "ab";
  EXPECT_TRUE(Pull(entry, kQuiet).has_value());
}

TEST_F(StoreTest, ACorruptPartialIsThrownAwayThenFetchedAnew) {
  const CatalogueEntry entry = Entry("abc", abc_);
  std::filesystem::create_directories(ModelsFolder());
  std::ofstream(PathOf(entry) + ".part") << "xx";
  EXPECT_FALSE(Pull(entry, kQuiet).has_value());
  EXPECT_TRUE(Pull(entry, kQuiet).has_value());
}

TEST_F(StoreTest, TheNextSourceIsTriedWhenOneFails) {
  CatalogueEntry entry = Entry("abc", abc_);
  entry.sources.insert(entry.sources.begin(),
                       {.label = "gone", .url = "file://" + root_ + "/gone", .parts = {}});
  EXPECT_TRUE(Pull(entry, kQuiet).has_value());
}

TEST_F(StoreTest, MoreThanTheDiskHoldsIsRefusedAtOnce) {
  CatalogueEntry entry = Entry("abc", abc_);
  entry.size = std::uint64_t{1} << 60;
  EXPECT_EQ(Pull(entry, kQuiet).error().kind, ErrorKind::kExhausted);
}

}  // namespace
}  // namespace vivace
