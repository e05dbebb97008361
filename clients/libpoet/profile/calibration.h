/* What measuring takes itself. */
#ifndef CLIENTS_LIBPOET_PROFILE_CALIBRATION_H
#define CLIENTS_LIBPOET_PROFILE_CALIBRATION_H

#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/thread_profile.h"

#pragma GCC visibility push(hidden)

/* Measures it once in a process, on a region that is nobody's yet and is written over; under a
 * millisecond.  How long a tick is comes out of it, too. */
void calibration_run(struct traced_thread *thread, struct thread_profile *m);
/* Puts what is known of it into a region. */
void calibration_apply(struct thread_profile *m);

#pragma GCC visibility pop
#endif
