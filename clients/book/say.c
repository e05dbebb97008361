#define _GNU_SOURCE
#include "clients/book/say.h"

#include "memory/memory.h"
#include "wire/found.h"

#include <stdio.h>
#include <stdlib.h>

#define PARTNERS_SAID 3u

/* A sentence that grows. */
struct sentence {
    char *text;
    size_t size;
    FILE *f;
};

static void begin(struct sentence *s)
{
    s->f = memory_given(open_memstream(&s->text, &s->size), 1);
}

static char *end(struct sentence *s)
{
    if (fclose(s->f) != 0)
        memory_is_out(s->size);
    return s->text;
}

const char *say_state(const struct shown_event *e)
{
    return e->state == EVENT_PENDING         ? " (pending: it waits for its partner)"
           : e->state == EVENT_CONTRADICTORY ? " (contradictory: not in the order)"
                                             : "";
}

char *say_event(const struct book *book, const struct shown_event *e)
{
    const char *tie = e->relation == RELATION_RECEIVE ? ", after"
                      : e->relation == RELATION_SEND  ? ", before"
                                                      : ", together with";
    struct sentence s;
    char at[48];
    begin(&s);
    book_ref_print(book, at, sizeof at, e->at);
    fprintf(s.f, "%s: %s (%s)%s", book_label(book, e->at.line), book_type(book, e->type), at,
            say_state(e));
    if (e->about)
        fprintf(s.f, " about %s", book_label(book, e->about));
    const struct target_event *look = e->unheard ? book_look(book, e) : NULL;
    if (look && look->unheard)
        fprintf(s.f, ", %s", look->unheard);
    for (uint32_t i = 0; i < e->partner_count && i < PARTNERS_SAID; i++) {
        book_ref_print(book, at, sizeof at, e->partners[i]);
        fprintf(s.f, "%s %s %s", i ? "," : tie, at,
                e->partners[i].line & HIDDEN_LINE ? "" : book_label(book, e->partners[i].line));
    }
    for (uint32_t i = 0; i < e->text_count; i++)
        fprintf(s.f, " “%s”", e->texts[i]);
    return end(&s);
}

struct said say_wait(const struct book *book, const struct shown_wait *wait)
{
    const struct target_event *look = book_look(book, &wait->event);
    const char *does = wait->end ? "waits for the end of"
                       : look    ? look->text
                                 : book_type(book, wait->event.type);
    return (struct said){book_label(book, wait->thread), does,
                         book_about(book, does, wait->about)};
}

void say_holder(char *s, size_t size, const struct book *book, const struct shown_holder *holder)
{
    char at[48];
    ref_print(at, sizeof at, holder->since);
    snprintf(s, size, "held by %s%s%s", book_label(book, holder->thread),
             holder->since.number ? " since event " : "", holder->since.number ? at : "");
}
