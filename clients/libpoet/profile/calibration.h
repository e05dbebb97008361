/* Measurement of the instrumentation overhead. */
#ifndef CLIENTS_LIBPOET_PROFILE_CALIBRATION_H
#define CLIENTS_LIBPOET_PROFILE_CALIBRATION_H

#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/thread_profile.h"

#pragma GCC visibility push(hidden)

/* Measures the overhead, and the length of a tick, once in a process, on a region that is not in
 * use yet and is overwritten; takes less than a millisecond. */
void calibration_run(struct traced_thread *thread, struct thread_profile *m);
/* Writes the results to a region. */
void calibration_apply(struct thread_profile *m);

#pragma GCC visibility pop
#endif
