// Every endpoint: each Add function puts the routes of one file into the router.
//
// To add one: write api/<name>.cc with Add<Name>, declare it here and call it in
// endpoints.cc.
#pragma once

#include "api/service.h"
#include "http/router.h"

namespace vivace {

// `service` must outlive the server that uses the router.
http::Router MakeRouter(Service& service);

void AddAdmin(http::Router& router, Service& service);
void AddAnthropic(http::Router& router, Service& service);
void AddApplyTemplate(http::Router& router, Service& service);
void AddCache(http::Router& router, Service& service);
void AddCompletion(http::Router& router, Service& service);
void AddEmbeddings(http::Router& router, Service& service);
void AddHealth(http::Router& router, Service& service);
void AddHistory(http::Router& router, Service& service);
void AddInfill(http::Router& router, Service& service);
void AddMetrics(http::Router& router, Service& service);
void AddModels(http::Router& router, Service& service);
void AddOllamaChat(http::Router& router, Service& service);
void AddOllamaCreate(http::Router& router, Service& service);
void AddOllamaGenerate(http::Router& router, Service& service);
void AddOllamaManage(http::Router& router, Service& service);
void AddOllamaModels(http::Router& router, Service& service);
void AddOpenAiChat(http::Router& router, Service& service);
void AddOpenAiCompletions(http::Router& router, Service& service);
void AddOpenAiResponses(http::Router& router, Service& service);
void AddPage(http::Router& router, Service& service);
void AddPrefill(http::Router& router, Service& service);
void AddProps(http::Router& router, Service& service);
void AddSchemaCheck(http::Router& router, Service& service);
void AddSlots(http::Router& router, Service& service);
void AddTokenize(http::Router& router, Service& service);

}  // namespace vivace
