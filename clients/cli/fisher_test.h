/* How probable it is that two series of runs differ as much as they do by chance alone: Fisher's
 * exact test, one-sided. */
#ifndef CLIENTS_CLI_FISHER_TEST_H
#define CLIENTS_CLI_FISHER_TEST_H

/* Of `led` runs led_hits had a property, of `freely` others free_hits: the probability that as many
 * of all those hits, or more, fall to the first ones if the property has nothing to do with being
 * led. */
double fisher_test_probability(unsigned led_hits, unsigned led, unsigned free_hits,
                               unsigned freely);

#endif
