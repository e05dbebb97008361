#include "clients/viewer/analysis/icicle_search.h"

#include <string.h>

GPtrArray *icicle_search_path_names(const struct icicle_layout *b, uint32_t node)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (uint32_t i = node; node < b->count && i; i = b->nodes[i].parent)
        g_ptr_array_insert(names, 0, g_strdup(b->nodes[i].name));
    return names;
}

static uint32_t child_called(const struct icicle_layout *b, uint32_t node, const char *name)
{
    for (uint32_t i = node + 1; i < b->nodes[node].end; i = b->nodes[i].end)
        if (strcmp(b->nodes[i].name, name) == 0)
            return i;
    return ICICLE_SEARCH_NONE;
}

uint32_t icicle_search_find_node(const struct icicle_layout *b, GPtrArray *names, bool exact)
{
    uint32_t node = 0;
    for (guint i = 0; b->count && i < names->len; i++) {
        uint32_t child = child_called(b, node, names->pdata[i]);
        if (child == ICICLE_SEARCH_NONE)
            return exact ? ICICLE_SEARCH_NONE : node;
        node = child;
    }
    return b->count || !exact ? node : ICICLE_SEARCH_NONE;
}

uint32_t icicle_search_sibling(const struct icicle_layout *b, uint32_t node, int direction)
{
    uint32_t parent = b->nodes[node].parent, before = ICICLE_SEARCH_NONE;
    if (parent == UINT32_MAX)
        return ICICLE_SEARCH_NONE;
    for (uint32_t i = parent + 1; i < b->nodes[parent].end; i = b->nodes[i].end) {
        if (direction < 0 && i == node)
            return before;
        if (direction > 0 && before == node)
            return i;
        before = i;
    }
    return ICICLE_SEARCH_NONE;
}

bool *icicle_search_match_text(const struct icicle_layout *b, const char *text)
{
    if (!*text || !b->count)
        return NULL;
    char *folded = g_utf8_casefold(text, -1);
    bool *found = g_new0(bool, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        char *name = g_utf8_casefold(b->nodes[i].name, -1);
        uint32_t parent = b->nodes[i].parent;
        found[i] = strstr(name, folded) != NULL || (parent != UINT32_MAX && found[parent]);
        g_free(name);
    }
    g_free(folded);
    return found;
}
