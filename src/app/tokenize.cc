#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/session.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

struct TokenizeFlags {
  SessionFlags session;
  std::string text;
  std::string file;
  bool no_special = false;
  bool json = false;
};

struct DetokenizeFlags {
  SessionFlags session;
  std::vector<TokenId> ids;
  bool json = false;
};

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// --file, the TEXT argument, or standard input.
Result<std::string> InputText(const TokenizeFlags& flags, bool has_text) {
  if (!flags.file.empty()) {
    std::ifstream file(flags.file, std::ios::binary);
    if (!file) return Fail(ErrorKind::kNotFound, flags.file + ": cannot be read");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  if (has_text) return flags.text;
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

Result<int> Tokenize(const TokenizeFlags& flags, bool has_text) {
  const auto text = InputText(flags, has_text);
  if (!text) return Failure(text.error());
  const auto opened = OpenModel(flags.session);
  if (!opened) return Failure(opened.error());
  const Tokenizer& tokenizer = opened->model.tokenizer();
  std::vector<TokenId> ids;
  tokenizer.Encode(
      *text, flags.no_special ? Tokenizer::Special::kAsText : Tokenizer::Special::kParse, ids);
  if (flags.json) {
    Json pieces = Json::array();
    for (const TokenId id : ids) pieces.push_back(tokenizer.Piece(id));
    std::cout << Dump({{"tokens", ids}, {"pieces", pieces}}) << '\n';
    return 0;
  }
  for (const TokenId id : ids) {
    fmt::print("{:>7}  {}\n", id, Dump(Json(std::string(tokenizer.Piece(id)))));
  }
  return 0;
}

Result<int> Detokenize(const DetokenizeFlags& flags) {
  const auto opened = OpenModel(flags.session);
  if (!opened) return Failure(opened.error());
  const Tokenizer& tokenizer = opened->model.tokenizer();
  std::string text;
  Json pieces = Json::array();
  for (const TokenId id : flags.ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= tokenizer.vocab_size()) {
      return Fail(ErrorKind::kBadInput, fmt::format("token {} is out of range, allowed is 0 to {}",
                                                    id, tokenizer.vocab_size() - 1));
    }
    text += tokenizer.Piece(id);
    pieces.push_back(tokenizer.Piece(id));
  }
  if (flags.json) {
    std::cout << Dump({{"tokens", flags.ids}, {"pieces", pieces}, {"text", text}}) << '\n';
  } else {
    std::cout << text << '\n';
  }
  return 0;
}

}  // namespace

void AddTokenize(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* command = app.add_subcommand("tokenize", "Token ids and pieces of a text");
  AddSessionFlags(*command, flags->session);
  CLI::Option* text = command->add_option("TEXT", flags->text, "The text; else standard input");
  command->add_option("-f,--file", flags->file, "Read the text from a file");
  command->add_flag("--no-special", flags->no_special, "Text of control tokens stays text");
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->callback([&slot, flags, text] {
    const bool has_text = text->count() > 0;
    slot.body = [flags, has_text] { return Tokenize(*flags, has_text); };
  });
}

void AddDetokenize(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<DetokenizeFlags>();
  CLI::App* command = app.add_subcommand("detokenize", "The text of token ids");
  AddSessionFlags(*command, flags->session);
  command->add_option("IDS", flags->ids, "Token ids")->required();
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->callback([&slot, flags] { slot.body = [flags] { return Detokenize(*flags); }; });
}

}  // namespace vivace
