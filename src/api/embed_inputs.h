// Embeddings in no dialect: texts or ids in, vectors of unit length out.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "api/endpoint.h"
#include "api/fields.h"
#include "api/generation.h"
#include "api/model_pool.h"
#include "api/run_all.h"

namespace vivace {

struct EmbedRequest {
  ModelLease model;
  std::vector<std::vector<TokenId>> prompts;
  std::size_t dimensions = 0;  // the first ones only, scaled to unit length again; 0: all
  bool truncate = false;       // cut prompts that are too long, else 400
};

// "input" as a string, an array of strings, ids, or an array of arrays of ids; "dimensions".
Answer<EmbedRequest> ReadEmbedRequest(Call& call, Fields& fields, const char* input_name);

struct Embeddings {
  std::vector<std::vector<float>> vectors;
  std::int64_t prompt_tokens = 0;
  double total_ms = 0;
};

// `done` makes the answer's body, on the engine's thread.
Answer<void> Embed(Call& call, EmbedRequest request,
                   std::function<Json(const Embeddings& embeddings)> done);

}  // namespace vivace
