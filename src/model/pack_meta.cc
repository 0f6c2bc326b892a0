#include "model/pack_meta.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

Json TensorToJson(const PackedTensor& tensor) {
  return {static_cast<std::uint32_t>(tensor.type), tensor.rows, tensor.k, tensor.offset};
}

Json TensorsToJson(const std::map<std::string, PackedTensor, std::less<>>& tensors) {
  Json object = Json::object();
  for (const auto& [name, tensor] : tensors) object[name] = TensorToJson(tensor);
  return object;
}

Json CoarseHeadToJson(const PackedCoarseHead& head) {
  return {{"plane", TensorToJson(head.plane)},
          {"radius", TensorToJson(head.radius)},
          {"inverse_weights", TensorToJson(head.inverse_weights)}};
}

Result<QuantType> TypeFromJson(const Json& json) {
  return QuantTypeFromId(json.get<std::uint32_t>());
}

Result<PackedTensor> TensorFromJson(const std::string& name, const Json& json) {
  const auto type = TypeFromJson(json.at(0));
  if (!type) return Context(type.error(), name);
  const PackedTensor tensor = {.type = *type,
                               .rows = json.at(1).get<std::int64_t>(),
                               .k = json.at(2).get<std::int64_t>(),
                               .offset = json.at(3).get<std::uint64_t>()};
  if (tensor.rows < 1 || tensor.rows > (1 << 24) || tensor.k < 1 || tensor.k > (1 << 24)) {
    return Fail(ErrorKind::kBadInput, name + ": the shape is out of range");
  }
  return tensor;
}

Result<void> TensorsFromJson(const Json& object,
                             std::map<std::string, PackedTensor, std::less<>>& tensors) {
  for (const auto& [name, json] : object.items()) {
    const auto tensor = TensorFromJson(name, json);
    if (!tensor) return Failure(tensor.error());
    tensors.emplace(name, *tensor);
  }
  return {};
}

Result<PackedCoarseHead> CoarseHeadFromJson(const Json& json) {
  PackedCoarseHead head;
  const std::pair<const char*, PackedTensor*> parts[] = {
      {"plane", &head.plane}, {"radius", &head.radius}, {"inverse_weights", &head.inverse_weights}};
  for (const auto& [name, part] : parts) {
    const auto tensor = TensorFromJson(name, json.at(name));
    if (!tensor) return Context(tensor.error(), "coarse head");
    *part = *tensor;
  }
  return head;
}

}  // namespace

std::string WriteMeta(const PackMeta& meta) {
  const Config& config = meta.config;
  Json json = {
      {"architecture", config.architecture},
      {"name", config.name},
      {"vocab_size", config.vocab_size},
      {"layers", config.layers},
      {"hidden", config.hidden},
      {"ffn", config.ffn},
      {"heads", config.heads},
      {"kv_heads", config.kv_heads},
      {"head_dim", config.head_dim},
      {"context", config.context},
      {"rms_epsilon", config.rms_epsilon},
      {"rope_base", config.rope_base},
      {"rope_pairs", config.rope == RopeKind::kPairs},
      {"embedding_type", static_cast<std::uint32_t>(meta.embedding_type)},
      {"matrices", TensorsToJson(meta.matrices)},
      {"vectors", TensorsToJson(meta.vectors)},
  };
  if (meta.coarse_head) json["coarse_head"] = CoarseHeadToJson(*meta.coarse_head);
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

Result<PackMeta> ReadMeta(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    PackMeta meta;
    Config& config = meta.config;
    config.architecture = json.at("architecture").get<std::string>();
    config.name = json.at("name").get<std::string>();
    config.vocab_size = json.at("vocab_size").get<std::int64_t>();
    config.layers = json.at("layers").get<std::int64_t>();
    config.hidden = json.at("hidden").get<std::int64_t>();
    config.ffn = json.at("ffn").get<std::int64_t>();
    config.heads = json.at("heads").get<std::int64_t>();
    config.kv_heads = json.at("kv_heads").get<std::int64_t>();
    config.head_dim = json.at("head_dim").get<std::int64_t>();
    config.context = json.at("context").get<std::int64_t>();
    config.rms_epsilon = json.at("rms_epsilon").get<float>();
    config.rope_base = json.at("rope_base").get<double>();
    config.rope = json.at("rope_pairs").get<bool>() ? RopeKind::kPairs : RopeKind::kHalves;
    const auto embedding_type = TypeFromJson(json.at("embedding_type"));
    if (!embedding_type) return Failure(embedding_type.error());
    meta.embedding_type = *embedding_type;
    VIVACE_RETURN_IF_ERROR(CheckConfig(config));
    VIVACE_RETURN_IF_ERROR(TensorsFromJson(json.at("matrices"), meta.matrices));
    VIVACE_RETURN_IF_ERROR(TensorsFromJson(json.at("vectors"), meta.vectors));
    if (json.contains("coarse_head")) {
      auto head = CoarseHeadFromJson(json.at("coarse_head"));
      if (!head) return Failure(std::move(head).error());
      meta.coarse_head = *head;
    }
    return meta;
  } catch (const Json::exception& error) {
    return Fail(ErrorKind::kBadInput, std::string("the pack's description: ") + error.what());
  }
}

}  // namespace vivace
