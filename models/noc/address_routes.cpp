#include "models/noc/address_routes.h"

#include <algorithm>
#include <stdexcept>

namespace lacuna {

AddressRoutes::AddressRoutes(std::vector<AddressRoute> routes) : routes_(std::move(routes)) {
  std::sort(routes_.begin(), routes_.end(), [](const AddressRoute& a, const AddressRoute& b) { return a.base < b.base; });
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const AddressRoute& r = routes_[i];
    const auto refuse = [&r](const std::string& why) { throw std::invalid_argument("route " + r.name + ": " + why); };
    if (r.size.n == 0 || r.count == 0) refuse("empty");
    if (r.base + (r.size.n - 1) < r.base) refuse("wraps around");
    if (i > 0 && routes_[i - 1].base + (routes_[i - 1].size.n - 1) >= r.base) refuse("overlaps " + routes_[i - 1].name);
    if (r.count > 1 && (r.interleave.n == 0 || r.size.n % r.interleave.n != 0))
      refuse("size is not a multiple of the interleave");
    try {
      entries_.push_back({AddressSlice(r.base, r.size, r.interleave, r.count, 0, r.hash), r.first_destination});
    } catch (const std::invalid_argument& error) {
      refuse(error.what());
    }
  }
}

AddressSlice AddressRoutes::slice(unsigned destination) const {
  for (const AddressRoute& r : routes_) {
    if (destination < r.first_destination || destination - r.first_destination >= r.count) continue;
    return AddressSlice(r.base, r.size, r.interleave, r.count, destination - r.first_destination, r.hash);
  }
  return {};
}

const AddressRoute* AddressRoutes::nearest(std::uint64_t address) const {
  const auto distance = [address](const AddressRoute& r) {
    return address < r.base ? r.base - address : address - r.base < r.size.n ? 0 : address - r.base - (r.size.n - 1);
  };
  const auto found = std::min_element(routes_.begin(), routes_.end(),
                                      [&](const AddressRoute& a, const AddressRoute& b) { return distance(a) < distance(b); });
  return found == routes_.end() ? nullptr : &*found;
}

unsigned AddressRoutes::destinations() const {
  unsigned count = 0;
  for (const AddressRoute& r : routes_) count = std::max(count, r.first_destination + r.count);
  return count;
}

}  // namespace lacuna
