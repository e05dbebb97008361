/* Fisher's exact test, one-sided: the probability that two series of runs differ this much by
 * chance. */
#ifndef CLIENTS_CLI_FISHER_TEST_H
#define CLIENTS_CLI_FISHER_TEST_H

/* Returns the binomial coefficient "n choose k"; n is small enough for a double. */
static inline double fisher_test_binomial(unsigned n, unsigned k)
{
    double product = 1;
    for (unsigned i = 1; i <= k; i++)
        product *= (double)(n - k + i) / i;
    return k > n ? 0 : product;
}

/* Returns a probability: led_hits of `led` controlled runs had a property, and free_hits of
 * `freely` other runs; the result is the probability that at least that many of all hits fall to
 * the controlled runs if the property is independent of schedule control. */
static inline double fisher_test_probability(unsigned led_hits, unsigned led, unsigned free_hits,
                                             unsigned freely)
{
    unsigned hits = led_hits + free_hits, most = hits < led ? hits : led;
    double all = fisher_test_binomial(led + freely, hits), sum = 0;
    for (unsigned k = led_hits; k <= most; k++)
        sum += hits - k <= freely
                   ? fisher_test_binomial(led, k) * fisher_test_binomial(freely, hits - k)
                   : 0;
    return all > 0 && sum < all ? sum / all : 1;
}

#endif
