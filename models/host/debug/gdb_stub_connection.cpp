// Sockets and packet framing of the GDB stub.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "models/host/debug/gdb_stub.h"

namespace lacuna {
namespace {

constexpr char kInterrupt = '\x03';
constexpr int kServePollMs = 100;
constexpr int kSendPatienceMs = 1000;
constexpr std::size_t kLongestPacket = 1u << 20;  // far above the PacketSize that is reported to clients

unsigned checksum(std::string_view bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum & 0xff;
}

std::string checksum_text(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  const unsigned sum = checksum(bytes);
  return {digits[sum >> 4], digits[sum & 15]};
}

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

GdbStub::GdbStub(std::uint16_t port, GdbTarget& target) : target_(target) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) fail("GDB stub: socket");
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) != 0 || ::listen(listener_, 1) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const int error = errno;
    ::close(listener_);
    throw std::system_error(error, std::generic_category(), "GDB stub: cannot listen on 127.0.0.1:" + std::to_string(port));
  }
  port_ = ntohs(address.sin_port);
}

GdbStub::~GdbStub() {
  if (client_ >= 0) ::close(client_);
  ::close(listener_);
}

bool GdbStub::wait_readable(int descriptor, int wait_ms) const {
  pollfd event{descriptor, POLLIN, 0};
  return ::poll(&event, 1, wait_ms) > 0;
}

bool GdbStub::accept_client(int wait_ms) {
  if (!wait_readable(listener_, wait_ms)) return false;
  client_ = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (client_ < 0) return false;
  const int on = 1;
  ::setsockopt(client_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  acknowledge_ = true;
  input_.clear();
  return true;
}

void GdbStub::drop_client() {
  if (client_ >= 0) ::close(client_);
  client_ = -1;
  client_waits_ = false;
  breakpoints_.clear();
  watchpoints_.clear();
  update_points();
}

/// Waits, for a limited time, until the client closes the connection: closing a socket with unread bytes resets the connection,
/// and the client may lose the last bytes sent to it.
void GdbStub::close_politely() {
  ::shutdown(client_, SHUT_WR);
  while (connected() && wait_readable(client_, kSendPatienceMs)) {
    char bytes[4096];
    if (::recv(client_, bytes, sizeof bytes, 0) <= 0) break;
  }
  drop_client();
}

GdbEvent GdbStub::poll(int wait_ms) {
  if (!connected()) return accept_client(wait_ms) ? GdbEvent::attached : GdbEvent::none;
  switch (receive(wait_ms)) {
    case Packet::interrupt:
      return GdbEvent::interrupted;
    case Packet::closed:
      drop_client();
      return GdbEvent::detached;
    // Requests are illegal while the target runs (all-stop mode) and are dropped.
    default:
      return GdbEvent::none;
  }
}

GdbResume GdbStub::serve(bool wait_for_client, const std::function<bool()>& stop_requested) {
  for (;;) {
    if (stop_requested && stop_requested()) return GdbResume::stop_requested;
    if (!connected()) {
      if (!wait_for_client) return GdbResume::detached;
      accept_client(kServePollMs);
      continue;
    }
    switch (receive(kServePollMs)) {
      case Packet::packet: {
        GdbResume resume = GdbResume::run;
        const std::string request = std::move(request_);
        if (handle(request, resume)) {
          client_waits_ = connected();
          return resume;
        }
        break;
      }
      case Packet::closed:
        drop_client();
        return GdbResume::detached;
      case Packet::interrupt:  // the target is already halted
      case Packet::none:
        break;
    }
  }
}

GdbStub::Packet GdbStub::receive(int wait_ms) {
  if (const Packet ready = parse(); ready != Packet::none) return ready;
  if (!wait_readable(client_, wait_ms)) return Packet::none;
  char bytes[4096];
  const ssize_t count = ::recv(client_, bytes, sizeof bytes, 0);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return Packet::closed;
  if (count > 0) input_.append(bytes, static_cast<std::size_t>(count));
  return input_.size() > kLongestPacket ? Packet::closed : parse();
}

GdbStub::Packet GdbStub::parse() {
  // Acknowledgements and the interrupt byte may occur between packets; other bytes are skipped.
  std::size_t start = 0;
  while (start < input_.size() && input_[start] != '$') {
    if (input_[start++] == kInterrupt) {
      input_.erase(0, start);
      return Packet::interrupt;
    }
  }
  input_.erase(0, start);
  const std::size_t end = input_.find('#');
  if (end == std::string::npos || end + 2 >= input_.size()) return Packet::none;
  const std::string_view body = std::string_view(input_).substr(1, end - 1);
  const bool intact = checksum_text(body) == std::string_view(input_).substr(end + 1, 2);
  if (acknowledge_) send_raw(intact ? "+" : "-");
  request_.clear();
  for (std::size_t i = 0; i < body.size(); ++i) {
    const bool escaped = body[i] == '}' && i + 1 < body.size();
    request_.push_back(escaped ? static_cast<char>(body[++i] ^ 0x20) : body[i]);
  }
  input_.erase(0, end + 3);
  return intact ? Packet::packet : Packet::none;
}

void GdbStub::send(std::string_view payload) {
  output_.assign(1, '$');
  for (const char c : payload) {
    const bool special = c == '$' || c == '#' || c == '}' || c == '*';
    if (special) output_.push_back('}');
    output_.push_back(special ? static_cast<char>(c ^ 0x20) : c);
  }
  const std::string sum = checksum_text(std::string_view(output_).substr(1));
  output_ += '#' + sum;
  send_raw(output_);
}

void GdbStub::send_raw(std::string_view bytes) {
  while (!bytes.empty() && client_ >= 0) {
    const ssize_t count = ::send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    pollfd event{client_, POLLOUT, 0};
    const bool again = count < 0 && (errno == EAGAIN || errno == EINTR);
    // A client that accepts no bytes for a second has disconnected; the next receive detects that and cleans up.
    if (!again || ::poll(&event, 1, kSendPatienceMs) <= 0) {
      ::shutdown(client_, SHUT_RDWR);
      return;
    }
  }
}

}  // namespace lacuna
