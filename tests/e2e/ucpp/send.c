/* Sends what a program of uC++ sent, in the format of sent.py, from standard input: descriptions
 * and order of such programs are tested where there is no u++. */
#include <poet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

POET_RUNTIME("ucpp");

enum { LINES = 64, EVENTS = 4096 };
static poet_line_t lines[LINES];
static struct sent {
    char name[16]; /* LINE:NUMBER in the text */
    poet_event_t event;
} sent[EVENTS];
static size_t count;

static void fail(const char *what)
{
    fprintf(stderr, "send: %s\n", what);
    exit(1);
}

static void remember(const char *name, poet_event_t event)
{
    if (count == EVENTS)
        fail("too many events");
    snprintf(sent[count].name, sizeof sent[count].name, "%s", name);
    sent[count++].event = event;
}

static poet_event_t recall(const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(sent[i].name, name) == 0)
            return sent[i].event;
    fail(name);
    return (poet_event_t){0, 0};
}

static poet_type_t type(const char *name)
{
    static const char *const increases[] = {"increased", NULL};
    return poet_type(name, strcmp(name, "lowered") == 0 ? increases : NULL);
}

static poet_event_t send(poet_line_t line, const char *name, poet_line_t about, const char *after)
{
    poet_record_t r = {.line = line, .about = about, .type = type(name)};
    poet_event_t earlier;
    if (strcmp(name, "delete") == 0)
        r.flags = POET_CLOSES;
    if (strcmp(after, "-") != 0) {
        earlier = recall(after);
        r.flags |= POET_AFTER;
        r.high = earlier.line;
        r.low = &earlier.number;
        r.keys = 1;
    }
    return poet_record(&r);
}

static void open_line(unsigned line, char *kind, int shared, const char *name)
{
    if (line >= LINES)
        fail("too many lines");
    if (strcmp(kind, "condition-lock") == 0)
        strcpy(kind, "condition lock");
    lines[line] = strcmp(kind, "task") == 0 ? poet_task(kind, name, NULL)
                                            : poet_line(kind, name, NULL, shared ? POET_SHARED : 0);
}

int main(void)
{
    char text[512], kind[32], name[128], a[16], b[16], type_a[32], type_b[32];
    unsigned thread, line, other;
    int shared;
    while (fgets(text, sizeof text, stdin)) {
        if (sscanf(text, "line %u %31s %d %127[^\n]", &line, kind, &shared, name) == 4) {
            open_line(line, kind, shared, name);
        } else if (sscanf(text, "event %u %u %15s %31s %u %15s", &thread, &line, a, type_a, &other,
                          b) == 6) {
            poet_task_switch(lines[thread]);
            remember(a, send(lines[line], type_a, other ? lines[other] : 0, b));
        } else if (sscanf(text, "pair %u %u %15s %31s %u %15s %31s", &thread, &line, a, type_a,
                          &other, b, type_b) == 7) {
            poet_task_switch(lines[thread]);
            poet_event_t second;
            remember(a, poet_pair(lines[line], type(type_a), lines[other], type(type_b), &second));
            remember(b, second);
        } else if (sscanf(text, "text %15s %127[^\n]", a, name) == 2) {
            poet_annotate(recall(a), "%s", name);
        } else {
            fail(text);
        }
    }
    poet_task_switch(0);
    return 0;
}
