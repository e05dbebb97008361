/* The data of a web page: a scene, the order of its events, and blocked threads, as one JSON
 * object. */
#ifndef CLIENTS_CLI_HTML_HTML_DATA_H
#define CLIENTS_CLI_HTML_HTML_DATA_H

#include "clients/cli/diagram.h"
#include "clients/cli/command_source.h"
#include "render/scene.h"

struct json_object;

struct html_data {
    const struct event_diagram *picture;
    struct command_source *subject;
    const struct scene *scene; /* of the window of the picture, its lines from left to right */
    struct json_object *blocked; /* as poet blocked --json */
    bool source; /* the lines around call sites, too, as far as their files are here */
};

/* Asks for the order.  False with a complaint. */
bool html_data_write(const struct command *command, const struct html_data *data, FILE *f);

#endif
