#include "api/responses_format.h"

#include <string>
#include <string_view>
#include <utility>

#include "api/new_id.h"
#include "api/openai_form.h"

namespace vivace {
namespace {

const char* StatusOf(const Outcome& outcome) {
  return outcome.reason == FinishReason::kLength ? "incomplete" : "completed";
}

Json TextPart(std::string_view text) {
  return {{"type", "output_text"},
          {"annotations", Json::array()},
          {"logprobs", Json::array()},
          {"text", text}};
}

Json MessageItem(const std::string& id, const char* status, Json content) {
  return {{"id", id},
          {"type", "message"},
          {"status", status},
          {"role", "assistant"},
          {"content", std::move(content)}};
}

// The id of a call's item, which is not that of the call.
std::string ItemId(const ToolCall& call) { return "fc_" + call.id.substr(call.id.find('_') + 1); }

Json CallItem(const ToolCall& call, const char* status, std::string_view arguments) {
  return {{"id", ItemId(call)}, {"type", "function_call"}, {"status", status},
          {"call_id", call.id}, {"name", call.name},       {"arguments", arguments}};
}

class ResponsesFormat : public ReplyFormat {
 public:
  explicit ResponsesFormat(const Json& body) {
    for (const char* name :
         {"instructions", "metadata", "temperature", "top_p", "max_output_tokens", "user"}) {
      Echo(body, name, nullptr);
    }
    Echo(body, "parallel_tool_calls", true);
    Echo(body, "tool_choice", "auto");
    Echo(body, "tools", Json::array());
  }

  http::Response Whole(std::span<const Outcome> outcomes) override {
    const Outcome& outcome = outcomes.front();
    for (const Segment& segment : SegmentsOf(outcome)) {
      if (segment.call != nullptr) {
        items_.push_back(EndedCall(*segment.call));
      } else {
        items_.push_back(EndedText(NewId("msg_"), segment.text, StatusOf(outcome)));
      }
    }
    if (items_.empty()) items_.push_back(EndedText(NewId("msg_"), "", StatusOf(outcome)));
    return JsonResponse(Finished(outcome));
  }

  void Begin(std::string& out) override {
    for (const char* type : {"response.created", "response.in_progress"}) {
      Add(type, {{"response", Body("in_progress")}}, out);
    }
    // Where nothing else can come, clients see at once what does.
    if (!generation().tool_calls) OpenText(out);
  }

  void Next(const Part& part, std::string& out) override {
    if (part.text.empty()) return;
    if (!text_open_) OpenText(out);
    text_ += part.text;
    Add("response.output_text.delta",
        TextPlace({{"delta", part.text}, {"logprobs", Json::array()}}), out);
  }

  void CallBegins(const Outcome& outcome, std::string& out) override {
    CloseText("completed", out);
    Add("response.output_item.added",
        {{"output_index", items_.size()},
         {"item", CallItem(outcome.calls.back(), "in_progress", "")}},
        out);
  }

  void CallGrows(const Outcome& outcome, std::string_view arguments, std::string& out) override {
    Add("response.function_call_arguments.delta",
        CallPlace(outcome.calls.back(), {{"delta", arguments}}), out);
  }

  void CallEnds(const Outcome& outcome, std::string& out) override {
    CloseCall(outcome.calls.back(), out);
  }

  void End(const Outcome& outcome, std::string& out) override {
    if (!outcome.calls.empty() && !outcome.calls.back().complete) {
      CloseCall(outcome.calls.back(), out);
    } else if (items_.empty() && !text_open_) {
      OpenText(out);
    }
    CloseText(StatusOf(outcome), out);
    const bool whole = outcome.reason != FinishReason::kLength;
    Add(whole ? "response.completed" : "response.incomplete", {{"response", Finished(outcome)}},
        out);
  }

  void Fail(const ApiError& error, std::string& out) override {
    Add("error", {{"code", error.type}, {"message", error.message}, {"param", nullptr}}, out);
  }

 private:
  void Echo(const Json& body, const char* name, Json fallback) {
    const auto found = body.find(name);
    echo_[name] = found == body.end() || found->is_null() ? std::move(fallback) : *found;
  }

  static Json EndedText(const std::string& id, std::string_view text, const char* status) {
    return MessageItem(id, status, Json::array({TextPart(text)}));
  }

  static Json EndedCall(const ToolCall& call) {
    return CallItem(call, call.complete ? "completed" : "incomplete", call.arguments);
  }

  void OpenText(std::string& out) {
    text_open_ = true;
    text_id_ = NewId("msg_");
    text_.clear();
    Add("response.output_item.added",
        {{"output_index", items_.size()},
         {"item", MessageItem(text_id_, "in_progress", Json::array())}},
        out);
    Add("response.content_part.added", TextPlace({{"part", TextPart("")}}), out);
  }

  void CloseText(const char* status, std::string& out) {
    if (!text_open_) return;
    text_open_ = false;
    Add("response.output_text.done", TextPlace({{"text", text_}, {"logprobs", Json::array()}}),
        out);
    Add("response.content_part.done", TextPlace({{"part", TextPart(text_)}}), out);
    CloseItem(EndedText(text_id_, text_, status), out);
  }

  void CloseCall(const ToolCall& call, std::string& out) {
    Add("response.function_call_arguments.done",
        CallPlace(call, {{"name", call.name}, {"arguments", call.arguments}}), out);
    CloseItem(EndedCall(call), out);
  }

  void CloseItem(Json item, std::string& out) {
    Add("response.output_item.done", {{"output_index", items_.size()}, {"item", item}}, out);
    items_.push_back(std::move(item));
  }

  Json TextPlace(Json fields) const {
    Json json = {{"item_id", text_id_}, {"output_index", items_.size()}, {"content_index", 0}};
    json.update(fields);
    return json;
  }

  Json CallPlace(const ToolCall& call, Json fields) const {
    Json json = {{"item_id", ItemId(call)}, {"output_index", items_.size()}};
    json.update(fields);
    return json;
  }

  Json Body(const char* status) const {
    Json body = {{"id", id_},
                 {"object", "response"},
                 {"created_at", created_},
                 {"status", status},
                 {"error", nullptr},
                 {"incomplete_details", nullptr},
                 {"model", generation().model_name()},
                 {"output", items_},
                 {"store", false},
                 {"text", {{"format", {{"type", "text"}}}}},
                 {"usage", nullptr}};
    body.update(echo_);
    return body;
  }

  Json Finished(const Outcome& outcome) const {
    Json body = Body(StatusOf(outcome));
    if (outcome.reason == FinishReason::kLength) {
      body["incomplete_details"] = {{"reason", "max_output_tokens"}};
    }
    const GenerateTimings& timings = outcome.timings;
    body["usage"] = {{"input_tokens", timings.prompt_tokens},
                     {"input_tokens_details", {{"cached_tokens", timings.cached_tokens}}},
                     {"output_tokens", timings.decoded_tokens},
                     {"output_tokens_details", {{"reasoning_tokens", 0}}},
                     {"total_tokens", timings.prompt_tokens + timings.decoded_tokens}};
    body["timings"] = TimingsJson(timings, generation().preparation);
    return body;
  }

  void Add(const char* type, Json fields, std::string& out) {
    Json event = {{"type", type}, {"sequence_number", sequence_number_++}};
    event.update(fields);
    out += http::Event(Dump(event), type);
  }

  const std::string id_ = NewId("resp_");
  const std::int64_t created_ = UnixSeconds();
  Json echo_ = Json::object();
  Json items_ = Json::array();  // that have ended
  bool text_open_ = false;      // an item of text is on its way
  std::string text_id_;
  std::string text_;
  std::int64_t sequence_number_ = 0;
};

}  // namespace

std::unique_ptr<ReplyFormat> MakeResponsesFormat(const Json& body) {
  return std::make_unique<ResponsesFormat>(body);
}

}  // namespace vivace
