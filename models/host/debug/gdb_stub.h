// Server of GDB's remote serial protocol on a loopback TCP port, without SystemC.
//
// There is at most one client. All sockets are non-blocking; while the target runs, the owner calls poll() from time to time;
// while the target is halted, serve() waits for the next resume request. A client that disappears is treated like a client that
// detaches. Source: Debugging with GDB, appendix E (remote protocol) and section G.5.12 (RISC-V target features).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/host/rv64/rv64_execute.h"

namespace lacuna {

/// The target being debugged.
class GdbTarget {
 public:
  virtual ~GdbTarget() = default;
  /// Register numbers of GDB: x0..x31 = 0..31, pc = 32, f0..f31 = 33..64, CSR n = 65 + n. False: no such register.
  virtual bool read_gdb_register(unsigned number, std::uint64_t& value) = 0;
  virtual bool write_gdb_register(unsigned number, std::uint64_t value) = 0;
  virtual bool read_gdb_memory(std::uint64_t address, std::span<std::byte> bytes) = 0;
  virtual bool write_gdb_memory(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void set_gdb_breakpoints(std::vector<std::uint64_t> addresses) = 0;
  virtual void set_gdb_watchpoints(std::vector<rv64::Watchpoint> watchpoints) = 0;
};

/// Reason why the target has halted, for the stop reply.
struct GdbStop {
  enum class Reason { attached, interrupted, step, breakpoint, watchpoint, fault };
  Reason reason = Reason::attached;
  rv64::WatchpointHit watchpoint{};
};

enum class GdbEvent {
  none,
  attached,     ///< a client has connected: the target must halt
  interrupted,  ///< the client requests the target to halt
  detached,     ///< the client has disconnected, and breakpoints have been removed
};

enum class GdbResume { run, step, detached, killed, stop_requested };

class GdbStub {
 public:
  /// Listens on 127.0.0.1:port; 0 selects a free port. Throws std::system_error.
  GdbStub(std::uint16_t port, GdbTarget& target);
  ~GdbStub();
  GdbStub(const GdbStub&) = delete;
  GdbStub& operator=(const GdbStub&) = delete;

  std::uint16_t port() const { return port_; }
  bool connected() const { return client_ >= 0; }

  /// Handles the client's requests while the target runs. Blocks for at most `wait_ms`.
  GdbEvent poll(int wait_ms = 0);
  /// Reports to the client that the target has halted after a resume.
  void report(const GdbStop& stop);
  /// Handles requests while the target is halted, until a request resumes the target. Without a client, waits for a client if
  /// `wait_for_client`, else returns detached. `stop_requested` (may be null) is polled ten times a second.
  GdbResume serve(bool wait_for_client, const std::function<bool()>& stop_requested);
  /// Call it at the end of the run: reports the process's exit code to a client that waits for the target to stop, prints `why`
  /// (one line, may be empty) on the client's console, and closes the connection.
  void report_exit(int code, std::string_view why);

 private:
  enum class Packet { none, packet, interrupt, closed };

  bool accept_client(int wait_ms);
  void drop_client();
  void close_politely();
  bool wait_readable(int descriptor, int wait_ms) const;
  Packet receive(int wait_ms);
  Packet parse();
  void send(std::string_view payload);
  void send_raw(std::string_view bytes);

  /// Handles a request. Returns true if the request resumes the target; `resume` specifies how.
  bool handle(std::string_view request, GdbResume& resume);
  void handle_query(std::string_view request);
  void handle_registers_write(std::string_view hex);
  void handle_register_read(std::string_view number);
  void handle_register_write(std::string_view arguments);
  void handle_memory_read(std::string_view arguments);
  void handle_memory_write(std::string_view arguments, bool binary);
  void handle_point(std::string_view arguments, bool insert);
  bool handle_resume(std::string_view action, GdbResume& resume);
  void update_points();

  GdbTarget& target_;
  int listener_ = -1;
  int client_ = -1;
  std::uint16_t port_ = 0;
  bool acknowledge_ = true;
  bool client_waits_ = false;  ///< the target has been resumed and has not stopped yet
  std::string input_;
  std::string request_;
  std::string output_;
  std::string stop_reply_ = "T05thread:1;";
  std::map<std::uint64_t, unsigned> breakpoints_;  ///< kinds inserted (bit 0 software, bit 1 hardware), by address
  std::vector<rv64::Watchpoint> watchpoints_;
};

/// The target description that qXfer:features:read returns.
const std::string& gdb_target_description();

}  // namespace lacuna
