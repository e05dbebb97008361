/* What a thread counted in meters of its own, in the cells of its region
 * (wire/profile_region.h). */
#ifndef SERVER_DECODE_METRIC_RECORDS_H
#define SERVER_DECODE_METRIC_RECORDS_H

#include "server/decode/profile_region_reader.h"

/* Appends the body of a METERS with all that changed since it was told last; false: nothing did. */
bool metric_records_encode(struct region_reader *region, uint64_t ns, struct encoder *body);
/* What was told got lost: the next time all of it is told. */
void metric_records_pending(struct region_reader *region);

#endif
