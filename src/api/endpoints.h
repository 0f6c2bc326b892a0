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

void AddHealth(http::Router& router, Service& service);
void AddOpenAiChat(http::Router& router, Service& service);
void AddAnthropic(http::Router& router, Service& service);
void AddOllamaChat(http::Router& router, Service& service);
void AddOllamaCreate(http::Router& router, Service& service);
void AddOllamaGenerate(http::Router& router, Service& service);
void AddOllamaManage(http::Router& router, Service& service);
void AddOllamaModels(http::Router& router, Service& service);
void AddModels(http::Router& router, Service& service);

}  // namespace vivace
