#define _GNU_SOURCE
#include "clients/metadata/event_text.h"

#include "base/alloc.h"
#include "wire/query_results.h"

#include <stdio.h>
#include <stdlib.h>

#define PARTNERS_SHOWN 3u

struct event_text_buffer {
    char *text;
    size_t size;
    FILE *f;
};

static void event_text_begin(struct event_text_buffer *s)
{
    s->f = xcheck(open_memstream(&s->text, &s->size), 1);
}

static char *event_text_finish(struct event_text_buffer *s)
{
    if (fclose(s->f) != 0)
        out_of_memory(s->size);
    return s->text;
}

const char *state_text(const struct event_info *e)
{
    return e->state == EVENT_PENDING         ? " (pending: partner event missing)"
           : e->state == EVENT_CONTRADICTORY ? " (inconsistent: not ordered)"
                                             : "";
}

char *event_text(const struct trace_metadata *book, const struct event_info *e)
{
    const char *tie = e->relation == RELATION_RECEIVE ? ", after"
                      : e->relation == RELATION_SEND  ? ", before"
                                                      : ", simultaneous with";
    struct event_text_buffer s;
    char at[48];
    event_text_begin(&s);
    metadata_print_event_id(book, at, sizeof at, e->at);
    fprintf(s.f, "%s: %s (%s)%s", metadata_label(book, e->at.line),
            metadata_type_name(book, e->type), at, state_text(e));
    if (e->about)
        fprintf(s.f, " about %s", metadata_label(book, e->about));
    const struct target_event *look = e->undelivered ? event_style(book, e) : NULL;
    if (look && look->undelivered)
        fprintf(s.f, ", %s", look->undelivered);
    for (uint32_t i = 0; i < e->partner_count && i < PARTNERS_SHOWN; i++) {
        metadata_print_event_id(book, at, sizeof at, e->partners[i]);
        fprintf(s.f, "%s %s %s", i ? "," : tie, at,
                e->partners[i].line & HIDDEN_LINE ? "" : metadata_label(book, e->partners[i].line));
    }
    for (uint32_t i = 0; i < e->text_count; i++)
        fprintf(s.f, " “%s”", e->texts[i]);
    return event_text_finish(&s);
}

struct event_text wait_text(const struct trace_metadata *book, const struct wait_info *wait)
{
    const struct target_event *look = event_style(book, &wait->event);
    const char *does = wait->end ? "waits for the end of"
                       : look    ? look->text
                                 : metadata_type_name(book, wait->event.type);
    return (struct event_text){metadata_label(book, wait->thread), does,
                               metadata_expand_text(book, does, wait->about)};
}
