/* Fisher's exact test, one-sided: the probability that two series of runs differ this much by
 * chance. */
#ifndef CLIENTS_SCHEDULE_FISHER_TEST_H
#define CLIENTS_SCHEDULE_FISHER_TEST_H

#include <math.h>

/* Returns the logarithm of the binomial coefficient "n choose k"; k is at most n. */
static inline double fisher_test_log_binomial(unsigned n, unsigned k)
{
    int sign;
    return lgamma_r(n + 1., &sign) - lgamma_r(k + 1., &sign) - lgamma_r(n - k + 1., &sign);
}

/* Returns a probability: led_hits of `led` controlled runs had a property, and free_hits of
 * `freely` other runs; the result is the probability that at least that many of all hits fall to
 * the controlled runs if the property is independent of schedule control. */
static inline double fisher_test_probability(unsigned led_hits, unsigned led, unsigned free_hits,
                                             unsigned freely)
{
    unsigned hits = led_hits + free_hits, most = hits < led ? hits : led;
    double all = fisher_test_log_binomial(led + freely, hits), sum = 0;
    for (unsigned k = led_hits; k <= most; k++)
        if (hits - k <= freely)
            sum += exp(fisher_test_log_binomial(led, k) +
                       fisher_test_log_binomial(freely, hits - k) - all);
    return sum < 1 ? sum : 1;
}

#endif
