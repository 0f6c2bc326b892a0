// The file that keeps one owner's answers: a header, their tokens, a checksum of both.
//
// Written under a temporary name and renamed, readable by its user only. Whatever is read is
// checked before it is used: sizes, checksum, model, and that tokens are in the vocabulary.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace vivace {

// kIo with the system's reason.
Result<void> WriteAnswerFile(const std::string& path, std::uint64_t model,
                             std::span<const TokenId> tokens);

// At most `most` tokens of -1 to vocab_size - 1. kNotFound, kIo, or kBadInput for a file that is
// damaged or another model's.
Result<std::vector<TokenId>> ReadAnswerFile(const std::string& path, std::uint64_t model,
                                            std::int64_t vocab_size, std::int64_t most);

}  // namespace vivace
