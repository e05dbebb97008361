/* The annotation that records the result of a nondeterministic call, one that takes whatever is
 * available (poet_replay_begin_nondeterministic of poet.h). It serves replay, not diagrams, where
 * an arrow shows the result. */
#ifndef WIRE_NONDET_RESULT_H
#define WIRE_NONDET_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NONDET_TEXT "got %u, asked %u"
#define NONDET_TOGETHER ", with the next" /* the same call received the next one, too */
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
