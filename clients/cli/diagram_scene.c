#include "clients/cli/diagram_scene.h"

#include "render/text_cache.h"
#include "wire/limits.h"

struct scene *diagram_scene_options(const struct event_diagram *p,
                                    const struct trace_metadata *book, bool measured,
                                    double legend_width_pt)
{
    char words[LIMIT_TEXT_BYTES], note[EVENT_DIAGRAM_NOTE_BYTES];
    event_diagram_note(p, note, sizeof note);
    snprintf(words, sizeof words, "%s%s%s", p->caption ? p->caption : "",
             p->caption && *note ? " — " : "", note);
    struct scene_options options = {.title = p->no_title ? NULL : p->title,
                                    .caption = *words ? words : NULL,
                                    .legend = !p->no_legend,
                                    .legend_width_pt = legend_width_pt,
                                    .order_arrows = !p->no_order_arrows,
                                    .selected = p->place.selected.line,
                                    .second = p->place.second.line,
                                    .relations = p->place.color_relations && p->place.selected.line,
                                    .chain = p->chain_count,
                                    .vertical = p->view ? p->look.vertical : p->vertical,
                                    .column_ns = p->column_ns,
                                    .squeeze = p->view ? p->look.squeeze : true,
                                    .threshold_ns = p->look.threshold_ns,
                                    .noted = p->noted,
                                    .noted_count = p->notes.count,
                                    .stuck = p->stuck,
                                    .stuck_count = p->stuck_count,
                                    .carriers = &p->carriers,
                                    .measure = measured ? text_cache_width : NULL};
    return scene_build(&p->window, book, &options);
}

struct paint_selection diagram_scene_selection(const struct event_diagram *p)
{
    return (struct paint_selection){.selected = p->place.selected,
                                    .second = p->place.second,
                                    .chain = p->chain,
                                    .chain_count = p->chain_count,
                                    .stuck = p->stuck,
                                    .stuck_count = p->stuck_count,
                                    .relations = p->place.color_relations && p->place.selected.line,
                                    .past = !(p->place.hide & HIDE_PAST),
                                    .future = !(p->place.hide & HIDE_FUTURE),
                                    .concurrent = !(p->place.hide & HIDE_CONCURRENT)};
}

bool diagram_scene_all(const struct command *command, struct event_diagram *p,
                       struct command_source *subject)
{
    return !p->all || !p->window.more_right ||
           event_diagram_columns(command, p, subject, p->request.from, LIMIT_COLUMNS);
}

void diagram_scene_note(const struct event_diagram *p, FILE *f)
{
    char note[EVENT_DIAGRAM_NOTE_BYTES];
    event_diagram_note(p, note, sizeof note);
    if (*note)
        fprintf(f, "%s\n", note);
}
