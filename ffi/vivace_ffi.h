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

#ifdef __cplusplus
}  // extern "C"
#endif
