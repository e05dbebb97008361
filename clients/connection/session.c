#define _GNU_SOURCE
#include "clients/connection/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "clients/connection/install_paths.h"
#include "wire/program_messages.h"
#include "wire/request.h"
#include "wire/text.h"
#include "wire/trace_header.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool server_program(char *path, size_t size, struct error *error)
{
    const char *named = getenv("POET_SERVER_PROGRAM");
    if (named && *named)
        snprintf(path, size, "%s", named);
    else if (!install_path_program("poet-server", path, size))
        snprintf(path, size, "poet-server");
    if (strchr(path, '/') && access(path, X_OK) < 0) {
        error_set(error, "%s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static bool session_send_hello(struct session *source)
{
    struct encoder hello = {0};
    encoder_begin_message(&hello, MESSAGE_HELLO);
    encode_hello(&hello, &(struct program_hello){.role = ROLE_VIEWER});
    encoder_end_message(&hello);
    return session_send_message(source, &hello);
}

/* Starts a process connected by a socketpair; *errors: a pipe from its standard error. Returns
 * false with errno set. */
static bool start_process(struct session *source, const char *const *arguments, bool on_stdio,
                          int *errors)
{
    int pair[2], pipe_error[2];
    char descriptor[16];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    if (pipe2(pipe_error, O_CLOEXEC) < 0) {
        close(pair[0]);
        close(pair[1]);
        return false;
    }
    snprintf(descriptor, sizeof descriptor, "%d", pair[1]);
    pid_t child = fork();
    if (child == 0) {
        const char *a[8] = {0};
        for (int i = 0; i < 7 && arguments[i]; i++)
            a[i] = strcmp(arguments[i], "FD") == 0 ? descriptor : arguments[i];
        fcntl(pair[1], F_SETFD, 0);
        for (int fd = 0; on_stdio && fd < 2; fd++)
            dup2(pair[1], fd);
        dup2(pipe_error[1], STDERR_FILENO);
        execvp(a[0], (char *const *)(uintptr_t)a);
        fprintf(stderr, "%s: %s\n", a[0], strerror(errno));
        _exit(127);
    }
    close(pair[1]);
    close(pipe_error[1]);
    source->fd = pair[0];
    source->child = child > 0 ? child : 0;
    *errors = pipe_error[0];
    return child > 0;
}

/* Shows the progress reports in `text` on a terminal, and removes them; other messages stay in
 * it. */
static void session_receive_progress(char *text, const char *what, bool *shown)
{
    unsigned percent;
    for (char *end;
         sscanf(text, "progress %u", &percent) == 1 && (end = strchr(text, '\n')) != NULL;
         memmove(text, end + 1, strlen(end + 1) + 1))
        if (isatty(STDERR_FILENO)) {
            fprintf(stderr, "\rreading %s: %u %%", what, percent);
            *shown = true;
        }
}

/* Reads more of the process's messages, behind what there is of an unfinished one. Returns false if
 * there are none. */
static bool session_read_messages(int errors, char *text, size_t size)
{
    char more[400];
    ssize_t got = read(errors, more, sizeof more - 1);
    if (got <= 0)
        return false;
    more[got] = 0;
    const char *newline = strrchr(text, '\n'), *unfinished = newline ? newline + 1 : text;
    size_t length = strlen(unfinished);
    memmove(text, unfinished, length + 1);
    snprintf(text + length, size - length, "%s", more);
    return true;
}

/* Waits for the first response. If the process exits instead, its last message is the error. */
static bool wait_for_process(struct session *source, int errors, const char *what,
                             struct error *error)
{
    struct pollfd p[2] = {{.fd = errors, .events = POLLIN}, {.fd = source->fd, .events = POLLIN}};
    char text[800] = "";
    bool reported = !isatty(STDERR_FILENO), heard = false, shown = false;
    session_send_hello(source);
    while (!(p[1].revents & POLLIN) || !heard) {
        int n = poll(p, 2, 1000);
        if (n == 0 && !reported)
            fprintf(stderr, "reading %s...\n", what);
        reported |= n == 0;
        if (n > 0 && p[0].revents) {
            if (session_read_messages(errors, text, sizeof text))
                session_receive_progress(text, what, &shown);
            else
                p[0].fd = -1;
        }
        char byte;
        if (n > 0 && p[1].revents) {
            heard = recv(source->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
            while (!heard && p[0].fd >= 0 && poll(p, 1, 1000) > 0 && /* it exited */
                   session_read_messages(errors, text, sizeof text))
                ;
            if (!heard)
                break;
        }
    }
    close(errors);
    session_receive_progress(text, what, &shown);
    if (shown)
        fputs("\r\033[K", stderr);
    text[strcspn(text, "\r\n")] = 0;
    if (!heard) {
        const char *sentence = strncmp(text, "poet server: ", 13) == 0 ? text + 13 : text;
        error_set(error, "%s", *sentence ? sentence : "its private server exited immediately");
    }
    return heard;
}

/* Waits at most 1 s while the file is locked: its program may have just ended, and its server still
 * writes. */
static void wait_for_writer(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct timespec pause = {0, 10000000};
    for (int i = 0; fd >= 0 && i < 100 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
         i++)
        nanosleep(&pause, NULL);
    if (fd >= 0)
        close(fd);
}

/* Starts a private server for a file. */
static bool start_private(struct session *source, const char *file, struct error *error)
{
    char program[PATH_MAX];
    int errors;
    if (!server_program(program, sizeof program, error))
        return false;
    wait_for_writer(file);
    const char *arguments[] = {program, "--client", "FD", "--", file, NULL};
    if (!start_process(source, arguments, false, &errors)) {
        error_set(error, "%s: %s", file, strerror(errno));
        return false;
    }
    source->is_file = true;
    return wait_for_process(source, errors, file, error);
}

/* Quotes a word for a shell: 'it'\''s'. The caller frees the result. */
static char *session_shell_quote(const char *s)
{
    char *q = xmalloc(4 * strlen(s) + 3), *at = q;
    *at++ = '\'';
    for (; *s; s++) {
        if (*s == '\'')
            at = stpcpy(at, "'\\'");
        *at++ = *s;
    }
    *at++ = '\'';
    *at = 0;
    return q;
}

/* Connects to ssh:HOST[:FILE]: ssh starts `poet server --stdio` there, for the file or for the
 * server that listens there. POET_SSH replaces ssh. */
static bool start_remote(struct session *source, const char *what, struct error *error)
{
    const char *ssh = getenv("POET_SSH"), *host = what + 4, *file = strchr(host, ':');
    char *name = xstrndup(host, file ? (size_t)(file - host) : strlen(host));
    char *path = file ? session_shell_quote(file + 1) : NULL;
    char *command = xasprintf("poet server --stdio%s%s", path ? " -- " : "", path ? path : "");
    int errors;
    bool ok = *name && *name != '-';
    if (!ok) {
        error_set(error, "%s: invalid source; use ssh:HOST or ssh:HOST:FILE", what);
    } else {
        const char *arguments[] = {ssh && *ssh ? ssh : "ssh", "--", name, command, NULL};
        ok = start_process(source, arguments, true, &errors);
        if (!ok)
            error_set(error, "%s: %s", what, strerror(errno));
    }
    ok = ok && wait_for_process(source, errors, what, error);
    source->is_file = path != NULL;
    free(name);
    free(path);
    free(command);
    return ok;
}

/* Connects to poet://HOST:PORT through a local process that does TLS. */
static bool session_start_remote(struct session *source, const char *what, struct error *error)
{
    char program[PATH_MAX];
    int errors;
    if (!server_program(program, sizeof program, error))
        return false;
    const char *arguments[] = {program, "--stdio", "--to", what, NULL};
    if (start_process(source, arguments, true, &errors))
        return wait_for_process(source, errors, what, error);
    error_set(error, "%s: %s", what, strerror(errno));
    return false;
}

#define ANSWER_SECONDS 10 /* for servers; reading a file may take longer */

/* Waits for bytes; for a file, prints a message on a terminal after 1 s. */
static bool session_wait_readable(const struct session *source, struct error *error)
{
    struct pollfd p = {.fd = source->fd, .events = POLLIN};
    for (int second = 0; poll(&p, 1, 1000) == 0; second++) {
        if (!source->is_file && second >= ANSWER_SECONDS) {
            error_set(error, "%s: server not responding", source->name);
            return false;
        }
        if (source->is_file && second == 0 && isatty(STDERR_FILENO))
            fprintf(stderr, "reading %s...\n", source->name);
    }
    return true;
}

static bool wait_for_welcome(struct session *source, struct error *error)
{
    unsigned type = 0;
    struct decoder in;
    if (source->in.size == source->used && !session_wait_readable(source, error))
        return false;
    while (type != MESSAGE_WELCOME)
        if (session_receive(source, true, &type, &in, error) < 0)
            return false;
    return true;
}

bool session_select_run(struct session *source, const char *run, struct error *error)
{
    struct encoder body = {0};
    encode_string(&body, run);
    encode_u8(&body, source->book.named ? SELECT_NAMED_LINES : 0);
    uint32_t id = session_send(source, REQUEST_SELECT, &body, NULL, NULL);
    return (source->in.size != source->used || session_wait_readable(source, error)) &&
           session_wait(source, id, error);
}

bool session_subscribe_lines(struct session *source, const uint32_t *lines, uint32_t count,
                             struct error *error)
{
    struct encoder body = {0};
    encode_u32(&body, count);
    for (uint32_t i = 0; i < count; i++)
        encode_u32(&body, lines[i]);
    return session_wait(source, session_send(source, REQUEST_LINES, &body, NULL, NULL), error);
}

/* ---- latest ---- */

struct session_candidate {
    char path[PATH_MAX]; /* a file or an endpoint */
    uint64_t begun_ns; /* since 1970 */
    struct error why; /* error of a server that has a run but cannot show it */
};

static void session_consider_candidate(struct session_candidate *latest, const char *path,
                                       uint64_t begun_ns)
{
    if (*latest->path && begun_ns <= latest->begun_ns)
        return;
    snprintf(latest->path, sizeof latest->path, "%s", path);
    latest->begun_ns = begun_ns;
}

static uint64_t written_ns(const struct stat *st) { return timespec_ns(st->st_mtim); }

/* Considers a file by the start of its run, from its header, or else by its modification time. */
static void consider_file(void *user, const char *path)
{
    uint8_t head[TRACEHEAD_BYTES];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0) {
        bool whole = pread(fd, head, sizeof head, 0) == sizeof head && !tracehead_error(head);
        struct decoder in = decoder_init(head + TRACEHEAD_BEGUN_AT, TRACEHEAD_BEGUN_BYTES);
        uint64_t begun = whole ? decode_u64(&in) : 0, complement = whole ? decode_u64(&in) : 0;
        session_consider_candidate(user, path,
                                   begun && begun == ~complement ? begun : written_ns(&st));
    }
    if (fd >= 0)
        close(fd);
}

/* Servers are considered before files, so that a live server is preferred to its own file. */
static void consider_server(void *user, const char *endpoint)
{
    struct session_candidate *latest = user;
    struct session source = {.fd = -1};
    struct error ignored, why = {""};
    bool absent;
    source.fd = endpoint_connect(endpoint, 500, &absent, &ignored);
    if (source.fd < 0)
        return;
    source.name = xstrdup(endpoint);
    source.book.named = true;
    struct stat st;
    if (session_send_hello(&source) && wait_for_welcome(&source, &ignored) &&
        session_select_run(&source, "", &why) && source.book.run.file) {
        uint64_t begun = source.book.run.wall_ns;
        if (!begun && stat(source.book.run.file, &st) == 0)
            begun = written_ns(&st);
        session_consider_candidate(latest, endpoint, begun);
    }
    if (strstr(why.text, "run ") && !strstr(why.text, "no run"))
        latest->why = why;
    session_close(&source);
}

static bool find_latest(char *path, size_t size, struct error *error)
{
    struct session_candidate latest = {0};
    char state[PATH_MAX];
    run_discovery_state(state, sizeof state);
    run_discovery_endpoints(consider_server, &latest);
    run_discovery_files(".", consider_file, &latest);
    run_discovery_files(state, consider_file, &latest);
    if (!*latest.path && *latest.why.text) {
        error_set(error, "latest: %.500s", latest.why.text);
        return false;
    }
    if (!*latest.path) {
        error_set(error, "latest: no trace found; compile a program with poetcc -trace "
                         "and run it");
        return false;
    }
    snprintf(path, size, "%s", latest.path);
    return true;
}

/* ---- opening ---- */

const char *session_warning(const struct session *source)
{
    const struct run_info *run = &source->book.run;
    if (run->written)
        return "the file is still being written; events may be missing";
    return run->unfinished
               ? "the trace is truncated: the server exited first, or the file was cut short"
               : NULL;
}

const char *session_cut(const struct session *source)
{
    const char *cut = source->book.run.cut;
    return cut && *cut ? cut : NULL;
}

static bool connect_to(struct session *source, const char *endpoint, struct error *error)
{
    bool absent;
    source->fd = endpoint_connect(endpoint, 2000, &absent, error);
    return source->fd >= 0 && session_send_hello(source);
}

static bool open_what(struct session *source, char *what, enum session_lines lines,
                      struct error *error)
{
    bool remote = strncmp(what, "ssh:", 4) == 0;
    char *run = endpoint_is(what) || (remote && !strchr(what + 4, ':')) ? strchr(what, '#') : NULL;
    if (run)
        *run++ = 0;
    struct stat st;
    bool ok;
    if (remote) {
        ok = start_remote(source, what, error);
    } else if (endpoint_is_remote(what)) {
        ok = session_start_remote(source, what, error);
    } else if (endpoint_is(what)) {
        ok = connect_to(source, what, error);
    } else if (stat(what, &st) < 0) {
        error_set(error, "%s: %s", what, strerror(errno));
        return false;
    } else {
        ok = start_private(source, what, error);
    }
    return ok && wait_for_welcome(source, error) &&
           (lines == SESSION_NO_RUN || session_select_run(source, run ? run : "", error));
}

bool session_open(struct session *source, const char *what, enum session_lines lines,
                  struct error *error)
{
    char path[PATH_MAX];
    *source = (struct session){.fd = -1, .book.named = lines == SESSION_NAMED_LINES};
    if (strcmp(what, "latest") == 0) {
        if (!find_latest(path, sizeof path, error))
            return false;
        what = path;
    } else if (!endpoint_is(what) && strncmp(what, "ssh:", 4) != 0 &&
               run_discovery_find(what, path, sizeof path)) {
        what = path;
    }
    source->name = xstrdup(what);
    char *copy = xstrdup(what);
    bool ok = open_what(source, copy, lines, error);
    free(copy);
    if (!ok)
        session_close(source);
    return ok;
}

bool session_open_default(struct session *source, struct error *error)
{
    char endpoint[400], program[PATH_MAX];
    bool absent;
    *source = (struct session){.fd = -1};
    if (!endpoint_default(endpoint, sizeof endpoint, error))
        return false;
    if (endpoint_is_remote(endpoint)) {
        source->name = xstrdup(endpoint);
        return session_start_remote(source, endpoint, error) && wait_for_welcome(source, error);
    }
    int fd = endpoint_connect(endpoint, 2000, &absent, error);
    if (fd < 0 && absent) {
        if (!server_program(program, sizeof program, error))
            return false;
        pid_t child = fork();
        if (child == 0) { /* outlives this process while any client is connected */
            setsid();
            int null = open("/dev/null", O_RDWR | O_CLOEXEC);
            dup2(null, STDIN_FILENO);
            dup2(null, STDOUT_FILENO);
            if (fork() == 0) {
                execlp(program, program, "--once", "--quiet", "-l", endpoint, (char *)NULL);
                _exit(127);
            }
            _exit(0);
        }
        waitpid(child, NULL, 0);
        for (int i = 0; i < 200 && fd < 0; i++) { /* until it listens: about 4 s at most */
            struct timespec pause = {0, 20000000};
            nanosleep(&pause, NULL);
            fd = endpoint_connect(endpoint, 500, &absent, error);
        }
    }
    if (fd < 0)
        return false;
    source->fd = fd;
    source->name = xstrdup(endpoint);
    if (session_send_hello(source) && wait_for_welcome(source, error))
        return true;
    session_close(source);
    return false;
}

void session_close(struct session *source)
{
    if (source->fd >= 0)
        close(source->fd);
    if (source->child > 0)
        waitpid(source->child, NULL, 0);
    encoder_free(&source->in);
    free(source->requests);
    metadata_free(&source->book);
    free(source->name);
    *source = (struct session){.fd = -1};
}

void run_discovery_state(char *path, size_t size)
{
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (xdg && *xdg)
        snprintf(path, size, "%s/poet", xdg);
    else
        snprintf(path, size, "%s/.local/state/poet", home ? home : "");
}

static bool is_trace_name(const char *name)
{
    size_t n = strlen(name);
    return n >= 6 && strcmp(name + n - 5, ".poet") == 0;
}

void run_discovery_files(const char *directory, around_take *take, void *user)
{
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (is_trace_name(e->d_name) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            take(user, strcmp(directory, ".") == 0 ? e->d_name : path);
    }
    if (d)
        closedir(d);
}

void run_discovery_endpoints(around_take *take, void *user)
{
    char directory[256], endpoint[600], first[600] = "";
    struct error ignored;
    if (endpoint_default(first, sizeof first, &ignored))
        take(user, first);
    if (!endpoint_directory(directory, sizeof directory, &ignored))
        return;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, "poet-", 5) != 0 || !strstr(e->d_name, ".sock"))
            continue;
        snprintf(endpoint, sizeof endpoint, "unix:%s/%s", directory, e->d_name);
        if (strcmp(endpoint, first) != 0)
            take(user, endpoint);
    }
    if (d)
        closedir(d);
}

bool run_discovery_find(const char *name, char *path, size_t size)
{
    char state[PATH_MAX - 300];
    struct stat st;
    run_discovery_state(state, sizeof state);
    for (int i = 0; !strchr(name, '/') && stat(name, &st) < 0 && i < 2; i++) {
        int n = snprintf(path, size, "%s/%s%s", state, name, i ? ".poet" : "");
        if ((size_t)n < size && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    snprintf(path, size, "%s", name);
    return stat(name, &st) == 0;
}
