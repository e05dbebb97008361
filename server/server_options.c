#include "server/server_options.h"

#include "config/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEEP = 256, CLIENT, ONCE, STDIO, TO, FROM, MERGE };

static bool parse_size(const char *s, uint64_t *bytes)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (errno || end == s || (shift && end[1]) || (!shift && *end) || v == 0 ||
        v > (UINT64_MAX >> 1) >> shift)
        return false;
    *bytes = (uint64_t)v << shift;
    return true;
}

static error_t server_options_set_size(struct server_options *o, const char *value, const char *of)
{
    if (parse_size(value, &o->keep_bytes))
        return 0;
    fprintf(stderr, "poet server: %s%s: invalid size; use for example 500M\n", of, value);
    return EINVAL;
}

static error_t server_options_add_endpoint(struct server_options *o, const char *value)
{
    if (o->listen_count < LISTENERS_MAX) {
        o->listens[o->listen_count++] = value;
        return 0;
    }
    fprintf(stderr, "poet server: %s: too many endpoints\n", value);
    return EINVAL;
}

static const struct option_row server_options_rows[] = {
    OPTION_STORES('o', struct server_options, output),
    OPTION_SETS(STDIO, struct server_options, stdio),
    OPTION_STORES(TO, struct server_options, to),
    OPTION_STORES(FROM, struct server_options, from),
    OPTION_SETS(MERGE, struct server_options, merge),
    OPTION_SETS(ONCE, struct server_options, once),
    OPTION_SETS('q', struct server_options, quiet),
    {0}};

static error_t server_options_parse(int key, char *value, struct argp_state *state)
{
    struct server_options *o = state->input;
    switch (key) {
    case 'l':
        return server_options_add_endpoint(o, value);
    case KEEP:
        return server_options_set_size(o, value, "--keep ");
    case CLIENT:
        o->client = (int)strtol(value, NULL, 10);
        return 0;
    default:
        return option_rows_parse(server_options_rows, key, value, state);
    }
}

static const struct argp_option server_options_entries[] = {
    {NULL, 0, NULL, 0, "Connections:", 1},
    {"listen", 'l', "ENDPOINT", 0,
     "listen on unix:PATH, or poet://HOST:PORT (TLS with the key of `poet key`, for agents and "
     "viewers on other hosts); may be repeated; default: unix:$XDG_RUNTIME_DIR/poet.sock",
     1},
    {"stdio", STDIO, NULL, 0,
     "serve one viewer on standard input and output: FILE, or else the server that "
     "listens here; started by `poet view ssh:HOST`",
     1},
    {"once", ONCE, NULL, 0, "exit when the last program and viewer have disconnected", 1},
    {"merge", MERGE, NULL, OPTION_HIDDEN, "order files of agents as one run, and end", 1},
    {"client", CLIENT, "DESCRIPTOR", OPTION_HIDDEN, "the one client that started it", 1},
    {"to", TO, "ENDPOINT", 0,
     "run as a forwarding agent: receive events from the programs of this host and forward them to "
     "the server at poet://HOST:PORT, which orders those of all hosts, or to NATS JetStream at "
     "nats://[USER:PASSWORD@]HOST:PORT (tls://), which stores them for --from; unacknowledged "
     "events stay on disk",
     1},
    {"from", FROM, "ENDPOINT", 0,
     "also receive events from NATS JetStream: nats://[USER:PASSWORD@]HOST:PORT#RUN (tls://), as "
     "forwarded there by agents for the run RUN, from its start; any number of servers may read "
     "the same run",
     1},
    {NULL, 0, NULL, 0, "Traces:", 2},
    {"output", 'o', "FILE|DIR/", 0,
     "write the first run to FILE, further runs beside it with a number; or PROGRAM-TIME.poet to "
     "DIR for each run; default: $XDG_STATE_HOME/poet/ (~/.local/state/poet/)",
     2},
    {"keep", KEEP, "SIZE", 0,
     "ring-buffer mode: keep only the newest part of a run: at most SIZE bytes (suffix K, M, G) on "
     "disk, and at most about three times as much in memory, plus 200 bytes per line, 20 per line "
     "that has ended (destroyed mutex); default: $POET_KEEP, else everything",
     2},
    {"quiet", 'q', NULL, 0, "log errors only", 2},
    {0}};
static const struct argp server_options_parser = {
    .options = server_options_entries,
    .parser = server_options_parse,
    .args_doc = "\n--stdio [FILE]",
    .doc = "Run the trace server: receive events from traced programs, order them, and serve "
           "viewers.\vSIGINT and SIGTERM stop it; all received events are in the trace files.",
    .children = options_children};

int server_options_read(struct server_options *o, int argc, char **argv)
{
    static const struct options server = {"server", &server_options_parser, false};
    int first, status;
    *o = (struct server_options){.client = -1};
    status = options_read(&server, argc, argv, o, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *keep = getenv("POET_KEEP");
    if (keep && *keep && !o->keep_bytes && server_options_set_size(o, keep, "POET_KEEP=") != 0)
        return OPTIONS_WRONG;
    if (o->merge) {
        o->merged = argv + first;
        o->merged_count = (size_t)(argc - first);
        return OPTIONS_READ;
    }
    if (o->from && o->to) {
        fprintf(stderr, "poet server: --from and --to exclude each other\n");
        return OPTIONS_WRONG;
    }
    if (argc - first > 1 || (argc > first && o->client < 0 && !o->stdio)) {
        fprintf(stderr, "poet server: extra operand: %s\nsee: poet help server\n", argv[first]);
        return OPTIONS_WRONG;
    }
    o->file = argc > first ? argv[first] : NULL;
    return OPTIONS_READ;
}
