/* METER and CELLS: meters of a program's own, as its journal has them; or of nobody, told from
 * outside. */
#ifndef SERVER_DECODE_METRIC_DECODE_H
#define SERVER_DECODE_METRIC_DECODE_H

#include "server/run/os_metrics.h"
#include "server/run/program_metrics.h"
#include "wire/message.h"

/* Of a session and its process, or of PROGRAM_METRICS_NO_PROCESS and OS_METRICS_NO_PROCESS.  False,
 * with in->error: it cannot be read. */
bool metric_decode_name(struct run *run, uint32_t session, uint32_t process, struct decoder *in);
bool metric_decode_samples(struct run *run, uint32_t session, uint32_t process, struct decoder *in);

#endif
