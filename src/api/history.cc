// GET /v1/history, GET, PUT and DELETE /v1/history/{id}: the web page's conversations, where
// the server was started with --history. With API keys, each key has its own.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/endpoint.h"
#include "api/endpoints.h"
#include "api/fields.h"

namespace vivace {
namespace {

constexpr std::size_t kMostTitleBytes = 4096;
constexpr std::size_t kMostIdBytes = 64;

// Not every failure of the store is one of the request.
Refusal RefusalOf(Error error) {
  if (error.kind == ErrorKind::kExhausted) {
    return Refuse(507, "insufficient_storage_error", std::move(error.message));
  }
  return Refusal(std::move(error));
}

// Whose conversations a request is about.
struct Shelf {
  HistoryStore& store;
  std::string owner;
};

Answer<Shelf> ShelfOf(const Call& call) {
  HistoryStore* store = call.service.options.history;
  if (store != nullptr) return Shelf{*store, store->OwnerOf(call.request.api_key)};
  return Refusal(
      ErrorOfStatus(404, "this server keeps no history; it was started without --history FILE"));
}

Answer<std::string> IdOf(const Call& call) {
  std::string id(call.request.segments.Find("id").value_or(""));
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!id.empty() && id.size() <= kMostIdBytes && std::ranges::all_of(id, is_allowed)) return id;
  return RefuseInput(fmt::format("id: expected 1 to {} of A-Z, a-z, 0-9, _ and -", kMostIdBytes));
}

template <class AnyJson>
AnyJson HeadJson(const ConversationHead& head) {
  return {{"id", head.id},
          {"title", head.title},
          {"updated_ms", head.updated_ms},
          {"revision", head.revision}};
}

SortedJson ConversationJson(const Conversation& conversation) {
  auto json = HeadJson<SortedJson>(conversation.head);
  json["data"] = SortedJson::parse(conversation.data, nullptr, false);
  return json;
}

std::string DumpSorted(const SortedJson& json) {
  return json.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

// A conversation of thousands of messages may have an object with as many keys, in which the
// ordered kind would search its way from the front.
Answer<SortedJson> BodyOf(const Call& call) {
  auto body = ParseSortedJson(call.request.body);
  if (!body) return Refusal(std::move(body).error());
  if (body->is_object()) return *std::move(body);
  return RefuseInput(std::string("the body must be a JSON object, got ") + body->type_name());
}

// What people read in a conversation, whatever the page's format is: the texts that are
// called "content" or "text", at any depth. Bounded by the depth of what was parsed.
void GatherText(const SortedJson& json, bool is_text, std::string& out) {
  if (json.is_string()) {
    if (is_text) out.append(json.get_ref<const std::string&>()).append("\n");
    return;
  }
  if (!json.is_structured()) return;  // items() of a number would be the number again
  for (const auto& [key, value] : json.items()) {
    const bool named = json.is_object() && (key == "content" || key == "text");
    GatherText(value, named || (is_text && json.is_array()), out);
  }
}

Answer<void> List(Call& call) {
  const auto shelf = ShelfOf(call);
  if (!shelf) return Refusal(shelf.error());
  const auto heads = shelf->store.List(shelf->owner, call.request.query.Find("q").value_or(""));
  if (!heads) return RefusalOf(heads.error());
  Json conversations = Json::array();
  for (const ConversationHead& head : *heads) conversations.push_back(HeadJson<Json>(head));
  (void)call.writer.Send(JsonResponse({{"conversations", std::move(conversations)}}));
  return {};
}

Answer<void> Get(Call& call) {
  const auto shelf = ShelfOf(call);
  if (!shelf) return Refusal(shelf.error());
  const auto id = IdOf(call);
  if (!id) return Refusal(id.error());
  const auto found = shelf->store.Get(shelf->owner, *id);
  if (!found) return RefusalOf(found.error());
  (void)call.writer.Send({.body = DumpSorted(ConversationJson(*found))});
  return {};
}

Answer<void> Delete(Call& call) {
  const auto shelf = ShelfOf(call);
  if (!shelf) return Refusal(shelf.error());
  const auto id = IdOf(call);
  if (!id) return Refusal(id.error());
  const auto done = shelf->store.Delete(shelf->owner, *id);
  if (!done) return RefusalOf(done.error());
  (void)call.writer.Send(JsonResponse({{"id", *id}, {"deleted", true}}));
  return {};
}

Answer<ConversationDraft> DraftOf(const Call& call) {
  auto id = IdOf(call);
  if (!id) return Refusal(std::move(id).error());
  const auto body = BodyOf(call);
  if (!body) return Refusal(body.error());
  Json head = Json::object();
  for (const char* name : {"title", "revision"}) {
    if (const auto found = body->find(name); found != body->end()) head[name] = *found;
  }
  Fields fields(head);
  ConversationDraft draft = {.id = *std::move(id),
                             .title = fields.Text("title"),
                             .data = {},
                             .text = {},
                             .revision = fields.Integer("revision", 0, 0)};
  if (draft.title.size() > kMostTitleBytes) {
    fields.Reject(
        "title", fmt::format("{} bytes, at most {} are kept", draft.title.size(), kMostTitleBytes));
  }
  const auto data = body->find("data");
  if (data == body->end() || !data->is_object()) {
    fields.Reject("data", "needed: the conversation, an object");
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  draft.data = DumpSorted(*data);
  GatherText(*data, false, draft.text);
  return draft;
}

Answer<void> Put(Call& call) {
  const auto shelf = ShelfOf(call);
  if (!shelf) return Refusal(shelf.error());
  const auto draft = DraftOf(call);
  if (!draft) return Refusal(draft.error());
  const auto put = shelf->store.Put(shelf->owner, *draft);
  if (!put) return RefusalOf(put.error());
  if (put->conflict) {
    ApiError error(409, "conflict_error",
                   fmt::format("revision: {} is not the one that is stored; another page has "
                               "changed the conversation",
                               draft->revision));
    error.more["current"] = put->current ? HeadJson<Json>(put->current->head) : Json(nullptr);
    return Refusal(std::move(error));
  }
  (void)call.writer.Send(JsonResponse({{"revision", put->revision}}));
  return {};
}

}  // namespace

void AddHistory(http::Router& router, Service& service) {
  router.Add("GET", "/v1/history", PlainEndpoint(service, List));
  router.Add("GET", "/v1/history/{id}", PlainEndpoint(service, Get));
  router.Add("PUT", "/v1/history/{id}", PlainEndpoint(service, Put));
  router.Add("DELETE", "/v1/history/{id}", PlainEndpoint(service, Delete));
}

}  // namespace vivace
