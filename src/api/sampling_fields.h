// The fields by which requests choose how tokens are sampled: llama.cpp's names, which
// OpenAI's are a part of and Ollama's options share.
#pragma once

#include <string>
#include <vector>

#include "api/fields.h"
#include "engine/request.h"
#include "sampling/params.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

// Numbers outside their range are brought into it, as llama.cpp does.
SamplingParams ReadSampling(Fields& fields, const Tokenizer& tokenizer,
                            const SamplingParams& defaults = {});

// The texts beyond which DRY sees no repetition, where a request does not say.
std::vector<std::string> DryBreakers();

// "logit_bias" as {"id or text": number or false} or [[id or "text", number or false], ...];
// a text stands for all tokens it splits into. Entries that make no sense are skipped.
void ReadLogitBias(const Json& bias, const Tokenizer& tokenizer, SamplingParams& sampling);

// Forbids all tokens that end a generation.
void IgnoreEnd(const Tokenizer& tokenizer, GenerateRequest& request);

}  // namespace vivace
