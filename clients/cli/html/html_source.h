/* The lines of source around call sites, for a web page. */
#ifndef CLIENTS_CLI_HTML_HTML_SOURCE_H
#define CLIENTS_CLI_HTML_HTML_SOURCE_H

#include "clients/cli/command_source.h"
#include "render/scene.h"

/* Members of an object of JSON, by site (as in `sites`, 0: a mark has none): {"first", "line",
 * "lines"}.  Files that are not there, or have no such line, are left out. */
void html_source_write(struct command_source *subject, const struct scene_mark *const *marks,
                       const uint32_t *sites, uint32_t count, FILE *f);

#endif
