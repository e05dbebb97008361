/* Untraced synchronization of a run: reasons that programs reported, and lost-event counters. */
#ifndef SERVER_RUN_UNTRACED_REASONS_H
#define SERVER_RUN_UNTRACED_REASONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;
struct untraced_info;

#define UNTRACED_REASONS_MAX 256u /* of a run; later ones are kept as a reason alone */

/* Reasons that programs reported; a zero-initialized struct has none. */
struct untraced_reports {
    struct untraced_report {
        uint8_t reason;
        uint32_t session; /* the session that reported it last */
        char *about;
        uint64_t count; /* number of programs */
    } *items;
    size_t count, room;
};

/* Records a reason that a program reported, by its session, and what it is about. */
void untraced_reasons_add(struct run *run, uint32_t session, unsigned reason, const char *about);
void untraced_reasons_free(struct untraced_reports *reports);

/* Returns the number of events of the run that will never be shown, for whatever reason. */
uint64_t run_lost(const struct run *run);
/* Returns the number of events that were lost without a number, or with numbers that were not
 * received yet. */
uint64_t untraced_reasons_lost(const struct run *run);
/* Return reasons that hold for the whole run, as bits: those that hide order; and those that allow
 * the answer `concurrent` but are named beside it.  Numbered lost events are not such a reason: the
 * events that follow them are uncertain. */
uint32_t untraced_reasons_hiding_order(const struct run *run);
uint32_t untraced_reasons_mechanisms(const struct run *run);
/* Returns whether calls that should have been recorded are not: threads may have unrecorded
 * locks, waits or wake-ups. */
bool untraced_reasons_some(const struct run *run);
/* Returns whether calls of a thread could not be measured. */
bool untraced_reasons_calls(const struct run *run);
/* Returns all reasons, for display.  The caller frees the array; the run owns the texts in it. */
struct untraced_info *untraced_reasons_list(const struct run *run, uint32_t *count);

#endif
