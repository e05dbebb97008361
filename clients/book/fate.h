/* What becomes of those who wait, in words: each sentence is written here, once. */
#ifndef CLIENTS_BOOK_FATE_H
#define CLIENTS_BOOK_FATE_H

#include "clients/book/book.h"
#include "wire/found.h"

/* "4.64 ms", "62.1 s", "12 min 3 s": three digits, as people say it. */
void duration_text(char *s, size_t size, int64_t ns);

/* How long something lasts that began then: "for 62.1 s" in a live run, "until the end, for 1.2 s"
 * where the end is known, else "until the end, since 212 us before the last event". */
void wait_duration_text(char *s, size_t size, const struct trace_time_info *now, int64_t began_ns);

/* "T:a waits for M:m held by T:b, since 3:17", one step of a cycle.  The caller's to free. */
char *deadlock_edge_text(const struct trace_metadata *book, const struct cycle_info *cycle,
                         uint32_t step);

/* "T:worker itself waits for Q:more, and never goes on": said of a thread whose end is waited for.
 * The caller's. */
char *transitive_wait_text(const struct trace_metadata *book, const struct wait_info *of);

/* What is known of an object that threads wait about to be woken, a sentence a line; the first says
 * the worst.  NULL: nothing worth a word.  The caller's. */
char *diagnosis_text(const struct trace_metadata *book, const struct diagnosis_info *verdict);

/* "open", "perhaps", "never". */
const char *outcome_name(enum wait_outcome fate);
/* "runs": why a verdict is not certain, in a word; doubt: one bit. */
const char *uncertainty_text(unsigned doubt);

#endif
