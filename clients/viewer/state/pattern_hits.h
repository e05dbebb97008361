/* Searches for patterns of events (config/event_pattern.h) in the viewer: their requests, and the
 * events of their matches as search hits. */
#ifndef CLIENTS_VIEWER_STATE_PATTERN_HITS_H
#define CLIENTS_VIEWER_STATE_PATTERN_HITS_H

#include "clients/metadata/trace_metadata.h"
#include "clients/symbols/symbolizer.h"
#include "wire/query_results.h"
#include "wire/request.h"
#include "wire/table_rows.h"
#include "wire/trace_view.h"

/* Returns whether a text is a pattern of events of types that the run or its descriptions know,
 * rather than a text to search for. */
bool pattern_hits_is_pattern(const char *text, const struct trace_metadata *book);
/* Encodes the request of its matches; *error: NULL, or why there is none, freed by g_free(). */
void pattern_hits_encode(struct encoder *body, const char *text, const struct trace_metadata *book,
                         struct symbolizer *symbols, const struct search_site *sites,
                         uint32_t site_count, char **error);
/* Makes the events of the matches into hits, each event once, in the order of the log.  *matches:
 * number of matches.  The caller frees the hits. */
void pattern_hits_read(const struct result_table *table, struct search_result *found,
                       uint64_t *matches);
/* Returns a pattern that other events match as these do: of their types and in their order
 * (relation: of b to a), about one object, of one thread, if these are.  b NULL: a alone, at its
 * call site (place; "" unknown).  Returns NULL if their order is not known; freed by g_free(). */
char *pattern_hits_like(const struct trace_metadata *book, const struct event_info *a,
                        const struct event_info *b, int relation, const char *place);

#endif
