/* Programs: their shared queues, and what goes to the journal before it is believed. */
#define _GNU_SOURCE
#include "server/saving.h"
#include "server/queue.h"
#include "server/server.h"
#include "wire/counters.h"
#include "wire/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- runs and their files ---- */

static char *state_directory(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (!state || !*state) {
        if (asprintf(&path, "%s/.local/state", home ? home : "/tmp") < 0)
            return NULL;
    } else {
        path = strdup(state);
    }
    char *full = NULL;
    if (!path || asprintf(&full, "%s/poet", path) < 0)
        full = NULL;
    for (char *slash = full ? strchr(full + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    if (full)
        mkdir(full, 0700);
    free(path);
    return full;
}

static char *file_for(const struct server *server, const char *key)
{
    const char *output = server->options.output;
    char *path = NULL, *state = NULL, stamp[32];
    if (output && *output && output[strlen(output) - 1] != '/')
        return strdup(output);
    time_t now = time(NULL);
    struct tm tm;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "@"), key);
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '_' : *c;
    if (!output)
        state = state_directory();
    const char *directory = output ? output : state ? state : ".";
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%s-%s.poet", directory, slash, name, stamp) < 0)
        path = NULL;
    free(state);
    return path;
}

static struct run *begin_run(struct peer *peer, const char *key)
{
    struct server *server = peer->server;
    char *path = file_for(server, key), *used = NULL;
    struct tracefile *trace = path ? tracefile_create(path, key, &used) : NULL;
    if (!trace) {
        peer_refuse(peer, "%s: %s", path ? path : "the trace file", strerror(errno));
        free(path);
        return NULL;
    }
    free(path);
    struct run *run = run_new(key, (unsigned)server->run_count + 1, trace);
    run->file = used;
    run->live = true;
    run->saving = saving_new(server->options.keep_bytes);
    server->runs = grow(server->runs, &server->run_room, server->run_count + 1,
                        sizeof *server->runs);
    server->runs[server->run_count++] = run;
    if (!server->options.quiet)
        log_line("run %u \"%s\" begins: %s", run->number, run->name, run->file);
    return run;
}

static struct run *find_run(struct peer *peer, const char *key)
{
    for (size_t i = 0; i < peer->server->run_count; i++)
        if (strcmp(peer->server->runs[i]->key, key) == 0)
            return peer->server->runs[i];
    return begin_run(peer, key);
}

static void journal(struct peer *peer, unsigned kind, uint32_t thread, const void *data, size_t size)
{
    tracefile_append(teller_run(peer->teller)->trace,
                   (struct chunk){.kind = (uint16_t)kind,
                                  .session = teller_session(peer->teller),
                                  .thread = thread,
                                  .data = data,
                                  .size = (uint32_t)size});
}

static bool flush(struct run *run)
{
    uint64_t bytes = tracefile_unflushed(run->trace);
    if (tracefile_flush(run->trace)) {
        /* A few bytes may fit where a batch did not. */
        if (run->unwritten && tracefile_room(run->trace) >= run->unwritten) {
            log_line("%s: there is room again", run->file);
            run->unwritten = 0;
        }
        return true;
    }
    if (!run->unwritten)
        log_line("%s: %s: nothing more is taken until there is room; what was taken is kept",
                 run->file, strerror(errno));
    run->unwritten = bytes;
    return false;
}

static void describe(struct peer *peer, const char *name)
{
    struct out out = {0};
    put_string(&out, name);
    const char *error;
    journal(peer, MESSAGE_DESCRIBE, 0, out.data, out.size);
    teller_message(peer->teller, MESSAGE_DESCRIBE, 0, out.data, out.size, &error);
    out_free(&out);
}

bool program_hello(struct peer *peer, const uint8_t *body, size_t size, struct hello *hello)
{
    struct run *run = find_run(peer, hello->run);
    if (!run)
        return false;
    const char *program = strrchr(hello->path, '/');
    snprintf(peer->name, sizeof peer->name, "%.40s[%u]", program ? program + 1 : hello->path,
             hello->pid);
    char environment[256];
    snprintf(environment, sizeof environment, "%s", hello->environment);
    peer->run = run;
    tracefile_lock(run->trace, true);
    peer->teller = teller_new(run, (uint32_t)run->process_count, hello);
    if (!peer->teller) {
        peer_refuse(peer, "out of memory");
        return false;
    }
    journal(peer, CHUNK_SESSION, 0, body, size);
    saving_fact(run, (struct chunk){.kind = CHUNK_SESSION, .session = teller_session(peer->teller),
                                  .data = body, .size = (uint32_t)size});
    describe(peer, environment);
    if (!flush(run)) {
        peer_refuse(peer, "%s: %s", run->file, strerror(errno));
        return false;
    }
    return true;
}

/* The counters of the run; -1: there are none. */
static int counters_of(struct run *run)
{
    if (run->counters)
        return run->counters;
    int fd = memfd_create("poet-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, COUNTERS_BYTES) < 0 ||
                    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)) {
        close(fd);
        fd = -1;
    }
    return run->counters = fd;
}

/* Sends what waits to be sent, the WELCOME, with the descriptor of the counters.  What does not go
 * out here goes out later, without it. */
void program_welcome(struct peer *peer)
{
    int fd = counters_of(peer->run);
    struct iovec iov = {peer->out.data, peer->out.size};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    ssize_t n = fd >= 0 ? sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    out_drop(&peer->out, n > 0 ? (size_t)n : 0);
}

/* ---- emptying queues ---- */

/* Tells what was journalled and gives the room back.  Returns an error or NULL. */
static const char *tell_batches(struct peer *peer, size_t *told)
{
    teller_batch(peer->teller, tracefile_epoch(teller_run(peer->teller)->trace), false);
    const char *error = NULL;
    uint64_t waited = peer->waited_ns, dropped = peer->dropped, unfollowed = peer->unfollowed;
    for (struct queue *q = peer->queues; q; q = q->next) {
        if (q->batch_count && !error)
            teller_slots(peer->teller, q->thread, q->batch, q->batch_count, &error);
        *told += q->batch_count;
        q->tail += q->batch_count;
        if (q->batch_count)
            queue_give_room(q);
        q->batch_count = 0;
        waited += q->waited_ns;
        dropped += q->dropped;
        unfollowed += q->unfollowed;
    }
    struct run_process *process = teller_process(peer->teller);
    process->waited_ns = waited > process->waited_ns ? waited : process->waited_ns;
    process->dropped = dropped > process->dropped ? dropped : process->dropped;
    process->unfollowed = unfollowed > process->unfollowed ? unfollowed : process->unfollowed;
    return error;
}

static void drop_done(struct peer *peer)
{
    for (struct queue **at = &peer->queues, *q; (q = *at) != NULL;) {
        if (q->done && q->tail == atomic_load(&q->head->head)) {
            *at = q->next;
            peer->waited_ns += q->waited_ns;
            peer->dropped += q->dropped;
            peer->unfollowed += q->unfollowed;
            queue_free(q);
        } else {
            at = &q->next;
        }
    }
}

/* Descriptions go into the file before the events that need them: whoever reads it again must know
 * them by then. */
static void describe_first(struct peer *peer, const struct slot *slots, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t follow = slot_follow(slots[i].payload_bytes);
        const char *error; /* said when its turn comes */
        if (slots[i].shape == SHAPE_CONTROL && slots[i].flags == MESSAGE_DESCRIBE && follow < count - i)
            teller_message(peer->teller, MESSAGE_DESCRIBE, 0, (const uint8_t *)&slots[i + 1],
                           slots[i].payload_bytes, &error);
        i += 1 + follow;
    }
}

static void journal_figures(struct peer *peer)
{
    const struct run_process *process = teller_process(peer->teller);
    struct out gap = {0};
    put_u64(&gap, process->waited_ns);
    put_u64(&gap, process->dropped);
    put_u64(&gap, process->unfollowed);
    journal(peer, MESSAGE_GAP, 0, gap.data, gap.size);
    out_free(&gap);
}

/* What was not followed is a reason to doubt answers: it must outlive the server, if roughly. */
static void note_unfollowed(struct peer *peer)
{
    uint64_t now = teller_process(peer->teller)->unfollowed;
    if (now < 2 * peer->journalled + 1)
        return;
    peer->journalled = now;
    journal_figures(peer);
    flush(teller_run(peer->teller));
}

/* One round over the queues of one program: copy, journal, tell. */
static const char *drain(struct peer *peer, size_t *told)
{
    struct run *run = teller_run(peer->teller);
    bool any = false;
    for (struct queue *q = peer->queues; q; q = q->next) {
        if (!queue_copy(q, &peer->server->ticks))
            return "a queue that contradicts itself";
        if (q->batch_count) {
            describe_first(peer, q->batch, q->batch_count);
            journal(peer, MESSAGE_SLOTS, q->thread, q->batch, q->batch_count * SLOT_BYTES);
            any = true;
        }
    }
    if (any && !flush(run)) {
        for (struct queue *q = peer->queues; q; q = q->next)
            q->batch_count = 0;
        return NULL;
    }
    const char *error = tell_batches(peer, told);
    note_unfollowed(peer);
    drop_done(peer);
    saving_poll(run);
    return error;
}

/* A program that hung up stays until all that the others had said by then has been told: lines that
 * it has with them must not look as if nobody numbered them any more. */
static void drop_closed(struct server *server)
{
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (peer->teller && peer->closed && peer->closed++ >= 2)
            peer_hung_up(peer);
    }
}

static bool is_behind(const struct peer *peer)
{
    const struct queue *q = peer->queues;
    while (q && !q->behind)
        q = q->next;
    return q && !peer->ending;
}

/* One round over all programs; true if there is more. */
static bool poll_round(struct server *server)
{
    bool behind = false;
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (!peer->teller || peer->ending)
            continue;
        size_t told = 0;
        const char *error = drain(peer, &told);
        if (error)
            peer_refuse(peer, "%s", error);
        else
            behind |= is_behind(peer);
    }
    return behind;
}

#define POLL_NS 50000000u /* then viewers have their turn */

void program_poll(struct server *server)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (poll_round(server) &&
           (uint64_t)(now.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec -
                   (uint64_t)begin.tv_nsec < POLL_NS);
    drop_closed(server);
}

static bool socket_slots(struct peer *peer, const uint8_t *body, size_t size, const char **error)
{
    struct in in = in_from(body, size);
    uint32_t thread = get_u32(&in);
    if (in.error || in_left(&in) % SLOT_BYTES) {
        *error = "SLOTS of a broken size";
        return false;
    }
    size_t bytes = in_left(&in);
    struct slot *slots = malloc(bytes + 1); /* aligned, unlike the message */
    if (!slots)
        abort();
    memcpy(slots, body + 4, bytes);
    describe_first(peer, slots, bytes / SLOT_BYTES);
    journal(peer, MESSAGE_SLOTS, thread, slots, bytes);
    teller_batch(peer->teller, tracefile_epoch(peer->run->trace), false);
    bool ok = flush(peer->run) &&
              teller_slots(peer->teller, thread, slots, bytes / SLOT_BYTES, error);
    free(slots);
    return ok;
}

bool program_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    const char *error = "the disk is full";
    bool ok = true;
    struct in in = in_from(body, size);
    if (type == MESSAGE_WAKE) {
        peer->woken = true; /* many may come at once */
    } else if (type == MESSAGE_THREAD) {
        uint32_t slots = get_u32(&in);
        int fd = peer_take_descriptor(peer);
        error = !in_done(&in) ? in.error : fd < 0 ? "a queue without a descriptor"
                                                  : queue_add(&peer->queues, fd, slots);
        if (fd >= 0)
            close(fd);
        ok = error == NULL;
    } else if (type == MESSAGE_SLOTS) {
        ok = socket_slots(peer, body, size, &error);
    } else {
        journal(peer, type, 0, body, size);
        ok = flush(peer->run) && teller_message(peer->teller, type, 0, body, size, &error);
    }
    if (!ok)
        peer_refuse(peer, "%s: %s", message_name(type), error);
    return true;
}

void program_woken(struct peer *peer)
{
    size_t told = 0;
    peer->woken = false;
    const char *error = drain(peer, &told);
    if (error)
        peer_refuse(peer, "%s", error);
}

void run_finished(struct run *run)
{
    if (!run->live)
        return;
    saving_finish(run);
    tracefile_append(run->trace, (struct chunk){.kind = CHUNK_END});
    flush(run);
    tracefile_lock(run->trace, false);
}

void program_gone(struct peer *peer)
{
    struct run *run = teller_run(peer->teller);
    size_t told = 0;
    do { /* what it left behind in its queues */
        told = 0;
    } while (!drain(peer, &told) && told);
    while (peer->queues) {
        struct queue *next = peer->queues->next;
        queue_free(peer->queues);
        peer->queues = next;
    }
    struct out gap = {0};
    put_u64(&gap, teller_process(peer->teller)->waited_ns);
    put_u64(&gap, teller_process(peer->teller)->dropped);
    put_u64(&gap, teller_process(peer->teller)->unfollowed);
    journal(peer, MESSAGE_GAP, 0, gap.data, gap.size);
    saving_fact(run, (struct chunk){.kind = MESSAGE_GAP, .session = teller_session(peer->teller),
                                  .data = gap.data, .size = (uint32_t)gap.size});
    out_free(&gap);
    journal(peer, CHUNK_HANGUP, 0, NULL, 0);
    flush(run);
    saving_fact(run, (struct chunk){.kind = CHUNK_HANGUP,
                                    .session = teller_session(peer->teller)});
    teller_hangup(peer->teller);
    peer->teller = NULL;
    if (run->connected == 0)
        run_finished(run);
}
