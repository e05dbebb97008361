#include "server/connections/external_metrics.h"

#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/run/program_metrics.h"
#include "server/journal/capture.h"
#include "wire/text.h"
#include "wire/program_messages.h"

#include <stdlib.h>
#include <time.h>

static bool external_metrics_write_journal(const struct connection *peer, enum message_type kind,
                                           const struct encoder *body)
{
    capture_lock(peer->server->taker);
    bool fits = journal_append(run_journal_capture(peer->run),
                               &(struct chunk){.kind = (uint16_t)kind,
                                               .session = PROGRAM_METRICS_NO_PROCESS,
                                               .data = body->data,
                                               .size = (uint32_t)body->size},
                               1, false);
    capture_unlock(peer->server->taker);
    return fits;
}

/* How many there are already. */
static uint32_t external_metrics_name_count(const struct run *run)
{
    uint32_t n = 0;
    for (size_t i = 0; i < program_metrics_names(run); i++)
        n += program_metrics_name_at(run, i)->session == PROGRAM_METRICS_NO_PROCESS;
    return n;
}

/* Named at once, so that the next one finds it, and in the journal; 0: there are too many, or there
 * is no room. */
static uint32_t code_of(const struct connection *peer, char *name, char *unit)
{
    uint32_t code = program_metrics_code(peer->run, name);
    if (code || external_metrics_name_count(peer->run) >= METRIC_SAMPLED_MOST)
        return code;
    struct program_metric_name metric = {.session = PROGRAM_METRICS_NO_PROCESS,
                                         .code = METRIC_SAMPLED_CODES +
                                                 external_metrics_name_count(peer->run),
                                         .kind = METRIC_SAMPLED,
                                         .name = name,
                                         .unit = unit};
    struct encoder body = {0};
    encode_metric(&body, &(struct metric_message){metric.code, metric.kind, text_view_of(name),
                                                  text_view_of(unit)});
    bool fits = !body.failed && external_metrics_write_journal(peer, MESSAGE_METRIC, &body);
    encoder_free(&body);
    if (fits)
        program_metrics_declare(peer->run, &metric);
    return fits ? metric.code : 0;
}

static void external_metrics_write_sample(const struct connection *peer, uint32_t code,
                                          int64_t value)
{
    struct timespec now;
    struct encoder body = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    encode_u64(&body, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    encode_u32(&body, 1);
    encode_u32(&body, code);
    encode_u64(&body, (uint64_t)value);
    if (!body.failed)
        external_metrics_write_journal(peer, MESSAGE_SAMPLED_CELLS, &body);
    encoder_free(&body);
}

void external_metrics_receive(struct connection *peer, struct decoder *in)
{
    char *name = decode_name(in, MESSAGE_LABEL_BYTES - 1),
         *unit = decode_name(in, MESSAGE_LABEL_BYTES - 1);
    int64_t value = (int64_t)decode_u64(in);
    if (decoder_finish(in) && *name && peer->run && peer->run->status.live &&
        run_journal_capture(peer->run) && peer->run->programs.connected) {
        uint32_t code = code_of(peer, name, unit);
        if (code)
            external_metrics_write_sample(peer, code, value);
    }
    free(name);
    free(unit);
}
