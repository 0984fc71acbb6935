// The list of replacement policies. Parameters, help text and reference page are generated from this list.
#include <array>

#include "models/cache/replacement/policy.h"

namespace lacuna {
namespace {

constexpr std::array kPolicies{
    &ReplacementPolicy::lru,
    &ReplacementPolicy::plru,
    &ReplacementPolicy::random,
};

}  // namespace

std::span<const ReplacementPolicy* const> replacement_policies() { return kPolicies; }

}  // namespace lacuna
