#include "clients/cli/html/html_reasons.h"

#include "clients/cli/html/html_text.h"
#include "base/alloc.h"

#include <stdlib.h>

static void html_reasons_receive_stat(void *user, const struct response_chunk *answer)
{
    if (answer->part == RESPONSE_STAT)
        decode_stat_info(answer->in, user);
}

/* Returns the text of a reason and what it is about in this run, "REASON: A, B", in new memory. */
static char *html_reasons_reason_text(unsigned reason, const struct stat_info *stat)
{
    char *text = xstrdup(untraced_text(reason));
    const char *between = ": ";
    for (uint32_t i = 0; i < stat->unseen_count; i++) {
        if (stat->unseen[i].reason != reason || !*stat->unseen[i].about)
            continue;
        char *longer = xasprintf("%s%s%s", text, between, stat->unseen[i].about);
        free(text);
        text = longer;
        between = ", ";
    }
    return text;
}

/* Writes the texts of all reasons, by number; "" for a number without a reason. */
static void write_reasons(const struct html_scene *w, const struct stat_info *stat)
{
    fputs(",\n\"reasons\":[", w->f);
    for (unsigned reason = 0; reason < UNANSWERED_COUNT; reason++) {
        char *text = html_reasons_reason_text(reason, stat);
        fputs(reason ? "," : "", w->f);
        html_text_json(w->f, text);
        free(text);
    }
    fputs("]", w->f);
}

/* Writes, for each set of doubts, its kind for each reason that occurs in any set, in the order of
 * the reasons. */
static void write_doubts(const struct html_scene *w)
{
    const struct causal_edges_info *c = &w->causes;
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < c->doubts_count; i++)
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            reasons |= c->doubts[i].kinds[r] ? UNTRACED_BIT(r) : 0;
    fprintf(w->f, ",\n\"kinds_for\":%u,\n\"kinds\":{", reasons);
    for (uint32_t i = 0; i < c->doubts_count; i++) {
        const char *between = "";
        fprintf(w->f, "%s\"%u\":[", i ? "," : "", c->doubts[i].doubts);
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            if (reasons & UNTRACED_BIT(r)) {
                fprintf(w->f, "%s%u", between, c->doubts[i].kinds[r]);
                between = ",";
            }
        fputs("]", w->f);
    }
    fputs("}", w->f);
}

bool html_reasons_write(const struct command *command, struct html_scene *w)
{
    struct stat_info stat = {0};
    if (!command_source_request(command, w->data->subject, REQUEST_STAT, NULL,
                                html_reasons_receive_stat, &stat))
        return false;
    fprintf(w->f, ",\n\"hiding\":%u,\n\"mechanisms\":%u,\n\"any\":%u", w->causes.hiding,
            w->causes.mechanisms, w->causes.any);
    write_reasons(w, &stat);
    write_doubts(w);
    stat_info_free(&stat);
    return true;
}
