/* Branch prediction hints for the compiler. */
#ifndef CLIENTS_LIBPOET_CORE_LIKELY_H
#define CLIENTS_LIBPOET_CORE_LIKELY_H

#define LIKELY(x) __builtin_expect(!!(x), 1) /* keeps the common path free of jumps */

#endif
