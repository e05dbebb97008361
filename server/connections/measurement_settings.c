#define _GNU_SOURCE
#include "server/connections/measurement_settings.h"

#include "base/alloc.h"
#include "config/measurement_spec.h"
#include "config/metric_rules.h"
#include "server/connections/event_server.h"
#include "server/connections/process_sampler.h"
#include "server/connections/run_journal.h"
#include "server/decode/program_session.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/capture.h"
#include "server/journal/journal_write.h"
#include "wire/metric_messages.h"
#include "wire/profile_region.h"
#include "wire/program_messages.h"
#include "wire/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void settings_set_bits(const struct shared_queue *queue, uint32_t mask, uint32_t bits)
{
    atomic_fetch_and_explicit(&queue->head->wanted, ~(mask & ~bits), memory_order_relaxed);
    atomic_fetch_or_explicit(&queue->head->wanted, (bits & mask) | WANTED_CHOSEN,
                             memory_order_relaxed);
}

/* A queue that follows another keeps the settings of that one. */
void measurement_settings_queue(const struct connection *peer)
{
    const struct run_settings *wants = &peer->run->settings;
    if (wants->chosen && peer->program->queues && !peer->program->queues->after)
        settings_set_bits(peer->program->queues, wants->mask, wants->bits);
}

static bool is_meant(const struct measurement_request *want, uint32_t line)
{
    bool meant = !want->line_count;
    for (uint32_t i = 0; i < want->line_count && !meant; i++)
        meant = line && want->lines[i] == line;
    return meant;
}

/* Must hold the capture lock. */
static void settings_apply_request(const struct connection *peer,
                                   const struct measurement_request *want)
{
    uint32_t number = peer->program->session;
    const struct program_session *session =
        number < peer->run->sessions.count ? peer->run->sessions.items[number] : NULL;
    for (const struct shared_queue *q = peer->program->queues; q; q = q->next)
        if (is_meant(want, session ? program_session_own_line(session, q->head->thread) : 0))
            settings_set_bits(q, want->mask, want->bits);
}

void measurement_settings_step(struct server *server)
{
    for (struct connection *peer = server->peers; peer; peer = peer->next) {
        if (!peer->program || !peer->run->settings.count)
            continue;
        capture_lock(server->taker);
        for (size_t i = 0; i < peer->run->settings.count; i++)
            settings_apply_request(peer, &peer->run->settings.items[i]);
        capture_unlock(server->taker);
    }
    for (size_t i = 0; i < server->runs.count; i++)
        run_settings_applied(&server->runs.items[i]->settings);
}

/* ---- options of a program's user ---- */

#define FILE_BYTES (1u << 20)
#define ALL_BITS                                                                                   \
    (WANTED_COUNTS | WANTED_REAL | WANTED_CPU | WANTED_EVERY | WANTED_STATES | WANTED_MEMORY |     \
     WANTED_METERS | WANTED_THROTTLE | WANTED_LIBRARIES | WANTED_SAMPLES(UINT16_MAX))

static bool measurement_option_is_local(const struct connection *peer)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    getsockopt(peer->channel.fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    return domain == AF_UNIX;
}

/* The caller's; NULL with what is wrong in the log. */
static char *measurement_option_read_text(const char *path)
{
    char *text = xcalloc(FILE_BYTES + 1, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, FILE_BYTES) : -1;
    if (n < 0)
        server_log("%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (n >= 0)
        return text;
    free(text);
    return NULL;
}

/* Mistakes go to the log, a line each. */
static bool measurement_option_read_settings(const char *path, struct measurement_spec *measure)
{
    char *text = measurement_option_read_text(path), *messages = NULL;
    size_t size;
    FILE *complaints = open_memstream(&messages, &size);
    bool good = text && complaints && measurement_spec_read(text, path, complaints, measure);
    if (complaints)
        fclose(complaints);
    for (unsigned i = 0; good && i < MEASURE_LISTS; i++)
        if (measure->lists[i])
            server_log(
                "%s: lists of functions are read by poet record -m and the viewer: start the "
                "program with %s",
                path, measurement_spec_variable(i));
    for (char *line = messages; line && *line; line += strcspn(line, "\n") + 1) {
        server_log("%.*s", (int)strcspn(line, "\n"), line);
        if (!line[strcspn(line, "\n")])
            break;
    }
    free(messages);
    free(text);
    return good;
}

/* Returns the name of the description with a file's metrics; the caller frees it. */
static char *measurement_option_metrics_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = xasprintf("metrics of %.200s", slash ? slash + 1 : path);
    for (char *c = name; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '_';
    return name;
}

/* Stores the metrics that a file defines with the run, as a description without lines and events;
 * once for each name of a file.  A file without metrics stores nothing. */
static void measurement_option_store_metrics(struct connection *peer, const char *path)
{
    struct arena texts = {0};
    struct target_metric *metrics;
    size_t count;
    char *text = measurement_option_is_local(peer) ? measurement_option_read_text(path) : NULL;
    if (text && metric_rules_read(text, path, NULL, &texts, &metrics, &count)) {
        char *name = measurement_option_metrics_name(path),
             *rules = metric_rules_write(metrics, count),
             *description =
                 xasprintf("name = \"%s\";\nline_types = ();\nevents = ();\n%s", name, rules);
        capture_lock(peer->server->taker);
        peer->stalled =
            !journal_write_given_description(run_journal_capture(peer->run), name, description);
        capture_unlock(peer->server->taker);
        free(metrics);
        free(name);
        free(rules);
        free(description);
    }
    arena_free(&texts);
    free(text);
}

/* Applies a file of measurement settings.  An unreadable file changes no setting, but ends the
 * program's wait for it. */
static void measurement_option_receive_file(struct connection *peer, const char *path)
{
    struct measurement_spec measure = {0};
    bool good =
        measurement_option_is_local(peer) && measurement_option_read_settings(path, &measure);
    struct measurement_request request = {.mask = good ? ALL_BITS : WANTED_BROKEN,
                                          .bits = good ? measure.wanted : WANTED_BROKEN};
    run_settings_add(&peer->run->settings, &request);
    if (good && measure.rate)
        process_sampler_rate(peer, measure.rate);
    if (good && measure.metrics)
        measurement_option_store_metrics(peer, path);
    measurement_spec_free(&measure);
}

bool measurement_option_receive(struct connection *peer, const uint8_t *body, size_t size)
{
    struct metric_message message;
    struct decoder in = decoder_init(body, size);
    if (!decode_metric(&in, &message) || message.kind != METRIC_NONE)
        return false;
    char *what = text_name(message.name);
    if (strcmp(what, "rate") == 0) {
        process_sampler_rate(peer, message.code);
    } else if (strcmp(what, "file") == 0 || strcmp(what, "definitions") == 0) {
        char *path = xstrndup(message.unit.bytes, message.unit.size);
        if (*what == 'f')
            measurement_option_receive_file(peer, path);
        else
            measurement_option_store_metrics(peer, path);
        free(path);
    }
    free(what);
    return true;
}
