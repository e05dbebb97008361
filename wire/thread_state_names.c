#include "wire/thread_state_names.h"

#include <stddef.h>

const struct thread_state_words thread_state_words[THREAD_STATES_DRAWN] = {
    [THREAD_STATE_CREATED] = {"created", "created", "created", "created_ns", ':'},
    [THREAD_STATE_RUNNABLE] = {"runnable", "runnable", "runnable", "runnable_ns", '-'},
    [THREAD_STATE_RUNNING] = {"running", "running", "running", "running_ns", '#'},
    [THREAD_STATE_BLOCKED] = {"blocked", "blocked", "blocked", "blocked_ns", '='},
    [THREAD_STATE_OFF_CPU] = {"off-CPU (other)", "off-CPU", "other_off_cpu", "other_off_cpu_ns",
                              '.'},
    [THREAD_STATE_EXITED] = {"exited", "exited", "exited", "exited_ns", ':'},
    [THREAD_STATE_UNATTRIBUTED] = {"blocked (cause unknown)", "unknown", "unknown", NULL, '?'}};

const char *thread_state_name(unsigned state)
{
    return state < THREAD_STATES_DRAWN ? thread_state_words[state].name : "";
}
