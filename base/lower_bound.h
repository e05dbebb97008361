/* Binary search. */
#ifndef BASE_LOWER_BOUND_H
#define BASE_LOWER_BOUND_H

/* Returns the first index from `low` on for which the expression `is_before`, which uses the
 * variable `index`, is false; `high` if it is true for all indexes below `high`.  It must be true
 * for the first indexes and false for all others.  The result has the type of `high`, an unsigned
 * integer. */
#define LOWER_BOUND(index, low, high, is_before)                                                   \
    __extension__({                                                                                \
        __typeof__((high) + 0) lower_bound_first = (low), lower_bound_end = (high);                \
        while (lower_bound_first < lower_bound_end) {                                              \
            const __typeof__((high) + 0) index =                                                   \
                lower_bound_first + (lower_bound_end - lower_bound_first) / 2;                     \
            if (is_before)                                                                         \
                lower_bound_first = index + 1;                                                     \
            else                                                                                   \
                lower_bound_end = index;                                                           \
        }                                                                                          \
        lower_bound_first;                                                                         \
    })

#endif
