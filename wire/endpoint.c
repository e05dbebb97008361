#define _GNU_SOURCE
#include "wire/endpoint.h"

#include "wire/message.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
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
    return strncmp(s, "unix:", 5) == 0 || strncmp(s, "tcp:", 4) == 0 || endpoint_is_far(s);
}

bool endpoint_is_far(const char *s) { return strncmp(s, "poet://", 7) == 0; }

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
        error_set(error, "%s: is not a directory of your own with mode 0700: remove it", path);
        return false;
    }
    return true;
}

bool endpoint_default(char *endpoint, size_t size, struct error *error)
{
    const char *named = secure_getenv("POET_SERVER");
    if (named && endpoint_is(named)) {
        if ((size_t)snprintf(endpoint, size, "%s", named) < size)
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

static bool unix_address(const char *endpoint, struct sockaddr_un *sun, struct error *error)
{
    const char *path = endpoint + 5;
    *sun = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path) {
        error_set(error, "%s: no path: write unix:/path/to/socket", endpoint);
        return false;
    }
    if (strlen(path) >= sizeof sun->sun_path) {
        error_set(error,
                  "%s: a socket path has at most %zu bytes, this one has %zu: choose a shorter one "
                  "with -l unix:PATH or POET_SERVER=unix:PATH",
                  endpoint, sizeof sun->sun_path - 1, strlen(path));
        return false;
    }
    memcpy(sun->sun_path, path, strlen(path));
    return true;
}

const char *endpoint_token(void)
{
    const char *token = secure_getenv("POET_TOKEN");
    size_t n = token ? strlen(token) : 0;
    return n >= 8 && n <= 255 ? token : NULL;
}

bool endpoint_is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)sa;
        return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
    }
    const struct sockaddr_in6 *in6 = (const void *)sa;
    return sa->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

#if defined(POET_STATIC) /* where names of hosts cannot be looked up */
static struct addrinfo *tcp_address(const char *endpoint, struct error *error)
{
    error_set(error, "%s: a static program is traced over a Unix socket only", endpoint);
    return NULL;
}
#define freeaddrinfo(found) ((void)(found))
#else
static struct addrinfo *tcp_address(const char *endpoint, struct error *error)
{
    char host[256];
    bool far = endpoint_is_far(endpoint);
    const char *at = endpoint + (far ? 7 : 4), *colon = strrchr(at, ':');
    if (!colon || colon == at || !colon[1] || (size_t)(colon - at) >= sizeof host) {
        error_set(error, "%s: write %sHOST:PORT", endpoint, far ? "poet://" : "tcp:");
        return NULL;
    }
    snprintf(host, sizeof host, "%.*s", (int)(colon - at), at);
    size_t n = strlen(host);
    if (host[0] == '[' && host[n - 1] == ']') {
        memmove(host, host + 1, n - 2);
        host[n - 2] = 0;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int e = getaddrinfo(host, colon + 1, &hints, &found);
    if (e) {
        error_set(error, "%s: %s%s", endpoint, gai_strerror(e),
                  far ? ": look at the host's name and the port, or write the host's address" : "");
        return NULL;
    }
    if (!far && !endpoint_is_loopback(found->ai_addr) && !endpoint_token()) {
        error_set(
            error,
            "%s: only the loopback addresses are served without a secret: set POET_TOKEN to the same "
            "text (8 to 255 bytes) on both sides, or use tcp:127.0.0.1:PORT through an ssh tunnel",
            endpoint);
        freeaddrinfo(found);
        return NULL;
    }
    return found;
}
#endif

bool endpoint_address(const char *endpoint, struct sockaddr_storage *address, size_t *size,
                      struct error *error)
{
    struct sockaddr_un sun;
    *address = (struct sockaddr_storage){0};
    if (strncmp(endpoint, "unix:", 5) == 0) {
        if (!unix_address(endpoint, &sun, error))
            return false;
        memcpy(address, &sun, *size = sizeof sun);
        return true;
    }
    struct addrinfo *tcp = tcp_address(endpoint, error);
    if (!tcp)
        return false;
    memcpy(address, tcp->ai_addr, *size = tcp->ai_addrlen);
    freeaddrinfo(tcp);
    return true;
}

/* Over TCP the first message is the secret, where there is one. */
static bool send_token(int fd)
{
    uint8_t bytes[300];
    struct out out = {.data = bytes, .room = sizeof bytes};
    if (!endpoint_token())
        return true;
    out_begin(&out, MESSAGE_TOKEN);
    put_string(&out, endpoint_token());
    out_end(&out);
    return send(fd, out.data, out.size, MSG_NOSIGNAL) == (ssize_t)out.size;
}

static int connect_within(int fd, const struct sockaddr *sa, socklen_t size, int timeout_ms)
{
    if (connect(fd, sa, size) == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EAGAIN)
        return -1;
    if (errno == EAGAIN) { /* a Unix socket whose backlog is full */
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

/* Whoever listens on a Unix socket takes all that it is told: it must be the user, or root. */
static bool is_own_server(int fd, const char *endpoint, struct error *error)
{
    struct ucred other = {0};
    socklen_t size = sizeof other;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
        (other.uid == geteuid() || other.uid == 0))
        return true;
    error_set(error, "%s: the server there is another user's (%u): not used", endpoint,
              (unsigned)other.uid);
    return false;
}

int endpoint_connect(const char *endpoint, int timeout_ms, bool *absent, struct error *error)
{
    struct sockaddr_un sun;
    struct addrinfo *tcp = NULL;
    *absent = false;
    if (endpoint_is_far(endpoint)) {
        error_set(error, "%s: programs reach it by an agent on their machine: poet server --to %s",
                  endpoint, endpoint);
        return -1;
    }
    bool local = strncmp(endpoint, "unix:", 5) == 0;
    if (local ? !unix_address(endpoint, &sun, error) : !(tcp = tcp_address(endpoint, error)))
        return -1;
    int family = local ? AF_UNIX : tcp->ai_family;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int e = fd < 0 ? -1
                   : connect_within(fd, local ? (void *)&sun : (void *)tcp->ai_addr,
                                    local ? (socklen_t)sizeof sun : tcp->ai_addrlen, timeout_ms);
    if (e == 0 && !local && !send_token(fd))
        e = -1;
    if (e == 0 && local && !is_own_server(fd, endpoint, error)) {
        close(fd);
        return -1;
    }
    if (e < 0) {
        *absent = errno == ENOENT || errno == ECONNREFUSED;
        if (*absent)
            error_set(error, "%s: no server is listening there", endpoint);
        else
            error_set(error, "%s: %s", endpoint, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    if (tcp)
        freeaddrinfo(tcp);
    return fd;
}

static int listen_unix(const char *endpoint, struct error *error)
{
    struct sockaddr_un sun;
    if (!unix_address(endpoint, &sun, error))
        return -1;
    bool absent;
    struct error ignored;
    int other = endpoint_connect(endpoint, 200, &absent, &ignored);
    if (other >= 0 || !absent) {
        if (other >= 0)
            close(other);
        error_set(error, "%s: another server is listening there", endpoint);
        return -1;
    }
    struct stat st;
    if (lstat(sun.sun_path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode)) {
            error_set(error, "%s: is there and is not a socket", endpoint);
            return -1;
        }
        unlink(sun.sun_path); /* stale: nobody answered */
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(077);
    int e = fd < 0 ? -1 : bind(fd, (void *)&sun, sizeof sun);
    umask(mask);
    if (e < 0 || listen(fd, 128) < 0) {
        error_set(error, "%s: %s", endpoint, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

int endpoint_listen(const char *endpoint, struct error *error)
{
    if (strncmp(endpoint, "unix:", 5) == 0)
        return listen_unix(endpoint, error);
    if (strncmp(endpoint, "tcp:", 4) != 0 && !endpoint_is_far(endpoint)) {
        error_set(error, "%s: write unix:PATH, poet://HOST:PORT or tcp:HOST:PORT", endpoint);
        return -1;
    }
    struct addrinfo *tcp = tcp_address(endpoint, error);
    if (!tcp)
        return -1;
    int fd = socket(tcp->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, tcp->ai_addr, tcp->ai_addrlen) < 0 || listen(fd, 128) < 0) {
        error_set(error, "%s: %s", endpoint, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(tcp);
    return fd;
}
