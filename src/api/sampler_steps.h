// "samplers": which steps of sampling run, and in which order, under llama.cpp's names.
#pragma once

#include "api/fields.h"
#include "sampling/params.h"

namespace vivace {

// An array of names or a string of letters. Steps that are not listed do nothing. Returns
// the names.
Json ReadSamplers(Fields& fields, SamplingParams& sampling);

// The steps in the order in which they run where a request does not say.
Json SamplerNames();

}  // namespace vivace
