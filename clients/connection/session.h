/* A viewer's connection to a server: what SOURCE means on a command line, private
 * servers for files, questions and their answers.
 *
 * SOURCE is a trace file, an endpoint (unix:PATH, poet://HOST:PORT) with or without #RUN behind, a
 * file or the server of another machine (ssh:HOST[:FILE]), or `latest`.  A file is looked at
 * through a private server of its own, so that there is one path, live or not. */
#ifndef CLIENTS_CONNECTION_SESSION_H
#define CLIENTS_CONNECTION_SESSION_H

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/client_requests.h"
#include "wire/endpoint.h"

struct session {
    int fd;
    char *name; /* as shown to people */
    bool is_file;
    struct encoder in; /* bytes received */
    size_t used;
    struct trace_metadata book;
    int child; /* private to source.c: process id of a private server, 0 none */
    struct session_request
        *questions; /* private to client_requests.c: those whose answers are still to come; */
    size_t question_count, question_room;
    uint32_t last_id;
    char *refused; /*   why the question that session_wait waits for has no answer */
    uint32_t waits_for;
};

/* Which lines it is to be told of. */
enum session_lines {
    SESSION_NO_RUN,     /* none: no run is selected */
    SESSION_ALL_LINES,
    /* where there are many, those that answers name: metadata_line may give NULL */
    SESSION_NAMED_LINES
};

/* Connects and says HELLO; selects a run unless lines is SESSION_NO_RUN.  False with one line in
 * `error`.  Waits for the answer. */
bool session_open(struct session *source, const char *what, enum session_lines lines,
                  struct error *error);
/* The same for the default endpoint, starting a server there if none answers. */
bool session_open_default(struct session *source, struct error *error);
void session_close(struct session *source);

bool session_select_run(struct session *source, const char *run, struct error *error);

/* Asks for lines that are perhaps not known yet, and waits for them; those that there are not stay
 * unknown. */
bool session_subscribe_lines(struct session *source, const uint32_t *lines, uint32_t count,
                             struct error *error);

/* What is to be said of a trace file that is not complete, or NULL. */
const char *session_warning(const struct session *source);

#endif
