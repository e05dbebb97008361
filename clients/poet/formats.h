/* The order in other tools' formats, from a dump: each event once, causes before effects. */
#ifndef CLIENTS_POET_FORMATS_H
#define CLIENTS_POET_FORMATS_H

#include "clients/poet/command.h"
#include "clients/poet/subject.h"

struct format {
    const char *name;
    void (*begin)(struct format *format, struct subject *subject, FILE *f);
    void (*event)(struct format *format, struct shown_event *event); /* may take its contents */
    void (*end)(struct format *format);
    struct subject *subject;
    FILE *f;
    bool begun;
    bool failed; /* something could not be had: was said */
    const struct command *command;
    void *state;
};

/* NULL if there is none of that name: chrome, dot, shiviz. */
const struct format *format_find(const char *name);

/* Writes the whole run; false with a complaint. */
bool format_write(const struct command *command, struct subject *subject,
                  const struct format *format, const char *file);

#endif
