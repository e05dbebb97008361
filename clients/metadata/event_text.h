/* Texts for events, waits and hangs: the one place for their wording. */
#ifndef CLIENTS_METADATA_EVENT_TEXT_H
#define CLIENTS_METADATA_EVENT_TEXT_H

#include "clients/metadata/trace_metadata.h"
#include "wire/query_results.h"

/* Returns "T:main: create (1:3) about T:worker, simultaneous with 2:1 T:worker “a text”". The
 * caller frees it. */
char *event_text(const struct trace_metadata *book, const struct event_info *event);

/* Returns "(pending: partner event missing)", with a space before it, or "". */
const char *state_text(const struct event_info *event);

/* "T:main", "waits for", "M:m": thread, action, object. Valid until the metadata changes. */
struct event_text {
    const char *thread, *does, *about;
};
struct event_text wait_text(const struct trace_metadata *book, const struct wait_info *wait);

/* Texts for blocked threads and their diagnosis: the one place for their wording. */

/* Formats "4.64 ms", "62.1 s", "12 min 3 s", with three digits. */
void duration_text(char *s, size_t size, int64_t ns);
/* Reads a time with its unit: "1.5s", "20 ms", "300us", "300µs" or "5ns"; returns false if it is
 * invalid. */
bool duration_read(const char *text, int64_t *ns);

/* Formats how long something has lasted that began then: "for 62.1 s" in a live run, "for 1.2 s
 * (until the end of the trace)" if the end is known, else "since 212 us before the last event
 * (until the end of the trace)". */
void wait_duration_text(char *s, size_t size, const struct trace_time_info *now, int64_t began_ns);

/* Formats "held by T:worker, acquired at f.c:12 (event 2:17)"; site: "" if unknown. */
void holder_text(char *s, size_t size, const struct trace_metadata *book,
                 const struct holder_info *holder, const char *site);
/* Returns a word for how a thread keeps another one waiting, such as "lock". */
const char *hold_name(unsigned how);

/* Returns "DEADLOCK: 2 threads wait for each other", or "LIKELY DEADLOCK: ...". The caller frees
 * it. */
char *deadlock_text(const struct cycle_info *cycle);

/* Returns "in the handler of SIGUSR1 (sent by T:a at event 2:5)"; NULL if the thread does not wait
 * in a signal handler. The caller frees it. */
char *handler_text(const struct trace_metadata *book, const struct wait_info *wait);
/* Returns "in dlclose(plugin.so)" if the thread waits in a destructor of a library, else NULL.  The
 * wait owns it. */
const char *destructor_text(const struct wait_info *wait);
/* Returns "when the wait began: value 0, 1 needed" if the state of what a thread waits for was
 * recorded, else NULL.  The wait owns it. */
const char *object_state_text(const struct wait_info *wait);
/* Returns the name of what a thread waits for, by an enum hold_kind if that is not a line; "" if it
 * is not known. */
const char *awaited_text(const struct trace_metadata *book, uint32_t about, unsigned how);
/* Returns one step of a cycle: "T:a waits for M:m, held by T:b (acquired at event 3:17)"; wait:
 * that of its thread, or NULL. The caller frees it. */
char *deadlock_edge_text(const struct trace_metadata *book, const struct cycle_info *cycle,
                         uint32_t step, const struct wait_info *wait);

/* Returns, for a wait for a lock of a holder that is gone, "HANG: M:m is held by T:b, which has
 * exited: its waiters will never resume\n". The caller frees it. */
char *abandoned_lock_text(const struct trace_metadata *book, const struct wait_info *wait);

/* Returns, for a thread that is waited for, "T:worker is itself blocked on CV:more and will never
 * resume". The caller frees it. */
char *transitive_wait_text(const struct trace_metadata *book, const struct wait_info *of);

/* Returns what is known of an object for a signal of which threads wait, one sentence per line; the
 * first one is the diagnosis: "LIKELY HANG: no traced thread ...". NULL: nothing to report. The
 * caller frees it. */
char *diagnosis_text(const struct trace_metadata *book, const struct diagnosis_info *verdict);

/* Returns "may_resume", "likely_never" or "never". */
const char *outcome_name(enum wait_outcome fate);
/* Returns the state of a candidate waker, by an enum waker_state: "blocked". */
const char *waker_state_name(unsigned state);
/* Returns a word for why a diagnosis is uncertain, such as "running"; doubt: one bit. */
const char *uncertainty_text(unsigned doubt);
/* Returns "uncertain: a signal handler could wake them"; "" if the diagnosis itself says why.
 * doubt: one bit. */
const char *uncertainty_sentence(unsigned doubt);

#endif
