#include "clients/viewer/state/table_model.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>

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
