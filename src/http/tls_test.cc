// The same server behind TLS, with a certificate made on the spot.
#include <unistd.h>

#include <array>
#include <cstdio>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "http/testing.h"

namespace vivace::http::testing {
namespace {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* thing) const {
    kFree(thing);
  }
};
template <class T, auto kFree>
using Owned = std::unique_ptr<T, Freed<kFree>>;

class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string stem = ::testing::TempDir() + "vivace-tls-" + std::to_string(::getpid());
    files_ = {stem + ".crt", stem + ".key"};
    const Owned<EVP_PKEY, EVP_PKEY_free> key(EVP_EC_gen("P-256"));
    const Owned<X509, X509_free> certificate(X509_new());
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const Owned<FILE, std::fclose> certificate_file(std::fopen(files_.certificate.c_str(), "w"));
    const Owned<FILE, std::fclose> key_file(std::fopen(files_.key.c_str(), "w"));
    ASSERT_EQ(PEM_write_X509(certificate_file.get(), certificate.get()), 1);
    ASSERT_EQ(
        PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  }
  void TearDown() override {
    ::unlink(files_.certificate.c_str());
    ::unlink(files_.key.c_str());
  }

  ServerOptions Options() const { return {.tls = files_}; }

  TlsFiles files_;
};

class TlsClient {
 public:
  explicit TlsClient(const Client& client)
      : context_(SSL_CTX_new(TLS_client_method())), ssl_(SSL_new(context_.get())) {
    static constexpr std::array<unsigned char, 12> kOffer = {2,   'h', '2', 8,   'h', 't',
                                                             't', 'p', '/', '1', '.', '1'};
    SSL_set_alpn_protos(ssl_.get(), kOffer.data(), kOffer.size());
    SSL_set_fd(ssl_.get(), client.fd());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }
  bool connected() const { return connected_; }
  std::string Protocol() const {
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  void Send(std::string_view bytes) {
    SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  // Everything up to the server's end, or up to the marker.
  std::string ReadTo(std::string_view marker) {
    std::array<char, 16384> bytes{};
    std::string text;
    while (text.find(marker) == std::string::npos) {
      const int count = SSL_read(ssl_.get(), bytes.data(), bytes.size());
      if (count <= 0) break;
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  bool EndedProperly() const { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

 private:
  Owned<SSL_CTX, SSL_CTX_free> context_;
  Owned<SSL, SSL_free> ssl_;
  bool connected_ = false;
};

TEST_F(TlsTest, ServesAndEndsProperly) {
  const TestServer host(Options());
  EXPECT_TRUE(host.server->addresses().front().starts_with("https://127.0.0.1:"));
  const Client socket = host.Connect();
  TlsClient client(socket);
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.Protocol(), "http/1.1");
  client.Send(Get("/health"));
  EXPECT_NE(client.ReadTo("true}").find("200 OK"), std::string::npos);
  client.Send(Get("/stream", "Connection: close\r\n"));
  EXPECT_TRUE(client.ReadTo("never").ends_with("0\r\n\r\n"));
  EXPECT_TRUE(client.EndedProperly());
}

TEST_F(TlsTest, LargeBodiesBothWays) {
  const TestServer host(Options());
  const Client socket = host.Connect();
  TlsClient client(socket);
  const std::string body(1 << 20, 'x');
  client.Send(Post("/echo", body + "!"));
  EXPECT_TRUE(client.ReadTo("!").ends_with(body + "!"));
}

// The server says goodbye for a second; a client that reads more slowly loses nothing.
TEST_F(TlsTest, ASlowClientGetsTheWholeLastAnswer) {
  const TestServer host(Options());
  const Client socket = host.Connect();
  TlsClient client(socket);
  const std::string body(1 << 20, 'x');
  client.Send(Post("/echo", body + "!", "Connection: close\r\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  const std::string answer = client.ReadTo("never");
  EXPECT_TRUE(answer.ends_with(body + "!")) << answer.size();
}

TEST_F(TlsTest, LeavingStopsTheWork) {
  TestServer host(Options());
  for (const bool reset : {false, true}) {
    Client socket = host.Connect();
    TlsClient client(socket);
    client.Send(Get("/park"));
    const Parking::Parked parked = host.parking.Take();
    reset ? socket.Reset() : socket.Close();
    EXPECT_TRUE(StopComes(parked.request.stop));
  }
}

TEST_F(TlsTest, ClientsThatDoNotSpeakItAreDropped) {
  const TestServer host({.tls = files_, .limits = {.header_time = std::chrono::milliseconds(30)}});
  Client plain = host.Connect();
  ASSERT_TRUE(plain.Send(Get("/health")));
  EXPECT_TRUE(plain.WaitForEnd());
  Client silent = host.Connect();
  EXPECT_TRUE(silent.WaitForEnd());
  EXPECT_TRUE(Eventually([&] { return host.server->num_connections() == 0; }));
}

TEST_F(TlsTest, AKeyOfAnotherCertificateIsRefused) {
  const std::string own_key = files_.key;
  std::string other = files_.key + ".other";
  ASSERT_EQ(std::rename(files_.certificate.c_str(), other.c_str()), 0);
  SetUp();
  const auto server = Server::Start({.tls = TlsFiles{other, files_.key}}, {});
  ::unlink(other.c_str());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().message, "TLS key " + own_key + ": key values mismatch");
}

}  // namespace
}  // namespace vivace::http::testing
