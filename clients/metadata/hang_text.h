/* What becomes of those who wait, in words: each sentence is written here, once. */
#ifndef CLIENTS_METADATA_HANG_TEXT_H
#define CLIENTS_METADATA_HANG_TEXT_H

#include "clients/metadata/trace_metadata.h"
#include "wire/query_results.h"

/* "4.64 ms", "62.1 s", "12 min 3 s": three digits, as people say it. */
void duration_text(char *s, size_t size, int64_t ns);

/* How long something lasts that began then: "for 62.1 s" in a live run, "for 1.2 s (until the end
 * of the trace)" where the end is known, else "since 212 us before the last event (until the end of
 * the trace)". */
void wait_duration_text(char *s, size_t size, const struct trace_time_info *now, int64_t began_ns);

/* "DEADLOCK: 2 threads wait for each other".  The caller's to free. */
char *deadlock_text(const struct cycle_info *cycle);

/* "T:a waits for M:m, held by T:b (acquired at event 3:17)", one step of a cycle.  The caller's to
 * free. */
char *deadlock_edge_text(const struct trace_metadata *book, const struct cycle_info *cycle,
                         uint32_t step);

/* "T:worker is itself blocked on Q:more and will never resume": a thread whose end is waited for.
 * The caller's. */
char *transitive_wait_text(const struct trace_metadata *book, const struct wait_info *of);

/* What is known of an object whose signal threads wait for, one sentence per line; the first one is
 * the diagnosis: "LIKELY HANG: no traced thread ...".  NULL: nothing to report.  The caller's. */
char *diagnosis_text(const struct trace_metadata *book, const struct diagnosis_info *verdict);

/* "may_resume", "likely_never", "never". */
const char *outcome_name(enum wait_outcome fate);
/* "running": why a diagnosis is uncertain, in a word; doubt: one bit. */
const char *uncertainty_text(unsigned doubt);

#endif
