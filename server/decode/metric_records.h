/* Metrics in the journal: encodes a thread's counts of user-defined metrics, which are in the cells
 * of its region (wire/profile_region.h), and decodes METER and CELLS, the names and samples of
 * user-defined metrics of a program and of external ones. */
#ifndef SERVER_DECODE_METRIC_RECORDS_H
#define SERVER_DECODE_METRIC_RECORDS_H

#include "server/decode/profile_region_reader.h"
#include "server/run/metrics.h"
#include "wire/message.h"

/* Appends the body of a METERS with all values that changed since the last one; returns false if
 * none did. */
bool metric_records_encode(struct region_reader *region, uint64_t ns, struct encoder *body);
/* Records that the last body was lost: the next one contains all values. */
void metric_records_pending(struct region_reader *region);

/* The metrics are those of a session and its process, or external:  PROGRAM_METRICS_NO_PROCESS
 * and OS_METRICS_NO_PROCESS. Return false with in->error if the body is malformed. */
bool metric_records_decode_name(struct run *run, uint32_t session, uint32_t process,
                                struct decoder *in);
bool metric_records_decode_samples(struct run *run, uint32_t session, uint32_t process,
                                   struct decoder *in);

#endif
