#include "model/pack_writer.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/huge_page.h"
#include "gguf/gguf_file.h"
#include "kernels/pack.h"
#include "kernels/packed_layout.h"
#include "model/coarse_head.h"
#include "model/gguf_tokenizer.h"
#include "quant/decode.h"
#include "tokenizer/tables.h"

namespace vivace {
namespace {

constexpr const char* kEmbeddingName = "token_embd.weight";
constexpr const char* kOutputNormName = "output_norm.weight";

std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool IsMatrix(const GgufTensor& tensor) { return tensor.dims.size() == 2; }

// Places the tensors one after the other and returns the size of the section.
Result<std::uint64_t> PlaceTensors(const GgufFile& file, PackMeta& meta) {
  const bool tied = file.FindTensor("output.weight") == nullptr;
  std::uint64_t used = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    const std::string name(tensor.name);
    if (name == kEmbeddingName && !tied) continue;  // only looked up
    PackedTensor packed = {.type = tensor.type,
                           .rows = static_cast<std::int64_t>(tensor.dims.back()),
                           .k = 1,
                           .offset = used};
    if (IsMatrix(tensor)) {
      packed.k = static_cast<std::int64_t>(tensor.dims[0]);
      const auto shape = PackedShapeOf(tensor.type, packed.rows, packed.k);
      if (!shape) return Context(shape.error(), name);
      used += RoundUp(static_cast<std::uint64_t>(shape->total_bytes), kLine);
      meta.matrices.emplace(name, packed);
    } else if (tensor.dims.size() == 1) {
      packed.type = QuantType::kF32;
      used += RoundUp(static_cast<std::uint64_t>(packed.rows) * sizeof(float), kLine);
      meta.vectors.emplace(name, packed);
    } else {
      return Fail(
          ErrorKind::kUnsupported,
          fmt::format("tensor {} has {} dimensions, allowed is 1 or 2", name, tensor.dims.size()));
    }
  }
  return used;
}

// Adds the coarse head, where it pays, behind the `used` bytes.
Result<void> PlaceCoarseHead(PackMeta& meta, std::uint64_t& used) {
  const auto found = meta.matrices.find(meta.head_name());
  if (found == meta.matrices.end()) return {};
  const PackedTensor& exact = found->second;
  const auto norm = meta.vectors.find(kOutputNormName);
  if (norm == meta.vectors.end() || norm->second.rows != exact.k) return {};
  if (!CoarseHeadPays(exact.type, exact.k)) return {};
  const auto shape = PackedShapeOf(QuantType::kQ4_0, exact.rows, exact.k);
  if (!shape) return Failure(shape.error());
  const auto place = [&used](QuantType type, std::int64_t rows, std::int64_t k,
                             std::uint64_t bytes) {
    const PackedTensor packed = {.type = type, .rows = rows, .k = k, .offset = used};
    used += RoundUp(bytes, kLine);
    return packed;
  };
  const auto place_vector = [&place](std::int64_t size) {
    return place(QuantType::kF32, size, 1, static_cast<std::uint64_t>(size) * sizeof(float));
  };
  PackedCoarseHead coarse;
  coarse.plane =
      place(QuantType::kQ4_0, exact.rows, exact.k, static_cast<std::uint64_t>(shape->total_bytes));
  coarse.radius = place_vector(exact.rows);
  coarse.inverse_weights = place_vector(exact.k);
  meta.coarse_head = coarse;
  return {};
}

void PlaceSections(PackPlan& plan, std::uint64_t tensor_bytes, std::uint64_t embedding_bytes) {
  PackHeader& header = plan.header;
  std::memcpy(header.magic, kPackMagic, sizeof(header.magic));
  header.version = kPackVersion;
  const std::uint64_t sizes[kPackSections] = {plan.meta_json.size(), plan.tokenizer.size(),
                                              plan.chat_template.size(), tensor_bytes,
                                              embedding_bytes};
  std::uint64_t used = sizeof(PackHeader);
  for (std::size_t i = 0; i < kPackSections; ++i) {
    const bool tensors = static_cast<PackSection>(i) == PackSection::kTensors;
    used = RoundUp(used, static_cast<std::uint64_t>(tensors ? kHugePage : kLine));
    header.sections[i] = {.offset = used, .size = sizes[i], .checksum = 0};
    used += sizes[i];
  }
  header.total_size = used;
}

std::byte* Tensors(const PackPlan& plan, std::span<std::byte> image) {
  const auto index = static_cast<std::size_t>(PackSection::kTensors);
  return image.data() + plan.header.sections[index].offset;
}

void WriteVectors(const GgufFile& file, const PackPlan& plan, std::span<std::byte> image) {
  for (const auto& [name, packed] : plan.meta.vectors) {
    const GgufTensor* tensor = file.FindTensor(name);
    DecodeRow(tensor->type, tensor->bytes.data(), static_cast<std::size_t>(packed.rows),
              reinterpret_cast<float*>(Tensors(plan, image) + packed.offset));
  }
}

void WriteMatrix(const GgufTensor& tensor, const PackedTensor& packed, std::byte* out,
                 ThreadTeam& team) {
  const auto shape = PackedShapeOf(packed.type, packed.rows, packed.k);
  team.Run([&](TeamMember& member) {
    member.ForEachChunk(shape->groups, 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t group = begin; group < end; ++group) {
        PackGroup(*shape, tensor.bytes.data(), packed.rows, packed.k, group,
                  out + group * shape->group_bytes);
      }
    });
  });
}

// The norm's gains are the usual sizes of what the output matrix is multiplied by, up to a
// factor: a normed row has about the same size everywhere before them.
void WriteCoarseHead(const GgufFile& file, const PackPlan& plan, std::span<std::byte> image,
                     ThreadTeam& team) {
  const PackedCoarseHead& coarse = *plan.meta.coarse_head;
  std::byte* tensors = Tensors(plan, image);
  const auto vector = [tensors](const PackedTensor& packed) {
    return std::span(reinterpret_cast<float*>(tensors + packed.offset),
                     static_cast<std::size_t>(packed.rows));
  };
  const RowMajor exact = {.type = plan.meta.matrices.at(plan.meta.head_name()).type,
                          .rows = coarse.plane.rows,
                          .k = coarse.plane.k,
                          .data = file.FindTensor(plan.meta.head_name())->bytes.data()};
  const auto weights = vector(coarse.inverse_weights);
  ChooseInverseWeights(exact, vector(plan.meta.vectors.at(kOutputNormName)), weights);
  MakeCoarseHead(exact, weights, tensors + coarse.plane.offset, vector(coarse.radius).data(), team);
}

void WriteBytes(const PackPlan& plan, std::span<std::byte> image, PackSection section,
                const void* data, std::size_t size) {
  const auto& entry = plan.header.sections[static_cast<std::size_t>(section)];
  if (size != 0) std::memcpy(image.data() + entry.offset, data, size);
}

// The checksums of all sections, then of the header itself, which makes the image valid.
void Seal(PackPlan& plan, std::span<std::byte> image) {
  for (PackSectionEntry& entry : plan.header.sections) {
    entry.checksum = XXH3_64bits(image.data() + entry.offset, entry.size);
  }
  plan.header.checksum = XXH3_64bits(&plan.header, offsetof(PackHeader, checksum));
  std::memcpy(image.data(), &plan.header, sizeof(plan.header));
}

}  // namespace

Result<PackPlan> PlanPack(const GgufFile& file, const Fingerprint& source) {
  PackPlan plan = {};
  plan.header.source = source;
  auto config = ReadConfig(file);
  if (!config) return Failure(std::move(config).error());
  plan.meta.config = std::move(*config);
  const GgufTensor* embedding = file.FindTensor(kEmbeddingName);
  plan.meta.embedding_type = embedding->type;

  const auto spec = ReadTokenizerSpec(file);
  if (!spec) return Context(spec.error(), "tokenizer");
  auto tables = BuildTables(*spec);
  if (!tables) return Context(std::move(tables).error(), "tokenizer");
  plan.tokenizer = std::move(*tables);
  plan.chat_template = file.GetString("tokenizer.chat_template").value_or("");

  auto tensor_bytes = PlaceTensors(file, plan.meta);
  if (!tensor_bytes) return Failure(tensor_bytes.error());
  VIVACE_RETURN_IF_ERROR(PlaceCoarseHead(plan.meta, *tensor_bytes));
  plan.meta_json = WriteMeta(plan.meta);
  PlaceSections(plan, *tensor_bytes, embedding->bytes.size());
  return plan;
}

void WritePack(const GgufFile& file, PackPlan& plan, std::span<std::byte> image, ThreadTeam& team,
               const std::function<void(double)>& progress) {
  WriteBytes(plan, image, PackSection::kMeta, plan.meta_json.data(), plan.meta_json.size());
  WriteBytes(plan, image, PackSection::kTokenizer, plan.tokenizer.data(), plan.tokenizer.size());
  WriteBytes(plan, image, PackSection::kTemplate, plan.chat_template.data(),
             plan.chat_template.size());
  const auto& embedding = file.FindTensor(kEmbeddingName)->bytes;
  WriteBytes(plan, image, PackSection::kEmbedding, embedding.data(), embedding.size());
  WriteVectors(file, plan, image);
  if (plan.meta.coarse_head) WriteCoarseHead(file, plan, image, team);
  std::uint64_t all = 0;
  for (const auto& entry : plan.meta.matrices) all += file.FindTensor(entry.first)->bytes.size();
  std::uint64_t done = 0;
  for (const auto& [name, packed] : plan.meta.matrices) {
    const GgufTensor& tensor = *file.FindTensor(name);
    WriteMatrix(tensor, packed, Tensors(plan, image) + packed.offset, team);
    done += tensor.bytes.size();
    progress(static_cast<double>(done) / static_cast<double>(all));
  }
  Seal(plan, image);
}

}  // namespace vivace
