#define _GNU_SOURCE
#include "server/connections/program_handshake.h"

#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/connections/process_sampler.h"
#include "server/journal/capture.h"
#include "wire/shared_counters.h"
#include "wire/text.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Its first words, and what describes its environment. */
static bool journal_hello(struct capture *taking, const uint8_t *body, size_t size,
                          const char *environment)
{
    struct encoder name = {0};
    bool plain = *environment && !strchr(environment, '/');
    encode_describe(&name, &(struct describe_message){text_view_of(environment)});
    const struct chunk chunks[] = {
        {.kind = CHUNK_SESSION, .session = taking->sessions, .data = body, .size = (uint32_t)size},
        {.kind = MESSAGE_DESCRIBE,
         .session = taking->sessions,
         .data = name.data,
         .size = (uint32_t)name.size}};
    bool fits = (!plain || journal_write_description(taking, environment)) &&
                journal_append(taking, chunks, 1 + plain, false);
    encoder_free(&name);
    return fits;
}

bool program_handshake_receive(struct connection *peer, const uint8_t *body, size_t size,
                               struct hello_message *hello)
{
    char why[512];
    struct run *run = run_registry_find(&peer->server->runs, hello->run, why, sizeof why);
    if (!run || !run->status.live) {
        connection_reject(peer, "%s", run ? "the run has ended" : why);
        return false;
    }
    const char *program = strrchr(hello->path, '/');
    snprintf(peer->name, sizeof peer->name, "%.40s[%u]", program ? program + 1 : hello->path,
             hello->pid);
    peer->run = run;
    run->status.finished = run->status.ending = false;
    run_registry_touch(&peer->server->runs, run);
    run_journal_open(peer->server, run);
    tracefile_is_live(run->trace, true);
    struct capture_thread *taker = peer->server->taker;
    capture_lock(taker);
    bool fits = journal_hello(run_journal_capture(run), body, size, hello->environment);
    int e = errno;
    if (fits)
        peer->program = captured_program_new(taker, run_journal_capture(run));
    capture_unlock(taker);
    if (!fits)
        connection_reject(peer, "%s: %s", run->file.path, strerror(e));
    else
        process_sampler_begin(peer, hello->pid);
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
void program_handshake_reply(struct connection *peer)
{
    int fd = counters_of(peer->run);
    ssize_t n = fd >= 0 ? channel_write(&peer->channel, peer->out.data, peer->out.size, fd) : -1;
    encoder_consume(&peer->out, n > 0 ? (size_t)n : 0);
}
