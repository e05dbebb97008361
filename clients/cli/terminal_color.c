#include "clients/cli/terminal_color.h"

#include "clients/cli/pager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum when { AUTO, ALWAYS, NEVER } when;

static error_t terminal_color_parse_option(int key, char *value, struct argp_state *state)
{
    static const char *const words[] = {"auto", "always", "never"};
    if (key != 256 + 'c')
        return ARGP_ERR_UNKNOWN;
    for (int i = 0; i < 3; i++)
        if (!value || strcmp(value, words[i]) == 0) {
            when = value ? (enum when)i : ALWAYS;
            return 0;
        }
    fprintf(stderr, "%s: --color=%s: auto, always or never\n", state->name, value);
    return EINVAL;
}

static const struct argp_option options[] = {
    {"color", 256 + 'c', "WHEN", OPTION_ARG_OPTIONAL,
     "colored output: auto (default: on a terminal, unless $NO_COLOR is set), always or never", 9},
    {0}};
static const struct argp_child children[] = {{&pager_options, 0, NULL, 0}, {0}};
const struct argp color_options = {
    .options = options, .parser = terminal_color_parse_option, .children = children};

bool terminal_color_is_enabled(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != AUTO)
        return when == ALWAYS;
    return !(no && *no) && term && strcmp(term, "dumb") != 0 && pager_is_terminal();
}

const char *terminal_color_begin(enum terminal_color color)
{
    static const char *const codes[] = {"\033[1;31m", "\033[33m", "\033[32m",
                                        "\033[35m",   "\033[36m", "\033[2m",
                                        "\033[1m",    "\033[34m", "\033[33m"};
    return terminal_color_is_enabled() ? codes[color] : "";
}

const char *terminal_color_end(void) { return terminal_color_is_enabled() ? "\033[m" : ""; }
