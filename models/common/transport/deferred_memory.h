// A memory whose answers may come later than the call: what it does depends on requests that are made after this one.
//
// Requests charge time and traffic; the data have been moved already. A client makes its requests in nearly the order of time,
// and says from time to time how far it has come: decide() then brings the answers that no later request can change.
#pragma once

#include <cstdint>

#include "models/common/time/units.h"

namespace lacuna {

class DeferredMemory {
 public:
  class Client {
   public:
    virtual ~Client() = default;
    /// The answer to the request that was made under `number`: as Reply, of one that was not known.
    virtual void answered(std::uint32_t number, Tick done, Tick waiting) = 0;
  };
  struct Request {
    std::uint64_t address;  ///< bus address of the first byte
    unsigned bytes;
    bool write;
    Tick at;  ///< when it arrives, absolute
  };
  struct Reply {
    Tick done;     ///< absolute; of a read the last byte is there, a write has been accepted. Unless known: on an idle memory
    Tick waiting;  ///< the part of the time since the arrival that it waited for other requests; 0 unless known
    bool known;    ///< false: the client's answered() has them later
    bool failed = false;  ///< no memory answers; known
  };

  virtual ~DeferredMemory() = default;
  virtual Reply ask(const Request& request, Client& client, std::uint32_t number) = 0;
  /// No request comes for a time before `until`: calls answered() for all that is known then, of all clients. They may ask for
  /// more, for times that are no earlier.
  virtual void decide(Tick until) = 0;
  /// With an `until` before this, decide() brings nothing if no further request comes; kNever: nothing waits.
  virtual Tick next_decision() = 0;
};

}  // namespace lacuna
