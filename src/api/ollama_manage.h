// What pulling, copying and creating models have in common.
#pragma once

#include <string>

#include "api/errors.h"
#include "api/service.h"
#include "hub/catalogue.h"

namespace vivace {

// 400 unless a derived model may get this name.
Answer<void> CheckNewName(Service& service, const std::string& name);

// What a pull of this name fetches. 404 for unknown ones, 403 where downloads are off.
Answer<CatalogueEntry> FetchableEntry(Service& service, std::string name);

}  // namespace vivace
