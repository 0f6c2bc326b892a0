// Model: a packed model in memory, ready for forward passes. Immutable and safe to
// share between threads; everything it hands out is a view that it outlives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernels/kernel_table.h"
#include "model/config.h"
#include "model/pack_image.h"
#include "model/rope.h"
#include "model/weights.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

class Model {
 public:
  // Checks every offset, shape and size against the image before it is used.
  static Result<Model> FromImage(PackImage image, const KernelTable& kernels);

  const Config& config() const { return config_; }
  const Weights& weights() const { return weights_; }
  const KernelTable& kernels() const { return *kernels_; }
  const Rope& rope() const { return rope_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  // The chat template in the file, or "".
  std::string_view chat_template() const { return chat_template_; }
  // The packed tensors where they are a mapped file, else nothing.
  std::span<const std::byte> mapped_weights() const { return mapped_weights_; }
  // Tells the file that the model was packed from from any other.
  const Fingerprint& fingerprint() const { return fingerprint_; }
  // Bytes of weights that one decoded token reads.
  std::int64_t bytes_per_token() const;

 private:
  Model() = default;

  PackImage image_;
  Fingerprint fingerprint_;
  Config config_;
  Weights weights_;
  const KernelTable* kernels_ = nullptr;
  Rope rope_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::string_view chat_template_;
  std::span<const std::byte> mapped_weights_;
};

}  // namespace vivace
