#define _GNU_SOURCE
#include "config/options.h"

#include "config/description_values.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define OPTIONS_MOST 128u
#define OPTION_CHILDREN_MOST 6u

/* ---- --help ---- */

static error_t parse_common(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != 'h')
        return ARGP_ERR_UNKNOWN;
    state->flags &= ~(unsigned)ARGP_NO_ERRS; /* which would suppress the help, too */
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK);
    return ECANCELED; /* ends parsing: what follows --help does not matter */
}

static const struct argp_option common[] = {{"help", 'h', NULL, 0, "show this help", -1}, {0}};
const struct argp options_common = {.options = common, .parser = parse_common};
const struct argp_child options_children[] = {{&options_common, 0, NULL, 0}, {0}};

/* Removes argp's note on mandatory arguments from --help. */
static char *without_note(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)(uintptr_t)text;
}

/* ---- checks before argp reads the options ---- */

/* Appends all options of a table and its children to the list, which ends with NULL. Returns the
 * new length. */
static size_t list_options(const struct argp *argp, const struct argp_option **list, size_t n)
{
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if ((o->name || o->key) && !(o->flags & OPTION_DOC) && n + 1 < OPTIONS_MOST)
            list[n++] = o;
    for (const struct argp_child *c = argp->children; c && c->argp; c++)
        n = list_options(c->argp, list, n);
    list[n] = NULL;
    return n;
}

void options_list(const struct argp *argp, FILE *f)
{
    const struct argp_option *list[OPTIONS_MOST], *o;
    size_t n = list_options(argp, list, 0);
    for (size_t i = 0; i < n; i++) {
        o = list[i];
        if (o->flags & OPTION_HIDDEN)
            continue;
        fprintf(f, o->key > ' ' && o->key < 127 ? "-%c\t" : "\t", o->key);
        fprintf(f, "%s%s\t%s%s\t%s\n", o->name ? "--" : "", o->name ? o->name : "",
                o->flags & OPTION_ARG_OPTIONAL ? "=" : "", o->arg ? o->arg : "",
                o->doc ? o->doc : "");
    }
}

/* --list-options is an option of its own, so that parsers can hide options first, as for --help. */
static error_t options_parse_listing(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != 'l')
        return ARGP_ERR_UNKNOWN;
    options_list(state->root_argp, stdout);
    return ECANCELED;
}

/* Lists the options that are not hidden from this command. */
static void options_list_shown(const struct argp *argp, char **argv, void *input)
{
    static const struct argp_option option[] = {
        {"list-options", 'l', NULL, OPTION_HIDDEN, NULL, -1}, {0}};
    static const struct argp listing = {.options = option, .parser = options_parse_listing};
    struct argp_child children[OPTION_CHILDREN_MOST + 2] = {{0}};
    struct argp all = *argp;
    size_t n = 0;
    for (; argp->children && argp->children[n].argp && n < OPTION_CHILDREN_MOST; n++)
        children[n] = argp->children[n];
    children[n].argp = &listing;
    all.children = children;
    argp_parse(&all, 2, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, input);
}

static int options_report_error(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int options_report_error(const struct options *options, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fprintf(stderr, "poet %s: ", options->name);
    vfprintf(stderr, format, ap);
    fprintf(stderr, "\nsee: poet help %s\n", options->name);
    va_end(ap);
    return -1;
}

static int options_report_unknown(const struct options *options, const struct argp_option **list,
                                  const char *name, size_t length)
{
    const char *names[OPTIONS_MOST];
    char word[64];
    size_t n = 0;
    for (; *list; list++)
        if ((*list)->name && !((*list)->flags & OPTION_HIDDEN))
            names[n++] = (*list)->name;
    names[n] = NULL;
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *near = nearest_word(word, names);
    return near ? options_report_error(options, "unknown option --%s; did you mean --%s?", word,
                                       near)
                : options_report_error(options, "unknown option --%s", word);
}

/* Returns the number of arguments that the option takes, including itself; -1 if it is wrong, after
 * reporting that. An unambiguous prefix of an option is accepted. */
static int check_long(const struct options *options, const struct argp_option **list,
                      const char *word, bool last)
{
    const struct argp_option *found = NULL, *other = NULL;
    size_t length = strcspn(word + 2, "=");
    bool valued = word[2 + length] == '=';
    for (const struct argp_option **o = list; *o; o++) {
        if (!(*o)->name || strncmp((*o)->name, word + 2, length) != 0)
            continue;
        if (!(*o)->name[length]) {
            found = *o;
            other = NULL;
            break;
        }
        other = found;
        found = *o;
    }
    if (!found)
        return options_report_unknown(options, list, word + 2, length);
    if (other)
        return options_report_error(options, "ambiguous option --%.*s (--%s or --%s)", (int)length,
                                    word + 2, other->name, found->name);
    if (valued && !found->arg)
        return options_report_error(options, "option --%s takes no value", found->name);
    bool next = found->arg && !valued && !(found->flags & OPTION_ARG_OPTIONAL);
    if (next && last)
        return options_report_error(options, "option --%s: missing argument %s", found->name,
                                    found->arg);
    return next ? 2 : 1;
}

static int check_short(const struct options *options, const struct argp_option **list,
                       const char *word, bool last)
{
    for (const char *c = word + 1; *c; c++) {
        const struct argp_option **o = list;
        while (*o && (*o)->key != *c)
            o++;
        if (!*o)
            return options_report_error(options, "unknown option -%c", *c);
        if (!(*o)->arg)
            continue;
        bool next = !c[1] && !((*o)->flags & OPTION_ARG_OPTIONAL);
        if (next && last)
            return options_report_error(options, "option -%c: missing argument %s", *c, (*o)->arg);
        return next ? 2 : 1;
    }
    return 1;
}

static bool options_check_arguments(const struct options *options, int argc, char **argv)
{
    const struct argp_option *list[OPTIONS_MOST];
    list_options(options->argp, list, 0);
    for (int i = 1, words; i < argc && strcmp(argv[i], "--") != 0; i += words) {
        bool last = i + 1 == argc;
        words = 1;
        if (strncmp(argv[i], "--", 2) == 0)
            words = check_long(options, list, argv[i], last);
        else if (argv[i][0] == '-' && argv[i][1])
            words = check_short(options, list, argv[i], last);
        else if (options->program_follows)
            return true;
        if (words < 0)
            return false;
    }
    return true;
}

int options_read(const struct options *options, int argc, char **argv, void *input, int *first)
{
    if (argc == 2 && strcmp(argv[1], "--list-options") == 0) {
        options_list_shown(options->argp, argv, input);
        return OPTIONS_HELPED;
    }
    if (!options_check_arguments(options, argc, argv))
        return OPTIONS_WRONG;
    char name[64], *called = argv[0];
    snprintf(name, sizeof name, "poet %s", options->name);
    struct argp argp = *options->argp;
    argp.help_filter = without_note;
    argv[0] = name; /* argp prints it */
    error_t error = argp_parse(&argp, argc, argv,
                               ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT |
                                   (options->program_follows ? ARGP_IN_ORDER : 0),
                               first, input);
    argv[0] = called;
    return error == ECANCELED ? OPTIONS_HELPED : error ? OPTIONS_WRONG : OPTIONS_READ;
}

/* ---- rows of options ---- */

static void option_rows_apply(const struct option_row *row, char *value,
                              const struct argp_state *state)
{
    char *member = (char *)state->input + row->offset;
    switch (row->action) {
    case OPTION_ACTION_TRUE:
        *(bool *)member = true;
        break;
    case OPTION_ACTION_TEXT:
        *(const char **)(void *)member = value;
        break;
    case OPTION_ACTION_CONSTANT:
        *(const char **)(void *)member = row->constant;
        break;
    case OPTION_ACTION_CHILD:
        state->child_inputs[0] = member;
        break;
    }
}

error_t option_rows_parse(const struct option_row *rows, int key, char *value,
                          struct argp_state *state)
{
    error_t error = ARGP_ERR_UNKNOWN;
    for (; rows->key; rows++)
        if (rows->key == key) {
            option_rows_apply(rows, value, state);
            error = 0;
        }
    return error;
}
