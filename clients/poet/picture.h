/* A picture of a source: options that `export` and `show` share, and the window they
 * ask for. */
#ifndef CLIENTS_POET_PICTURE_H
#define CLIENTS_POET_PICTURE_H

#include "clients/poet/command.h"
#include "clients/source/place.h"

struct picture {
    struct ref from, to, around; /* line 0: not asked for */
    unsigned last;               /* columns at the end, 0 not asked for */
    const char *text;            /* around the first event that bears it */
    const char *clusters[32]; /* as written with --cluster */
    unsigned cluster_count;
    uint8_t *joined; /* by row */
    uint64_t column_ns; /* --time: not 0 */
    bool by_time;
    const char *lines;           /* list of lines, NULL all */
    int fold;                    /* -1 by size, 0 off, 1 on */
    enum labels labels;
    const char *caption;
    bool no_title, no_legend, all, vertical;
    const char *view; /* a file that says all of the above */
    struct place place; /* out of it */
    struct ref *chain;  /* between its two selected events */
    uint32_t chain_count;
    struct look look;
    struct window_request request; /* what was asked for last */
    struct shown_window window; /* the answer */
    uint32_t *rows;
    uint32_t row_count;
    char title[256];
};

/* Options of getopt_long; values from 256. */
#define PICTURE_OPTIONS                                                                       \
    {"from", required_argument, 0, 256}, {"to", required_argument, 0, 257},                   \
        {"around", required_argument, 0, 258}, {"last", required_argument, 0, 259},           \
        {"text", required_argument, 0, 260}, {"lines", required_argument, 0, 261},            \
        {"fold", no_argument, 0, 262}, {"no-fold", no_argument, 0, 263},                      \
        {"labels", required_argument, 0, 264}, {"caption", required_argument, 0, 265},        \
        {"no-title", no_argument, 0, 266}, {"no-legend", no_argument, 0, 267},                \
        {"all", no_argument, 0, 268}, {"cluster", required_argument, 0, 269},                 \
        {"time", optional_argument, 0, 270},      \
        {"view", required_argument, 0, 271}, {"vertical", no_argument, 0, 272},                   \
        {"description", required_argument, 0, 273}

#define PICTURE_USAGE                                                                         \
    "  --from EVENT --to EVENT   from one event to another (LINE:NUMBER), either or both\n"   \
    "  --last N                  the last N columns\n"                                        \
    "  --around EVENT            60 columns around an event\n"                                \
    "  --text TEXT               60 columns around the first event with that text or type\n"  \
    "  --lines LIST              only these lines, in this order: numbers, or names with * and ?,\n" \
    "                            separated by commas\n"                                       \
    "  --cluster LIST            these lines as one row, without what happens among themselves;\n" \
    "                            may be repeated\n"                                           \
    "  --time[=MICROSECONDS]     placed by time, so many to a column, where the order permits;\n" \
    "                            default: the whole run on 300 columns\n"                     \
    "  --fold, --no-fold         stretches of like visits as one mark with xN; default: when\n" \
    "                            there are more than 400 columns\n"                           \
    "  --view FILE               what is seen in a view that poet view saved: range, rows, colours\n" \
    "  --vertical                lines run down, and time with them (not in text)\n"             \
    "  --description NAME|FILE   drawn as this description of the environment says\n"           \
    "  --labels WHAT             name, id (name and line number) or address (default)\n"      \
    "  --caption TEXT            a caption under the picture\n"                               \
    "  --no-title, --no-legend   leave those out\n"                                           \
    "  --all                     however large it gets\n"

/* The same picture, other columns. */
bool picture_columns(const struct command *command, struct picture *picture, struct subject *subject,
                     int32_t from, uint32_t columns);
/* Takes an option; 0 taken, -1 not its own, 2 bad (said so). */
int picture_option(const struct command *command, struct picture *picture, int option,
                   const char *value);
/* Asks for the window.  False with a complaint. */
bool picture_get(const struct command *command, struct picture *picture, struct subject *subject);
void picture_free(struct picture *picture);

#endif
