// TLS: a server's certificate and key as an OpenSSL context.
#pragma once

#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "base/result.h"
#include "http/options.h"

namespace vivace::http {

// TLS 1.2 and 1.3. kBadInput, naming the file, when one of them cannot be used or the key
// is not the certificate's.
Result<std::unique_ptr<boost::asio::ssl::context>> LoadTls(const TlsFiles& files);

}  // namespace vivace::http
