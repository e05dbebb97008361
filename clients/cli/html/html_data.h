/* The data of a web page: a scene, the order of its events, and blocked threads, as one JSON
 * object. */
#ifndef CLIENTS_CLI_HTML_HTML_DATA_H
#define CLIENTS_CLI_HTML_HTML_DATA_H

#include "clients/cli/command_source.h"
#include "clients/cli/diagram.h"
#include "render/scene.h"

struct json_object;

struct html_data {
    const struct event_diagram *picture;
    struct command_source *subject;
    const struct scene *scene; /* of the picture's window; not vertical */
    struct json_object *blocked; /* as poet blocked --json */
    const char *report; /* text above the diagram; NULL: none */
    bool source; /* include the source lines around call sites, if their files exist here */
};

/* Requests the order of events, and writes the object. Returns false after reporting an error. */
bool html_data_write(const struct command *command, const struct html_data *data, FILE *f);

#endif
