// The id under which a request appears in logs here and at the client.
#pragma once

#include <string>
#include <string_view>

namespace vivace::http {

// The client's own when it is 1 to 128 letters, digits and "-_.:/+=@"; else a new one.
std::string RequestId(std::string_view given);

}  // namespace vivace::http
