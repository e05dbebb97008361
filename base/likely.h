/* Branch prediction hints for the compiler, for paths where they were measured. */
#ifndef BASE_LIKELY_H
#define BASE_LIKELY_H

/* They keep the common path free of jumps. */
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
