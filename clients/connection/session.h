/* A viewer's connection to a server: the meaning of SOURCE on a command line, private servers for
 * files, requests and their responses.
 *
 * SOURCE is a trace file, an endpoint (unix:PATH, poet://HOST:PORT), optionally followed by #RUN, a
 * file or the server of another host (ssh:HOST[:FILE]), or `latest`. A file is read through a
 * private server, so that live runs and files are handled alike. */
#ifndef CLIENTS_CONNECTION_SESSION_H
#define CLIENTS_CONNECTION_SESSION_H

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/client_requests.h"
#include "wire/endpoint.h"

struct session {
    int fd;
    char *name; /* display name */
    bool is_file;
    struct encoder in; /* bytes received */
    size_t used;
    struct trace_metadata book;
    int child; /* private to session.c: process id of a private server, 0: none */
    struct session_request *requests; /* private to client_requests.c: pending requests */
    size_t request_count, request_room;
    uint32_t last_id;
    char *refused; /* why the request that session_wait waits for has no response */
    uint32_t waits_for;
};

/* The lines that the server describes. */
enum session_lines {
    SESSION_NO_RUN,     /* none: no run is selected */
    SESSION_ALL_LINES,
    /* if there are many, only those that responses mention: metadata_line may return NULL */
    SESSION_NAMED_LINES
};

/* Connects and sends HELLO; selects a run unless lines is SESSION_NO_RUN. Waits for the response.
 * Returns false with a one-line message in `error`. */
bool session_open(struct session *source, const char *what, enum session_lines lines,
                  struct error *error);
/* The same for the default endpoint; starts a server there if none is listening. */
bool session_open_default(struct session *source, struct error *error);
void session_close(struct session *source);

bool session_select_run(struct session *source, const char *run, struct error *error);

/* Requests descriptions of lines that may be unknown, and waits for them; lines that do not exist
 * remain unknown. */
bool session_subscribe_lines(struct session *source, const uint32_t *lines, uint32_t count,
                             struct error *error);

/* Returns a warning about a trace file that is incomplete, or NULL. */
const char *session_warning(const struct session *source);

#endif
