#include "http/tls.h"

#include <string>
#include <system_error>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "http/asio.h"

namespace vivace::http {
namespace {

// OpenSSL's reason for its last failure: the first error is the cause, the rest its echo.
std::string Reason() {
  const auto code = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "unknown reason";
}

// Clients that offer HTTP/2 as well are told that it is HTTP/1.1 here.
int ChooseProtocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* length,
                   const unsigned char* offered, unsigned int offered_length, void* /*unused*/) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, length, kHttp11, sizeof kHttp11 - 1, offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<std::unique_ptr<asio::ssl::context>> LoadTls(const TlsFiles& files) {
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  // Renegotiation lets a client make the server work; nobody needs it.
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_alpn_select_cb(native, ChooseProtocol, nullptr);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(native, files.certificate.c_str()) != 1)
    return Fail(ErrorKind::kBadInput, "TLS certificate " + files.certificate + ": " + Reason());
  if (SSL_CTX_use_PrivateKey_file(native, files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(native) != 1)
    return Fail(ErrorKind::kBadInput, "TLS key " + files.key + ": " + Reason());
  return context;
}

}  // namespace vivace::http
