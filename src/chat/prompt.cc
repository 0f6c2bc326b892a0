#include "chat/prompt.h"

#include <fmt/format.h>

namespace vivace {
namespace {

std::string TextOf(const Tokenizer& tokenizer, std::optional<TokenId> token) {
  return token ? std::string(tokenizer.Piece(*token)) : "";
}

TemplateTokens TokensOf(const Model& model) {
  const Tokenizer& tokenizer = model.tokenizer();
  TemplateTokens tokens = {.bos = TextOf(tokenizer, tokenizer.bos()),
                           .eos = TextOf(tokenizer, tokenizer.eos()),
                           .control = {}};
  // User-defined tokens such as <tool_call> are ordinary vocabulary, in messages too.
  for (const std::string_view text : tokenizer.control_texts()) {
    const auto token = tokenizer.Find(text);
    if (token && tokenizer.IsControl(*token)) tokens.control.emplace_back(text);
  }
  return tokens;
}

}  // namespace

Result<ChatTemplate> OpenChatTemplate(const Model& model, const std::string& name) {
  if (!name.empty()) {
    const BuiltinTemplate* builtin = FindBuiltin(name);
    if (builtin == nullptr) {
      return Fail(
          ErrorKind::kNotFound,
          fmt::format("chat template \"{}\" is unknown, allowed is {}", name, BuiltinNames()));
    }
    return ChatTemplate::Compile(std::string(builtin->source), TokensOf(model));
  }
  std::string source(model.chat_template());
  TemplateTokens tokens = TokensOf(model);
  if (source.empty()) source = ChooseBuiltin(tokens.control).source;
  return ChatTemplate::Compile(std::move(source), std::move(tokens));
}

Result<ChatTemplate> CompileChatTemplate(const Model& model, std::string source) {
  return ChatTemplate::Compile(std::move(source), TokensOf(model));
}

std::vector<TokenId> EncodePieces(const Model& model, std::span<const PromptPiece> pieces) {
  std::vector<TokenId> ids;
  for (const PromptPiece& piece : pieces) {
    model.tokenizer().Encode(
        piece.text, piece.control ? Tokenizer::Special::kParse : Tokenizer::Special::kAsText, ids);
  }
  return ids;
}

void EncodeAnswerStart(const Model& model, const ChatRequest& request,
                       std::vector<TokenId>& prompt) {
  if (request.answer_start.empty()) return;
  model.tokenizer().Encode(request.answer_start, Tokenizer::Special::kAsText, prompt);
}

Result<std::vector<TokenId>> ChatPrompt(const Model& model, const ChatTemplate& chat,
                                        const ChatRequest& request) {
  const auto pieces = chat.Render(request);
  if (!pieces) return Failure(pieces.error());
  return EncodePieces(model, *pieces);
}

std::vector<TokenId> RawPrompt(const Model& model, std::string_view text, bool parse_special) {
  const Tokenizer& tokenizer = model.tokenizer();
  std::vector<TokenId> ids;
  if (tokenizer.add_bos() && tokenizer.bos()) ids.push_back(*tokenizer.bos());
  tokenizer.Encode(text, parse_special ? Tokenizer::Special::kParse : Tokenizer::Special::kAsText,
                   ids);
  return ids;
}

}  // namespace vivace
