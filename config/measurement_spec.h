/* The choice of what is measured of a program, made before it starts: comma-separated words
 * (POET_MEASURE), or a file.
 *
 *     exact = { calls = "cpu"; states = true; memory = true; waits = true; metrics = true;
 *               usage = true; };
 *     statistical = { rate = 100; samples = 997; };   // the server's, and of call stacks, a second
 *     functions = { ignore = ["ns::*"]; only = []; count = ["leaf"]; };   // as POET_PROFILE_*
 *     metrics = ( { name = "meals"; count = ["acquired"]; } );   // config/metric_rules.h
 *
 * is equivalent to calls=cpu,states,memory,waits,metrics,usage,rate=100,samples=997 (samples and
 * calls exclude each other), those variables, and
 * user-defined metrics. Waits follow from the order: the word `waits` is accepted and costs
 * nothing. */
#ifndef CONFIG_MEASUREMENT_SPEC_H
#define CONFIG_MEASUREMENT_SPEC_H

#include "wire/endpoint.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MEASURE_RATE_MOST 1000u

enum { MEASURE_IGNORE, MEASURE_ONLY, MEASURE_COUNT, MEASURE_LISTS };

struct measurement_spec {
    uint32_t wanted; /* WANTED_ (wire/profile_region.h), WANTED_SAMPLES(rate) included */
    uint32_t rate; /* samples per second; 0: the server's default */
    bool waits; /* the word was given */
    bool metrics; /* a file defines metrics; they are not kept here */
    /* comma-separated function names, or NULL; freed by measurement_spec_free() */
    char *lists[MEASURE_LISTS];
};

/* Parses such words. Returns false with the reason in *error if a word is invalid. */
bool measurement_spec_parse(const char *words, struct measurement_spec *measure,
                            struct error *error);
/* Parses the text of such a file. Errors are written to `complaints` (may be NULL) as `FILE:LINE:
 * PROBLEM`. */
bool measurement_spec_read(const char *text, const char *file, FILE *complaints,
                           struct measurement_spec *measure);
/* Returns whether the text of a file looks like a measurement specification rather than a
 * description. */
bool measurement_spec_is_set(const char *text);

/* Return the specification as words for measurement_spec_parse() ("none" if empty), and as a file
 * for measurement_spec_read(). The caller frees the result. */
char *measurement_spec_list(const struct measurement_spec *measure);
char *measurement_spec_write(const struct measurement_spec *measure);

/* Return the name of the variable from which libpoet reads a list; and the problem of a list, which
 * the caller frees, or NULL if it is valid. */
const char *measurement_spec_variable(unsigned list);
char *measurement_spec_error(const char *names);
void measurement_spec_free(struct measurement_spec *measure); /* frees the lists */

#endif
