/* Source lines around call sites, for a web page. */
#ifndef CLIENTS_CLI_HTML_HTML_SOURCE_H
#define CLIENTS_CLI_HTML_HTML_SOURCE_H

#include "clients/cli/command_source.h"
#include "render/scene.h"

/* Writes members of a JSON object, by site (as in `sites`; 0: the mark has none): {"first", "line",
 * "lines"}. Omits sites whose file does not exist or has no such line. */
void html_source_write(struct command_source *subject, const struct scene_mark *const *marks,
                       const uint32_t *sites, uint32_t count, FILE *f);

#endif
