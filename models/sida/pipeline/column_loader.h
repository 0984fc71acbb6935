// CSC loader: loads columns in ascending order into the CSC space, the part of the buffer for entries by columns.
//
// Columns are requested in pieces, contiguous ranges of entries of one sub-tensor, as far ahead as the space or the dispatcher
// allows. At most `bytes_in_flight` bytes are in flight, so that columns of later steps do not delay other requests of the
// pass. A piece has at least one entry, and at most a quarter of that limit and of the CSC space. The output-stationary core
// (OS) uses a piece once it has arrived, which frees its space immediately. A column longer than the space is loaded in several
// pieces. Leading entries of a column that eager loading has already fetched are skipped, so a piece may need several reads.
//
// Offsets are streamed in whole buffer lines, two sub-tensors ahead of the columns in flight; the columns of a sub-tensor are
// requested when its offsets have arrived. Blocked storage: the entries of a piece are read as blocks; the list of a
// sub-tensor's blocks is read with its first piece. Source: thesis, section 4.4.4; the division into pieces is our choice. Host
// memory: 4 bytes per sub-tensor if blocked.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/sida/pipeline/csr_loader.h"
#include "models/sida/pipeline/request_issuer.h"

namespace lacuna::sida {

class ColumnLoader {
 public:
  static constexpr Time kNever = ~Time{0};

  struct Piece {
    std::uint64_t sub_tensor;
    std::uint64_t entries;  ///< entries used by OS
    std::uint64_t fetched;  ///< entries that occupy CSC space
    Arrival arrival;
  };

  ColumnLoader(const PassShape& shape, const PipelineParameters& parameters, std::uint64_t sub_tensor, std::uint64_t csc_bytes);

  /// Allows requests for sub-tensors up to `last` from time `since` on.
  void allow(std::uint64_t last, Time since);
  /// Earliest time of the next request. kNever if everything has been requested, or if the request needs a release of space, a
  /// call of allow(), or the arrival of requests in flight.
  Time next_time();
  /// Whether the last call of next_time() returned kNever because of requests in flight.
  bool awaits_requests() const { return awaits_requests_; }
  /// Requests the next piece at next_time(). Returns the number of entries requested.
  std::uint64_t request_next(const CsrLoader& eager, RequestIssuer& issuer);
  /// Requests offsets ahead of the next piece, and those of sub-tensors up to `last`.
  void request_offsets(std::uint64_t last, Time earliest, RequestIssuer& issuer);

  /// The oldest piece that OS has not used; null if there is none.
  const Piece* front() const { return pieces_.empty() ? nullptr : &pieces_.front(); }
  /// The youngest piece that OS has not used; null if there is none.
  const Piece* back() const { return pieces_.empty() ? nullptr : &pieces_.back(); }
  /// The first piece of a sub-tensor that OS has not used; null if no such piece has been requested.
  const Piece* first_of(std::uint64_t sub_tensor) const;
  /// Frees the space of the oldest piece, which must have arrived. `at`: time at which OS has used the piece; must not decrease
  /// from call to call.
  void release(Time at);

  /// Whether all entries of a sub-tensor have been requested.
  bool complete(std::uint64_t sub_tensor) const { return next_ > sub_tensor; }
  /// First column without requested entries.
  std::uint64_t frontier() const;
  std::uint64_t held_bytes() const { return held_ * shape_.entry_bytes; }

  std::uint64_t entries_in(std::uint64_t sub_tensor) const { return end_of(sub_tensor) - begin_of(sub_tensor); }
  std::uint64_t columns_in(std::uint64_t sub_tensor) const;
  /// Bytes of a sub-tensor's columns and offsets, without eagerly fetched entries.
  std::uint64_t bytes_of(std::uint64_t sub_tensor, const CsrLoader& eager) const;

 private:
  std::uint64_t column(std::uint64_t sub_tensor) const { return std::min(sub_tensor * sub_tensor_, shape_.os.lines()); }
  std::uint64_t begin_of(std::uint64_t sub_tensor) const { return shape_.os.offsets[column(sub_tensor)]; }
  std::uint64_t end_of(std::uint64_t sub_tensor) const { return begin_of(sub_tensor + 1); }
  /// End of the next piece.
  std::uint64_t stop() const { return std::min(end_of(next_), position_ + piece_); }
  void skip_empty();
  void request_offsets_of(std::uint64_t sub_tensor, Time earliest, RequestIssuer& issuer);
  void request_piece(std::uint64_t begin, std::uint64_t end, Piece& piece, const CsrLoader& eager, RequestIssuer& issuer);
  bool offsets_arrived();
  void count_blocks();

  const PassShape& shape_;
  std::uint64_t sub_tensor_, sub_tensors_;
  unsigned line_bytes_;
  std::uint64_t capacity_, piece_, window_;  ///< limits in entries: CSC space, piece, entries in flight
  std::uint64_t held_ = 0;                   ///< entries in the CSC space, or in flight
  std::deque<Piece> pieces_;
  std::uint64_t next_ = 0;                       ///< sub-tensor of the next piece
  std::uint64_t position_ = 0;                   ///< first entry of the next piece
  std::uint64_t offsets_for_ = 0;                ///< number of sub-tensors whose offsets have been requested
  std::array<std::uint64_t, 2> offset_bytes_{};  ///< bytes of offsets requested so far, for each order of the matrix
  std::uint64_t ahead_;                          ///< number of sub-tensors by which offsets are requested ahead of pieces
  struct OffsetFlight {
    std::uint64_t sub_tensor;
    Arrival arrival;
  };
  std::deque<OffsetFlight> offset_flights_;  ///< requests for offsets that may be in flight, by sub-tensor
  Time offsets_since_ = 0;                   ///< latest arrival of offsets that have been removed from `offset_flights_`
  struct Flight {
    std::uint64_t entries;
    Time arrival;  ///< valid once OS has used the piece
  };
  std::deque<Flight> flights_;   ///< latest pieces that may be in flight, including pieces that OS has used
  std::uint64_t in_flight_ = 0;  ///< entries of the pieces in flights_
  bool awaits_requests_ = false;
  std::uint64_t allowed_ = 0;  ///< last sub-tensor that may be requested
  Time allowed_since_ = 0, free_since_ = 0, window_since_ = 0;
  Time last_ = 0;                      ///< time of the last request for a piece
  std::vector<std::uint32_t> blocks_;  ///< number of blocks of each sub-tensor, if blocked
  std::uint64_t blocks_requested_ = 0;
};

}  // namespace lacuna::sida
