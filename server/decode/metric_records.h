/* A thread's counts of user-defined metrics, in the cells of its region (wire/profile_region.h). */
#ifndef SERVER_DECODE_METRIC_RECORDS_H
#define SERVER_DECODE_METRIC_RECORDS_H

#include "server/decode/profile_region_reader.h"

/* Appends the body of a METERS with all values that changed since the last one; returns false if
 * none did. */
bool metric_records_encode(struct region_reader *region, uint64_t ns, struct encoder *body);
/* Records that the last body was lost: the next one contains all values. */
void metric_records_pending(struct region_reader *region);

#endif
