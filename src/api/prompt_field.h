// Prompts as llama.cpp's requests write them: text, token ids, both mixed, or several.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/errors.h"
#include "api/fields.h"
#include "api/generation.h"
#include "base/token_id.h"
#include "chat/json_input.h"
#include "model/model.h"

namespace vivace {

using TokenIds = std::vector<TokenId>;

// "text", [1, 2], [1, "text"], {"prompt_string": "text"}, or an array of these. Control
// tokens are recognised in texts. Where a prompt begins with a text, the model's
// beginning-of-sequence token goes before it. At least one prompt; it may have no tokens.
Answer<std::vector<TokenIds>> ReadPrompts(const Json& value, const Model& model);

// The same of the field "prompt", put into a generation.
Answer<void> SetPrompts(const Fields& fields, Generation& generation);

// What "content" of /tokenize holds: one text, or ids and texts mixed.
Answer<TokenIds> ReadContent(const Json& value, const Tokenizer& tokenizer,
                             Tokenizer::Special special);

// An array of token ids, each in the vocabulary. `where` goes before messages.
Answer<TokenIds> ReadTokenIds(const Json& value, const Tokenizer& tokenizer,
                              const std::string& where);

// The text of tokens, control tokens by their names; valid UTF-8.
std::string TextOfTokens(const Tokenizer& tokenizer, std::span<const TokenId> ids);

}  // namespace vivace
