#include "models/common/transport/backing_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "models/common/host/huge_pages.h"

namespace lacuna {

BackingStore::BackingStore(Bytes size) : data_(nullptr), size_(size) {
  if (size.n == 0) return;
  void* mapping = ::mmap(nullptr, size.n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot map " + std::to_string(size.n) + " bytes of backing memory");
  }
  data_ = static_cast<std::byte*>(mapping);
  // GPU kernels usually access whole buffers, for which huge pages need one page fault of the host per 2 MiB instead of 512. A
  // host without huge pages uses small pages. The first and last 2 MiB stay in small pages: a short run accesses only a few
  // pages there (queues and arguments, a program and its stack), for which the host would clear all 4 MiB.
  if (size.n > 2 * kHugePage) ::madvise(data_ + kHugePage, size.n - 2 * kHugePage, MADV_HUGEPAGE);
}

BackingStore::~BackingStore() {
  if (data_ != nullptr) ::munmap(data_, size_.n);
}

Bytes BackingStore::resident() const {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 4096> flags;
  std::uint64_t pages = 0;
  for (std::uint64_t offset = 0; offset < size_.n; offset += flags.size() * page) {
    const std::uint64_t length = std::min<std::uint64_t>(flags.size() * page, size_.n - offset);
    if (::mincore(data_ + offset, length, flags.data()) != 0) {
      throw std::system_error(errno, std::generic_category(), "mincore");
    }
    const auto count = static_cast<std::ptrdiff_t>((length + page - 1) / page);
    pages +=
        static_cast<std::uint64_t>(std::count_if(flags.begin(), flags.begin() + count, [](unsigned char f) { return f & 1; }));
  }
  return {pages * page};
}

}  // namespace lacuna
