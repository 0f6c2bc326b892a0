// The C interface of the vivace_ffi static library, which is written in Rust.
//
// Every function here is safe to call from any thread, never throws and never
// lets a Rust panic out. A handle may be used by several threads at once, except
// that its free function must come last. Sizes are in bytes; texts are UTF-8 and
// not zero-terminated.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Text owned by the library until vivace_text_free. `data` is null when empty.
typedef struct {
  char* data;
  size_t size;
} vivace_text;

// Frees what a function below stored in `*text` and empties it. An empty or
// already freed text is fine.
void vivace_text_free(vivace_text* text);

// What a template function returns. On every status but OK the text result is
// one line that says what is wrong, starting with "line N: " where a line of the
// template is to blame.
enum {
  VIVACE_TEMPLATE_OK = 0,
  VIVACE_TEMPLATE_BAD = 1,       // the template is wrong, or fails on this input
  VIVACE_TEMPLATE_RAISED = 2,    // it called raise_exception; the text is its message
  VIVACE_TEMPLATE_LIMIT = 3,     // it wants more work or memory than allowed
  VIVACE_TEMPLATE_CONTEXT = 4,   // the context is not a JSON object
  VIVACE_TEMPLATE_INTERNAL = 5,  // a bug in the library, caught
};

// A compiled chat template (Jinja as Hugging Face transformers configures it).
typedef struct vivace_template vivace_template;

// Compiles `source`. On OK `*result` is a new handle for vivace_template_free and
// `*error` is empty; otherwise `*result` is null and `*error` is set. The source
// is copied.
int32_t vivace_template_compile(const char* source, size_t size, vivace_template** result,
                                vivace_text* error);

// Renders with the variables of `context`, a JSON object. `local_seconds` is what
// strftime_now formats: seconds since 1970-01-01 00:00 on the local calendar.
// `marker` is a code point that the caller uses to break up words in the context,
// or 0: where the template deletes text between two others with replace(x, ""),
// the marker is put in its place. On OK `*output` is the prompt, otherwise the
// error. The caller frees `*output` in both cases.
int32_t vivace_template_render(const vivace_template* compiled, const char* context,
                               size_t context_size, int64_t local_seconds, uint32_t marker,
                               vivace_text* output);

// Null is fine.
void vivace_template_free(vivace_template* compiled);

// --- Grammars: what an answer may look like ---

// What a function below returns. On every status but OK the error is one line that says
// what is wrong, with its JSON path, or its line and column, before it.
enum {
  VIVACE_GRAMMAR_OK = 0,
  VIVACE_GRAMMAR_BAD = 1,       // the source is wrong, or the answer left the grammar
  VIVACE_GRAMMAR_INTERNAL = 5,  // a bug in the library, caught
};

// What a token is for.
enum {
  VIVACE_TOKEN_TEXT = 0,
  VIVACE_TOKEN_CONTROL = 1,  // no text leads to it
  VIVACE_TOKEN_END = 2,      // the same; allowed where the text may end
  VIVACE_TOKEN_UNUSED = 3,   // never allowed
};

// How a source is written.
enum {
  VIVACE_GRAMMAR_JSON_SCHEMA = 0,
  VIVACE_GRAMMAR_REGEX = 1,
  VIVACE_GRAMMAR_LARK = 2,
};

typedef struct {
  const char* data;
  size_t size;
} vivace_view;

// A JSON schema that a Lark grammar refers to as @name.
typedef struct {
  vivace_view name;
  vivace_view text;
} vivace_schema;

typedef struct {
  int32_t kind;
  vivace_view text;
  const vivace_schema* schemas;
  size_t count;
} vivace_source;

typedef struct vivace_vocabulary vivace_vocabulary;
typedef struct vivace_grammar vivace_grammar;
typedef struct vivace_answer vivace_answer;

// Cuts text into tokens as the model was trained to see it, and gives them to `emit`, in
// one call or more. Called from any thread.
typedef void (*vivace_emit)(void* sink, const uint32_t* tokens, size_t count);
typedef void (*vivace_tokenize)(const void* context, const char* text, size_t size, void* sink,
                                vivace_emit emit);

// The tokens of a model: the bytes of token i end in `bytes` at ends[i], where those of the
// next one begin.
typedef struct {
  const char* bytes;
  const size_t* ends;    // [count]
  const uint8_t* kinds;  // [count]
  size_t count;
  vivace_tokenize tokenize;
  const void* context;  // of tokenize
} vivace_tokens;

// All is copied but what `context` points to, which must outlive the grammars.
int32_t vivace_vocabulary_create(const vivace_tokens* tokens, vivace_vocabulary** result,
                                 vivace_text* error);
// Null is fine. Grammars that were compiled stay usable.
void vivace_vocabulary_free(vivace_vocabulary* vocabulary);

// On OK `*result` is a new handle and `*warnings` has a line for each part of the source
// without effect. Takes a thread of its own while it runs. The caller frees both texts.
int32_t vivace_grammar_compile(const vivace_vocabulary* vocabulary, const vivace_source* source,
                               vivace_grammar** result, vivace_text* warnings, vivace_text* error);
// Null is fine. Answers that were begun stay usable.
void vivace_grammar_free(vivace_grammar* grammar);

// The beginning of an answer. Unlike the others, an answer is used by one thread at a time.
int32_t vivace_answer_create(const vivace_grammar* grammar, vivace_answer** result,
                             vivace_text* error);
void vivace_answer_free(vivace_answer* answer);

// Writes a bit for each token that may come next into `count` words.
int32_t vivace_answer_mask(vivace_answer* answer, uint32_t* words, size_t count,
                           vivace_text* error);
int32_t vivace_answer_consume(vivace_answer* answer, const uint32_t* tokens, size_t count,
                              vivace_text* error);
// Writes up to `capacity` tokens that must come next; returns how many.
size_t vivace_answer_forced(vivace_answer* answer, uint32_t* tokens, size_t capacity);
// Whether nothing can follow; `*error` is empty unless the answer has failed.
int32_t vivace_answer_is_complete(const vivace_answer* answer, vivace_text* error);

// A regular expression that is looked for in a text; with `whole`, all of the text must match.
typedef struct vivace_pattern vivace_pattern;
int32_t vivace_pattern_compile(vivace_view text, int32_t whole, vivace_pattern** result,
                               vivace_text* error);
void vivace_pattern_free(vivace_pattern* pattern);
// 1 where it matches: `*begin` is then the place of its first group that holds text, or else
// of the match. Any thread may call it. Time is linear in the text.
int32_t vivace_pattern_find(const vivace_pattern* pattern, vivace_view text, size_t* begin);

#ifdef __cplusplus
}  // extern "C"
#endif
