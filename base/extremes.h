/* The smaller and the larger of two numbers. */
#ifndef BASE_EXTREMES_H
#define BASE_EXTREMES_H

#include <stdint.h>

static inline int64_t int64_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t int64_max(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
