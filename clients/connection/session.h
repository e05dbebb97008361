/* A viewer's connection to a server: the meaning of SOURCE on a command line, private servers for
 * files, requests and their responses.
 *
 * SOURCE is a trace file, an endpoint (unix:PATH, poet://HOST:PORT), optionally followed by #RUN, a
 * file or the server of another host (ssh:HOST[:FILE]), or `latest`. A file is read through a
 * private server, so that live runs and files are handled alike. */
#ifndef CLIENTS_CONNECTION_SESSION_H
#define CLIENTS_CONNECTION_SESSION_H

#include "clients/connection/client_requests.h"
#include "clients/metadata/trace_metadata.h"
#include "wire/endpoint.h"

#include <stdbool.h>
#include <stddef.h>

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
 * Returns false with the reason in *error. */
bool session_open(struct session *source, const char *what, enum session_lines lines,
                  struct error *error);
/* Does this for the default endpoint, where it starts a server if none is listening. */
bool session_open_default(struct session *source, struct error *error);
void session_close(struct session *source);

bool session_select_run(struct session *source, const char *run, struct error *error);

/* Requests descriptions of lines that may be unknown, and waits for them; lines that do not exist
 * remain unknown. */
bool session_subscribe_lines(struct session *source, const uint32_t *lines, uint32_t count,
                             struct error *error);

/* Returns a warning about a trace file that is incomplete, or NULL. */
const char *session_warning(const struct session *source);

/* Returns one line about a trace that is only a part of a run (poet cut), or NULL. */
const char *session_cut(const struct session *source);

/* Discovery of runs: the traces of a directory, those of the user's state directory, and the
 * endpoints of the user's servers. */

/* Gets $XDG_STATE_HOME/poet, else ~/.local/state/poet: where a server stores its runs. */
void run_discovery_state(char *path, size_t size);

typedef void around_take(void *user, const char *what);
/* Calls take() for each regular file NAME.poet of a directory, unordered: "NAME.poet" for ".", else
 * "DIRECTORY/NAME.poet". */
void run_discovery_files(const char *directory, around_take *take, void *user);
/* Calls take() for each endpoint at which a server of this user may listen; there need not be
 * one. */
void run_discovery_endpoints(around_take *take, void *user);

/* Resolves a name to a file: the name itself; else, if it has no slash, NAME or NAME.poet in the
 * state directory. Returns false if there is none; path is then the name. */
bool run_discovery_find(const char *name, char *path, size_t size);

#endif
