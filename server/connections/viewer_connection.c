#define _GNU_SOURCE
#include "server/connections/viewer_connection.h"

#include "server/checkpoint/run_registry.h"
#include "server/connections/event_server.h"
#include "server/connections/program_connection.h"
#include "server/connections/run_journal.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/capture.h"
#include "server/queries/referenced_lines.h"
#include "server/run/metrics.h"
#include "wire/limits.h"
#include "wire/program_messages.h"
#include "wire/request.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- external metrics ---- */

static bool external_metrics_write_journal(const struct connection *peer, enum message_type kind,
                                           const struct encoder *body)
{
    return run_journal_append(peer->server, peer->run, kind, PROGRAM_METRICS_NO_PROCESS, body);
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
static uint32_t external_metrics_code(const struct connection *peer, char *name, char *unit)
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
    bool fits = external_metrics_write_journal(peer, MESSAGE_METRIC, &body);
    encoder_free(&body);
    if (fits)
        program_metrics_declare(peer->run, &metric);
    return fits ? metric.code : 0;
}

static void external_metrics_write_sample(const struct connection *peer, uint32_t code,
                                          int64_t value)
{
    struct encoder body = {0};
    encode_u64(&body, loop_monotonic_ns());
    encode_u32(&body, 1);
    encode_u32(&body, code);
    encode_u64(&body, (uint64_t)value);
    external_metrics_write_journal(peer, MESSAGE_SAMPLED_CELLS, &body);
    encoder_free(&body);
}

/* Receives the body of a viewer's CELLS, which is ignored if the run is not live.  Sets
 * in->error if it is malformed. */
static void external_metrics_receive(struct connection *peer, struct decoder *in)
{
    char *name = decode_name(in, MESSAGE_LABEL_BYTES - 1),
         *unit = decode_name(in, MESSAGE_LABEL_BYTES - 1);
    int64_t value = (int64_t)decode_u64(in);
    if (decoder_finish(in) && *name && peer->run && peer->run->status.live &&
        run_journal_capture(peer->run) && peer->run->programs.connected) {
        uint32_t code = external_metrics_code(peer, name, unit);
        if (code)
            external_metrics_write_sample(peer, code, value);
    }
    free(name);
    free(unit);
}

#define FED_LAG_NS 1000000000u /* what an order may be behind without a word */
#define DUMP_BYTES (256u << 10)

/* Index of the run that is meant; SIZE_MAX: there is none. */
static size_t viewer_find_run(const struct server *server, const char *which)
{
    char *end;
    unsigned long number = strtoul(which, &end, 10);
    if (!*which)
        return server->runs.count - 1;
    for (size_t i = server->runs.count; i-- > 0;)
        if ((*end == 0 && server->runs.items[i]->number == number) ||
            strcmp(server->runs.items[i]->name, which) == 0)
            return i;
    return SIZE_MAX;
}

/* ---- notifications ---- */

/* Sends updates before every response.  Returns false if not all of them fit; the rest is sent
 * as the viewer reads, and until then no request is answered. */
static bool viewer_send_updates(struct connection *peer)
{
    if (!peer->telling || peer->out.size < DUMP_BYTES)
        peer->telling = !notify_updates_step(&peer->out, peer->run, &peer->known, DUMP_BYTES);
    if (peer->telling)
        connection_send(peer);
    return !peer->telling;
}

/* It must read before anything else is worked out for it. */
static bool is_full(const struct connection *peer) { return peer->out.size > LIMIT_VIEWER_BYTES; }

/* It may have to read first; then its next message waits. */
static enum readiness viewer_readiness(struct connection *peer)
{
    program_connection_sync(peer->server); /* what happened before the request is in the response */
    loop_turn_set_activity("messages of viewers");
    peer->held = is_full(peer) || (peer->run && !viewer_send_updates(peer));
    return peer->held ? CONNECTION_NOT_READY : READY;
}

/* Begins a message; the facts of the lines named in it are sent before it by have_named. */
static size_t viewer_begin_line_info(struct connection *peer)
{
    referenced_lines_begin(peer->run, &peer->known);
    return peer->out.size;
}

static void have_named(struct connection *peer, size_t before)
{
    referenced_lines_end(&peer->out, before, peer->run, &peer->known);
}

static void viewer_process_step(struct connection *peer)
{
    if (request_queue_has_work(&peer->queries))
        ev_idle_start(peer->server->loop, &peer->server->work);
}

static void viewer_fill_output(struct connection *peer)
{
    if (peer->telling && peer->out.size < DUMP_BYTES)
        viewer_send_updates(peer);
    if (peer->telling || is_full(peer))
        return;
    peer->unread |= peer->held; /* its next message is read now */
    peer->held = false;
    if (peer->out.size < DUMP_BYTES && request_queue_has_stream(&peer->queries)) {
        size_t before = viewer_begin_line_info(peer);
        request_queue_refill(&peer->queries, &peer->out);
        have_named(peer, before);
    }
    viewer_process_step(peer);
}

static bool has_more(const struct connection *peer)
{
    return peer->telling || request_queue_has_stream(&peer->queries);
}

/* ---- requests about the server ---- */

/* From its run. */
static void viewer_deselect_run(struct connection *peer)
{
    if (peer->run) {
        peer->run->eviction.viewers--;
        peer->run = NULL;
    }
    request_queue_clear(&peer->queries, NULL);
    referenced_lines_clear(&peer->known);
}

static void select_run(struct connection *peer, struct run *run, bool named)
{
    request_queue_clear(&peer->queries, &peer->out); /* its requests were about another run */
    viewer_deselect_run(peer);
    peer->run = run;
    peer->queries.run = run;
    run->eviction.viewers++;
    peer->known = (struct viewer_knowledge){.named = named};
    peer->fed_generation = 0;
    encoder_begin_message(&peer->out, MESSAGE_RUN_SELECTED);
    notify_run_selected(&peer->out, run);
    encoder_end_message(&peer->out);
}

/* Of all runs; NULL: there is none. */
static const struct run *viewer_newest_run(const struct server *server)
{
    return server->runs.count ? server->runs.items[server->runs.count - 1] : NULL;
}

static void on_select(struct connection *peer, uint32_t id, struct decoder *in)
{
    char *which = decode_name(in, 256), text[LIMIT_TEXT_BYTES];
    uint8_t flags = decoder_remaining(in) ? decode_u8(in) : 0;
    size_t index = decoder_finish(in) ? viewer_find_run(peer->server, which) : SIZE_MAX;
    const char *why = NULL;
    struct run *run =
        index == SIZE_MAX ? NULL : run_registry_reload(&peer->server->runs, index, &why);
    struct response reply = {&peer->out, id, 0};
    peer->follows_newest = !*which;
    if (run) {
        select_run(peer, run, flags & SELECT_NAMED_LINES);
        peer->newest_reported = viewer_newest_run(peer->server)->number;
        response_finish(&reply);
        viewer_send_updates(peer);
    } else if (why) {
        snprintf(text, sizeof text, "run %u: %s: %s", peer->server->runs.items[index]->number,
                 peer->server->runs.items[index]->file.path, why);
        response_error(&peer->out, id, text);
    } else if (!in->error) {
        response_error(&peer->out, id,
                       *which ? "there is no such run: see poet runs" : "there is no run yet");
    }
    free(which);
}

static void on_runs(struct connection *peer, uint32_t id, struct decoder *in)
{
    struct response reply = {&peer->out, id, 0};
    for (size_t i = 0; decoder_finish(in) && i < peer->server->runs.count; i++) {
        response_chunk_begin(&reply, RESPONSE_RUN);
        notify_run_selected(&peer->out, peer->server->runs.items[i]);
        response_chunk_end(&reply);
    }
    if (!in->error)
        response_finish(&reply);
}

/* ---- all requests ---- */

static void viewer_on_query(struct connection *peer, const struct request_header *asked,
                            struct decoder *in)
{
    size_t before = viewer_begin_line_info(peer);
    request_queue_add(&peer->queries, asked, in, &peer->out);
    have_named(peer, before);
}

static void viewer_on_request(struct connection *peer, struct decoder *in)
{
    struct request_header asked;
    decode_request_header(in, &asked);
    if (in->error)
        connection_reject(peer, "REQUEST: %s", in->error);
    else if (asked.what == REQUEST_RUNS)
        on_runs(peer, asked.id, in);
    else if (asked.what == REQUEST_SELECT)
        on_select(peer, asked.id, in);
    else if (!peer->run)
        response_error(&peer->out, asked.id, "no run was selected");
    else
        viewer_on_query(peer, &asked, in);
    if (in->error && !peer->ending)
        connection_reject(peer, "%s: %s", request_type_name(asked.what), in->error);
    viewer_process_step(peer);
}

static void viewer_receive_message(struct connection *peer, unsigned type, const uint8_t *body,
                                   size_t size)
{
    struct decoder in = decoder_init(body, size);
    peer->server->asked = ev_now(peer->server->loop);
    if (peer->run)
        notify_damage(&peer->out, peer->run, &peer->known);
    switch (type) {
    case MESSAGE_REQUEST:
        viewer_on_request(peer, &in);
        break;
    case MESSAGE_CANCEL:
        request_queue_cancel(&peer->queries, decode_u32(&in));
        break;
    case MESSAGE_SUBSCRIBE:
        peer->feeding = decode_u8(&in);
        break;
    case MESSAGE_SAMPLED_CELLS:
        external_metrics_receive(peer, &in);
        break;
    default:
        decoder_fail(&in, "is not a viewer message");
        break;
    }
    if (in.error && !peer->ending)
        connection_reject(peer, "%s: %s", message_name(type), in.error);
    else
        connection_send(peer);
}

const struct connection_handler viewer_handler = {.doing = "messages of viewers",
                                                  .ready = viewer_readiness,
                                                  .message = viewer_receive_message,
                                                  .refill = viewer_fill_output,
                                                  .has_more = has_more,
                                                  .gone = viewer_deselect_run};

/* A step for one viewer; false if it waits for nothing, or must read first. */
static bool work_for(struct connection *peer)
{
    if (!request_queue_has_work(&peer->queries) || is_full(peer) || !viewer_send_updates(peer))
        return false;
    size_t before = viewer_begin_line_info(peer);
    request_queue_step(&peer->queries, &peer->out);
    have_named(peer, before);
    if (peer->out.size > before)
        connection_send(peer);
    return request_queue_has_work(&peer->queries);
}

bool viewer_process_requests(struct server *server)
{
    bool any = false;
    for (struct connection *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (peer->role == ROLE_VIEWER && !peer->ending && peer->run)
            any |= work_for(peer);
    }
    return any;
}

/* How far the order of its run is behind, in steps that are worth a word; 0: hardly. */
static uint64_t lag_of(const struct run *run)
{
    return run->lag.ns < FED_LAG_NS ? 0 : run->lag.ns / (FED_LAG_NS / 2);
}

static void viewer_put_run_updated(struct connection *peer)
{
    peer->fed_generation = peer->run->generation;
    peer->fed_connected = run_connected(peer->run);
    peer->fed_lag = lag_of(peer->run);
    encoder_begin_message(&peer->out, MESSAGE_RUN_UPDATED);
    encode_u64(&peer->out, peer->run->generation);
    encode_u64(&peer->out, order_count(peer->run->order));
    encode_u32(&peer->out, run_connected(peer->run));
    encode_u64(&peer->out, peer->run->lag.ns);
    encoder_end_message(&peer->out);
}

/* Of a run that has begun meanwhile, once; what it looks at stays. */
static void viewer_send_newer_run(struct connection *peer)
{
    const struct run *run = viewer_newest_run(peer->server);
    if (!run || !peer->run || run == peer->run || run->number <= peer->newest_reported)
        return;
    peer->newest_reported = run->number;
    encoder_begin_message(&peer->out, MESSAGE_NEWER_RUN);
    notify_run_selected(&peer->out, run);
    encoder_end_message(&peer->out);
}

void viewer_notify(struct server *server)
{
    for (struct connection *peer = server->peers; peer; peer = peer->next) {
        if (peer->role != ROLE_VIEWER || !peer->feeding || peer->ending ||
            peer->out.size > (1u << 20))
            continue;
        const char *why;
        bool stays = peer->feeding == FEED_STAY && peer->run;
        bool newer = peer->follows_newest && !stays && server->runs.count &&
                     viewer_newest_run(server) != peer->run;
        struct run *latest =
            newer ? run_registry_reload(&server->runs, server->runs.count - 1, &why) : NULL;
        bool another = latest != NULL;
        if (another)
            select_run(peer, latest, peer->known.named);
        else if (stays)
            viewer_send_newer_run(peer);
        if (peer->run && (another || peer->run->generation != peer->fed_generation ||
                          run_connected(peer->run) != peer->fed_connected ||
                          lag_of(peer->run) != peer->fed_lag)) {
            if (!viewer_send_updates(peer))
                continue;
            viewer_put_run_updated(peer);
        }
        if (peer->out.size)
            connection_send(peer);
    }
}
