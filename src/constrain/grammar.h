// Grammar: what an answer may look like, compiled for one model's vocabulary.
//
// A GrammarCompiler belongs to a model. It keeps what it has compiled, so that a schema that
// comes again costs nothing. Grammars are immutable and shared; any thread may use both. The
// compiler must outlive its grammars' use, and its tokenizer must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "constrain/matcher.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

enum class GrammarKind : std::uint8_t { kJsonSchema, kGbnf, kRegex, kLark };
const char* GrammarKindName(GrammarKind kind);  // "json_schema", "gbnf", "regex", "lark"

struct GrammarSource {
  GrammarKind kind = GrammarKind::kJsonSchema;
  std::string text = {};
  // JSON schemas by name, which a Lark grammar refers to as @name. Names are letters, digits
  // and underscores.
  std::vector<std::pair<std::string, std::string>> schemas = {};

  bool operator==(const GrammarSource&) const = default;
};

// Any JSON object.
GrammarSource AnyJsonObject();

struct GrammarLimits {
  std::size_t max_bytes = 1 << 20;  // of a source, with its schemas
  std::size_t cached = 64;          // grammars that are kept
};

class Grammar {
 public:
  Grammar(GrammarKind kind, CompiledGrammar compiled, double compile_ms)
      : kind_(kind), compiled_(std::move(compiled)), compile_ms_(compile_ms) {}

  GrammarKind kind() const { return kind_; }
  // What the source says that has no effect, one sentence each.
  const std::vector<std::string>& warnings() const { return compiled_.warnings(); }
  double compile_ms() const { return compile_ms_; }
  const CompiledGrammar& compiled() const { return compiled_; }

 private:
  GrammarKind kind_;
  CompiledGrammar compiled_;
  double compile_ms_;
};

class GrammarCompiler {
 public:
  // False in builds without the library; Compile then is kUnsupported.
  static bool Available() { return MatcherVocabulary::Available(); }

  // `vocab_size` is the model's: masks have so many bits. Cheap: what depends on the
  // vocabulary is built by Prepare or the first Compile.
  GrammarCompiler(const Tokenizer& tokenizer, std::size_t vocab_size, const GrammarLimits& limits);
  GrammarCompiler(const GrammarCompiler&) = delete;
  GrammarCompiler& operator=(const GrammarCompiler&) = delete;
  ~GrammarCompiler() = default;

  // Builds the tree of the vocabulary, once; errors are those of Compile.
  Result<void> Prepare();
  // The same ahead of time, on the calling thread. Who needs the tree meanwhile does not wait
  // for this thread, which may have a low priority, but builds it too; the first one counts.
  void PrepareAhead();

  // kBadInput names the JSON path, or the line and column, and what is wrong there;
  // kUnsupported where the build has no library.
  Result<std::shared_ptr<const Grammar>> Compile(const GrammarSource& source);

  const GrammarLimits& limits() const { return limits_; }

 private:
  struct Kept {
    GrammarSource source;
    std::shared_ptr<const Grammar> grammar;
  };

  Result<std::shared_ptr<const Grammar>> CompileAnew(const GrammarSource& source);
  std::shared_ptr<const Grammar> Find(const GrammarSource& source);
  void Keep(const GrammarSource& source, const std::shared_ptr<const Grammar>& grammar);

  const Tokenizer& tokenizer_;
  const std::size_t vocab_size_;
  const GrammarLimits limits_;
  std::mutex vocabulary_mutex_;
  std::optional<Result<MatcherVocabulary>> vocabulary_;  // set once
  std::mutex kept_mutex_;
  std::list<Kept> kept_;  // the newest use first
};

}  // namespace vivace
