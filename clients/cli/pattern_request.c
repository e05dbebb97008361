#include "clients/cli/pattern_request.h"

#include "base/alloc.h"
#include "clients/connection/pattern_names.h"
#include "wire/request.h"

#include <stdlib.h>

struct pattern_request_sites {
    struct pattern_site *items;
    size_t count;
};

static void pattern_request_receive_sites(void *user, const struct response_chunk *answer)
{
    struct pattern_request_sites *sites = user;
    if (answer->part != RESPONSE_SITES)
        return;
    uint32_t n = decode_count(answer->in, 12);
    sites->items = xreallocarray(sites->items, n + 1u, sizeof *sites->items);
    for (sites->count = 0; sites->count < n; sites->count++) {
        sites->items[sites->count].process = decode_u32(answer->in);
        sites->items[sites->count].address = decode_u64(answer->in);
    }
}

char *pattern_request_text(const struct command *command, struct command_source *subject,
                           const char *text, const struct event_pattern *pattern)
{
    struct pattern_request_sites sites = {0};
    struct pattern_error error = {0};
    if (pattern_names_places(pattern) &&
        !command_source_request(command, subject, REQUEST_SITES, NULL,
                                pattern_request_receive_sites, &sites))
        return NULL;
    command_source_label_lines(subject);
    char *replaced = pattern_names_replace(text, pattern, &subject->source.book, subject->sites,
                                           sites.items, sites.count, &error);
    if (!replaced)
        command_usage(command, "pattern: column %u: %s", error.column, error.text);
    free(sites.items);
    return replaced;
}
