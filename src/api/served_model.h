// ServedModel: a loaded model with all that answering needs: engine, template, facts.
//
// Immutable but for its engine, which has a thread of its own; any thread may use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "api/slot_board.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "chat/chat_template.h"
#include "constrain/grammar.h"
#include "engine/engine.h"
#include "hub/model_facts.h"
#include "model/model.h"

namespace vivace {

// A model file in memory, before it can answer.
struct ModelParts {
  std::string name;  // the catalogue's full name, or the file's
  std::string path;
  Model model;
  std::unique_ptr<ThreadTeam> team;
};

class ServedModel {
 public:
  // `chat_template` is a built-in's name, or "" for the model's own. Errors: of the
  // template, or of options that do not suit the model.
  static Result<std::unique_ptr<ServedModel>> Create(ModelParts parts, EngineOptions options,
                                                     const std::string& chat_template);
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;
  ~ServedModel() = default;  // not on the engine's thread

  const std::string& name() const { return parts_.name; }
  const std::string& path() const { return parts_.path; }
  const Model& model() const { return parts_.model; }
  const Tokenizer& tokenizer() const { return parts_.model.tokenizer(); }
  int threads() const { return parts_.team->size(); }
  std::int64_t context() const { return engine_->options().context; }
  Engine& engine() { return *engine_; }
  SlotBoard& slots() { return *slots_; }
  const ChatTemplate& chat() const { return *chat_; }
  GrammarCompiler& grammars() { return *grammars_; }

  std::uint64_t file_bytes() const { return file_bytes_; }
  std::chrono::system_clock::time_point modified() const { return modified_; }
  // Reads the file's description when first asked; a file that is gone has an empty one.
  const ModelFacts& facts();

 private:
  explicit ServedModel(ModelParts parts);

  ModelParts parts_;
  std::uint64_t file_bytes_ = 0;
  std::chrono::system_clock::time_point modified_;
  std::optional<ChatTemplate> chat_;
  std::optional<SlotBoard> slots_;
  std::optional<GrammarCompiler> grammars_;
  std::once_flag facts_read_;
  ModelFacts facts_;
  std::unique_ptr<Engine> engine_;  // ends before what it uses
  std::jthread ahead_;              // what the first request with a grammar would wait for
};

}  // namespace vivace
