#include "hub/resolve.h"

#include "hub/home.h"
#include "hub/testing.h"

namespace vivace {
namespace {

class ResolveTest : public HubTest {
 protected:
  // The default's only source is `preferred_url`; the fallback can be had.
  void UseCatalogue(const std::string& preferred_url) const {
    tree_.Write("source.bin", "abc");
    const auto entry = [](std::string_view name, const std::string& file, const std::string& url) {
      return R"({"name": ")" + std::string(name) + R"(", "quant": "q4_k_m", "file": ")" + file +
             R"(", "sources": [{"label": "test", "url": ")" + url + R"("}]})";
    };
    tree_.Write("models.json", "[" + entry(kDefaultModel, "preferred.gguf", preferred_url) + ", " +
                                   entry(kFallbackModel, "fallback.gguf", Url("source.bin")) + "]");
    setenv("VIVACE_CATALOGUE", (tree_.root() + "models.json").c_str(), 1);
  }
  Result<ResolvedModel> ResolveText(const std::string& text) { return Resolve(text, Events()); }
};

TEST_F(ResolveTest, APathIsTakenAsItIs) {
  tree_.Write("some model.gguf", "x");
  const auto model = ResolveText(tree_.root() + "some model.gguf");
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->path, tree_.root() + "some model.gguf");
  EXPECT_EQ(model->name, "some model.gguf");
}

TEST_F(ResolveTest, WhatIsNoFileIsSaid) {
  EXPECT_NE(ResolveText(tree_.root() + "x.gguf").error().message.find("no such file"),
            std::string::npos);
  EXPECT_NE(ResolveText(tree_.root()).error().message.find("is a folder"), std::string::npos);
  EXPECT_EQ(ResolveText("../x.gguf").error().kind, ErrorKind::kNotFound);
}

TEST_F(ResolveTest, AFileOfTheModelsFolderNeedsNoPath) {
  tree_.Write("home/models/mine.gguf", "x");
  EXPECT_EQ(ResolveText("mine.gguf")->path, ModelsFolder() + "/mine.gguf");
  EXPECT_EQ(ResolveLocal("mine.gguf")->path, ModelsFolder() + "/mine.gguf");
}

TEST_F(ResolveTest, LocalOnlyNeverFetches) {
  UseCatalogue(Url("source.bin"));
  const auto model = ResolveLocal(std::string(kDefaultModel));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(
      model.error().message,
      "qwen2.5-0.5b-instruct:q4_k_m is not here yet: vivace pull qwen2.5-0.5b-instruct:q4_k_m");
  ASSERT_TRUE(ResolveText(std::string(kDefaultModel)).has_value());
  EXPECT_TRUE(ResolveLocal(std::string(kDefaultModel)).has_value());
}

TEST_F(ResolveTest, TheDefaultIsFetchedWhereItCanBe) {
  UseCatalogue(Url("source.bin"));
  const auto model = ResolveText("");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->name, "qwen2.5-0.5b-instruct:q4_k_m");
}

TEST_F(ResolveTest, TheFallbackStandsInAndTheDefaultIsNotAskedForAgainSoon) {
  UseCatalogue("http://127.0.0.1:1/x");
  for (int start = 0; start < 2; ++start) {
    said_.clear();
    const auto model = ResolveText("");
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(model->name, "qwen2.5-coder-0.5b-instruct:q4_k_m");
    EXPECT_EQ(said_[0],
              "qwen2.5-0.5b-instruct:q4_k_m cannot be fetched here, "
              "qwen2.5-coder-0.5b-instruct:q4_k_m is used instead");
  }
  // Now it could be had, but was asked for a moment ago; a day later it is fetched.
  UseCatalogue(Url("source.bin"));
  EXPECT_EQ(ResolveText("")->name, "qwen2.5-coder-0.5b-instruct:q4_k_m");
  std::filesystem::last_write_time(
      ModelsFolder() + "/.default-unreachable",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_EQ(ResolveText("")->name, "qwen2.5-0.5b-instruct:q4_k_m");
}

TEST_F(ResolveTest, NamesForRemovingAreNoPaths) {
  EXPECT_EQ(*FileOf("mine.gguf"), "mine.gguf");
  EXPECT_EQ(*FileOf("gemma-3-270m"), "gemma-3-270m-q4_k_m.gguf");
  EXPECT_EQ(*FileOf("hf:org/repo/x.gguf"), "org--repo--x.gguf");
  for (const char* text :
       {"../x.gguf", "/tmp/x.gguf", "", "..", ".hidden.gguf", "hf:../x/y.gguf", "models/x.gguf"}) {
    EXPECT_FALSE(FileOf(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace vivace
