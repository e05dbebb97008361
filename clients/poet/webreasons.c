#include "clients/poet/webreasons.h"

#include "clients/poet/webtext.h"
#include "memory/memory.h"

#include <stdlib.h>

static void take_stat(void *user, const struct answer *answer)
{
    if (answer->part == PART_STAT)
        get_stat(answer->in, user);
}

/* The words for a reason, with what it is about. */
static char *say_reason(unsigned reason, const struct shown_stat *stat)
{
    char *text = memory_copied(unseen_text(reason));
    const char *between = ": ";
    for (uint32_t i = 0; i < stat->unseen_count; i++) {
        if (stat->unseen[i].reason != reason || !*stat->unseen[i].about)
            continue;
        char *longer = memory_printed("%s%s%s", text, between, stat->unseen[i].about);
        free(text);
        text = longer;
        between = ", ";
    }
    return text;
}

/* By their numbers: "" where there is none. */
static void write_reasons(const struct web *w, const struct shown_stat *stat)
{
    fputs(",\n\"reasons\":[", w->f);
    for (unsigned reason = 0; reason < UNANSWERED_COUNT; reason++) {
        char *text = say_reason(reason, stat);
        fputs(reason ? "," : "", w->f);
        webtext_json(w->f, text);
        free(text);
    }
    fputs("]", w->f);
}

/* For each set of doubts its kinds, in the order of the reasons that there are. */
static void write_doubts(const struct web *w)
{
    const struct shown_causes *c = &w->causes;
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < c->doubts_count; i++)
        for (unsigned r = 1; r < UNSEEN_COUNT; r++)
            reasons |= c->doubts[i].kinds[r] ? UNSEEN_BIT(r) : 0;
    fprintf(w->f, ",\n\"kinds_for\":%u,\n\"kinds\":{", reasons);
    for (uint32_t i = 0; i < c->doubts_count; i++) {
        const char *between = "";
        fprintf(w->f, "%s\"%u\":[", i ? "," : "", c->doubts[i].doubts);
        for (unsigned r = 1; r < UNSEEN_COUNT; r++)
            if (reasons & UNSEEN_BIT(r)) {
                fprintf(w->f, "%s%u", between, c->doubts[i].kinds[r]);
                between = ",";
            }
        fputs("]", w->f);
    }
    fputs("}", w->f);
}

bool webreasons_write(const struct command *command, struct web *w)
{
    struct shown_stat stat = {0};
    if (!subject_ask(command, w->data->subject, ASK_STAT, NULL, take_stat, &stat))
        return false;
    fprintf(w->f, ",\n\"hiding\":%u,\n\"mechanisms\":%u,\n\"any\":%u", w->causes.hiding,
            w->causes.mechanisms, w->causes.any);
    write_reasons(w, &stat);
    write_doubts(w);
    shown_stat_free(&stat);
    return true;
}
