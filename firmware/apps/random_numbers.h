/* Pseudorandom numbers that are the same on every platform. Valid C and C++. */
#ifndef FIRMWARE_APPS_RANDOM_NUMBERS_H
#define FIRMWARE_APPS_RANDOM_NUMBERS_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014). Must not change. */
static inline uint64_t app_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

#endif
