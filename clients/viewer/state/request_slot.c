#include "clients/viewer/state/request_slot.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>

void request_slot_send(struct server_link *link, struct request_slot *inquiry,
                       enum request_type what, struct encoder *body, source_take *take, void *user)
{
    request_slot_cancel(link, inquiry);
    inquiry->id = server_link_request(link, what, body, take, user);
}

bool request_slot_is_running(const struct server_link *link, const struct request_slot *inquiry)
{
    return link->connected && session_request_is_open(&link->source, inquiry->id);
}

bool request_slot_try_acquire(struct server_link *link, struct request_slot *inquiry)
{
    inquiry->again = request_slot_is_running(link, inquiry);
    return !inquiry->again && link->connected && link->has_run;
}

bool request_slot_resend_needed(struct request_slot *inquiry, const struct response_chunk *answer)
{
    bool again = answer->last && inquiry->again;
    inquiry->again &= !again;
    return again;
}

void request_slot_cancel(struct server_link *link, struct request_slot *inquiry)
{
    if (request_slot_is_running(link, inquiry))
        session_cancel_request(&link->source, inquiry->id);
    *inquiry = (struct request_slot){0};
}

/* ---- windows ---- */

struct request_schedule {
    guint *timer;
    void (*due)(void *user);
    void *user;
};

static gboolean request_slot_on_due(gpointer data)
{
    struct request_schedule *schedule = data;
    *schedule->timer = 0;
    schedule->due(schedule->user);
    return G_SOURCE_REMOVE;
}

void request_slot_schedule(guint *timer, guint ms, void (*due)(void *user), void *user)
{
    struct request_schedule *schedule = g_new(struct request_schedule, 1);
    *schedule = (struct request_schedule){timer, due, user};
    *timer = g_timeout_add_full(G_PRIORITY_DEFAULT, ms, request_slot_on_due, schedule, g_free);
}

void request_slot_request_window(struct server_link *link, struct request_slot *inquiry,
                                 struct window_request *request, source_take *take, void *user)
{
    struct encoder body = {0};
    encode_window_request(&body, request);
    free(request->rows);
    free(request->joined);
    request_slot_send(link, inquiry, REQUEST_WINDOW, &body, take, user);
}

bool request_slot_read_window(const struct response_chunk *answer, struct window_info *window)
{
    if (answer->part != RESPONSE_WINDOW)
        return false;
    decode_window(answer->in, window);
    if (decoder_finish(answer->in))
        return true;
    window_info_free(window);
    return false;
}

struct table_request table_model_request(const char *what, const char *by)
{
    return (struct table_request){.what = g_strdup(what), .by = g_strdup(by), .sort = g_strdup("")};
}

void table_model_set_option(struct table_request *r, const char *key, const char *value)
{
    r->options = g_renew(struct table_option, r->options, r->option_count + 1);
    r->options[r->option_count++] = (struct table_option){g_strdup(key), g_strdup(value)};
}

static void table_model_finish_table(struct table_model *t)
{
    result_table_free(&t->table);
    t->table = t->coming;
    t->coming = (struct result_table){0};
    t->has_answer = t->fresh = true;
}

static void table_model_receive(void *user, const struct response_chunk *answer)
{
    struct table_model *t = user;
    if (answer->part == RESPONSE_ERROR) {
        result_table_free(&t->coming);
        t->coming.problem = decode_name(answer->in, LIMIT_TEXT_BYTES);
    } else {
        result_table_receive(&t->coming, answer);
    }
    t->known = t->coming.known;
    t->count = t->coming.count;
    t->fresh = false;
    if (answer->last && !answer->in->error)
        table_model_finish_table(t);
    if (answer->last || answer->part == RESPONSE_TABLE_END)
        t->on_table(t->user);
}

void table_model_send(struct table_model *t, struct table_request *request)
{
    struct encoder body = {0};
    encode_table_request(&body, request);
    table_request_free(request);
    result_table_free(&t->coming);
    t->known = t->count = 0;
    t->asked_us = g_get_monotonic_time();
    request_slot_send(t->link, &t->slot, REQUEST_TABLE, &body, table_model_receive, t);
}

bool table_model_is_running(const struct table_model *t)
{
    return t->link && request_slot_is_running(t->link, &t->slot);
}

void table_model_cancel(struct table_model *t)
{
    if (t->link)
        request_slot_cancel(t->link, &t->slot);
    result_table_free(&t->coming);
}

void table_model_clear(struct table_model *t)
{
    table_model_cancel(t);
    result_table_free(&t->table);
    t->has_answer = false;
    t->known = t->count = 0;
    t->asked_us = 0;
}
