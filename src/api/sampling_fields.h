// The fields by which requests choose how tokens are sampled: llama.cpp's names, which
// OpenAI's are a part of and Ollama's options share.
#pragma once

#include "api/fields.h"
#include "engine/request.h"
#include "sampling/params.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

// Numbers outside their range are brought into it, as llama.cpp does. What the sampler
// cannot do is rejected when it is switched on.
SamplingParams ReadSampling(Fields& fields, const Tokenizer& tokenizer,
                            const SamplingParams& defaults = {});

// Rejects samplers that we do not have, unless their value switches them off.
void RejectUnknownSamplers(Fields& fields);

// "logit_bias" as {"id or text": number or false} or [[id or "text", number or false], ...];
// a text stands for all tokens it splits into. Entries that make no sense are skipped.
void ReadLogitBias(const Json& bias, const Tokenizer& tokenizer, SamplingParams& sampling);

// Forbids all tokens that end a generation.
void IgnoreEnd(const Tokenizer& tokenizer, GenerateRequest& request);

}  // namespace vivace
