/* Finding boxes of an icicle chart (icicle_view.h): by path, by neighborhood, by text. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ICICLE_SEARCH_H
#define CLIENTS_VIEWER_ANALYSIS_ICICLE_SEARCH_H

#include "clients/metadata/icicle_layout.h"

#include <glib.h>

#define ICICLE_SEARCH_NONE UINT32_MAX

/* Returns the names of a box and its ancestors, from the top, without the root; empty for none. The
 * caller frees it. */
GPtrArray *icicle_search_path_names(const struct icicle_layout *boxes, uint32_t node);
/* Returns the box with that path; if there is none, and `exact` is false, the last existing one
 * along the path. */
uint32_t icicle_search_find_node(const struct icicle_layout *boxes, GPtrArray *names, bool exact);
/* Returns the previous (direction -1) or next (1) box with the same parent. */
uint32_t icicle_search_sibling(const struct icicle_layout *boxes, uint32_t node, int direction);
/* Returns, by node, whether its name or that of an ancestor contains the text, ignoring case; NULL:
 * no text. Free with g_free(). */
bool *icicle_search_match_text(const struct icicle_layout *boxes, const char *text);

#endif
