// Result<T>: either a T, or an Error saying why there is none.
//
// Use it wherever the *outside world* can be wrong: a file, a request, a flag.
// For a broken promise between two of our own functions use VIVACE_CHECK.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace vivace {

// What a caller may branch on. Everything else belongs in the message.
enum class ErrorKind : std::uint8_t {
  kBadInput,     // the bytes or arguments break the format's rules
  kUnsupported,  // well formed, but outside what vivace implements
  kNotFound,     // the named thing is not there
  kIo,           // the operating system refused
  kExhausted,    // no memory, slot or budget left; may succeed later
  kCancelled,    // the caller asked us to stop
};

// `message` is one lower-case sentence without a trailing period, naming the
// offending value and the allowed range.
struct Error {
  ErrorKind kind;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

// Return this from a function that returns any Result<T>.
using Failure = tl::unexpected<Error>;

inline Failure Fail(ErrorKind kind, std::string message) {
  return Failure(Error{kind, std::move(message)});
}

// Says where it happened, outermost first: "qwen.gguf: tensor 12: ...".
inline Failure Context(Error error, const std::string& where) {
  error.message = where + ": " + error.message;
  return Failure(std::move(error));
}

}  // namespace vivace

// Leaves the enclosing function with the error of a failed Result<void>.
#define VIVACE_RETURN_IF_ERROR(expression)                        \
  do {                                                            \
    if (auto vivace_result = (expression); !vivace_result)        \
      return ::vivace::Failure(std::move(vivace_result).error()); \
  } while (false)
