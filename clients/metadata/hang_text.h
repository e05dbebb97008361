/* Texts for blocked threads and their diagnosis: the one place for their wording. */
#ifndef CLIENTS_METADATA_HANG_TEXT_H
#define CLIENTS_METADATA_HANG_TEXT_H

#include "clients/metadata/trace_metadata.h"
#include "wire/query_results.h"

/* Formats "4.64 ms", "62.1 s", "12 min 3 s", with three digits. */
void duration_text(char *s, size_t size, int64_t ns);

/* Formats how long something has lasted that began then: "for 62.1 s" in a live run, "for 1.2 s
 * (until the end of the trace)" if the end is known, else "since 212 us before the last event
 * (until the end of the trace)". */
void wait_duration_text(char *s, size_t size, const struct trace_time_info *now, int64_t began_ns);

/* Formats "held by T:worker, acquired at f.c:12 (event 2:17)"; site: "" if unknown. */
void holder_text(char *s, size_t size, const struct trace_metadata *book,
                 const struct holder_info *holder, const char *site);
/* Returns a word for how a thread keeps another one waiting, such as "lock". */
const char *hold_name(unsigned how);

/* Returns "DEADLOCK: 2 threads wait for each other". The caller frees it. */
char *deadlock_text(const struct cycle_info *cycle);

/* Returns "in the handler of SIGUSR1 (sent by T:a at event 2:5)"; NULL if the thread does not wait
 * in a signal handler. The caller frees it. */
char *handler_text(const struct trace_metadata *book, const struct wait_info *wait);
/* Returns one step of a cycle: "T:a waits for M:m, held by T:b (acquired at event 3:17)"; wait:
 * that of its thread, or NULL. The caller frees it. */
char *deadlock_edge_text(const struct trace_metadata *book, const struct cycle_info *cycle,
                         uint32_t step, const struct wait_info *wait);

/* Returns, for a wait for a lock whose holder is gone, "HANG: M:m is held by T:b, which has exited:
 * its waiters will never resume\n". The caller frees it. */
char *abandoned_lock_text(const struct trace_metadata *book, const struct wait_info *wait);

/* Returns, for a thread that is waited for, "T:worker is itself blocked on CV:more and will never
 * resume". The caller frees it. */
char *transitive_wait_text(const struct trace_metadata *book, const struct wait_info *of);

/* Returns what is known of an object whose signal threads wait for, one sentence per line; the
 * first one is the diagnosis: "LIKELY HANG: no traced thread ...". NULL: nothing to report. The
 * caller frees it. */
char *diagnosis_text(const struct trace_metadata *book, const struct diagnosis_info *verdict);

/* Returns "may_resume", "likely_never" or "never". */
const char *outcome_name(enum wait_outcome fate);
/* Returns a word for why a diagnosis is uncertain, such as "running"; doubt: one bit. */
const char *uncertainty_text(unsigned doubt);

#endif
