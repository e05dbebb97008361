/* The text of an event that tells what a call got which takes whatever there is
 * (poet_replay_begin_nondeterministic of poet.h): for runs that are repeated, not for pictures,
 * where an arrow says it. */
#ifndef WIRE_NONDET_RESULT_H
#define WIRE_NONDET_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NONDET_TEXT "got %u, asked %u"
#define NONDET_TOGETHER ", with the next" /* the same call told of the next one, too */
#define NONDET_BYTES 64u

static inline bool nondet_result_read(const char *text, uint32_t *got, uint32_t *asked)
{
    int read = 0;
    return sscanf(text, NONDET_TEXT "%n", got, asked, &read) == 2 && *asked &&
           (!text[read] || strcmp(text + read, NONDET_TOGETHER) == 0);
}

static inline bool nondet_result_matches(const char *text)
{
    uint32_t got, asked;
    return nondet_result_read(text, &got, &asked);
}

#endif
