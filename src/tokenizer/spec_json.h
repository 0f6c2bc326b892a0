// A TokenizerSpec as a JSON file, for tests and tools. Programs read model files instead.
//
// An object with the spec's fields by name; "tokens" and "merges" are lists of strings,
// "types" of GGUF's numbers. What is absent keeps its default.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tokenizer/spec.h"

namespace vivace {

// A spec and the texts that it views. Not movable without its texts, hence behind a pointer.
struct OwnedSpec {
  std::vector<std::string> tokens;
  std::vector<std::string> merges;
  TokenizerSpec spec;
};

Result<std::unique_ptr<const OwnedSpec>> ReadSpecJson(const std::string& path);

}  // namespace vivace
