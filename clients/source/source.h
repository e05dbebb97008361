/* A viewer's connection to a server: what SOURCE means on a command line, private
 * servers for files, questions and their answers.
 *
 * SOURCE is a trace file, an endpoint (unix:PATH, poet://HOST:PORT) with or without #RUN behind, a file or
 * the server of another machine (ssh:HOST[:FILE]), or `latest`.  A file is looked at through a private server of its own, so
 * that there is one path, live or not. */
#ifndef CLIENTS_SOURCE_SOURCE_H
#define CLIENTS_SOURCE_SOURCE_H

#include "clients/book/book.h"
#include "clients/source/ask.h"
#include "wire/endpoint.h"

struct source {
    int fd;
    char *name; /* as shown to people */
    bool is_file;
    struct out in; /* bytes received */
    size_t used;
    struct book book;
    int child; /* private to source.c: process id of a private server, 0 none */
    struct source_question
        *questions; /* private to ask.c: those whose answers are still to come; */
    size_t question_count, question_room;
    uint32_t last_id;
    char *refused; /*   why the question that source_wait waits for has no answer */
    uint32_t waits_for;
};

/* Which lines it is to be told of. */
enum source_lines {
    SOURCE_NO_RUN,     /* none: no run is selected */
    SOURCE_ALL_LINES,
    SOURCE_NAMED_LINES /* where there are many, those that answers name: book_line may give NULL */
};

/* Connects and says HELLO; selects a run unless lines is SOURCE_NO_RUN.  False with one line in
 * `error`.  Waits for the answer. */
bool source_open(struct source *source, const char *what, enum source_lines lines,
                 struct error *error);
/* The same for the default endpoint, starting a server there if none answers. */
bool source_open_default(struct source *source, struct error *error);
void source_close(struct source *source);

bool source_select(struct source *source, const char *run, struct error *error);

/* Asks for lines that are perhaps not known yet, and waits for them; those that there are not stay unknown. */
bool source_lines(struct source *source, const uint32_t *lines, uint32_t count,
                  struct error *error);

/* What is to be said of a trace file that is not complete, or NULL. */
const char *source_warning(const struct source *source);

#endif
