#define _GNU_SOURCE
#include "clients/connection/note_file.h"

#include "clients/symbols/safe_open.h"
#include "base/alloc.h"
#include "wire/limits.h"
#include "wire/text.h"
#include "wire/trace_header.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOTES_BYTES (16u << 20)
#define NOTES_MOST 100000u
#define LOCK_TRIES 500 /* of 10 ms */

/* ---- file names ---- */

static char *beside_of(const char *trace)
{
    size_t size = strlen(trace) + TRACEHEAD_BESIDE_BYTES;
    char *file = xmalloc(size);
    tracehead_beside(file, size, trace, TRACEHEAD_NOTES);
    return file;
}

/* Returns the file of the trace if it is on this host, or NULL. */
static const char *trace_of(const struct session *source)
{
    const char *file = source->book.run.file;
    if (source->is_file)
        return strncmp(source->name, "ssh:", 4) == 0 ? NULL : source->name;
    bool local = source->name && strncmp(source->name, "unix:", 5) == 0;
    return local && file && *file == '/' && access(file, F_OK) == 0 ? file : NULL;
}

/* Returns $XDG_STATE_HOME/poet/notes/NAME-BEGAN.poet-notes, or NULL. */
static char *elsewhere_of(const struct run_info *run)
{
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *name = xstrdup(run->name ? run->name : ""), *file = NULL;
    for (char *c = name; *c; c++)
        if (*c == '/' || (unsigned char)*c < 32)
            *c = '_';
    if ((xdg && *xdg) || (home && *home))
        if (asprintf(&file, "%s%s/poet/notes/%.100s-%llu.poet-notes", xdg && *xdg ? xdg : home,
                     xdg && *xdg ? "" : "/.local/state", name,
                     (unsigned long long)run->wall_ns) < 0)
            file = NULL;
    free(name);
    return file;
}

/* ---- reading ---- */

struct note_file_reader {
    struct note_file *notes; /* to be filled */
    const char *file;
    unsigned line;
    bool foreign; /* the file belongs to another run */
    struct error *error;
};

static bool note_file_set_error(struct note_file_reader *r, const char *why)
{
    error_set(r->error, "%s:%u: %s", r->file, r->line, why);
    return false;
}

/* Returns the string member of that name; NULL: none, or it contains a null character. */
static const char *string_of(struct json_object *o, const char *name)
{
    struct json_object *s;
    if (!json_object_object_get_ex(o, name, &s) || !json_object_is_type(s, json_type_string))
        return NULL;
    const char *text = json_object_get_string(s);
    return strlen(text) == (size_t)json_object_get_string_len(s) ? text : NULL;
}

static bool read_head(struct note_file_reader *r, struct json_object *o)
{
    struct json_object *version, *began;
    const char *run = string_of(o, "run");
    if (!json_object_object_get_ex(o, "poet_notes", &version) ||
        !json_object_is_type(version, json_type_int))
        return note_file_set_error(r, "not a note file");
    if (json_object_get_int64(version) != 1)
        return note_file_set_error(r, "note file of a newer Poet");
    if (!run || !json_object_object_get_ex(o, "began_ns", &began) ||
        !json_object_is_type(began, json_type_int))
        return note_file_set_error(r, "the note file does not name its run");
    r->foreign =
        strcmp(run, r->notes->run) != 0 || json_object_get_uint64(began) != r->notes->began_ns;
    return true;
}

/* Returns the sanitized text, for the caller to free; NULL: it is too long for a note. */
static char *notes_readable(const char *text)
{
    char *readable = text_readable(text, strlen(text), true);
    if (readable && strlen(readable) <= LIMIT_TEXT_BYTES)
        return readable;
    free(readable);
    return NULL;
}

/* Takes over the text. */
static void note_file_append_note(struct note_file *notes, struct event_id at, char *text)
{
    struct event_note note = {at, text};
    ARRAY_PUSH(notes->items, notes->count, note);
}

static bool read_note(struct note_file_reader *r, struct json_object *o)
{
    struct event_id at;
    const char *event = string_of(o, "event"), *text = string_of(o, "text");
    if (!event || !event_id_parse(event, &at) || !at.line || at.line & HIDDEN_LINE)
        return note_file_set_error(r, "invalid \"event\" (as in \"2:17\")");
    if (note_file_text(r->notes, at))
        return note_file_set_error(r, "duplicate note for this event");
    if (r->notes->count >= NOTES_MOST)
        return note_file_set_error(r, "more than 100000 notes");
    char *readable = text ? notes_readable(text) : NULL;
    if (!readable)
        return note_file_set_error(r, "invalid \"text\" (at most 4096 bytes)");
    note_file_append_note(r->notes, at, readable);
    return true;
}

/* Reads a line that is exactly one JSON object. */
static bool read_line(struct note_file_reader *r, const char *text, size_t size)
{
    struct json_tokener *tokener = json_tokener_new_ex(8);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *o = json_tokener_parse_ex(tokener, text, (int)size);
    bool whole = o && json_object_is_type(o, json_type_object) &&
                 json_tokener_get_parse_end(tokener) == size;
    bool ok = !whole         ? note_file_set_error(r, "not a line of JSON")
              : r->line == 1 ? read_head(r, o)
                             : read_note(r, o);
    json_object_put(o);
    json_tokener_free(tokener);
    return ok;
}

static void note_file_clear(struct note_file *notes)
{
    for (uint32_t i = 0; i < notes->count; i++)
        free(notes->items[i].text);
    free(notes->items);
    notes->items = NULL;
    notes->count = 0;
}

/* Replaces the notes by those of a file, if it exists and belongs to this run. Returns false if the
 * file is damaged. */
static bool read_file(struct note_file *notes, const char *file, bool *foreign, struct error *error)
{
    size_t size = 0;
    struct note_file fresh = {.run = notes->run, .began_ns = notes->began_ns};
    struct note_file_reader r = {.notes = &fresh, .file = file, .error = error};
    char *text = safe_open_read(file, NOTES_BYTES, &size);
    if (!text && errno != ENOENT)
        error_set(error, "%s: %s", file,
                  errno == EFBIG ? "too large for a note file" : strerror(errno));
    if (!text)
        return errno == ENOENT;
    bool ok = size > 0;
    if (!ok) {
        r.line = 1;
        note_file_set_error(&r, "not a note file");
    }
    for (const char *at = text, *end = text + size; ok && at < end && !r.foreign;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        r.line++;
        ok = read_line(&r, at, (size_t)(stop - at));
        at = stop + 1;
    }
    if (ok && !r.foreign) {
        note_file_clear(notes);
        notes->items = fresh.items;
        notes->count = fresh.count;
    } else {
        note_file_clear(&fresh);
    }
    *foreign = r.foreign;
    free(text);
    return ok;
}

static struct timespec note_file_modification_time(const char *file)
{
    struct stat st;
    return file && stat(file, &st) == 0 ? st.st_mtim : (struct timespec){0, -1};
}

static bool is_newer(const char *a, const char *b)
{
    struct timespec x = note_file_modification_time(a), y = note_file_modification_time(b);
    return x.tv_sec != y.tv_sec ? x.tv_sec > y.tv_sec : x.tv_nsec > y.tv_nsec;
}

/* Reads the notes again, from the file that was written last. */
static bool note_file_reload(struct note_file *notes, struct error *error)
{
    bool foreign = false;
    if (notes->elsewhere && is_newer(notes->elsewhere, notes->beside))
        return read_file(notes, notes->elsewhere, &foreign, error);
    bool ok = !notes->beside || read_file(notes, notes->beside, &foreign, error);
    if (!foreign)
        return ok;
    free(notes->beside); /* an earlier trace had this name: keep its notes */
    notes->beside = NULL;
    return !notes->elsewhere || read_file(notes, notes->elsewhere, &foreign, error);
}

bool note_file_open(struct note_file *notes, const struct session *source, struct error *error)
{
    const struct run_info *run = &source->book.run;
    const char *trace = trace_of(source);
    *notes = (struct note_file){.run = xstrdup(run->name ? run->name : ""),
                                .began_ns = run->wall_ns,
                                .beside = trace ? beside_of(trace) : NULL,
                                .elsewhere = elsewhere_of(run)};
    bool ok = note_file_reload(notes, error);
    if (!ok)
        notes->why = xstrdup(error->text);
    notes->kept = notes->count > 0;
    return ok;
}

void note_file_free(struct note_file *notes)
{
    if (!notes)
        return;
    note_file_clear(notes);
    free(notes->run);
    free(notes->beside);
    free(notes->elsewhere);
    free(notes->why);
    *notes = (struct note_file){0};
}

static uint32_t index_of(const struct note_file *notes, struct event_id at)
{
    uint32_t i = 0;
    while (i < notes->count && !event_id_equal(notes->items[i].at, at))
        i++;
    return i;
}

const char *note_file_text(const struct note_file *notes, struct event_id at)
{
    uint32_t i = index_of(notes, at);
    return i < notes->count ? notes->items[i].text : NULL;
}

const char *note_file_file(const struct note_file *notes)
{
    if (notes->elsewhere && is_newer(notes->elsewhere, notes->beside))
        return notes->elsewhere;
    return notes->beside && access(notes->beside, F_OK) == 0 ? notes->beside : NULL;
}

/* ---- writing ---- */

static void write_line(FILE *f, struct json_object *o)
{
    fputs(
        json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
        f);
    fputc('\n', f);
    json_object_put(o);
}

static void write_all(const struct note_file *notes, FILE *f)
{
    struct json_object *head = json_object_new_object();
    json_object_object_add(head, "poet_notes", json_object_new_int(1));
    json_object_object_add(head, "run", json_object_new_string(notes->run));
    json_object_object_add(head, "began_ns", json_object_new_uint64(notes->began_ns));
    write_line(f, head);
    for (uint32_t i = 0; i < notes->count; i++) {
        char at[48];
        struct json_object *o = json_object_new_object();
        event_id_print(at, sizeof at, notes->items[i].at);
        json_object_object_add(o, "event", json_object_new_string(at));
        json_object_object_add(o, "text", json_object_new_string(notes->items[i].text));
        write_line(f, o);
    }
}

/* Closes the file. Returns 0 or an errno value: EFBIG if it would be too large to be read again. */
static int notes_finish(FILE *f)
{
    int why = ferror(f) ? EIO : ftell(f) > (long)NOTES_BYTES ? EFBIG : 0;
    int closed = fclose(f) == 0 ? 0 : errno;
    return why ? why : closed;
}

/* Replaces the file atomically, through a temporary one; removes it if there are no notes. */
static bool write_file(const struct note_file *notes, const char *file, struct error *error)
{
    char *part = NULL;
    if (notes->count == 0) {
        if (unlink(file) == 0 || errno == ENOENT)
            return true;
        error_set(error, "%s: %s", file, strerror(errno));
        return false;
    }
    int fd = asprintf(&part, "%s.XXXXXX", file) < 0 ? -1 : mkostemp(part, O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    mode_t mask = umask(022);
    umask(mask);
    if (f) {
        fchmod(fd, 0666 & ~mask);
        write_all(notes, f);
    }
    int why = f ? notes_finish(f) : errno;
    if (!why && rename(part, file) < 0)
        why = errno;
    if (why)
        error_set(error, "%s: %s", file, strerror(why));
    if (why && fd >= 0)
        unlink(part);
    free(part);
    return !why;
}

/* Creates the parent directories of a file. */
static void make_directories(const char *file)
{
    char *path = xstrdup(file);
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = 0;
        mkdir(path, 0700);
    }
    free(path);
}

/* ---- one writer at a time ---- */

/* Opens the directory of a file; returns -1 on failure. */
static int directory_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *path = slash ? xstrndup(file, (size_t)(slash - file) + 1) : xstrdup(".");
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(path);
    return fd;
}

/* Locks the directory of the notes for writing, since the file itself is replaced. Returns a
 * descriptor; -1: the file system does not support locks; -2: another process holds the lock for
 * too long. */
static int note_file_lock_directory(const struct note_file *notes)
{
    int fd = notes->beside ? directory_of(notes->beside) : -1;
    if (fd < 0 && notes->elsewhere)
        fd = directory_of(notes->elsewhere);
    for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
        if (errno == EWOULDBLOCK && i < LOCK_TRIES) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            continue;
        }
        int lost = errno == EWOULDBLOCK ? -2 : -1;
        close(fd);
        return lost;
    }
    return fd;
}

static enum notes_kept note_file_save(const struct note_file *notes, struct error *error)
{
    if (notes->beside && write_file(notes, notes->beside, error)) {
        if (notes->elsewhere)
            unlink(notes->elsewhere); /* the notes are beside the trace now */
        return NOTES_BESIDE;
    }
    if (!notes->elsewhere)
        return NOTES_NOWHERE;
    make_directories(notes->elsewhere);
    return write_file(notes, notes->elsewhere, error) ? NOTES_ELSEWHERE : NOTES_NOWHERE;
}

/* text: NULL removes the note; otherwise it is taken over. */
static void note_file_change_note(struct note_file *notes, struct event_id at, char *text)
{
    uint32_t i = index_of(notes, at);
    if (i == notes->count) {
        if (text)
            note_file_append_note(notes, at, text);
        return;
    }
    free(notes->items[i].text);
    notes->items[i].text = text;
    if (text)
        return;
    notes->count--;
    memmove(notes->items + i, notes->items + i + 1, (notes->count - i) * sizeof *notes->items);
}

/* Returns false with an error if the note exceeds the limits, so that its file could not be read
 * again. */
static bool notes_may_set(const struct note_file *notes, struct event_id at, const char *readable,
                          struct error *error)
{
    bool fits = notes->count < NOTES_MOST || note_file_text(notes, at);
    if (!readable)
        error_set(error, "a note holds at most %u bytes, and a control character takes 3",
                  LIMIT_TEXT_BYTES);
    else if (!fits)
        error_set(error, "a run has at most %u notes", NOTES_MOST);
    return readable && fits;
}

enum notes_kept note_file_set(struct note_file *notes, struct event_id at, const char *text,
                              struct error *error)
{
    struct error ignored;
    enum notes_kept kept = NOTES_NOWHERE;
    char *readable = text ? notes_readable(text) : NULL;
    if (notes->elsewhere && !notes->beside)
        make_directories(notes->elsewhere);
    int locked = note_file_lock_directory(notes);
    if (!notes->why && note_file_file(notes) && !note_file_reload(notes, &ignored))
        notes->why = xstrdup(ignored.text); /* another program damaged the file in the meantime */
    if (notes->kept && !notes->why && !note_file_file(notes))
        note_file_clear(notes); /* another program deleted the last note */
    bool refused = text && !notes_may_set(notes, at, readable, error);
    if (refused)
        free(readable);
    else
        note_file_change_note(notes, at, readable);
    if (refused)
        kept = NOTES_REFUSED;
    else if (notes->why)
        error_set(error, "%s: repair or remove the note file", notes->why);
    else if (locked == -2)
        error_set(error, "another program is writing notes in this directory; try again");
    else
        kept = note_file_save(notes, error);
    if (!refused)
        notes->kept = kept != NOTES_NOWHERE;
    if (locked >= 0)
        close(locked);
    return kept;
}

bool note_file_copy(const struct note_file *notes, const char *trace, struct error *error)
{
    char *file = beside_of(trace);
    bool ok = notes->count == 0 || write_file(notes, file, error);
    free(file);
    return ok;
}

void note_file_forget(const char *trace)
{
    char *file = beside_of(trace);
    unlink(file);
    free(file);
}
