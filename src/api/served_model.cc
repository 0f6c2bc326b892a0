#include "api/served_model.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/priority.h"
#include "chat/prompt.h"
#include "gguf/gguf_file.h"

namespace vivace {
namespace {

// On a thread that gets only what no one else wants of the processors. Where the system has no
// thread to give, the first request with a grammar builds what it needs.
std::jthread PrepareAhead(GrammarCompiler& grammars) {
  if (!GrammarCompiler::Available()) return {};
  try {
    return std::jthread([&grammars] {
      LowerPriority();
      grammars.PrepareAhead();
    });
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace

ServedModel::ServedModel(ModelParts parts) : parts_(std::move(parts)) {
  std::error_code error;
  const auto size = std::filesystem::file_size(parts_.path, error);
  if (!error) file_bytes_ = size;
  const auto time = std::filesystem::last_write_time(parts_.path, error);
  if (!error) {
    modified_ = std::chrono::time_point_cast<std::chrono::system_clock::duration>(
        std::chrono::file_clock::to_sys(time));
  }
}

Result<std::unique_ptr<ServedModel>> ServedModel::Create(ModelParts parts, EngineOptions options,
                                                         const std::string& chat_template) {
  std::unique_ptr<ServedModel> served(new ServedModel(std::move(parts)));
  auto chat = OpenChatTemplate(served->model(), chat_template);
  if (!chat) return Context(std::move(chat).error(), served->name());
  served->chat_ = std::move(*chat);
  served->grammars_.emplace(served->tokenizer(),
                            static_cast<std::size_t>(served->model().config().vocab_size),
                            options.grammars);
  options.context = std::min(options.context, served->model().config().context);
  auto engine = Engine::Create(served->model(), *served->parts_.team, options);
  if (!engine) return Context(std::move(engine).error(), served->name());
  served->slots_.emplace(static_cast<std::size_t>(options.max_running));
  served->engine_ = std::move(*engine);
  served->ahead_ = PrepareAhead(*served->grammars_);
  return served;
}

const ModelFacts& ServedModel::facts() {
  std::call_once(facts_read_, [this] {
    const auto file = GgufFile::Open(path());
    if (file) facts_ = FactsOf(*file);
  });
  return facts_;
}

}  // namespace vivace
