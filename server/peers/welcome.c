#define _GNU_SOURCE
#include "server/peers/welcome.h"

#include "server/peers/begun.h"
#include "server/peers/server.h"
#include "server/peers/watching.h"
#include "server/taking/taking.h"
#include "wire/counters.h"
#include "wire/text.h"
#include "wire/told.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Its first words, and what describes its environment. */
static bool journal_hello(struct taking *taking, const uint8_t *body, size_t size,
                          const char *environment)
{
    struct out name = {0};
    bool plain = *environment && !strchr(environment, '/');
    put_told_describe(&name, &(struct told_describe){text_of(environment)});
    const struct chunk chunks[] = {
        {.kind = CHUNK_SESSION, .session = taking->sessions, .data = body, .size = (uint32_t)size},
        {.kind = MESSAGE_DESCRIBE,
         .session = taking->sessions,
         .data = name.data,
         .size = (uint32_t)name.size}};
    bool fits = (!plain || journal_describe(taking, environment)) &&
                journal_put(taking, chunks, 1 + plain, false);
    out_free(&name);
    return fits;
}

bool welcome_hear(struct peer *peer, const uint8_t *body, size_t size, struct hello *hello)
{
    char why[512];
    struct run *run = runs_find(&peer->server->runs, hello->run, why, sizeof why);
    if (!run || !run->live) {
        peer_refuse(peer, "%s", run ? "the run has ended" : why);
        return false;
    }
    const char *program = strrchr(hello->path, '/');
    snprintf(peer->name, sizeof peer->name, "%.40s[%u]", program ? program + 1 : hello->path,
             hello->pid);
    peer->run = run;
    run->finished = run->ending = false;
    runs_asked(&peer->server->runs, run);
    run_begun(peer->server, run);
    tracefile_goes_on(run->trace, true);
    struct taker *taker = peer->server->taker;
    taker_enter(taker);
    bool fits = journal_hello(run->taking, body, size, hello->environment);
    int e = errno;
    if (fits)
        peer->program = program_new(taker, run->taking);
    taker_leave(taker);
    if (!fits)
        peer_refuse(peer, "%s: %s", run->file, strerror(e));
    else
        watching_begin(peer, hello->pid);
    return fits;
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
void welcome_answer(struct peer *peer)
{
    int fd = counters_of(peer->run);
    ssize_t n = fd >= 0 ? channel_write(&peer->channel, peer->out.data, peer->out.size, fd) : -1;
    out_drop(&peer->out, n > 0 ? (size_t)n : 0);
}
