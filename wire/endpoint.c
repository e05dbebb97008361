#define _GNU_SOURCE
#include "wire/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

void error_set(struct error *error, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(error->text, sizeof error->text, format, ap);
    va_end(ap);
}

bool endpoint_is(const char *s)
{
    return strncmp(s, "unix:", 5) == 0 || strncmp(s, "tcp:", 4) == 0 || endpoint_is_remote(s);
}

bool endpoint_is_remote(const char *s) { return strncmp(s, "poet://", 7) == 0; }

/* Is it HOST:PORT, without a path or a scheme? */
static bool is_host_and_port(const char *s)
{
    const char *colon = strrchr(s, ':');
    bool plain = colon && colon > s && (s[0] == '[' || memchr(s, ':', (size_t)(colon - s)) == NULL);
    return plain && !endpoint_is(s) && !strchr(s, '/') && colon[1] &&
           colon[1 + strspn(colon + 1, "0123456789")] == 0;
}

bool endpoint_is_other_host(const char *s, char *target, size_t size)
{
    bool host = is_host_and_port(s);
    if (!host && !strstr(s, "://"))
        return false;
    return (size_t)snprintf(target, size, "%s%s", host ? "poet://" : "", s) < size;
}

bool endpoint_directory(char *path, size_t size, struct error *error)
{
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime == '/') {
        if ((size_t)snprintf(path, size, "%s", runtime) < size)
            return true;
        error_set(error, "XDG_RUNTIME_DIR is too long");
        return false;
    }
    snprintf(path, size, "/tmp/poet-%u", (unsigned)getuid());
    if (mkdir(path, 0700) < 0 && errno != EEXIST) {
        error_set(error, "%s: %s", path, strerror(errno));
        return false;
    }
    struct stat st;
    if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != getuid() ||
        (st.st_mode & 077)) {
        error_set(error, "%s: not a directory owned by you with mode 0700; remove it", path);
        return false;
    }
    return true;
}

bool endpoint_default(char *endpoint, size_t size, struct error *error)
{
    const char *named = secure_getenv("POET_SERVER");
    bool host = named && is_host_and_port(named);
    if (named && (host || endpoint_is(named))) {
        if ((size_t)snprintf(endpoint, size, "%s%s", host ? "poet://" : "", named) < size)
            return true;
        error_set(error, "POET_SERVER is too long");
        return false;
    }
    char directory[256];
    if (!endpoint_directory(directory, sizeof directory, error))
        return false;
    snprintf(endpoint, size, "unix:%s/poet.sock", directory);
    return true;
}

bool endpoint_unix(const char *endpoint, struct sockaddr_un *sun, struct error *error)
{
    const char *path = endpoint + 5;
    *sun = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path) {
        error_set(error, "%s: missing path; use unix:/path/to/socket", endpoint);
        return false;
    }
    if (strlen(path) >= sizeof sun->sun_path) {
        error_set(
            error,
            "%s: socket path too long (at most %zu bytes, this one has %zu); use a shorter one "
            "with -l unix:PATH or POET_SERVER=unix:PATH",
            endpoint, sizeof sun->sun_path - 1, strlen(path));
        return false;
    }
    memcpy(sun->sun_path, path, strlen(path));
    return true;
}

static int connect_within(int fd, const struct sockaddr *sa, socklen_t size, int timeout_ms)
{
    if (connect(fd, sa, size) == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EAGAIN)
        return -1;
    if (errno == EAGAIN) { /* a Unix socket with a full backlog */
        errno = ETIMEDOUT;
        return -1;
    }
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n = poll(&p, 1, timeout_ms);
    if (n <= 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    int e = 0;
    socklen_t es = sizeof e;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &es);
    errno = e;
    return e ? -1 : 0;
}

#define NO_USER 65534u /* the uid of all users that a user namespace does not map */

bool endpoint_has_user(unsigned user)
{
    static const char all_mapped[] = "         0          0 4294967295";
    /* 1: all users are mapped, 2: not all are; cached, since the program may later deny itself
     * access to files */
    static _Atomic int known;
    char map[64];
    if (user != NO_USER)
        return true;
    int cached = atomic_load(&known);
    if (cached)
        return cached == 1;
    int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, map, sizeof map) : 0;
    if (fd >= 0)
        close(fd);
    cached =
        n >= (ssize_t)sizeof all_mapped - 1 && memcmp(map, all_mapped, sizeof all_mapped - 1) == 0;
    atomic_store(&known, cached ? 1 : 2);
    return cached;
}

/* Checks that the server belongs to the user or to root, since it receives everything that is
 * sent. */
static bool is_own_server(int fd, const char *endpoint, struct error *error)
{
    struct ucred other = {0};
    socklen_t size = sizeof other;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
        ((other.uid == geteuid() && endpoint_has_user(other.uid)) || other.uid == 0))
        return true;
    if (endpoint_has_user(other.uid))
        error_set(
            error,
            "%s: the server is owned by another user (%u): not used; run both as the same user",
            endpoint, (unsigned)other.uid);
    else
        error_set(error,
                  "%s: the server is owned by a user that this user namespace does not have: not "
                  "used; map that user into it, or run both in one",
                  endpoint);
    return false;
}

int endpoint_connect(const char *endpoint, int timeout_ms, bool *absent, struct error *error)
{
    struct sockaddr_un sun;
    *absent = false;
    if (endpoint_is_remote(endpoint)) {
        error_set(error, "%s: programs connect through an agent on their host: poet server --to %s",
                  endpoint, endpoint);
        return -1;
    }
    if (strncmp(endpoint, "unix:", 5) != 0) {
        error_set(error, ENDPOINT_CLEAR, endpoint);
        return -1;
    }
    if (!endpoint_unix(endpoint, &sun, error))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int e = fd < 0 ? -1 : connect_within(fd, (void *)&sun, (socklen_t)sizeof sun, timeout_ms);
    if (e == 0 && !is_own_server(fd, endpoint, error)) {
        close(fd);
        return -1;
    }
    if (e < 0) {
        *absent = errno == ENOENT || errno == ECONNREFUSED;
        if (*absent)
            error_set(error, "%s: no server is listening there", endpoint);
        else if (errno == EACCES)
            error_set(error, "%s: %s: owned by another user; run both as the same user", endpoint,
                      strerror(errno));
        else
            error_set(error, "%s: %s", endpoint, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    return fd;
}
