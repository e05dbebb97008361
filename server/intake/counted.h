/* What a thread counted in meters of its own, in the cells of its region (wire/region.h). */
#ifndef SERVER_INTAKE_COUNTED_H
#define SERVER_INTAKE_COUNTED_H

#include "server/intake/region.h"

/* Appends the body of a METERS with all that changed since it was told last; false: nothing did. */
bool metric_records_encode(struct region_reader *region, uint64_t ns, struct encoder *body);
/* What was told got lost: the next time all of it is told. */
void metric_records_pending(struct region_reader *region);

#endif
