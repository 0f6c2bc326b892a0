// By which names requests may call a model.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace vivace {

// Whether `name`, in any case, means the model `key`: the same name, the name without its
// quant or without ".gguf", and all of them with Ollama's ":latest".
bool NamesModel(std::string_view name, std::string_view key);

// The model of the models folder that `name` means. kNotFound where there is none.
Result<std::string> FindLocalModel(const std::string& name);

}  // namespace vivace
