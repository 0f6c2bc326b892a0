// The attention phase of the forward pass: queries against the pages of keys and values.
#pragma once

#include <cstdint>

#include "model/config.h"

namespace vivace {

struct Pass;
class TeamMember;

// Floats of private memory that one thread's attention needs.
std::int64_t AttentionPartialFloats(const Config& config);

// Attends with all queries of space.q over the pages of `layer`, into space.attended.
// Work units are (sequence, key/value head, tile of query rows).
void Attend(const Pass& pass, std::int64_t layer, TeamMember& member);

}  // namespace vivace
