/* poet export, poet show: the diagram as a file, or in the terminal. */
#define _GNU_SOURCE
#include "clients/book/say.h"
#include "clients/poet/blocked.h"
#include "clients/poet/colour.h"
#include "clients/poet/formats.h"
#include "clients/poet/letters.h"
#include "clients/poet/picture.h"
#include "clients/poet/states.h"
#include "clients/poet/wanted.h"
#include "clients/poet/webpage.h"
#include "memory/memory.h"
#include "render/lettering.h"
#include "render/page.h"
#include "render/text.h"
#include "wire/limits.h"
#include "wire/placed.h"

#include <errno.h>
#include <json-c/json.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_ONE_PAGE 400
#define PAGES_UNASKED 20
#define SHRINK 0.67 /* of paper that nobody asked for, so that more rows fit a page */

static const struct {
    const char *name;
    double width_mm, height_mm;
} papers[] = {
    {"a4", 297, 210}, {"a3", 420, 297}, {"letter", 279.4, 215.9}, {"legal", 355.6, 215.9}};

static bool parse_paper(const char *s, struct page_options *page)
{
    double width, height;
    char rest;
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        if (strcasecmp(s, papers[i].name) == 0) {
            page->paper_width_pt = papers[i].width_mm * 72 / 25.4;
            page->paper_height_pt = papers[i].height_mm * 72 / 25.4;
            return true;
        }
    if (sscanf(s, "%lfx%lfm%c", &width, &height, &rest) != 3 || rest != 'm' || width < 50 ||
        height < 50 || width > 5000 || height > 5000)
        return false;
    page->paper_width_pt = width * 72 / 25.4;
    page->paper_height_pt = height * 72 / 25.4;
    return true;
}

static bool parse_width(const char *s, double *points)
{
    char *end;
    double v = strtod(s, &end);
    double unit = strcmp(end, "mm") == 0   ? 72 / 25.4
                  : strcmp(end, "cm") == 0 ? 720 / 25.4
                  : strcmp(end, "in") == 0 ? 72
                  : strcmp(end, "pt") == 0 ? 1
                                           : 0;
    *points = v * unit;
    return end != s && *points >= 20 && *points <= PAGE_LIMIT_PT;
}

enum ending { PDF, SVG, PNG, TXT, HTML, NONE };

static enum ending format_of(const char *file)
{
    static const char *const endings[] = {".pdf", ".svg", ".png", ".txt", ".html"};
    size_t n = strlen(file);
    for (int i = 0; i < NONE; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && strcasecmp(file + n - e, endings[i]) == 0)
            return (enum ending)i;
    }
    return NONE;
}

/* What stands out in a view. */
static struct paint_selection picture_selection(const struct picture *p)
{
    return (struct paint_selection){.selected = p->place.selected,
                                    .second = p->place.second,
                                    .chain = p->chain,
                                    .chain_count = p->chain_count,
                                    .stuck = p->stuck,
                                    .stuck_count = p->stuck_count,
                                    .stands = p->place.stands && p->place.selected.line,
                                    .past = !(p->place.hide & HIDE_PAST),
                                    .future = !(p->place.hide & HIDE_FUTURE),
                                    .concurrent = !(p->place.hide & HIDE_CONCURRENT)};
}

static struct scene *make_scene(const struct picture *p, const struct book *book, bool measured,
                                double legend_width_pt)
{
    char words[LIMIT_TEXT_BYTES], note[200];
    picture_note(p, note, sizeof note);
    snprintf(words, sizeof words, "%s%s%s", p->caption ? p->caption : "",
             p->caption && *note ? " — " : "", note);
    struct scene_options options = {.title = p->no_title ? NULL : p->title,
                                    .caption = *words ? words : NULL,
                                    .legend = !p->no_legend,
                                    .legend_width_pt = legend_width_pt,
                                    .order_arrows = !p->no_order_arrows,
                                    .selected = p->place.selected.line,
                                    .second = p->place.second.line,
                                    .stands = p->place.stands && p->place.selected.line,
                                    .chain = p->chain_count,
                                    .vertical = p->view ? p->look.vertical : p->vertical,
                                    .column_ns = p->column_ns,
                                    .squeeze = p->view ? p->look.squeeze : true,
                                    .threshold_ns = p->look.threshold_ns,
                                    .noted = p->noted,
                                    .noted_count = p->notes.count,
                                    .stuck = p->stuck,
                                    .stuck_count = p->stuck_count,
                                    .measure = measured ? lettering_width : NULL};
    return scene_build(&p->window, book, &options);
}

/* More than was asked for at first: as far as the run goes. */
static bool get_all(const struct command *command, struct picture *p, struct subject *subject)
{
    return !p->all || !p->window.more_right ||
           picture_columns(command, p, subject, p->request.from, LIMIT_COLUMNS);
}

static void write_note(const struct picture *p, FILE *f)
{
    char note[200];
    picture_note(p, note, sizeof note);
    if (*note)
        fprintf(f, "%s\n", note);
}

static int write_text(const struct command *command, struct picture *p, struct subject *subject,
                      const char *file)
{
    const struct book *book = &subject->source.book;
    if (!get_all(command, p, subject))
        return EXIT_FAILED;
    FILE *f = fopen(file, "we");
    if (!f)
        return command_fail(command, "%s: %s", file, strerror(errno));
    struct scene *scene = make_scene(p, book, false, 0);
    text_write(scene, book, &(struct text_options){0}, f);
    write_note(p, f);
    scene_free(scene);
    bool bad = ferror(f);
    if (fclose(f) != 0 || bad)
        return command_fail(command, "%s: %s", file, strerror(errno));
    return EXIT_DONE;
}

/* A range was asked for, not all that there is. */
static bool has_range(const struct picture *p)
{
    return p->view || p->from.line || p->to.line || p->around.line || p->last || p->text;
}

#define CHOOSE                                                                                     \
    "choose a part with --last 200, --from EVENT --to EVENT, --around EVENT or --lines LIST"

static void take_waits(void *user, const struct answer *answer) { waits_take(user, answer); }

/* The page of a window, once it is known to be small enough. */
static int write_page(const struct command *command, struct picture *p, struct subject *subject,
                      bool source, const char *file)
{
    struct waits waits = {0};
    p->vertical = p->look.vertical = false;
    p->no_legend = p->look.legend = false;
    bool all = p->all || (!has_range(p) && subject->source.book.run.events <= WEBPAGE_EVENTS);
    if (all && p->window.more_right &&
        !picture_columns(command, p, subject, p->request.from, LIMIT_COLUMNS))
        return EXIT_FAILED;
    uint32_t count = p->window.event_count + p->window.pending_count;
    if (count > WEBPAGE_EVENTS || (p->window.more_right && !has_range(p)))
        return command_fail(command,
                            "the diagram has more than the %u events that a page holds: " CHOOSE,
                            WEBPAGE_EVENTS);
    struct out judged = {0};
    put_u8(&judged, 1); /* with verdicts */
    if (!subject_ask(command, subject, ASK_WAITS, &judged, take_waits, &waits))
        return EXIT_FAILED;
    char *part = strstr(p->title, " (part)");
    if (part && !p->window.more_left && !p->window.more_right) /* no longer */
        memmove(part, part + 7, strlen(part + 7) + 1);
    struct scene *scene = make_scene(p, &subject->source.book, true, 0);
    struct webdata data = {p, subject, scene, blocked_json(subject, &waits), source};
    bool good = webpage_write(command, &data, file);
    json_object_put(data.blocked);
    scene_free(scene);
    lettering_forget();
    waits_free(&waits);
    return good ? EXIT_DONE : EXIT_FAILED;
}

/* Paper if it was asked for, or if one page would not do. */
static bool choose_paper(const struct command *command, const struct picture *p,
                         const struct scene *scene, struct page_options *page)
{
    bool image = page->format != PAGE_PDF;
    bool range = has_range(p);
    if (page->paper_width_pt <= 0 && page->width_pt <= 0 && !image &&
        (scene->column_count > COLUMNS_ONE_PAGE || scene->width_pt > PAGE_LIMIT_PT ||
         scene->height_pt > PAGE_LIMIT_PT)) {
        parse_paper("a4", page);
        page->shrink = SHRINK;
    }
    unsigned pages = page_count(scene, page);
    bool too_wide = page->paper_width_pt <= 0 && page->width_pt <= 0 &&
                    (scene->width_pt > PAGE_LIMIT_PT || scene->height_pt > PAGE_LIMIT_PT);
    bool cut = p->window.more_right && !range && !p->all;
    if ((pages <= PAGES_UNASKED || p->all || range) && !too_wide && !cut)
        return true;
    char on_pages[40] = "";
    if (!image)
        snprintf(on_pages, sizeof on_pages, ", %u page%s", pages, plural(pages));
    command_fail(
        command, "the diagram has %s%u column%s and %u row%s%s: " CHOOSE ", or insist with --all%s",
        p->window.more_right ? "more than " : "", scene->column_count, plural(scene->column_count),
        scene->row_count, plural(scene->row_count), on_pages, too_wide ? " on a PDF" : "");
    return false;
}

#define COLUMNS_AT_ONCE 3000u

/* Ctrl-C leaves no half file behind. */
static char part_file[4200];

static void on_interrupt(int number)
{
    unlink(part_file);
    _exit(128 + number);
}

/* Where the window after this one begins.  Placed by time, a window may hold nothing. */
static int32_t add_pages(struct page_file *pages, const struct picture *p, const struct book *book,
                         double legend_width_pt)
{
    if (!p->window.event_count && p->window.more_right)
        return p->request.from + (int32_t)COLUMNS_AT_ONCE;
    struct scene *scene = make_scene(p, book, true, legend_width_pt);
    uint32_t columns = page_add(pages, scene, !p->window.more_right);
    scene_free(scene);
    return p->window.first + (int32_t)(columns ? columns : 1);
}

static void tell_progress(const struct picture *p)
{
    const struct shown_window *w = &p->window;
    if (w->event_count && w->count && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%3.0f %% ",
                100.0 * (double)w->events[w->event_count - 1].position / (double)w->count);
}

/* A long run, page by page: never all of it at once. */
static int write_pages(const struct command *command, struct picture *p, struct subject *subject,
                       const struct page_options *page, const char *file)
{
    const char *why;
    struct page_file *pages = page_open(page, file, &why);
    int32_t from = p->request.from;
    if (!pages)
        return command_fail(command, "%s: %s", file, why);
    do {
        if (!picture_columns(command, p, subject, from, COLUMNS_AT_ONCE)) {
            page_abandon(pages);
            return EXIT_FAILED;
        }
        from = add_pages(pages, p, &subject->source.book, letters_legend_pt(page));
        tell_progress(p);
    } while (p->window.more_right);
    if (isatty(STDERR_FILENO))
        fputs("\r      \r", stderr);
    why = page_close(pages);
    lettering_forget();
    return why ? command_fail(command, "%s: %s", file, why) : EXIT_DONE;
}

/* The whole run by time, nobody said at which scale, and it would not fit. */
static bool states_instead(const struct picture *p, const struct scene *scene)
{
    bool range = p->view || p->from.line || p->to.line || p->around.line || p->last || p->text;
    return p->by_time && !p->scaled && !range && !p->all &&
           (p->window.more_right || scene->column_count > COLUMNS_ONE_PAGE ||
            scene->width_pt > PAGE_LIMIT_PT);
}

/* What a mark says where a browser shows titles. */
static char *title_of(void *context, const struct scene_mark *mark)
{
    struct subject *subject = context;
    char *said = say_event(&subject->source.book, mark->event);
    const char *site = subject_site(subject, mark->event);
    char *title = memory_printed("%s%s%s", said, *site ? ", " : "", site);
    free(said);
    return title;
}

static int write_picture(const struct command *command, struct picture *p, struct subject *subject,
                         struct page_options *page, enum wrap wrap, const char *file)
{
    const struct book *book = &subject->source.book;
    page->title_of = title_of;
    page->context = subject;
    page->title = p->title;
    page->selection = picture_selection(p);
    if (p->view) {
        page->theme.tint = true;
        page->theme.dark = p->look.dark;
        page->theme.grey |= p->look.grey;
        page->theme.hairlines = p->look.hairlines;
    }
    page->date = (time_t)(book->run.wall_ns / 1000000000u);
    if (page->format == PAGE_PDF && p->all && p->window.more_right && page->width_pt <= 0) {
        if (page->paper_width_pt <= 0) {
            parse_paper("a4", page);
            page->shrink = SHRINK;
        }
        return write_pages(command, p, subject, page, file);
    }
    if (!get_all(command, p, subject))
        return EXIT_FAILED;
    struct scene *scene = make_scene(p, book, true, 0);
    int status = EXIT_FAILED;
    if (!states_instead(p, scene))
        letters_wrap(scene, page, wrap);
    if (states_instead(p, scene)) {
        fprintf(stderr,
                "poet export: too much happens for a mark each: what lines did is drawn; for "
                "marks choose a part, or a scale (--time=US)\n");
        status = states_write(command, p, subject, page, file);
    } else if (choose_paper(command, p, scene, page)) {
        if (letters_legend_pt(page) > 0) {
            scene_free(scene);
            scene = make_scene(p, book, true, letters_legend_pt(page));
        }
        letters_warn(command, scene, page);
        const char *why = page_write(scene, page, file);
        status = why ? command_fail(command, "%s: %s", file, why) : EXIT_DONE;
    }
    scene_free(scene);
    lettering_forget();
    return status;
}

/* The whole run in a format of another tool. */
static int export_other(const struct command *command, const char *source,
                        const struct format *format, const char *file)
{
    struct subject subject;
    if (!subject_open(command, &subject, source, SOURCE_ALL_LINES, LABELS_ADDRESS))
        return EXIT_FAILED;
    bool written = format_write(command, &subject, format, file);
    subject_close(&subject);
    return written ? EXIT_DONE : EXIT_FAILED;
}

enum { OPTION_SOURCE = 1000, OPTION_WRAP, OPTION_NO_WRAP, OPTION_TRANSPARENT };

struct exporting {
    struct picture picture;
    struct page_options page;
    const struct format *other; /* not a picture */
    const char *file;
    const struct command *command;
    enum wrap wrap;
    bool source; /* in a web page: the lines around call sites, too */
};

#define bad(o, ...) (command_usage((o)->command, __VA_ARGS__), EINVAL) /* said so; argp ends */

static error_t parse_export(int key, char *value, struct argp_state *state)
{
    struct exporting *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->picture;
        return 0;
    case 'o':
        o->file = value;
        return 0;
    case OPTION_WRAP:
    case OPTION_NO_WRAP:
        o->wrap = key == OPTION_WRAP ? WRAP : WRAP_NOT;
        return 0;
    case OPTION_TRANSPARENT:
        o->page.transparent = true;
        return 0;
    case OPTION_SOURCE:
        o->source = true;
        return 0;
    case 'g':
        o->page.theme.grey = true;
        return 0;
    case 'f':
        if ((o->other = format_find(value)))
            return 0;
        return bad(o, "--format %s: chrome, dot or shiviz", value);
    case 'p':
        if (parse_paper(value, &o->page))
            return 0;
        return bad(o, "--paper %s: a4, a3, letter, legal or 297x210mm", value);
    case 'w':
        if (parse_width(value, &o->page.width_pt))
            return 0;
        return bad(o, "--width %s: write a width such as 84mm", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int export_picture(const struct command *command, const char *source, struct exporting *o)
{
    struct subject subject;
    enum ending ending = format_of(o->file);
    if (ending == NONE)
        return command_usage(command, "%s: the name must end in .pdf, .svg, .png, .txt or .html",
                             o->file);
    o->page.format = ending == SVG ? PAGE_SVG : ending == PNG ? PAGE_PNG : PAGE_PDF;
    if (!subject_open(command, &subject, source, picture_lines(&o->picture), o->picture.labels))
        return EXIT_FAILED;
    snprintf(part_file, sizeof part_file, "%s.part", o->file);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    int status = EXIT_FAILED;
    if (ending == HTML && o->picture.fold < 0)
        o->picture.fold = 0; /* a page answers for each event */
    if (picture_get(command, &o->picture, &subject)) {
        if (o->picture.window.event_count == 0)
            fprintf(stderr,
                    "poet export: there are no events: is the program compiled with -trace?\n");
        status = ending == TXT ? write_text(command, &o->picture, &subject, o->file)
                 : ending == HTML
                     ? write_page(command, &o->picture, &subject, o->source, o->file)
                     : write_picture(command, &o->picture, &subject, &o->page, o->wrap, o->file);
    }
    picture_free(&o->picture);
    subject_close(&subject);
    return status;
}

static int run_export(const struct command *command, int argc, char **argv)
{
    struct exporting o = {.picture = {.command = command, .fold = -1, .labels = LABELS_NAME},
                          .command = command};
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source = subject_named(argc, argv, &first);
    if (argc != first)
        return command_usage(command, "%s: one SOURCE is enough", argv[first]);
    if (!o.file)
        return command_usage(command, "-o FILE is needed");
    return o.other ? export_other(command, source, o.other, o.file)
                   : export_picture(command, source, &o);
}

static const struct argp_option export_options[] = {
    {NULL, 0, NULL, 0, "Where it goes:", 1},
    {"output", 'o', "FILE", 0, "the ending chooses the format", 1},
    {"paper", 'p', "SIZE", 0, "a4, a3, letter, legal or WIDTHxHEIGHTmm: as many pages as it takes",
     1},
    {"width", 'w', "WIDTH", 0, "scaled to WIDTH (84mm, 17cm, 5in), for a paper", 1},
    {"wrap", OPTION_WRAP, NULL, 0,
     "in bands one below the other, 17 cm wide or as --width says; so, too, where letters in one line would be "
     "less than 5 points high",
     1},
    {"no-wrap", OPTION_NO_WRAP, NULL, 0, "in one line, however small its letters", 1},
    {"transparent", OPTION_TRANSPARENT, NULL, 0, "SVG and PNG without a ground", 1},
    {"grey", 'g', NULL, 0, "without colour", 1},
    {"source", OPTION_SOURCE, NULL, 0, "in a web page: the lines around call sites, too", 1},
    {"format", 'f', "FORMAT", 0,
     "not a picture: the whole run as chrome (trace-event JSON with flows, for Perfetto), dot "
     "(Graphviz) or shiviz (vector clocks); -o - writes to standard output",
     1},
    {0}};
static const struct argp_child picture_children[] = {
    {&picture_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp export_argp = {
    .options = export_options,
    .parser = parse_export,
    .args_doc = "[SOURCE] -o FILE.pdf|.svg|.png|.txt|.html",
    .doc = "Save the diagram.  Without a range: all of it, on one page up to 400 columns, then "
           "on paper.\vThe same input gives the same bytes; $SOURCE_DATE_EPOCH is the date in "
           "a PDF.",
    .children = picture_children};

const struct command command_export = {.name = "export",
                                       .summary = "save the diagram as PDF, SVG, PNG or text",
                                       .run = run_export,
                                       .argp = &export_argp};

struct showing {
    struct picture picture;
    struct text_options text;
};

static error_t parse_show(int key, char *value, struct argp_state *state)
{
    struct showing *o = state->input;
    (void)value;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->picture;
    else if (key == 'a')
        o->text.ascii = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static int run_show(const struct command *command, int argc, char **argv)
{
    struct showing o = {.picture = {.command = command, .fold = -1, .labels = LABELS_NAME}};
    struct picture *p = &o.picture;
    struct winsize size;
    setlocale(LC_CTYPE, "");
    o.text.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source = subject_named(argc, argv, &first);
    if (argc != first)
        return command_usage(command, "%s: one SOURCE is enough", argv[first]);
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        o.text.width = size.ws_col;
    struct subject subject;
    if (!subject_open(command, &subject, source, picture_lines(p), p->labels))
        return EXIT_FAILED;
    status = EXIT_FAILED;
    o.text.colour = colour_on();
    if (picture_get(command, p, &subject) && get_all(command, p, &subject)) {
        struct scene *scene = make_scene(p, &subject.source.book, false, 0);
        if (!p->no_title)
            printf("%s\n\n", p->title);
        text_write(scene, &subject.source.book, &o.text, stdout);
        write_note(p, stdout);
        scene_free(scene);
        status = EXIT_DONE;
    }
    picture_free(p);
    subject_close(&subject);
    return status;
}

static const struct argp_option show_options[] = {{"ascii", 'a', NULL, 0, "ASCII only", 1}, {0}};
static const struct argp_child show_children[] = {{&picture_options, 0, NULL, 0},
                                                  {&colour_options, 0, NULL, 0},
                                                  {&options_common, 0, NULL, 0},
                                                  {0}};
static const struct argp show_argp = {
    .options = show_options,
    .parser = parse_show,
    .args_doc = "[SOURCE]",
    .doc = "Show the diagram in the terminal, in UTF-8 or, elsewhere, ASCII.",
    .children = show_children};

const struct command command_show = {.name = "show",
                                     .summary = "show the diagram in the terminal",
                                     .run = run_show,
                                     .argp = &show_argp};
