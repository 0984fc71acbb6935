// A client of the remote stub that sends exactly the bytes that a test specifies.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace lacuna::test {

class GdbClient {
 public:
  explicit GdbClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~GdbClient() { ::close(socket_); }
  GdbClient(const GdbClient&) = delete;
  GdbClient& operator=(const GdbClient&) = delete;

  bool connected() const { return connected_; }
  void send(std::string_view bytes) {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
  }
  /// Sends a packet and returns the reply's payload.
  std::string ask(std::string_view payload) {
    send(frame(payload));
    return reply();
  }
  static std::string frame(std::string_view payload) {
    unsigned sum = 0;
    for (const char c : payload) sum += static_cast<unsigned char>(c);
    char tail[4];
    std::snprintf(tail, sizeof tail, "#%02x", sum & 0xff);
    return "$" + std::string(payload) + tail;
  }
  /// Returns the payload of the next packet, without a time limit; "closed" if the connection has ended.
  std::string reply() {
    for (;;) {
      const std::size_t start = input_.find('$');
      const std::size_t end = start == std::string::npos ? start : input_.find('#', start);
      if (end != std::string::npos && end + 2 < input_.size()) {
        std::string payload = input_.substr(start + 1, end - start - 1);
        input_.erase(0, end + 3);
        send("+");
        return payload;
      }
      if (!receive()) return "closed";
    }
  }
  /// Returns the next received byte, which must be outside of a packet; 0 if the connection has ended.
  char acknowledgement() {
    while (input_.empty()) {
      if (!receive()) return 0;
    }
    const char first = input_.front();
    input_.erase(0, 1);
    return first;
  }

 private:
  bool receive() {
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    input_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  bool connected_ = false;
  std::string input_;
};

inline std::string hex64(std::uint64_t value) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned>(value >> (8 * i) & 0xff));
    text += byte;
  }
  return text;
}

}  // namespace lacuna::test
