/* What is measured of a program, chosen before it starts: words divided by commas (POET_METERS), or a file.
 *
 *     exact = { calls = "cpu"; states = true; memory = true; waits = true; meters = true; usage = true; };
 *     statistical = { rate = 100; };             // samples a second, 1 to 1000
 *     functions = { ignore = ["ns::*"]; only = []; count = ["leaf"]; };   // of whose calls: as POET_CALLS_IGNORE and so on
 *     meters = ( { name = "meals"; count = ["entered"]; } );   // as config/meters.h says
 *
 * is the same as calls=cpu,states,memory,waits,meters,usage,rate=100, those variables, and meters of one's own.  Waits are known from the
 * order: the word says so, and costs nothing. */
#ifndef CONFIG_MEASURE_H
#define CONFIG_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MEASURE_RATE_MOST 1000u

enum { MEASURE_IGNORE, MEASURE_ONLY, MEASURE_COUNT, MEASURE_LISTS };

struct measure {
    uint32_t wanted; /* WANTED_ (wire/region.h) */
    uint32_t rate; /* samples a second; 0: as the server does */
    bool waits; /* was said */
    char *lists
        [MEASURE_LISTS]; /* names of functions, divided by commas; NULL: none.  See measure_free */
};

/* Reads such words; false with *why (the caller's): one is none. */
bool measure_words(const char *words, struct measure *measure, char **why);
/* Reads the text of such a file.  Mistakes are written to `complaints` (NULL: nowhere) as `FILE:LINE: what is wrong`. */
bool measure_read(const char *text, const char *file, FILE *complaints, struct measure *measure);
/* Does the text of a file look like one of these, and not like a description? */
bool measure_is(const char *text);

/* As measure_words reads it, "none" of nothing; and as measure_read does.  The caller's. */
char *measure_list(const struct measure *measure);
char *measure_text(const struct measure *measure);

/* The variable that libpoet reads a list from; what is wrong with one, the caller's, NULL: nothing. */
const char *measure_variable(unsigned list);
char *measure_wrong(const char *names);
void measure_free(struct measure *measure); /* the lists */

#endif
