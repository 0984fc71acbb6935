#include "models/compute/memory/memory_port.h"

#include <utility>

#include "models/common/containers/pooled_records.h"

namespace lacuna {

void MemoryPort::translate(std::uint64_t address, Tick at) {
  page_ = kNone;
  if (tlb_ == nullptr) {
    translated_ = Tick{};
    return;
  }
  if (spare_page_ == kNone) spare_page_ = take_record(pages_, free_pages_);
  if (tlb_->translate_or_defer(address, at, *this, spare_page_, translated_)) return;
  page_ = std::exchange(spare_page_, kNone);
  pages_[page_] = {};
}

void MemoryPort::keep(const LineAccess& access, std::uint32_t tag) {
  const std::uint32_t request = take_record(requests_, free_);
  requests_[request] = {.access = access, .tag = tag, .next = kNone};
  Page& page = pages_[page_];
  (page.first == kNone ? page.first : requests_[page.last].next) = request;
  page.last = request;
}

void MemoryPort::reset() {
  translated_ = Tick{};
  page_ = kNone;
  requests_.clear();
  free_.clear();
  pages_.clear();
  free_pages_.clear();
  spare_page_ = kNone;
}

void MemoryPort::translated(std::uint32_t page, Tick at) {
  if (page_ == page) {
    page_ = kNone;
    translated_ = at;
  }
  std::uint32_t next = std::exchange(pages_[page], {}).first;
  free_pages_.push_back(page);
  while (next != kNone) {
    const Request waiting = requests_[next];
    free_.push_back(next);
    next = waiting.next;
    LineAnswer answer;
    if (memory_->access(waiting.access, later(waiting.access.made, at), client_, waiting.tag, answer))
      client_.answered(waiting.tag, answer);
  }
}

}  // namespace lacuna
