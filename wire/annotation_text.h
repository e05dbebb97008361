/* Annotations of a fixed form, which Poet writes and reads again. */
#ifndef WIRE_ANNOTATION_TEXT_H
#define WIRE_ANNOTATION_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The text of a lock request that a signal handler makes: this, and the name of the signal. */
#define TEXT_IN_HANDLER "in the handler of "

/* The texts of acquisitions of a semaphore, each recorded once: its initial value, known from
 * sem_init, and that it is acquired by sem_trywait or with a timeout, too. */
#define TEXT_BINARY "initial value 1"
#define TEXT_CONDITIONAL "acquired by trywait or with a timeout, too"

/* The text of a nested acquisition of a read-write lock that blocks if a writer waits. */
#define TEXT_WRITERS_FIRST "the lock prefers waiting writers"

/* The text of a wait for a condition variable that each thread reaches which acquires the mutex
 * there: recorded once of a call site. */
#define TEXT_UNCHECKED "no test before it"

/* The text of a wait at an object of the kernel: this, and the state of the object then. */
#define TEXT_OF_OBJECT "when the wait began: "

/* The text of the destruction of an object that a thread holds, or at which one waits. */
#define TEXT_IN_USE "in use"

/* The text of a request that a library's destructor makes: this, the library and ")". */
#define TEXT_IN_CLOSE "in dlclose("

/* The result of a nondeterministic call, one that takes whatever is available
 * (poet_replay_begin_nondeterministic of poet.h). It serves replay, not diagrams, where an arrow
 * shows the result. */
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
