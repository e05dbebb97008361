#include "server/options.h"

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
    fprintf(stderr, "poet server: %s%s: write a size such as 500M\n", of, value);
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

static error_t server_options_parse(int key, char *value, struct argp_state *state)
{
    struct server_options *o = state->input;
    switch (key) {
    case 'l':
        return server_options_add_endpoint(o, value);
    case 'o':
        o->output = value;
        return 0;
    case KEEP:
        return server_options_set_size(o, value, "--keep ");
    case CLIENT:
        o->client = (int)strtol(value, NULL, 10);
        return 0;
    case STDIO:
        o->stdio = true;
        return 0;
    case TO:
        o->to = value;
        return 0;
    case FROM:
        o->from = value;
        return 0;
    case MERGE:
        o->merge = true;
        return 0;
    case ONCE:
        o->once = true;
        return 0;
    case 'q':
        o->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option server_options_entries[] = {
    {NULL, 0, NULL, 0, "Who is served:", 1},
    {"listen", 'l', "ENDPOINT", 0,
     "unix:PATH, or poet://HOST:PORT (TLS with the key of `poet key`, for agents and viewers on other machines); "
     "may be repeated; default: unix:$XDG_RUNTIME_DIR/poet.sock",
     1},
    {"stdio", STDIO, NULL, 0,
     "speak with one viewer on standard input and output: about FILE, else for the server that "
     "listens here; what `poet view ssh:HOST` starts",
     1},
    {"once", ONCE, NULL, 0, "end when the last program and viewer are gone", 1},
    {"merge", MERGE, NULL, OPTION_HIDDEN, "order files of agents as one run, and end", 1},
    {"client", CLIENT, "DESCRIPTOR", OPTION_HIDDEN, "the one client that started it", 1},
    {"to", TO, "ENDPOINT", 0,
     "be an agent: take events from the programs of this machine, and forward them to the server at poet://HOST:PORT, "
     "which orders those of all machines, or to NATS JetStream at nats://[USER:PASSWORD@]HOST:PORT (tls://), which keeps "
     "them for --from; what is not acknowledged there stays on disk",
     1},
    {"from", FROM, "ENDPOINT", 0,
     "take events also from NATS JetStream: nats://[USER:PASSWORD@]HOST:PORT#RUN (tls://), what agents forwarded there "
     "of the run RUN, from its begin; any number of servers may read the same",
     1},
    {NULL, 0, NULL, 0, "Where runs go:", 2},
    {"output", 'o', "FILE|DIR/", 0,
     "write the first run to FILE, the next ones beside it with a number; or PROGRAM-TIME.poet into "
     "DIR for each run; default: $XDG_STATE_HOME/poet/ (~/.local/state/poet/)",
     2},
    {"keep", KEEP, "SIZE", 0,
     "keep only the newest part of a run: SIZE bytes (suffix K, M, G) at most on disk, and in memory "
     "about three times as much at most, and 200 bytes a line, 20 of one that has ended (its mutex is destroyed); "
     "default: $POET_KEEP, else everything",
     2},
    {"quiet", 'q', NULL, 0, "log nothing but errors", 2},
    {0}};
static const struct argp server_options_parser = {
    .options = server_options_entries,
    .parser = server_options_parse,
    .args_doc = "\n--stdio [FILE]",
    .doc = "Take events from traced programs, keep their order, answer viewers.\v"
           "SIGINT and SIGTERM end it; everything taken is in the files.",
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
        fprintf(stderr, "poet server: an agent orders nothing: --from is for another server\n");
        return OPTIONS_WRONG;
    }
    if (argc - first > 1 || (argc > first && o->client < 0 && !o->stdio)) {
        fprintf(stderr, "poet server: %s: unexpected\nsee: poet help server\n", argv[first]);
        return OPTIONS_WRONG;
    }
    o->file = argc > first ? argv[first] : NULL;
    return OPTIONS_READ;
}
