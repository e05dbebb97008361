/* Viewers: requests and their answers.  A slow one is not waited for. */
#define _GNU_SOURCE
#include "server/file/rest.h"
#include "server/peers/server.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define DUMP_BYTES (256u << 10)

/* Index of the run that is meant; SIZE_MAX: there is none. */
static size_t choose(const struct server *server, const char *which)
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

static void tell_error(struct peer *peer, const char *text)
{
    out_begin(&peer->out, MESSAGE_ERROR);
    put_string(&peer->out, text);
    out_end(&peer->out);
}

static void cannot_wake(struct peer *peer, size_t index, const char *why)
{
    char text[LIMIT_TEXT_BYTES];
    snprintf(text, sizeof text, "run %u: %s: %s", peer->server->runs.items[index]->number,
             peer->server->runs.items[index]->file, why);
    tell_error(peer, text);
}

/* What is new goes before every answer.  False: not all of it is told; the rest goes out as the viewer
 * reads, and until then nothing else is answered. */
static bool tell_news(struct peer *peer)
{
    bool before = peer->telling;
    if (!before || peer->out.size < DUMP_BYTES)
        peer->telling = !answer_some_news(&peer->out, peer->run, &peer->known, DUMP_BYTES);
    if (before && !peer->telling)
        peer->unread = true; /* its next question is answered now */
    if (peer->telling)
        peer_send(peer);
    return !peer->telling;
}

bool viewer_ready(struct peer *peer)
{
    program_settle(peer->server); /* what happened before the question is in the answer */
    turn_doing("messages of viewers");
    return !peer->run || tell_news(peer);
}

static void select_run(struct peer *peer, struct run *run)
{
    viewer_gone(peer); /* what it waited for was of another run */
    peer->run = run;
    run->watchers++;
    peer->known = (struct known){0};
    peer->fed_generation = 0;
    answer_run(&peer->out, run, MESSAGE_SELECTED);
    tell_news(peer);
}

static void on_select(struct peer *peer, struct in *in)
{
    char *which = get_name(in, 256);
    size_t index = in_done(in) ? choose(peer->server, which) : SIZE_MAX;
    const char *why = NULL;
    struct run *run = index == SIZE_MAX ? NULL : rest_wake(&peer->server->runs, index, &why);
    peer->follows_newest = !*which;
    if (run)
        select_run(peer, run);
    else if (why)
        cannot_wake(peer, index, why);
    else
        tell_error(peer, *which ? "there is no such run: see poet runs" : "there is no run yet");
    free(which);
}

static void on_runs(struct peer *peer)
{
    for (size_t i = 0; i < peer->server->runs.count; i++)
        answer_run(&peer->out, peer->server->runs.items[i], MESSAGE_RUN);
    out_begin(&peer->out, MESSAGE_RUNS_END);
    out_end(&peer->out);
}

/* ---- what is worked on in steps ---- */

#define STEP_EVENTS 100000u  /* a few milliseconds */
#define STEP_OTHERS 4000u  /* what is not a picture may take longer, but must not hold one up */

static void work_on(struct peer *peer) { ev_idle_start(peer->server->loop, &peer->server->work); }

static void on_window(struct peer *peer, struct in *in)
{
    struct window_request request;
    get_window_request(in, &request);
    if (in_done(in)) {
        uint32_t id = request.id;
        struct window_job *kept = peer->kept;
        peer->kept = NULL;
        peer->windows.sort = &window_jobs;
        jobs_add(&peer->windows, id, window_begin(peer->run, &request, kept));
        work_on(peer);
    }
    window_request_free(&request);
}

static void on_density(struct peer *peer, struct in *in)
{
    struct density_request request;
    get_density_request(in, &request);
    if (in_done(in)) {
        peer->densities.sort = &density_jobs;
        jobs_add(&peer->densities, request.id, density_begin(peer->run, &request));
        work_on(peer);
    }
    density_request_free(&request);
}

/* They are answered in turn. */
static void on_question(struct peer *peer, unsigned type, struct in *in)
{
    peer->questions.sort = &question_jobs;
    if (jobs_full(&peer->questions)) {
        in->error = "too many questions at once";
        return;
    }
    jobs_add(&peer->questions, 0, question_new(peer->run, type, in));
    work_on(peer);
}

static void on_search(struct peer *peer, struct in *in)
{
    struct search_request request;
    get_search_request(in, &request);
    if (in_done(in)) {
        uint32_t id = request.id;
        peer->searches.sort = &finding_jobs;
        jobs_add(&peer->searches, id, finding_begin(peer->run, &request));
        work_on(peer);
    }
    search_request_free(&request);
}

static void on_list(struct peer *peer, struct in *in)
{
    uint64_t position = get_u64(in);
    uint32_t count = get_u32(in);
    if (in_done(in))
        answer_list(&peer->out, peer->run, position, count);
}

static void on_step(struct peer *peer, struct in *in)
{
    struct ref from = get_ref(in);
    uint8_t step = get_u8(in);
    if (step >= STEPS)
        in_fail(in, "asks for a step of an unknown kind");
    if (in_done(in))
        answer_step(&peer->out, peer->run, from, (enum asked_step)step);
}

static void cancel(struct peer *peer, uint32_t id)
{
    struct window_job *window = jobs_take(&peer->windows, id);
    if (window && !peer->kept && window_left(window))
        peer->kept = window; /* what it has placed may be wanted again */
    else
        window_free(window);
    jobs_cancel(&peer->densities, id);
    jobs_cancel(&peer->searches, id);
}

/* A step of one viewer's oldest jobs; false if it waits for nothing. */
static bool work_for(struct peer *peer)
{
    struct jobs *others[] = {&peer->densities, &peer->questions, &peer->searches};
    bool any = peer->windows.count > 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        any |= others[i]->count > 0;
    if (!any || peer->out.size > LIMIT_VIEWER_BYTES)
        return any; /* it must read first */
    if (!tell_news(peer))
        return true;
    size_t before = peer->out.size;
    if (jobs_step(&peer->windows, STEP_EVENTS)) {
        window_free(peer->kept);
        peer->kept = jobs_put(&peer->windows, &peer->out);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others && !peer->windows.count; i++) {
        if (!jobs_step(others[i], STEP_OTHERS))
            continue;
        void *done = jobs_put(others[i], &peer->out);
        if (done)
            others[i]->sort->free(done);
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
    if (peer->role == ROLE_VIEWER && peer->run) {
        peer->run->watchers--;
        peer->run = NULL;
    }
    jobs_drop_all(&peer->windows);
    jobs_drop_all(&peer->densities);
    jobs_drop_all(&peer->questions);
    jobs_drop_all(&peer->searches);
    window_free(peer->kept);
    peer->kept = NULL;
    dump_free(peer->dump);
    peer->dump = NULL;
}

bool viewer_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    peer->server->asked = ev_now(peer->server->loop);
    bool needs_run = type >= MESSAGE_WINDOW && type <= MESSAGE_FETCH;
    if (needs_run && !peer->run) {
        tell_error(peer, "no run was selected");
        peer_send(peer);
        return true;
    }
    if (peer->run)
        answer_damage(&peer->out, peer->run, &peer->known);
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
        dump_free(peer->dump);
        peer->dump = dump_new(peer->run);
        break;
    case MESSAGE_ORDER:
    case MESSAGE_WHY:
    case MESSAGE_COUNT:
        on_question(peer, type, &in);
        break;
    case MESSAGE_STAT:
        if (peer->run->verify)
            order_verify(peer->run->order);
        answer_stat(&peer->out, peer->run);
        break;
    case MESSAGE_TAILS:
        on_question(peer, type, &in);
        break;
    case MESSAGE_SEARCH:
        on_search(peer, &in);
        break;
    case MESSAGE_SITES:
        answer_sites(&peer->out, peer->run);
        break;
    case MESSAGE_FETCH:
        answer_bytes(&peer->out, peer->run, get_u64(&in));
        break;
    case MESSAGE_LIST:
        on_list(peer, &in);
        break;
    case MESSAGE_STEP:
        on_step(peer, &in);
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
    if (peer->telling && peer->out.size < DUMP_BYTES)
        tell_news(peer);
    if (!peer->dump || peer->out.size >= DUMP_BYTES || !dump_step(peer->dump, &peer->out, DUMP_BYTES))
        return;
    dump_free(peer->dump);
    peer->dump = NULL;
}

void viewer_feed(struct server *server)
{
    for (struct peer *peer = server->peers; peer; peer = peer->next) {
        if (peer->role != ROLE_VIEWER || !peer->feeding || peer->ending ||
            peer->out.size > (1u << 20))
            continue;
        const char *why;
        bool newer = peer->follows_newest && server->runs.count &&
                     server->runs.items[server->runs.count - 1] != peer->run;
        struct run *latest = newer ? rest_wake(&server->runs, server->runs.count - 1, &why) : NULL;
        bool another = latest != NULL;
        if (another)
            select_run(peer, latest);
        if (peer->run && (another || peer->run->generation != peer->fed_generation ||
                          run_connected(peer->run) != peer->fed_connected)) {
            if (!tell_news(peer))
                continue;
            peer->fed_generation = peer->run->generation;
            peer->fed_connected = run_connected(peer->run);
            out_begin(&peer->out, MESSAGE_GROWN);
            put_u64(&peer->out, peer->run->generation);
            put_u64(&peer->out, order_count(peer->run->order));
            put_u32(&peer->out, run_connected(peer->run));
            out_end(&peer->out);
        }
        if (peer->out.size)
            peer_send(peer);
    }
}
