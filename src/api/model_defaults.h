// What a derived model adds to requests: the fields that they leave out.
//
// The fields get the names of the request's dialect, so endpoints read one body and need
// not know of derived models.
#pragma once

#include <optional>
#include <string>

#include "api/errors.h"
#include "api/model_pool.h"
#include "hub/derived_model.h"

namespace vivace {

// The derived model of this name, unless the name is that of a model itself.
std::optional<DerivedModel> FindDerivedFor(const ModelPool& pool, const std::string& name);

// Puts parameters, system prompt and first messages into `body`. Errors: of a record that
// was written by hand.
Result<void> ApplyDefaults(const DerivedModel& derived, Dialect dialect, Json& body);

}  // namespace vivace
