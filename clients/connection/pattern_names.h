/* Names in patterns of events (config/event_pattern.h): labels of trace lines, and places of the
 * code.  Only clients know them; the server gets the numbers of the lines, and the addresses of the
 * places, in their stead. */
#ifndef CLIENTS_CONNECTION_PATTERN_NAMES_H
#define CLIENTS_CONNECTION_PATTERN_NAMES_H

#include "clients/metadata/trace_metadata.h"
#include "clients/symbols/symbolizer.h"
#include "config/event_pattern.h"
#include "wire/trace_view.h"

/* A call site of the run. */
struct pattern_site {
    uint32_t process;
    uint64_t address;
};

/* Returns whether a pattern has conditions on lines, or on places. */
bool pattern_names_lines(const struct event_pattern *pattern);
bool pattern_names_places(const struct event_pattern *pattern);
/* Returns the text of a pattern with its names replaced, in new memory; all lines must be known
 * and labeled.  Returns NULL with the reason in *error if a name has no line, or too many lines or
 * places. */
char *pattern_names_replace(const char *text, const struct event_pattern *pattern,
                            const struct trace_metadata *book, struct symbolizer *symbols,
                            const struct pattern_site *sites, size_t site_count,
                            struct pattern_error *error);

#endif
