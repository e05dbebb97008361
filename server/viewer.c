/* Viewers: requests and their answers.  A slow one is not waited for. */
#define _GNU_SOURCE
#include "server/server.h"

#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

#define DUMP_BYTES (256u << 10)

static struct run *newest(const struct server *server)
{
    return server->run_count ? server->runs[server->run_count - 1] : NULL;
}

static struct run *choose(const struct server *server, const char *which)
{
    char *end;
    unsigned long number = strtoul(which, &end, 10);
    if (!*which)
        return newest(server);
    for (size_t i = server->run_count; i-- > 0;)
        if ((*end == 0 && server->runs[i]->number == number) ||
            strcmp(server->runs[i]->name, which) == 0)
            return server->runs[i];
    return NULL;
}

static void tell_error(struct peer *peer, const char *text)
{
    out_begin(&peer->out, MESSAGE_ERROR);
    put_string(&peer->out, text);
    out_end(&peer->out);
}

static void select_run(struct peer *peer, struct run *run)
{
    viewer_gone(peer); /* what it waited for was of another run */
    peer->run = run;
    peer->known = (struct known){0};
    peer->fed_generation = 0;
    answer_run(&peer->out, run, MESSAGE_SELECTED);
    answer_news(&peer->out, run, &peer->known);
}

static void on_select(struct peer *peer, struct in *in)
{
    char *which = get_string(in, 256);
    struct run *run = in_done(in) ? choose(peer->server, which) : NULL;
    peer->follows_newest = !*which;
    if (run)
        select_run(peer, run);
    else
        tell_error(peer, *which ? "there is no such run: see poet runs" : "there is no run yet");
    free(which);
}

static void on_runs(struct peer *peer)
{
    for (size_t i = 0; i < peer->server->run_count; i++)
        answer_run(&peer->out, peer->server->runs[i], MESSAGE_RUN);
    out_begin(&peer->out, MESSAGE_RUNS_END);
    out_end(&peer->out);
}

/* ---- windows, densities and questions: worked on in steps ---- */

#define STEP_EVENTS 100000u /* a few milliseconds */

static void drop_window(struct peer *peer, unsigned i)
{
    window_free(peer->windows[i]);
    for (; i + 1 < LIMIT_WINDOWS; i++)
        peer->windows[i] = peer->windows[i + 1];
    peer->windows[LIMIT_WINDOWS - 1] = NULL;
}

static void drop_density(struct peer *peer, unsigned i)
{
    density_free(peer->densities[i]);
    for (; i + 1 < LIMIT_WINDOWS; i++)
        peer->densities[i] = peer->densities[i + 1];
    peer->densities[LIMIT_WINDOWS - 1] = NULL;
}

static void drop_question(struct peer *peer)
{
    question_free(peer->questions[0]);
    memmove(peer->questions, peer->questions + 1, (LIMIT_QUESTIONS - 1) * sizeof *peer->questions);
    peer->questions[LIMIT_QUESTIONS - 1] = NULL;
}

static void cancel(struct peer *peer, uint32_t id)
{
    for (unsigned i = LIMIT_WINDOWS; i-- > 0;) {
        if (peer->windows[i] && window_id(peer->windows[i]) == id)
            drop_window(peer, i);
        if (peer->densities[i] && density_id(peer->densities[i]) == id)
            drop_density(peer, i);
    }
}

/* The newest of one id wins. */
static void on_window(struct peer *peer, struct in *in)
{
    struct window_request request;
    get_window_request(in, &request);
    if (in_done(in)) {
        cancel(peer, request.id);
        if (peer->windows[LIMIT_WINDOWS - 1])
            drop_window(peer, 0);
        unsigned i = 0;
        while (peer->windows[i])
            i++;
        struct window_job *kept = peer->kept;
        peer->kept = NULL;
        peer->windows[i] = window_begin(peer->run, &request, kept);
        ev_idle_start(peer->server->loop, &peer->server->work);
    }
    window_request_free(&request);
}

static void on_density(struct peer *peer, struct in *in)
{
    struct density_request request;
    get_density_request(in, &request);
    if (in_done(in)) {
        cancel(peer, request.id);
        if (peer->densities[LIMIT_WINDOWS - 1])
            drop_density(peer, 0);
        unsigned i = 0;
        while (peer->densities[i])
            i++;
        peer->densities[i] = density_begin(peer->run, &request);
        ev_idle_start(peer->server->loop, &peer->server->work);
    }
    free(request.rows);
}

/* They are answered in turn. */
static void on_question(struct peer *peer, unsigned type, struct in *in)
{
    unsigned i = 0;
    while (i < LIMIT_QUESTIONS && peer->questions[i])
        i++;
    if (i == LIMIT_QUESTIONS) {
        in->error = "too many questions at once";
        return;
    }
    peer->questions[i] = question_new(peer->run, type, in);
    ev_idle_start(peer->server->loop, &peer->server->work);
}

/* A step of one viewer's oldest window, density and question; false if it waits for nothing. */
static bool work_for(struct peer *peer)
{
    if (!peer->windows[0] && !peer->densities[0] && !peer->questions[0])
        return false;
    if (peer->out.size > LIMIT_VIEWER_BYTES)
        return true; /* it must read first */
    size_t before = peer->out.size;
    if (peer->windows[0] && window_step(peer->windows[0], STEP_EVENTS)) {
        struct window_job *job = peer->windows[0];
        answer_news(&peer->out, peer->run, &peer->known);
        window_put(job, &peer->out);
        peer->windows[0] = NULL;
        window_free(peer->kept);
        peer->kept = job;
        drop_window(peer, 0);
    }
    if (peer->densities[0] && density_step(peer->densities[0], STEP_EVENTS)) {
        answer_news(&peer->out, peer->run, &peer->known);
        density_put(peer->densities[0], &peer->out);
        drop_density(peer, 0);
    }
    if (peer->questions[0] && question_step(peer->questions[0], STEP_EVENTS)) {
        answer_news(&peer->out, peer->run, &peer->known);
        question_put(peer->questions[0], &peer->out);
        drop_question(peer);
    }
    if (peer->out.size > before)
        peer_send(peer);
    return true;
}

bool viewer_work(struct server *server)
{
    bool any = false;
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (peer->role == ROLE_VIEWER && !peer->ending && peer->run)
            any |= work_for(peer);
    }
    return any;
}

void viewer_gone(struct peer *peer)
{
    while (peer->windows[0])
        drop_window(peer, 0);
    while (peer->densities[0])
        drop_density(peer, 0);
    while (peer->questions[0])
        drop_question(peer);
    window_free(peer->kept);
    peer->kept = NULL;
}

static void on_find(struct peer *peer, struct in *in)
{
    uint64_t from = get_u64(in);
    bool backwards = get_u8(in);
    char *text = get_string(in, LIMIT_TEXT_BYTES);
    if (in_done(in))
        answer_find(&peer->out, peer->run, text, from, backwards);
    free(text);
}

bool viewer_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    program_poll(peer->server); /* what happened before the question is in the answer */
    peer->server->asked = ev_now(peer->server->loop);
    bool needs_run = type >= MESSAGE_WINDOW && type <= MESSAGE_WHY;
    if (needs_run && !peer->run) {
        tell_error(peer, "no run was selected");
        peer_send(peer);
        return true;
    }
    if (needs_run)
        answer_news(&peer->out, peer->run, &peer->known);
    switch (type) {
    case MESSAGE_RUNS:
        on_runs(peer);
        break;
    case MESSAGE_SELECT:
        on_select(peer, &in);
        break;
    case MESSAGE_FEED:
        peer->feeding = get_u8(&in);
        break;
    case MESSAGE_WINDOW:
        on_window(peer, &in);
        break;
    case MESSAGE_DUMP:
        peer->dumping = true;
        peer->dump_cursor = 0;
        break;
    case MESSAGE_ORDER:
    case MESSAGE_WHY:
        on_question(peer, type, &in);
        break;
    case MESSAGE_STAT:
        answer_stat(&peer->out, peer->run);
        break;
    case MESSAGE_TAILS:
        answer_tails(&peer->out, peer->run);
        break;
    case MESSAGE_FIND:
        on_find(peer, &in);
        break;
    case MESSAGE_CANCEL:
        cancel(peer, get_u32(&in));
        break;
    case MESSAGE_DENSITY:
        on_density(peer, &in);
        break;
    default:
        peer_refuse(peer, "%s is no request", message_name(type));
        return true;
    }
    if (in.error)
        peer_refuse(peer, "%s: %s", message_name(type), in.error);
    else
        peer_send(peer);
    return true;
}

void viewer_refill(struct peer *peer)
{
    if (!peer->dumping || peer->out.size >= DUMP_BYTES)
        return;
    if (answer_dump(&peer->out, peer->run, &peer->dump_cursor, DUMP_BYTES))
        peer->dumping = false;
}

void viewer_feed(struct server *server)
{
    for (struct peer *peer = server->peers; peer; peer = peer->next) {
        if (peer->role != ROLE_VIEWER || !peer->feeding || peer->ending ||
            peer->out.size > (1u << 20))
            continue;
        struct run *latest = newest(server);
        bool another = peer->follows_newest && latest && latest != peer->run;
        if (another)
            select_run(peer, latest);
        if (peer->run && (another || peer->run->generation != peer->fed_generation ||
                          peer->run->connected != peer->fed_connected)) {
            peer->fed_generation = peer->run->generation;
            peer->fed_connected = peer->run->connected;
            answer_news(&peer->out, peer->run, &peer->known);
            out_begin(&peer->out, MESSAGE_GROWN);
            put_u64(&peer->out, peer->run->generation);
            put_u64(&peer->out, order_count(peer->run->order));
            put_u32(&peer->out, peer->run->connected);
            out_end(&peer->out);
        }
        if (peer->out.size)
            peer_send(peer);
    }
}
