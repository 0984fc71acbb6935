#include "models/sida/program/program.h"

namespace lacuna::sida {

const char* name_of(lacuna_sida_error error) {
#define LACUNA_SIDA_CASE(name, value, text) \
  case value:                               \
    return text;
  switch (static_cast<int>(error)) { LACUNA_SIDA_ERRORS(LACUNA_SIDA_CASE) }
#undef LACUNA_SIDA_CASE
  return "unknown error";
}

const char* name_of_operation(unsigned operation) {
#define LACUNA_SIDA_CASE(name, value, operands, text) \
  case value:                                         \
    return #name;
  switch (operation) { LACUNA_SIDA_OPERATIONS(LACUNA_SIDA_CASE) }
#undef LACUNA_SIDA_CASE
  return "unknown";
}

const char* name_of_element(unsigned element) {
#define LACUNA_SIDA_CASE(name, value, bytes, text) \
  case value:                                      \
    return #name;
  switch (element) { LACUNA_SIDA_ELEMENTS(LACUNA_SIDA_CASE) }
#undef LACUNA_SIDA_CASE
  return "unknown";
}

const char* name_of_semiring(unsigned semiring) {
#define LACUNA_SIDA_CASE(name, value, sum, product, text) \
  case value:                                             \
    return #name;
  switch (semiring) { LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_CASE) }
#undef LACUNA_SIDA_CASE
  return "unknown";
}

unsigned bytes_of(unsigned element) {
#define LACUNA_SIDA_CASE(name, value, bytes, text) \
  case value:                                      \
    return bytes;
  switch (element) { LACUNA_SIDA_ELEMENTS(LACUNA_SIDA_CASE) }
#undef LACUNA_SIDA_CASE
  return 0;
}

unsigned sum_element(unsigned element) { return element == LACUNA_SIDA_I8 ? static_cast<unsigned>(LACUNA_SIDA_I32) : element; }

unsigned sum_of(unsigned semiring) {
#define LACUNA_SIDA_CASE(name, value, sum, product, text) \
  case value:                                             \
    return LACUNA_SIDA_MONOID_##sum;
  switch (semiring) { LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_CASE) }
#undef LACUNA_SIDA_CASE
  return LACUNA_SIDA_MONOID_ADD;
}

bool goes_with(unsigned semiring, unsigned element) {
  if (element == LACUNA_SIDA_BOOL) return semiring == LACUNA_SIDA_AND_OR;
  if (element == LACUNA_SIDA_I8) return semiring == LACUNA_SIDA_MUL_ADD;
  return element < LACUNA_SIDA_ELEMENT_COUNT && semiring < LACUNA_SIDA_SEMIRING_COUNT;
}

}  // namespace lacuna::sida
