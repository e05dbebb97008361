#define _GNU_SOURCE
#include "clients/source/source.h"

#include "wire/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void source_ask(struct out *out, enum message type)
{
    out_begin(out, type);
    out_end(out);
}

bool source_program(const char *name, char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    for (char *slash; (slash = strrchr(self, '/')) != NULL && slash > self;) {
        *slash = 0;
        if ((size_t)snprintf(path, size, "%s/libexec/poet/%s", self, name) < size &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static bool server_program(char *path, size_t size, struct error *error)
{
    const char *named = getenv("POET_SERVER_PROGRAM");
    if (named && *named)
        snprintf(path, size, "%s", named);
    else if (!source_program("poet-server", path, size))
        snprintf(path, size, "poet-server");
    if (strchr(path, '/') && access(path, X_OK) < 0) {
        error_set(error, "%s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static bool say_hello(struct source *source)
{
    struct out hello = {0};
    out_begin(&hello, MESSAGE_HELLO);
    put_u32(&hello, HELLO_MAGIC);
    put_u32(&hello, WIRE_VERSION);
    put_u8(&hello, ROLE_VIEWER);
    out_end(&hello);
    return source_send(source, &hello);
}

/* A server for one file, on a socketpair. */
static bool start_private(struct source *source, const char *file, struct error *error)
{
    char program[PATH_MAX], descriptor[16];
    int pair[2], pipe_error[2];
    if (!server_program(program, sizeof program, error))
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        pipe2(pipe_error, O_CLOEXEC) < 0) {
        error_set(error, "%s: %s", file, strerror(errno));
        return false;
    }
    snprintf(descriptor, sizeof descriptor, "%d", pair[1]);
    pid_t child = fork();
    if (child == 0) {
        fcntl(pair[1], F_SETFD, 0);
        dup2(pipe_error[1], STDERR_FILENO);
        execlp(program, program, "--client", descriptor, "--", file, (char *)NULL);
        fprintf(stderr, "%s: %s\n", program, strerror(errno));
        _exit(127);
    }
    close(pair[1]);
    close(pipe_error[1]);
    if (child < 0) {
        error_set(error, "fork: %s", strerror(errno));
        return false;
    }
    source->fd = pair[0];
    source->child = child;
    source->is_file = true;
    /* what it has to say if it cannot read the file */
    fcntl(pipe_error[0], F_SETFD, FD_CLOEXEC);
    struct pollfd p[2] = {{.fd = pipe_error[0], .events = POLLIN}, {.fd = pair[0], .events = POLLIN}};
    say_hello(source);
    for (int n, second = 0; (n = poll(p, 2, 1000)) <= 0; second++)
        if (n == 0 && second == 0 && isatty(STDERR_FILENO))
            fprintf(stderr, "reading %s...\n", file);
    if (p[0].revents & POLLIN) {
        char text[400] = "";
        ssize_t n = read(pipe_error[0], text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        text[strcspn(text, "\n")] = 0;
        const char *said = strncmp(text, "poet server: ", 13) == 0 ? text + 13 : text;
        error_set(error, "%s", *said ? said : "its private server ended at once");
        close(pipe_error[0]);
        return false;
    }
    close(pipe_error[0]);
    return true;
}

bool source_send(struct source *source, struct out *out)
{
    size_t sent = 0;
    while (!out->failed && sent < out->size) {
        ssize_t n = send(source->fd, out->data + sent, out->size - sent, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            struct pollfd p = {.fd = source->fd, .events = POLLOUT};
            poll(&p, 1, 1000);
            continue;
        }
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    bool ok = !out->failed && sent == out->size;
    out_free(out);
    return ok;
}

int source_next(struct source *source, bool blocking, unsigned *type, struct in *in,
                struct error *error)
{
    for (;;) {
        size_t length;
        const char *why;
        const uint8_t *at = source->in.data ? source->in.data + source->used : NULL;
        int got = frame_read(at, source->in.size - source->used, LIMIT_ANSWER_BYTES, type, &length,
                             &why);
        if (got < 0) {
            error_set(error, "%s: %s", source->name, why);
            return -1;
        }
        if (got > 0) {
            source->used += MESSAGE_FRAME_BYTES + length;
            *in = in_from(at + MESSAGE_FRAME_BYTES, length);
            bool table = book_take(&source->book, *type, in);
            if (in->error) {
                error_set(error, "%s: %s: %s", source->name, message_name(*type), in->error);
                return -1;
            }
            if (table && *type != MESSAGE_SELECTED)
                continue;
            return 1;
        }
        out_drop(&source->in, source->used);
        source->used = 0;
        uint8_t bytes[65536];
        ssize_t n = recv(source->fd, bytes, sizeof bytes, blocking ? 0 : MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN && blocking) {
            struct pollfd p = {.fd = source->fd, .events = POLLIN};
            poll(&p, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n <= 0) {
            error_set(error, "%s: the server hung up", source->name);
            return -1;
        }
        put_bytes(&source->in, bytes, (size_t)n);
    }
}

#define ANSWER_SECONDS 10 /* a server that lives answers sooner; a file may take longer */

/* Waits for bytes; says so on a terminal after a second. */
static bool patience(const struct source *source, struct error *error)
{
    struct pollfd p = {.fd = source->fd, .events = POLLIN};
    for (int second = 0; poll(&p, 1, 1000) == 0; second++) {
        if (!source->is_file && second >= ANSWER_SECONDS) {
            error_set(error, "%s: the server does not answer", source->name);
            return false;
        }
        if (source->is_file && second == 0 && isatty(STDERR_FILENO))
            fprintf(stderr, "reading %s...\n", source->name);
    }
    return true;
}

/* Waits for a message of one type; an ERROR becomes the error. */
static bool expect(struct source *source, unsigned wanted, struct error *error)
{
    unsigned type;
    struct in in;
    if (source->in.size == source->used && !patience(source, error))
        return false;
    while (source_next(source, true, &type, &in, error) > 0) {
        if (type == wanted)
            return true;
        if (type == MESSAGE_ERROR) {
            char *text = get_string(&in, LIMIT_TEXT_BYTES);
            error_set(error, "%s: %s", source->name, text);
            free(text);
            return false;
        }
    }
    return false;
}

bool source_select(struct source *source, const char *run, struct error *error)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_SELECT);
    put_string(&out, run);
    out_end(&out);
    return source_send(source, &out) && expect(source, MESSAGE_SELECTED, error);
}

/* ---- latest ---- */

struct latest {
    char path[PATH_MAX]; /* file, or endpoint */
    struct timespec when;
};

static void consider(struct latest *latest, const char *path, struct timespec when)
{
    if (*latest->path && (when.tv_sec < latest->when.tv_sec ||
                          (when.tv_sec == latest->when.tv_sec &&
                           when.tv_nsec <= latest->when.tv_nsec)))
        return;
    snprintf(latest->path, sizeof latest->path, "%s", path);
    latest->when = when;
}

static void consider_files(struct latest *latest, const char *directory)
{
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX];
        struct stat st;
        size_t n = strlen(e->d_name);
        if (n < 6 || strcmp(e->d_name + n - 5, ".poet") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            consider(latest, strcmp(directory, ".") == 0 ? e->d_name : path, st.st_mtim);
    }
    if (d)
        closedir(d);
}

/* The newest run of a live server counts by the time its file was last written. */
static void consider_server(struct latest *latest, const char *endpoint)
{
    struct source source = {.fd = -1};
    struct error ignored;
    bool absent;
    source.fd = endpoint_connect(endpoint, 500, &absent, &ignored);
    if (source.fd < 0)
        return;
    source.name = strdup(endpoint);
    struct stat st;
    if (say_hello(&source) && expect(&source, MESSAGE_WELCOME, &ignored) &&
        source_select(&source, "", &ignored) && source.book.run.file &&
        stat(source.book.run.file, &st) == 0) {
        st.st_mtim.tv_nsec += st.st_mtim.tv_nsec < 999999999; /* before its own file */
        consider(latest, endpoint, st.st_mtim);
    }
    source_close(&source);
}

static void consider_servers(struct latest *latest)
{
    char directory[256], endpoint[600];
    struct error ignored;
    if (endpoint_default(endpoint, sizeof endpoint, &ignored))
        consider_server(latest, endpoint);
    if (!endpoint_directory(directory, sizeof directory, &ignored))
        return;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, "poet-", 5) != 0 || !strstr(e->d_name, ".sock"))
            continue;
        snprintf(endpoint, sizeof endpoint, "unix:%s/%s", directory, e->d_name);
        consider_server(latest, endpoint);
    }
    if (d)
        closedir(d);
}

static bool find_latest(char *path, size_t size, struct error *error)
{
    struct latest latest = {0};
    char state[PATH_MAX];
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (xdg && *xdg)
        snprintf(state, sizeof state, "%s/poet", xdg);
    else
        snprintf(state, sizeof state, "%s/.local/state/poet", home ? home : "");
    consider_files(&latest, ".");
    consider_files(&latest, state);
    consider_servers(&latest);
    if (!*latest.path) {
        error_set(error, "latest: there is no trace here yet: compile a program with poetcc -trace "
                         "and run it");
        return false;
    }
    snprintf(path, size, "%s", latest.path);
    return true;
}

/* ---- opening ---- */

static bool connect_to(struct source *source, const char *endpoint, struct error *error)
{
    bool absent;
    source->fd = endpoint_connect(endpoint, 2000, &absent, error);
    return source->fd >= 0 && say_hello(source);
}

static bool open_what(struct source *source, char *what, bool select, struct error *error)
{
    char *run = endpoint_is(what) ? strchr(what, '#') : NULL;
    if (run)
        *run++ = 0;
    struct stat st;
    bool ok;
    if (endpoint_is(what)) {
        ok = connect_to(source, what, error);
    } else if (stat(what, &st) < 0) {
        error_set(error, "%s: %s", what, strerror(errno));
        return false;
    } else {
        ok = start_private(source, what, error);
    }
    return ok && expect(source, MESSAGE_WELCOME, error) &&
           (!select || source_select(source, run ? run : "", error));
}

bool source_open(struct source *source, const char *what, bool select, struct error *error)
{
    char path[PATH_MAX];
    *source = (struct source){.fd = -1};
    if (strcmp(what, "latest") == 0) {
        if (!find_latest(path, sizeof path, error))
            return false;
        what = path;
    }
    source->name = strdup(what);
    char *copy = strdup(what);
    bool ok = source->name && copy && open_what(source, copy, select, error);
    free(copy);
    if (!ok)
        source_close(source);
    return ok;
}

bool source_open_default(struct source *source, struct error *error)
{
    char endpoint[400], program[PATH_MAX];
    bool absent;
    *source = (struct source){.fd = -1};
    if (!endpoint_default(endpoint, sizeof endpoint, error))
        return false;
    int fd = endpoint_connect(endpoint, 2000, &absent, error);
    if (fd < 0 && absent) {
        if (!server_program(program, sizeof program, error))
            return false;
        pid_t child = fork();
        if (child == 0) { /* outlives us as long as anybody is connected */
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
        for (int i = 0; i < 200 && fd < 0; i++) { /* until it listens: at most 4 seconds */
            struct timespec pause = {0, 20000000};
            nanosleep(&pause, NULL);
            fd = endpoint_connect(endpoint, 500, &absent, error);
        }
    }
    if (fd < 0)
        return false;
    source->fd = fd;
    source->name = strdup(endpoint);
    if (say_hello(source) && expect(source, MESSAGE_WELCOME, error))
        return true;
    source_close(source);
    return false;
}

void source_close(struct source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    if (source->child > 0)
        waitpid(source->child, NULL, 0);
    out_free(&source->in);
    book_free(&source->book);
    free(source->name);
    *source = (struct source){.fd = -1};
}
