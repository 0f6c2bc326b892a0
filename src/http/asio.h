// The parts of Boost.Asio used here, under short names. Private to this module.
//
// Operations give their error as a value, so that no failure of a client is an exception.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace vivace::http {

namespace asio = boost::asio;
using boost::system::error_code;

// TCP and UNIX sockets alike.
using Protocol = asio::generic::stream_protocol;
using Socket = Protocol::socket;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
using Clock = std::chrono::steady_clock;

inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace vivace::http
