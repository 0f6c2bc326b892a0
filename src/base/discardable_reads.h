// WithDiscardableReads: calls a function whose reads may meet writes of other threads, because
// what is made of them is then thrown away (piece_board.h). No harm is done: such values are
// computed with and never used as addresses. Here the thread sanitizer is told so.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
#endif

namespace vivace {

template <class Function>
void WithDiscardableReads(const Function& function) {
#if defined(__SANITIZE_THREAD__)
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  function();
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#else
  function();
#endif
}

}  // namespace vivace
