/* Decodes METER and CELLS of the journal: user-defined metrics of a program, and external
 * metrics. */
#ifndef SERVER_DECODE_METRIC_DECODE_H
#define SERVER_DECODE_METRIC_DECODE_H

#include "server/run/os_metrics.h"
#include "server/run/program_metrics.h"
#include "wire/message.h"

/* The metrics are those of a session and its process, or external:  PROGRAM_METRICS_NO_PROCESS
 * and OS_METRICS_NO_PROCESS. Return false with in->error set if the body is malformed. */
bool metric_decode_name(struct run *run, uint32_t session, uint32_t process, struct decoder *in);
bool metric_decode_samples(struct run *run, uint32_t session, uint32_t process, struct decoder *in);

#endif
