#include "clients/view/parts/tabled.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>

struct table_request tabled_request(const char *what, const char *by)
{
    return (struct table_request){.what = g_strdup(what), .by = g_strdup(by), .sort = g_strdup("")};
}

void tabled_option(struct table_request *r, const char *key, const char *value)
{
    r->options = g_renew(struct table_option, r->options, r->option_count + 1);
    r->options[r->option_count++] = (struct table_option){g_strdup(key), g_strdup(value)};
}

static void finish(struct tabled *t)
{
    shown_table_free(&t->table);
    t->table = t->coming;
    t->coming = (struct shown_table){0};
    t->here = t->fresh = true;
}

static void take(void *user, const struct answer *answer)
{
    struct tabled *t = user;
    if (answer->part == PART_REFUSAL) {
        shown_table_free(&t->coming);
        t->coming.problem = get_name(answer->in, LIMIT_TEXT_BYTES);
    } else {
        table_take(&t->coming, answer);
    }
    t->known = t->coming.known;
    t->count = t->coming.count;
    t->fresh = false;
    if (answer->last && !answer->in->error)
        finish(t);
    if (answer->last || answer->part == PART_TABLE_END)
        t->told(t->user);
}

void tabled_ask(struct tabled *t, struct table_request *request)
{
    struct out body = {0};
    put_table_request(&body, request);
    table_request_free(request);
    shown_table_free(&t->coming);
    t->known = t->count = 0;
    t->asked_us = g_get_monotonic_time();
    inquiry_ask(t->link, &t->asked, ASK_TABLE, &body, take, t);
}

bool tabled_runs(const struct tabled *t) { return t->link && inquiry_runs(t->link, &t->asked); }

void tabled_cancel(struct tabled *t)
{
    if (t->link)
        inquiry_cancel(t->link, &t->asked);
    shown_table_free(&t->coming);
}

void tabled_clear(struct tabled *t)
{
    tabled_cancel(t);
    shown_table_free(&t->table);
    t->here = false;
    t->known = t->count = 0;
    t->asked_us = 0;
}
