/* Export of the order in the formats of other tools, from a dump: each event once, causes before
 * effects. */
#ifndef CLIENTS_CLI_ORDER_FORMATS_H
#define CLIENTS_CLI_ORDER_FORMATS_H

#include "clients/cli/command.h"
#include "clients/cli/command_source.h"

struct order_format {
    const char *name;
    void (*begin)(struct order_format *format, struct command_source *subject, FILE *f);
    void (*event)(struct order_format *format,
                  struct event_info *event); /* may take its contents */
    void (*end)(struct order_format *format);
    struct command_source *subject;
    FILE *f;
    bool begun;
    bool failed; /* an error occurred and was reported */
    const struct command *command;
    void *state;
};

/* Returns the format of that name (chrome, dot, shiviz), or NULL. */
const struct order_format *order_format_find(const char *name);

/* Writes the whole run; returns false after reporting an error. */
bool order_format_write(const struct command *command, struct command_source *subject,
                        const struct order_format *format, const char *file);

/* ---- chrome format ---- */

/* The three functions of a format, see clients/cli/order_formats.h. */
void chrome_begin(struct order_format *format, struct command_source *subject, FILE *f);
void chrome_event(struct order_format *format, struct event_info *event);
void chrome_end(struct order_format *format);

#endif
