/* Table of the states of threads: one row each with its words, its key in JSON and columns, and its
 * letter in text charts.  Server, commands, diagrams and viewer use these rows by index. */
#ifndef WIRE_THREAD_STATE_NAMES_H
#define WIRE_THREAD_STATE_NAMES_H

enum thread_state_code {
    THREAD_STATE_CREATED, /* created, and not started */
    THREAD_STATE_RUNNABLE,
    THREAD_STATE_RUNNING,
    THREAD_STATE_BLOCKED,
    THREAD_STATE_OFF_CPU, /* never by the order alone */
    THREAD_STATE_EXITED, /* exited, and not joined */
    THREAD_STATES,
    /* in charts: blocked, and no traced event ended the wait */
    THREAD_STATE_UNATTRIBUTED = THREAD_STATES,
    THREAD_STATES_DRAWN
};

struct thread_state_words {
    const char *name, *short_name; /* "off-CPU (other)"; "off-CPU" where space is short */
    const char *key; /* "other_off_cpu": in JSON and in scripts of the viewer */
    const char *column; /* "other_off_cpu_ns": its time, in tables; NULL: none */
    char letter;
};

extern const struct thread_state_words thread_state_words[THREAD_STATES_DRAWN];

/* Returns "off-CPU (other)"; "" if there is no such state. */
const char *thread_state_name(unsigned state);

#endif
