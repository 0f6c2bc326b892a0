// POST /tokenize, /detokenize: between text and token ids.
#include <utility>

#include "api/endpoint.h"
#include "api/endpoints.h"
#include "api/generation.h"
#include "api/openai_form.h"
#include "api/prompt_field.h"
#include "base/utf8.h"

namespace vivace {
namespace {

// A token that is only part of a character has no text: its bytes are listed.
Json PieceJson(const Tokenizer& tokenizer, TokenId token) {
  const std::string_view piece = tokenizer.Piece(token);
  if (!IsValidUtf8(piece)) return TokenBytes(tokenizer, token);
  return piece;
}

Answer<void> Tokenize(Call& call) {
  Fields fields(call.body);
  const auto model = AcquireModel(call, fields);
  if (!model) return Refusal(model.error());
  const Tokenizer& tokenizer = (*model)->tokenizer();
  const bool add_special = fields.Bool("add_special", false);
  const bool parse_special = fields.Bool("parse_special", true);
  const bool with_pieces = fields.Bool("with_pieces", false);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  TokenIds ids;
  if (const Json* content = fields.Find("content")) {
    auto read =
        ReadContent(*content, tokenizer,
                    parse_special ? Tokenizer::Special::kParse : Tokenizer::Special::kAsText);
    if (!read) return Refusal(std::move(read).error());
    ids = std::move(*read);
    if (add_special && tokenizer.add_bos() && tokenizer.bos()) {
      ids.insert(ids.begin(), *tokenizer.bos());
    }
    if (add_special && tokenizer.add_eos() && tokenizer.eos()) ids.push_back(*tokenizer.eos());
  }
  Json tokens = Json::array();
  for (const TokenId id : ids) {
    tokens.push_back(with_pieces ? Json{{"id", id}, {"piece", PieceJson(tokenizer, id)}}
                                 : Json(id));
  }
  (void)call.writer.Send(JsonResponse({{"tokens", std::move(tokens)}}));
  return {};
}

Answer<void> Detokenize(Call& call) {
  Fields fields(call.body);
  const auto model = AcquireModel(call, fields);
  if (!model) return Refusal(model.error());
  const Tokenizer& tokenizer = (*model)->tokenizer();
  TokenIds ids;
  if (const Json* tokens = fields.Find("tokens")) {
    auto read = ReadTokenIds(*tokens, tokenizer, "tokens");
    if (!read) return Refusal(std::move(read).error());
    ids = std::move(*read);
  }
  (void)call.writer.Send(JsonResponse({{"content", TextOfTokens(tokenizer, ids)}}));
  return {};
}

}  // namespace

void AddTokenize(http::Router& router, Service& service) {
  router.Add("POST", "/tokenize", JsonEndpoint(service, Tokenize));
  router.Add("POST", "/detokenize", JsonEndpoint(service, Detokenize));
}

}  // namespace vivace
