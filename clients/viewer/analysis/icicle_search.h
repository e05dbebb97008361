/* Which box of an icicle (icicle_view.h): by its name and those it lies in, beside another one,
 * with a text in it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ICICLE_SEARCH_H
#define CLIENTS_VIEWER_ANALYSIS_ICICLE_SEARCH_H

#include "clients/metadata/icicle_layout.h"

#include <glib.h>

#define ICICLE_SEARCH_NONE UINT32_MAX

/* Of a box and those it lies in, from above, without the whole; of none: empty.  The caller's. */
GPtrArray *icicle_search_path_names(const struct icicle_layout *boxes, uint32_t node);
/* The box of such names; where there is none: none if it must be exact, else the last of them that
 * there is. */
uint32_t icicle_search_find_node(const struct icicle_layout *boxes, GPtrArray *names, bool exact);
/* The one before it (way -1) or after it (1) in the one that both lie in. */
uint32_t icicle_search_sibling(const struct icicle_layout *boxes, uint32_t node, int way);
/* By node: it has the text in its name, in any case, or lies in one that has; NULL: nothing is
 * looked for.  To be freed by g_free. */
bool *icicle_search_match_text(const struct icicle_layout *boxes, const char *text);

#endif
