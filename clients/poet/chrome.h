/* The trace-event format, which Perfetto's page opens.  Every event is a slice of its line's track, as
 * long as there is room before the next, at most a microsecond; an edge is a flow. */
#ifndef CLIENTS_POET_CHROME_H
#define CLIENTS_POET_CHROME_H

#include "clients/poet/formats.h"

/* The three calls of a format, in clients/poet/formats.h. */
void chrome_begin(struct format *format, struct subject *subject, FILE *f);
void chrome_event(struct format *format, struct shown_event *event);
void chrome_end(struct format *format);

#endif
