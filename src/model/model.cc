#include "model/model.h"

#include <bit>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/pack.h"
#include "model/pack_meta.h"

namespace vivace {
namespace {

// Turns names into checked views of one image.
class TensorFinder {
 public:
  TensorFinder(const PackMeta& meta, std::span<const std::byte> tensors, const KernelTable& kernels)
      : meta_(meta), tensors_(tensors), kernels_(kernels) {}

  // The packed matrix `name`, which must be [rows, k].
  Result<Matrix> FindMatrix(const std::string& name, std::int64_t rows, std::int64_t k) const {
    const auto found = meta_.matrices.find(name);
    if (found == meta_.matrices.end()) return Missing(name);
    return MatrixOf(name, found->second, rows, k);
  }

  Result<Matrix> MatrixOf(const std::string& name, const PackedTensor& tensor, std::int64_t rows,
                          std::int64_t k) const {
    if (tensor.rows != rows || tensor.k != k) return WrongShape(name, tensor, rows, k);
    const auto shape = PackedShapeOf(tensor.type, rows, k);
    if (!shape) return Context(shape.error(), name);
    const auto data = Bytes(tensor.offset, static_cast<std::uint64_t>(shape->total_bytes));
    if (!data) return Context(data.error(), name);
    return Matrix{.type = tensor.type,
                  .rows = rows,
                  .k = shape->k,
                  .group_bytes = shape->group_bytes,
                  .data = *data,
                  .matmul = MatmulFor(kernels_, tensor.type)};
  }

  Result<const float*> FindVector(const std::string& name, std::int64_t size) const {
    const auto found = meta_.vectors.find(name);
    if (found == meta_.vectors.end()) return Missing(name);
    return VectorOf(name, found->second, size);
  }

  Result<const float*> VectorOf(const std::string& name, const PackedTensor& tensor,
                                std::int64_t size) const {
    if (tensor.rows != size || tensor.k != 1) return WrongShape(name, tensor, size, 1);
    const auto data = Bytes(tensor.offset, static_cast<std::uint64_t>(size) * sizeof(float));
    if (!data) return Context(data.error(), name);
    return reinterpret_cast<const float*>(*data);
  }

  // As FindVector, but null where the model has none.
  Result<const float*> FindOptionalVector(const std::string& name, std::int64_t size) const {
    if (!meta_.vectors.contains(name)) return nullptr;
    return FindVector(name, size);
  }

 private:
  static Failure Missing(const std::string& name) {
    return Fail(ErrorKind::kBadInput, "tensor " + name + " is missing");
  }
  static Failure WrongShape(const std::string& name, const PackedTensor& tensor, std::int64_t rows,
                            std::int64_t k) {
    return Fail(ErrorKind::kBadInput, "tensor " + name + " is " + std::to_string(tensor.rows) +
                                          " x " + std::to_string(tensor.k) + ", expected " +
                                          std::to_string(rows) + " x " + std::to_string(k));
  }

  Result<const std::byte*> Bytes(std::uint64_t offset, std::uint64_t size) const {
    if (offset % kLine != 0 || offset > tensors_.size() || size > tensors_.size() - offset) {
      return Fail(ErrorKind::kBadInput, "the data lie outside the pack");
    }
    return tensors_.data() + offset;
  }

  const PackMeta& meta_;
  std::span<const std::byte> tensors_;
  const KernelTable& kernels_;
};

template <class T>
Result<void> Set(T& field, Result<T> found) {
  if (!found) return Failure(std::move(found).error());
  field = *found;
  return {};
}

Result<LayerWeights> FindLayer(const TensorFinder& find, const Config& c, std::int64_t index) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  const std::int64_t kv_width = c.kv_heads * c.head_dim;
  LayerWeights layer;
  struct VectorField {
    const float** field;
    const char* name;
    std::int64_t size;
    bool optional;
  };
  const VectorField vectors[] = {{&layer.attn_norm, "attn_norm.weight", c.hidden, false},
                                 {&layer.ffn_norm, "ffn_norm.weight", c.hidden, false},
                                 {&layer.b_q, "attn_q.bias", c.q_width(), true},
                                 {&layer.b_k, "attn_k.bias", kv_width, true},
                                 {&layer.b_v, "attn_v.bias", kv_width, true}};
  for (const VectorField& vector : vectors) {
    const std::string name = prefix + vector.name;
    VIVACE_RETURN_IF_ERROR(Set(*vector.field, vector.optional
                                                  ? find.FindOptionalVector(name, vector.size)
                                                  : find.FindVector(name, vector.size)));
  }
  struct MatrixField {
    Matrix* field;
    const char* name;
    std::int64_t rows;
    std::int64_t k;
  };
  const MatrixField matrices[] = {{&layer.w_q, "attn_q.weight", c.q_width(), c.hidden},
                                  {&layer.w_k, "attn_k.weight", kv_width, c.hidden},
                                  {&layer.w_v, "attn_v.weight", kv_width, c.hidden},
                                  {&layer.w_o, "attn_output.weight", c.hidden, c.q_width()},
                                  {&layer.w_gate, "ffn_gate.weight", c.ffn, c.hidden},
                                  {&layer.w_up, "ffn_up.weight", c.ffn, c.hidden},
                                  {&layer.w_down, "ffn_down.weight", c.hidden, c.ffn}};
  for (const MatrixField& matrix : matrices) {
    VIVACE_RETURN_IF_ERROR(
        Set(*matrix.field, find.FindMatrix(prefix + matrix.name, matrix.rows, matrix.k)));
  }
  return layer;
}

Result<Embedding> FindEmbedding(const PackMeta& meta, std::span<const std::byte> section) {
  const auto row_bytes =
      RowBytes(meta.embedding_type, static_cast<std::size_t>(meta.config.hidden));
  if (!row_bytes) return Context(row_bytes.error(), "token_embd.weight");
  if (section.size() / *row_bytes < static_cast<std::size_t>(meta.config.vocab_size)) {
    return Fail(ErrorKind::kBadInput, "the embedding section is shorter than the vocabulary");
  }
  return Embedding{.type = meta.embedding_type, .rows = section.data(), .row_bytes = *row_bytes};
}

Result<CoarseHead> FindCoarseHead(const PackedCoarseHead& packed, const TensorFinder& find,
                                  const Config& c) {
  CoarseHead head;
  VIVACE_RETURN_IF_ERROR(
      Set(head.plane, find.MatrixOf("coarse head", packed.plane, c.vocab_size, c.hidden)));
  VIVACE_RETURN_IF_ERROR(
      Set(head.radius, find.VectorOf("coarse head's radius", packed.radius, c.vocab_size)));
  VIVACE_RETURN_IF_ERROR(
      Set(head.inverse_weights,
          find.VectorOf("coarse head's weights", packed.inverse_weights, c.hidden)));
  return head;
}

Result<Weights> FindWeights(const PackMeta& meta, const TensorFinder& find,
                            std::span<const std::byte> embedding) {
  const Config& config = meta.config;
  Weights weights;
  VIVACE_RETURN_IF_ERROR(Set(weights.embedding, FindEmbedding(meta, embedding)));
  for (std::int64_t index = 0; index < config.layers; ++index) {
    auto layer = FindLayer(find, config, index);
    if (!layer) return Failure(std::move(layer).error());
    weights.layers.push_back(*layer);
  }
  VIVACE_RETURN_IF_ERROR(
      Set(weights.output_norm, find.FindVector("output_norm.weight", config.hidden)));
  VIVACE_RETURN_IF_ERROR(
      Set(weights.output, find.FindMatrix(meta.head_name(), config.vocab_size, config.hidden)));
  if (meta.coarse_head) {
    VIVACE_RETURN_IF_ERROR(
        Set(weights.coarse_head, FindCoarseHead(*meta.coarse_head, find, config)));
  }
  return weights;
}

}  // namespace

Result<Model> Model::FromImage(PackImage image, const KernelTable& kernels) {
  static_assert(std::endian::native == std::endian::little, "the pack file is little-endian");
  const std::span<const std::byte> bytes = image.bytes();
  const auto header = OpenPack(bytes);
  if (!header) return Failure(header.error());
  const auto text = [&](PackSection section) {
    const auto part = Section(bytes, *header, section);
    return std::string_view(reinterpret_cast<const char*>(part.data()), part.size());
  };
  const auto meta = ReadMeta(text(PackSection::kMeta));
  if (!meta) return Failure(meta.error());

  Model model;
  model.config_ = meta->config;
  model.kernels_ = &kernels;
  model.fingerprint_ = header->source;
  model.chat_template_ = text(PackSection::kTemplate);
  const TensorFinder find(*meta, Section(bytes, *header, PackSection::kTensors), kernels);
  VIVACE_RETURN_IF_ERROR(Set(
      model.weights_, FindWeights(*meta, find, Section(bytes, *header, PackSection::kEmbedding))));

  const std::int64_t frequencies = model.config_.head_dim / 2;
  const auto factors = find.FindOptionalVector("rope_freqs.weight", frequencies);
  if (!factors) return Failure(factors.error());
  const auto count = static_cast<std::size_t>(*factors == nullptr ? 0 : frequencies);
  model.rope_ = Rope(model.config_.rope_base, model.config_.head_dim, std::span(*factors, count));

  auto tokenizer = Tokenizer::Open(Section(bytes, *header, PackSection::kTokenizer));
  if (!tokenizer) return Context(std::move(tokenizer).error(), "tokenizer");
  if (tokenizer->vocab_size() > static_cast<std::size_t>(model.config_.vocab_size)) {
    return Fail(ErrorKind::kBadInput,
                "the tokenizer has " + std::to_string(tokenizer->vocab_size()) +
                    " tokens, the model " + std::to_string(model.config_.vocab_size));
  }
  model.tokenizer_ = std::make_unique<const Tokenizer>(std::move(*tokenizer));
  if (image.is_file()) {
    model.mapped_weights_ = Section(bytes, *header, PackSection::kTensors);
  }
  model.image_ = std::move(image);
  return model;
}

std::int64_t Model::bytes_per_token() const {
  const auto bytes = [](const Matrix& matrix) { return matrix.groups() * matrix.group_bytes; };
  std::int64_t total = bytes(weights_.output);
  for (const LayerWeights& layer : weights_.layers) {
    for (const Matrix* matrix : {&layer.w_q, &layer.w_k, &layer.w_v, &layer.w_o, &layer.w_gate,
                                 &layer.w_up, &layer.w_down}) {
      total += bytes(*matrix);
    }
  }
  return total;
}

}  // namespace vivace
