// What MODEL means on a command line or in a request: a path to a .gguf file, a name of
// the catalogue with an optional :quant, hf:org/repo/file.gguf, or a file's name in the
// models folder.
#pragma once

#include <string>

#include "base/result.h"
#include "hub/catalogue.h"
#include "hub/download.h"

namespace vivace {

struct ResolvedModel {
  std::string name;  // for people: the catalogue's full name, or the file's
  std::string path;
};

// Downloads the file if it is not here. "" is the default model; where none of its
// sources can be reached, the fallback is taken and `say` tells so.
Result<ResolvedModel> Resolve(const std::string& model, const PullEvents& events);

// The same without a download: kNotFound says how to fetch it.
Result<ResolvedModel> ResolveLocal(const std::string& model);

// The entry of a name or of hf:...
Result<CatalogueEntry> EntryOf(const std::string& model);

// The name in the models folder that a text, which is no path, stands for; the file need
// not be there.
Result<std::string> FileOf(const std::string& model);

}  // namespace vivace
