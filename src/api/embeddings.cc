// POST /v1/embeddings, and Ollama's /api/embed and /api/embeddings.
#include <cstring>
#include <string>
#include <utility>

#include "api/embed_inputs.h"
#include "api/endpoints.h"

namespace vivace {
namespace {

// The floats' bytes, little endian, as OpenAI's clients ask for by default.
std::string Base64(const std::vector<float>& vector) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes(vector.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? kDigits[group >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return text;
}

Answer<void> OpenAiEmbeddings(Call& call) {
  Fields fields(call.body);
  auto request = ReadEmbedRequest(call, fields, "input");
  if (!request) return Refusal(std::move(request).error());
  const std::string encoding = fields.Text("encoding_format", "float");
  if (encoding != "float" && encoding != "base64") {
    fields.Reject("encoding_format", "allowed is float or base64");
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  const std::string name = request->model->name();
  return Embed(call, std::move(*request), [encoding, name](const Embeddings& embeddings) {
    Json data = Json::array();
    for (const std::vector<float>& vector : embeddings.vectors) {
      Json item = {{"object", "embedding"}, {"index", data.size()}};
      if (encoding == "base64") {
        item["embedding"] = Base64(vector);
      } else {
        item["embedding"] = vector;
      }
      data.push_back(std::move(item));
    }
    return Json{{"object", "list"},
                {"data", std::move(data)},
                {"model", name},
                {"usage",
                 {{"prompt_tokens", embeddings.prompt_tokens},
                  {"total_tokens", embeddings.prompt_tokens}}}};
  });
}

Answer<void> OllamaEmbed(Call& call) {
  Fields fields(call.body);
  auto request = ReadEmbedRequest(call, fields, "input");
  if (!request) return Refusal(std::move(request).error());
  request->truncate = fields.Bool("truncate", true);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return Embed(
      call, std::move(*request), [name = fields.Text("model")](const Embeddings& embeddings) {
        return Json{{"model", name},
                    {"embeddings", embeddings.vectors},
                    {"total_duration", static_cast<std::int64_t>(embeddings.total_ms * 1e6)},
                    {"load_duration", 0},
                    {"prompt_eval_count", embeddings.prompt_tokens}};
      });
}

Answer<void> OllamaEmbeddings(Call& call) {
  Fields fields(call.body);
  auto request = ReadEmbedRequest(call, fields, "prompt");
  if (!request) return Refusal(std::move(request).error());
  if (request->prompts.size() != 1) return RefuseInput("prompt: one text is expected");
  request->truncate = true;
  return Embed(call, std::move(*request), [](const Embeddings& embeddings) {
    return Json{{"embedding", embeddings.vectors.front()}};
  });
}

}  // namespace

void AddEmbeddings(http::Router& router, Service& service) {
  for (const char* path : {"/v1/embeddings", "/embeddings"}) {
    router.Add("POST", path, JsonEndpoint(service, OpenAiEmbeddings));
  }
  router.Add("POST", "/api/embed", JsonEndpoint(service, OllamaEmbed));
  router.Add("POST", "/api/embeddings", JsonEndpoint(service, OllamaEmbeddings));
}

}  // namespace vivace
