/* poet server: takes events from programs, keeps their order, answers viewers. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/checkpoint/run_registry.h"
#include "server/checkpoint/trace_replay.h"
#include "server/connections/agent_connection.h"
#include "server/connections/event_server.h"
#include "server/connections/handshake.h"
#include "server/connections/shared_memory.h"
#include "server/connections/journal_reader.h"
#include "server/connections/process_sampler.h"
#include "server/connections/program_connection.h"
#include "server/connections/resume_run.h"
#include "server/connections/stdio_proxy.h"
#include "server/connections/viewer_connection.h"
#include "server/eventloop/event_loop.h"
#include "server/forwarding/agent.h"
#include "server/forwarding/nats_message.h"
#include "server/forwarding/nats_reader.h"
#include "server/journal/capture.h"
#include "server/server_options.h"
#include "server/transport/tls_channel.h"
#include "wire/address.h"
#include "wire/network_key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_SECONDS 0.01   /* queues are read at least this often */
#define FEED_SECONDS 0.04   /* viewers hear of news at most this often */
#define SILENCE_SECONDS 10  /* a peer must have said HELLO by then */
#define REST_SECONDS 30       /* after the last request what was read of files is released */
#define LINGER_SECONDS 1.0  /* --once: a late member may still come */
#define QUICK_EVENTS 1000000u
#define DISCONNECTED_SECONDS                                                                       \
    3600 /* an agent that a program started: where it forwards to was not there */
#define LAST_NS 300000000u /* after SIGTERM: for what programs have told already */
#define LOOP_NICE 5 /* the loop's thread is nicer than the taker's */
#define OWN_MAPPINGS 2048u /* the server's own: its program, its memory */

static void on_poll(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct server *server = timer->data;
    (void)events;
    handshake_step(server);
    connection_retry(server);
    connection_step(server);
    handshake_accept_all(server);
    program_connection_poll(server);
    process_sampler_step(server);
    cell_sampler_step(server);
    if (server->behind) /* then no peer is idle, and viewers have their turn here */
        viewer_process_requests(server);
    double now = ev_now(loop);
    for (struct connection *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (!peer->role && !peer->ending && !peer->unread && now - peer->since > SILENCE_SECONDS)
            connection_reject(peer, "no HELLO within %d seconds", SILENCE_SECONDS);
        else if (peer->ending && now - peer->since > 2 * SILENCE_SECONDS)
            connection_close(peer, NULL);
    }
}

static void server_main_on_notify(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct server *server = timer->data;
    (void)events;
    heap_sampler_step(server);
    viewer_notify(server);
    run_registry_evict(&server->runs);
    if (ev_now(loop) - server->looked > 1) {
        server->looked = ev_now(loop);
        run_registry_check_files(&server->runs);
    }
    if (server->asked > 0 && ev_now(loop) - server->asked > REST_SECONDS) {
        for (size_t i = 0; i < server->runs.count; i++)
            order_release_caches(server->runs.items[i]->order);
        malloc_trim(0);
        server->asked = 0;
    }
}

static void on_work(struct ev_loop *loop, ev_idle *idle, int events)
{
    struct server *server = idle->data;
    (void)events;
    if (server->behind) {
        connection_step(server);
        handshake_accept_all(server);
        program_connection_poll(server);
    }
    if (!viewer_process_requests(server) && !server->behind)
        ev_idle_stop(loop, idle);
}

static void on_taken(struct ev_loop *loop, ev_async *async, int events)
{
    struct server *server = async->data;
    (void)events;
    server->behind = true;
    ev_idle_start(loop, &server->work);
}

/* From the taker's thread: once, until the loop has told all. */
static void server_main_wake_loop(void *context)
{
    struct server *server = context;
    if (!atomic_exchange(&server->asked_to_tell, true))
        ev_async_send(server->loop, &server->taken);
}

/* What is not forwarded by then stays where the next agent finds it. */
static bool server_main_agent_is_running(struct server *server)
{
    if (!server->agent || agent_is_done(server->agent))
        return false;
    double now = ev_now(server->loop);
    if (server->peers || !agent_is_disconnected(server->agent) || server->disconnected_since == 0)
        server->disconnected_since = now;
    return now - server->disconnected_since < DISCONNECTED_SECONDS;
}

static void on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct server *server = timer->data;
    (void)events;
    if (server->behind)
        return; /* first processes what programs left that have disconnected */
    if (agent_connection_expected(server) || server_main_agent_is_running(server))
        return; /* an agent will reconnect, or has more to forward */
    if (!server->peers && server->once && server->had_peer)
        ev_break(loop, EVBREAK_ALL);
    ev_timer_stop(loop, timer);
}

/* How long to wait for another peer: a private server waits for none. */
static double server_main_linger_seconds(const struct server *server)
{
    return server->listener_count ? LINGER_SECONDS : 0.001;
}

static void on_signal(struct ev_loop *loop, ev_signal *signal, int events)
{
    struct server *server = signal->data;
    (void)events;
    server->stopping = true;
    server->last = loop_share_new(LAST_NS);
    ev_break(loop, EVBREAK_ALL);
}

static void on_accept(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    struct server *server = io->data;
    handshake_accept(server, io->fd, endpoint_is_remote(server->endpoints[io - server->listeners]));
}

static int server_main_fail(const char *what, const char *why)
{
    fprintf(stderr, "poet server: %s: %s\n", what, why);
    return 1;
}

/* Beyond this machine no door opens without one. */
static bool have_key(struct server *server, struct error *error)
{
    struct network_key key;
    if (server->key)
        return true;
    if (!tls_is_available())
        error_set(error, "this Poet was built without GnuTLS and zstd; no remote connections");
    if (!tls_is_available() || !network_key_read(NULL, &key, error))
        return false;
    server->key = xmalloc(sizeof key);
    *server->key = key;
    return true;
}

static bool listen_on(struct server *server, const char *endpoint, struct error *error)
{
    bool remote = endpoint_is_remote(endpoint);
    int fd = remote && !have_key(server, error) ? -1 : address_listen(endpoint, error);
    if (fd < 0)
        return false;
    ev_io *io = &server->listeners[server->listener_count];
    server->endpoints[server->listener_count++] = xstrdup(endpoint);
    ev_io_init(io, on_accept, fd, EV_READ);
    io->data = server;
    ev_io_start(server->loop, io);
    return true;
}

/* Returns how many mappings the system permits this process, less its own needs.  Tests set
 * POET_TEST_MAPPINGS to a smaller limit: on a nested virtual machine thousands of mappings take
 * minutes. */
static size_t server_main_mapping_limit(void)
{
    unsigned long most = 65530;
    const char *test = getenv("POET_TEST_MAPPINGS");
    if (test)
        return strtoul(test, NULL, 10);
    FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
    if (f && fscanf(f, "%lu", &most) != 1)
        most = 65530;
    if (f)
        fclose(f);
    return most > 2 * OWN_MAPPINGS ? most - OWN_MAPPINGS : most / 2;
}

static void start_loop(struct server *server)
{
    static ev_signal interrupt, terminate;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* no process waits for those that make reports */
    signal(SIGXFSZ, SIG_IGN); /* a file as long as it may be is a disk that is full */
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ev_timer_init(&server->poll, on_poll, POLL_SECONDS, POLL_SECONDS);
    ev_timer_init(&server->feed, server_main_on_notify, FEED_SECONDS, FEED_SECONDS);
    ev_timer_init(&server->idle, on_idle, 0, LINGER_SECONDS);
    ev_idle_init(&server->work, on_work);
    server->work.data = server;
    ev_signal_init(&interrupt, on_signal, SIGINT);
    ev_signal_init(&terminate, on_signal, SIGTERM);
    ev_async_init(&server->taken, on_taken);
    server->poll.data = server->feed.data = server->idle.data = server->taken.data = server;
    interrupt.data = terminate.data = server;
    ev_async_start(server->loop, &server->taken);
    server->taker = capture_thread_new(server_main_wake_loop, server);
    if (capture_thread_is_running(
            server->taker)) /* taking comes first: programs wait for that, not for the order */
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + LOOP_NICE);
    ev_timer_start(server->loop, &server->poll);
    ev_timer_start(server->loop, &server->feed);
    ev_signal_start(server->loop, &interrupt);
    ev_signal_start(server->loop, &terminate);
    loop_turn_watch(server->loop);
    server->mappings = server_main_mapping_limit();
    server->begun = ev_now(server->loop);
}

static void server_main_finish(struct server *server)
{
    if (!server->stopping)
        server->last = loop_share_new(UINT64_MAX / 2);
    program_connection_finish(server);
    for (size_t i = 0; i < server->listener_count; i++) {
        ev_io_stop(server->loop, &server->listeners[i]);
        close(server->listeners[i].fd);
        if (strncmp(server->endpoints[i], "unix:", 5) == 0)
            unlink(server->endpoints[i] + 5);
        free(server->endpoints[i]);
    }
    for (size_t i = 0; i < server->runs.count; i++) {
        if (!server->quiet && server->runs.items[i]->status.live)
            server_log("run %u: %s: %llu events", server->runs.items[i]->number,
                       server->runs.items[i]->file.path,
                       (unsigned long long)order_figures(server->runs.items[i]->order).events);
        if (server->stopping && order_count(server->runs.items[i]->order) > QUICK_EVENTS)
            tracefile_close(
                server->runs.items[i]->trace); /* the system is quicker with the memory */
        else
            run_free(server->runs.items[i]);
    }
    free(server->listeners);
    free(server->endpoints);
    nats_reader_free(server->reads);
    agent_positions_free(&server->resumed);
    agent_connections_free(server);
    agent_free(server->agent);
    free(server->key);
    free(server->directory);
    capture_thread_free(server->taker);
    process_sampler_stop(server);
    ev_loop_destroy(server->loop);
}

/* Reads a run from NATS, as if an agent sent it over a connection.  Returns false, and says why, if
 * that is not possible. */
static bool server_main_read_nats(struct server *server, const char *from)
{
    struct error error;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        fprintf(stderr, "poet server: --from: %s\n", strerror(errno));
        return false;
    }
    server->reads = nats_reader_new(from, ends[1], &server->resumed, &error);
    if (!server->reads) {
        close(ends[0]);
        fprintf(stderr, "poet server: %s\n", error.text);
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    connection_new(server, channel_on_socket(ends[0]), "what is read from NATS",
                   &handshake_handler);
    return true;
}

static bool server_main_load_trace(struct server *server, const char *path)
{
    const char *why;
    struct run *run = trace_replay(path, &why);
    if (!run) {
        server_main_fail(path, why);
        return false;
    }
    run->verify = true;
    run_registry_add(&server->runs, run);
    return true;
}

/* For a viewer elsewhere: the server that listens here. */
static int server_main_relay_to_default(void)
{
    char endpoint[400];
    struct error error;
    bool absent;
    if (!endpoint_default(endpoint, sizeof endpoint, &error)) {
        fprintf(stderr, "poet server: %s\n", error.text);
        return 1;
    }
    int fd = endpoint_connect(endpoint, 2000, &absent, &error);
    if (fd < 0) {
        fprintf(stderr, "poet server: %s; start one there with: poet server\n", error.text);
        return 1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    stdio_proxy_run(fd);
    return 0;
}

/* As many descriptors as the system lets us have. */
static void raise_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

#define LISTEN_MS 2000 /* to a client that is refused: until it has heard why */

/* It is not what the client that started it wants, for a reason. */
static int refuse_client(int client, const char *why)
{
    struct encoder out = {0};
    struct pollfd p = {.fd = client, .events = POLLIN};
    char ignored[4096];
    fprintf(stderr, "poet server: %s\n", why);
    encoder_begin_message(&out, MESSAGE_ERROR);
    encode_string(&out, why);
    encoder_end_message(&out);
    if (client >= 0 && !out.failed)
        send(client, out.data, out.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    encoder_free(&out);
    while (client >= 0 && poll(&p, 1, LISTEN_MS) == 1 && read(client, ignored, sizeof ignored) > 0)
        ;
    return 1;
}

/* The client that started the server. */
static void server_main_accept_client(struct server *server, int client)
{
    ev_now_update(server->loop); /* a file may have taken long; a peer's time begins now */
    fcntl(client, F_SETFL, O_NONBLOCK);
    fcntl(client, F_SETFD, FD_CLOEXEC);
    connection_new(server, channel_on_socket(client), "the client that started it",
                   &handshake_handler);
}

/* Of agents that forward to one place: each finds what others left for it, and nothing else. */
static char *agent_directory(const char *to)
{
    char *agents = run_registry_directory("agent"), *name = xstrdup(to);
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '_' : *c;
    char *full = xasprintf("%s%.200s/", agents, name);
    mkdir(full, 0700);
    free(agents);
    free(name);
    return full;
}

/* Its journals lie in a directory, where it finds them again. */
static bool server_main_run_agent(struct server *server, const char *to, struct error *error)
{
    bool keep = server->runs.output != NULL;
    size_t n = keep ? strlen(server->runs.output) : 0;
    if (keep && (!n || server->runs.output[n - 1] != '/')) {
        error_set(error, "%s: an agent writes to a directory; append /", server->runs.output);
        return false;
    }
    char *shown = nats_is_address(to) ? nats_display_text(to) : xstrdup(to);
    server->directory = keep ? xstrdup(server->runs.output) : agent_directory(shown);
    free(shown);
    server->runs.output = server->directory;
    if (mkdir(server->directory, 0777) < 0 && errno != EEXIST) {
        error_set(error, "%s: %s", server->directory, strerror(errno));
        return false;
    }
    server->agent = agent_new(server->loop, to, server->directory, keep, error);
    if (!server->agent && !keep)
        rmdir(server->directory); /* unless others have left something */
    return server->agent != NULL;
}

/* An agent has its door on this machine, whatever $POET_SERVER names. */
static bool default_endpoint(bool agent, char *endpoint, size_t size, struct error *error)
{
    char directory[256];
    if (!agent)
        return endpoint_default(endpoint, size, error);
    if (!endpoint_directory(directory, sizeof directory, error))
        return false;
    snprintf(endpoint, size, "unix:%s/poet.sock", directory);
    return true;
}

/* No socket, and no client: files in, a file out. */
static int merge_files(struct server *server, const struct server_options *asked)
{
    server->quiet = server->runs.quiet = true;
    struct error error;
    if (!output_path_clear(server->runs.output, &error))
        return refuse_client(-1, error.text);
    start_loop(server);
    bool good = journal_merge(server, (const char *const *)asked->merged, asked->merged_count);
    server_main_finish(server);
    free(server->runs.items);
    return good ? 0 : 1;
}

static bool server_main_is_remote(const struct server_options *asked)
{
    bool remote = asked->to || asked->from;
    for (size_t i = 0; i < asked->listen_count; i++)
        remote = remote || endpoint_is_remote(asked->listens[i]);
    return remote;
}

/* Loading the libraries for other hosts takes longer than answering from a small trace: they are
 * linked to poet-server-remote only, which replaces this process.  Returns if it is not built. */
static void server_main_exec_remote(char **argv)
{
    static const char suffix[] = "-remote";
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof suffix);
    if (n < 0)
        return;
    memcpy(path + n, suffix, sizeof suffix);
    execv(path, argv);
    if (errno != ENOENT)
        exit(server_main_fail(path, strerror(errno)));
}

int main(int argc, char **argv)
{
    struct server_options asked;
    int status = server_options_read(&asked, argc, argv);
    if (status >= 0)
        return status;
    char endpoint[400];
    struct error error;
    if (asked.listen_count == 0 && asked.client < 0 && !asked.stdio && !asked.merge) {
        if (!default_endpoint(asked.to, endpoint, sizeof endpoint, &error))
            return refuse_client(-1, error.text);
        asked.listens[asked.listen_count++] = endpoint;
    }
    if (!tls_is_available() && server_main_is_remote(&asked))
        server_main_exec_remote(argv);
    prctl(PR_SET_NAME, "poet-server");
    struct server server = {0};
    server.runs.output = asked.output;
    server.runs.keep_bytes = asked.keep_bytes;
    server.once = asked.once;
    server.quiet = server.runs.quiet = asked.quiet;
    int client = asked.client;
    if (asked.stdio && asked.to)
        return remote_stdio_proxy_run(asked.to);
    if (asked.stdio && !asked.file)
        return server_main_relay_to_default();
    if (asked.stdio && (client = stdio_proxy_begin()) < 0)
        return server_main_fail("--stdio", strerror(errno));
    raise_limit();
    server.spare = server.switches_ready = -1;
    server.loop = ev_loop_new(EVFLAG_AUTO);
    server.listeners = xcalloc(LISTENERS_MAX, sizeof *server.listeners);
    server.endpoints = xcalloc(LISTENERS_MAX, sizeof *server.endpoints);
    if (!server.loop)
        return server_main_fail("start", "out of memory");
    if (asked.merge)
        return merge_files(&server, &asked);
    if (asked.file) { /* private: one file for one client */
        server.once = server.quiet = server.runs.quiet = true;
        trace_replay_set_progress(stderr);
        if (!server_main_load_trace(&server, asked.file))
            return 1;
    } else if (!asked.to && !resume_run(&server, &error)) {
        return refuse_client(client, error.text);
    }
    if (asked.to && !server_main_run_agent(&server, asked.to, &error))
        return refuse_client(client, error.text);
    start_loop(&server);
    for (size_t i = 0; i < asked.listen_count; i++)
        if (!listen_on(&server, asked.listens[i], &error))
            return refuse_client(client, error.text);
    if (!server.quiet)
        for (size_t i = 0; i < server.listener_count; i++)
            server_log("listening on %s", server.endpoints[i]);
    if (client >= 0)
        server_main_accept_client(&server, client);
    if (asked.from && !server_main_read_nats(&server, asked.from))
        return 1;
    if (!asked.file) /* programs will come */
        process_sampler_start(&server);
    server.idle.repeat = server_main_linger_seconds(&server);
    ev_run(server.loop, 0);
    server_main_finish(&server);
    loop_turn_report();
    free(server.runs.items);
    return 0;
}
