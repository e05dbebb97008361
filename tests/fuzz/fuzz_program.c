/* Messages of a program to the server's event loop, and shared queues, of any content. An input is
 * a sequence of frames: THREAD passes a queue, and FILL, which is of the fuzzer only, writes to
 * the newest one. */
#define _GNU_SOURCE
#include "server/connections/handshake.h"
#include "server/connections/program_connection.h"
#include "server/connections/event_server.h"
#include "server/journal/capture.h"
#include "wire/endpoint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The frame FILL: u64 by which the head of the queue grows (highest bit: times are ticks from now
 * on), and slots. */
#define FILL 200u
#define TICKS ((uint64_t)1 << 63)
#define SLOTS 256u

struct fuzzed {
    int fd;
    struct queue_head *queue; /* the newest */
};

static void nothing(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
}
static void idle(struct ev_loop *loop, ev_idle *work, int events)
{
    (void)events;
    ev_idle_stop(loop, work);
}

static void begin(struct server *server, const char *file)
{
    static struct ev_loop *loop;
    static struct capture_thread *taker;
    if (!loop) {
        loop = ev_loop_new(EVFLAG_AUTO);
        loop_turn_watch(loop);
        taker = capture_thread_new(NULL, NULL);
        capture_thread_stop(taker); /* the loop copies queues itself, so that runs are repeatable */
    }
    *server = (struct server){.loop = loop,
                              .taker = taker,
                              .mappings = 64,
                              .quiet = true,
                              .runs = {.quiet = true, .output = file}};
    ev_timer_init(&server->idle, nothing, 1000, 1000);
    ev_idle_init(&server->work, idle);
}

static void turn(struct server *server)
{
    ev_run(server->loop, EVRUN_NOWAIT);
    connection_step(server);
    program_connection_poll(server);
}

static void hand_over(struct fuzzed *program, const uint8_t *frame, size_t size)
{
    int fd = memfd_create("queue", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    size_t bytes = QUEUE_HEAD_BYTES + SLOTS * SLOT_BYTES;
    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
        abort();
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    if (program->queue)
        munmap(program->queue, bytes);
    program->queue = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    program->queue->magic = QUEUE_MAGIC;
    program->queue->thread = 1;
    struct iovec iov = {(void *)(uintptr_t)frame, size};
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    sendmsg(program->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static void fill(struct fuzzed *program, const uint8_t *body, size_t size)
{
    if (!program->queue || size < 8)
        return;
    uint64_t head = atomic_load(&program->queue->head);
    uint8_t *slots = (uint8_t *)program->queue + QUEUE_HEAD_BYTES;
    for (size_t i = 8; i < size; i++)
        slots[(head * SLOT_BYTES + i - 8) % (SLOTS * SLOT_BYTES)] = body[i];
    if (chunk_get_u64(body) & TICKS)
        program->queue->clock = QUEUE_CLOCK_TICKS;
    atomic_store(&program->queue->head, head + (chunk_get_u64(body) & ~TICKS));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char file[64];
    struct server server;
    int pair[2];
    snprintf(file, sizeof file, "/dev/shm/poet-fuzz-%d.poet", (int)getpid());
    begin(&server, file);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        abort();
    connection_new(&server, channel_on_socket(pair[0]), "fuzz", &handshake_handler);
    struct fuzzed program = {.fd = pair[1]};
    while (size && server.peers) {
        unsigned type;
        size_t length;
        const char *error;
        int got = frame_read(data, size, LIMIT_MESSAGE_BYTES, &type, &length, &error);
        size_t whole = got > 0 ? MESSAGE_FRAME_BYTES + length : size;
        if (got > 0 && type == FILL)
            fill(&program, data + MESSAGE_FRAME_BYTES, length);
        else if (got > 0 && type == MESSAGE_THREAD)
            hand_over(&program, data, whole);
        else if (send(pair[1], data, whole, MSG_NOSIGNAL) < 0)
            break;
        turn(&server);
        data += whole;
        size -= whole;
    }
    close(pair[1]);
    for (int i = 0; i < 8 && server.peers; i++)
        turn(&server);
    server.stopping = true;
    server.last = loop_share_new(100000000);
    program_connection_finish(&server);
    ev_idle_stop(server.loop, &server.work);
    ev_timer_stop(server.loop, &server.idle);
    for (size_t i = 0; i < server.runs.count; i++) {
        unlink(server.runs.items[i]->file.path);
        run_free(server.runs.items[i]);
    }
    free(server.runs.items);
    if (program.queue)
        munmap(program.queue, QUEUE_HEAD_BYTES + SLOTS * SLOT_BYTES);
    return 0;
}
