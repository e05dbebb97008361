/* Fisher's exact test, one-sided: the probability that two series of runs differ this much by
 * chance. */
#ifndef CLIENTS_CLI_FISHER_TEST_H
#define CLIENTS_CLI_FISHER_TEST_H

/* Returns a probability: led_hits of `led` controlled runs had a property, and free_hits of
 * `freely` other runs; the result is the probability that at least that many of all hits fall to
 * the controlled runs if the property is independent of schedule control. */
double fisher_test_probability(unsigned led_hits, unsigned led, unsigned free_hits,
                               unsigned freely);

#endif
