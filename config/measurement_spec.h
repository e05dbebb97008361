/* What is measured of a program, chosen before it starts: words divided by commas (POET_MEASURE), or
 * a file.
 *
 *     exact = { calls = "cpu"; states = true; memory = true; waits = true; metrics = true; usage =
 *     true; };
 *     statistical = { rate = 100; };             // samples a second, 1 to 1000
 *     functions = { ignore = ["ns::*"]; only = []; count = ["leaf"]; };   // of whose calls: as POET_PROFILE_EXCLUDE and so on
 *     meters = ( { name = "meals"; count = ["entered"]; } );   // as config/metric_rules.h says
 *
 * is the same as calls=cpu,states,memory,waits,metrics,usage,rate=100, those variables, and meters
 * of one's own.  Waits are known from the order: the word says so, and costs nothing. */
#ifndef CONFIG_MEASUREMENT_SPEC_H
#define CONFIG_MEASUREMENT_SPEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MEASURE_RATE_MOST 1000u

enum { MEASURE_IGNORE, MEASURE_ONLY, MEASURE_COUNT, MEASURE_LISTS };

struct measurement_spec {
    uint32_t wanted; /* WANTED_ (wire/profile_region.h) */
    uint32_t rate; /* samples a second; 0: as the server does */
    bool waits; /* was said */
    char *lists
        /* names of functions, divided by commas; NULL: none.  See measurement_spec_free */
        [MEASURE_LISTS];
};

/* Reads such words; false with *why (the caller's): one is none. */
bool measurement_spec_parse(const char *words, struct measurement_spec *measure, char **why);
/* Reads the text of such a file.  Mistakes are written to `complaints` (NULL: nowhere) as
 * `FILE:LINE: what is wrong`. */
bool measurement_spec_read(const char *text, const char *file, FILE *complaints,
                           struct measurement_spec *measure);
/* Does the text of a file look like one of these, and not like a description? */
bool measurement_spec_is_set(const char *text);

/* As measurement_spec_parse reads it, "none" of nothing; and as measurement_spec_read does.  The
 * caller's. */
char *measurement_spec_list(const struct measurement_spec *measure);
char *measurement_spec_write(const struct measurement_spec *measure);

/* The variable that libpoet reads a list from; what is wrong with one, the caller's, NULL:
 * nothing. */
const char *measurement_spec_variable(unsigned list);
char *measurement_spec_error(const char *names);
void measurement_spec_free(struct measurement_spec *measure); /* the lists */

#endif
