// TemplateEngine: a compiled Jinja template, rendered to text.
//
// Owns the handle of the Rust library; template_engine_ffi.cc and
// template_engine_none.cc are the two implementations, one of which is built.
// Render is safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vivace {

class TemplateEngine {
 public:
  // False in builds without the Rust library; Compile then is kUnsupported.
  static bool Available();

  // kBadInput with the line of the error.
  static Result<TemplateEngine> Compile(std::string_view source);

  // `context`: a JSON object with the variables. `local_seconds`: seconds since
  // 1970 on the local calendar, for strftime_now. `marker`: the character that
  // breaks up control texts in `context`, or 0. kBadInput when the template fails.
  Result<std::string> Render(std::string_view context, std::int64_t local_seconds,
                             char32_t marker) const;

 private:
  struct Handle;
  struct Free {
    void operator()(Handle* handle) const;
  };

  explicit TemplateEngine(Handle* handle) : handle_(handle) {}

  std::unique_ptr<Handle, Free> handle_;
};

}  // namespace vivace
