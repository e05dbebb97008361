/* The connection to the event server: finding or starting one, saying who we are,
 * handing over queues.  Runs before main and at thread starts, never on an event. */
#define _GNU_SOURCE
#include "clients/trace/inside.h"
#include "wire/endpoint.h"
#include "wire/limits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t instance;

static int connection = -1;
static struct stat connection_is; /* a program may close every descriptor, ours too */
static _Atomic bool sending; /* a spin lock around the connection */
static unsigned wait_ms = 100;
static uint32_t queue_slots = 4096;
static char environment[64] = "pthread";

unsigned server_wait_ms(void) { return wait_ms; }

void say(const char *format, ...)
{
    char text[1024] = "poet: ";
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text + 6, sizeof text - 8, format, ap);
    va_end(ap);
    if (n < 0 || getenv("POET_QUIET"))
        return;
    size_t size = strlen(text);
    text[size++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, text, size);
    (void)ignored;
}

static unsigned number_from(const char *variable, unsigned otherwise, unsigned low, unsigned high)
{
    const char *s = getenv(variable);
    if (!s || !*s)
        return otherwise;
    char *end;
    unsigned long v = strtoul(s, &end, 10);
    if (*end || v < low || v > high) {
        say("%s=%s: must be a number from %u to %u: using %u", variable, s, low, high, otherwise);
        return otherwise;
    }
    return (unsigned)v;
}

static void lock(void)
{
    spin_take(&sending);
}

static void unlock(void) { spin_give(&sending); }

static bool ours(void)
{
    struct stat st;
    return connection >= 0 && fstat(connection, &st) == 0 && st.st_ino == connection_is.st_ino &&
           st.st_dev == connection_is.st_dev;
}

static void give_up(const char *why)
{
    if (!atomic_exchange(&tracing, false))
        return;
    if (why)
        say("the server is gone (%s): the program goes on untraced", why);
}

/* Sends all of it within a second, or gives tracing up.  Call under the lock. */
static bool send_all(const struct out *out, int descriptor)
{
    if (out->failed)
        return false;
    if (!ours()) {
        give_up("the program closed the connection");
        return false;
    }
    for (size_t sent = 0; sent < out->size;) {
        struct iovec iov = {out->data + sent, out->size - sent};
        char control[CMSG_SPACE(sizeof(int))] = {0};
        struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
        if (descriptor >= 0 && sent == 0) {
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            struct cmsghdr *c = CMSG_FIRSTHDR(&message);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
        }
        ssize_t n = sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            sent += (size_t)n;
            continue;
        }
        struct pollfd p = {.fd = connection, .events = POLLOUT};
        if (errno == EINTR || (errno == EAGAIN && poll(&p, 1, 1000) == 1))
            continue;
        give_up(strerror(errno));
        return false;
    }
    return true;
}

/* ---- queues ---- */

static bool make_queue(struct thread *t)
{
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)queue_slots * SLOT_BYTES;
    int fd = memfd_create("poet-queue", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *p = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    t->queue = p;
    t->slots = (struct slot *)((char *)p + QUEUE_HEAD_BYTES);
    t->mask = queue_slots - 1;
    t->queue->magic = QUEUE_MAGIC;
    t->queue->version = WIRE_VERSION;
    t->queue->slots = queue_slots;
    t->queue->clock = clock_ticks ? QUEUE_CLOCK_TICKS : QUEUE_CLOCK_NS;
    atomic_store(&t->queue->asleep, 1);
    struct out out = {0};
    out_begin(&out, MESSAGE_THREAD);
    put_u32(&out, queue_slots);
    out_end(&out);
    lock();
    bool sent = send_all(&out, fd);
    unlock();
    out_free(&out);
    close(fd);
    if (!sent)
        munmap(p, bytes);
    return sent;
}

bool server_queue(struct thread *t)
{
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    bool made = make_queue(t);
    pthread_setcancelstate(cancelling, NULL);
    return made;
}

void server_queue_done(struct thread *t)
{
    atomic_store_explicit(&t->queue->done, 1, memory_order_release);
    munmap(t->queue, QUEUE_HEAD_BYTES + (size_t)queue_slots * SLOT_BYTES);
    t->queue = NULL;
    t->slots = NULL;
}

void server_wake(void)
{
    static const uint8_t wake[MESSAGE_FRAME_BYTES] = {
        0, 0, 0, 0, MESSAGE_WAKE, 0, MESSAGE_MARK & 0xff, MESSAGE_MARK >> 8};
    int cancelling; /* send() is a cancellation point, a lock is not */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    lock();
    if (!ours())
        give_up("the program closed the connection");
    else if (send(connection, wake, sizeof wake, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN &&
        errno != EINTR)
        give_up(strerror(errno));
    unlock();
    pthread_setcancelstate(cancelling, NULL);
}

bool server_alive(void) { return atomic_load_explicit(&tracing, memory_order_relaxed); }

/* ---- who we are ---- */

static void put_arguments(struct out *out)
{
    char text[16384];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    uint32_t count = 0;
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(text + i) + 1)
        count++;
    put_u32(out, count);
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(text + i) + 1) {
        char argument[LIMIT_TEXT_BYTES];
        snprintf(argument, sizeof argument, "%s", text + i);
        put_string(out, argument);
    }
}

/* The run that this process belongs to: inherited, or begun here. */
static const char *run_name(void)
{
    static char name[256];
    const char *inherited = getenv("POET_RUN");
    if (inherited && *inherited) {
        snprintf(name, sizeof name, "%s", inherited);
    } else {
        snprintf(name, sizeof name, "%.200s@%016llx", program_invocation_short_name,
                 (unsigned long long)instance);
        setenv("POET_RUN", name, 1);
    }
    return name;
}

static void put_hello(struct out *out)
{
    char host[256] = "", path[PATH_MAX] = "";
    gethostname(host, sizeof host - 1);
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    out_begin(out, MESSAGE_HELLO);
    put_u32(out, HELLO_MAGIC);
    put_u32(out, WIRE_VERSION);
    put_u8(out, ROLE_PROGRAM);
    put_string(out, run_name());
    put_string(out, environment);
    put_string(out, path);
    put_string(out, host);
    put_u32(out, (uint32_t)getpid());
    put_u64(out, instance);
    put_u64(out, clock_now());
    put_u64(out, (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec);
    put_arguments(out);
    out_end(out);
}

/* ---- starting a server ---- */

static bool executable(const char *path) { return access(path, X_OK) == 0; }

static bool find_server(char *path, size_t size)
{
    const char *named = getenv("POET_SERVER_PROGRAM");
    if (named && *named) {
        snprintf(path, size, "%s", named);
        return executable(path);
    }
    Dl_info info;
    char *slash;
    if (dladdr((void *)(uintptr_t)find_server, &info) && info.dli_fname) {
        snprintf(path, size, "%s", info.dli_fname);
        for (int i = 0; i < 2 && (slash = strrchr(path, '/')) != NULL; i++)
            *slash = 0;
        size_t n = strlen(path);
        snprintf(path + n, size - n, "/libexec/poet/poet-server");
        if (executable(path))
            return true;
    }
    const char *search = getenv("PATH");
    for (const char *at = search; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(path, size, "%.*s/poet-server", (int)strcspn(at, ":"), at);
        if (executable(path))
            return true;
    }
    return false;
}

/* In the grandchild: nothing of the program's may stay open, or whoever waits for
 * its output to end would wait for the server. */
static void become_server(const char *program, const char *file, const char *endpoint, int fd)
{
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    dup2(fd, 3);
    syscall(SYS_close_range, 4u, ~0u, 0u);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN);
    unsetenv("LD_PRELOAD");
    if (!getenv("POET_KEEP"))
        setenv("POET_KEEP", "1G", 1);
    execl(program, program, "--client", "3", "--once", "-o", file, "-l", endpoint, (char *)NULL);
    _exit(127);
}

/* A server of our own, that no wait() of the program can see. */
static bool start_server(char *file, size_t file_size, char *endpoint, size_t endpoint_size)
{
    char program[PATH_MAX], directory[256];
    struct error error;
    int pair[2];
    if (!find_server(program, sizeof program)) {
        say("no server is running and poet-server was not found: the program runs untraced "
            "(set POET_SERVER_PROGRAM, or POET_SERVER=none to say so)");
        return false;
    }
    if (!endpoint_directory(directory, sizeof directory, &error)) {
        say("%s", error.text);
        return false;
    }
    const char *wanted = getenv("POET_OUTPUT");
    if (wanted && *wanted)
        snprintf(file, file_size, "%s", wanted);
    else
        snprintf(file, file_size, "%.200s.%d.poet", program_invocation_short_name, (int)getpid());
    snprintf(endpoint, endpoint_size, "unix:%s/poet-%d.sock", directory, (int)getpid());
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    long child = syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL); /* a fork without SIGCHLD */
    if (child == 0) {
        setsid();
        if (syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL) == 0)
            become_server(program, file, endpoint, pair[1]);
        _exit(0);
    }
    close(pair[1]);
    if (child < 0) {
        close(pair[0]);
        return false;
    }
    while (waitpid((pid_t)child, NULL, __WALL) < 0 && errno == EINTR)
        ;
    connection = pair[0];
    return true;
}

/* Reads the server's WELCOME or ERROR; waits at most two seconds. */
static bool read_welcome(const char *where)
{
    uint8_t data[1024];
    size_t size = 0, length = 0;
    unsigned type = 0;
    const char *error = "no answer";
    for (uint64_t begin = clock_now(); clock_now() - begin < 2000000000u;) {
        struct pollfd p = {.fd = connection, .events = POLLIN};
        poll(&p, 1, 100);
        ssize_t n = recv(connection, data + size, sizeof data - size, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            error = n ? strerror(errno) : "it hung up";
            break;
        }
        size += n > 0 ? (size_t)n : 0;
        int got = frame_read(data, size, sizeof data, &type, &length, &error);
        if (got < 0)
            break;
        if (got == 0)
            continue;
        if (type == MESSAGE_WELCOME)
            return true;
        struct in in = in_from(data + MESSAGE_FRAME_BYTES, length);
        uint32_t n_text = get_u32(&in);
        const uint8_t *text = get_bytes(&in, n_text);
        say("%s: %.*s: the program runs untraced", where, (int)(text ? n_text : 0),
            text ? (const char *)text : "");
        return false;
    }
    say("%s: %s: the program runs untraced", where, error);
    return false;
}

void server_forget(void)
{
    atomic_store(&tracing, false);
    if (ours())
        close(connection);
    connection = -1;
    atomic_store(&sending, false);
}

static void put_first(struct out *out)
{
    put_hello(out);
    modules_announce(out);
    codes_announce(out);
}

void server_start(void)
{
    const char *named = getenv("POET_SERVER");
    if (named && strcmp(named, "none") == 0)
        return;
    const char *chosen = getenv("POET_ENVIRONMENT");
    if (chosen && *chosen)
        snprintf(environment, sizeof environment, "%s", chosen);
    wait_ms = number_from("POET_WAIT_MS", 100, 0, 10000);
    unsigned kib = number_from("POET_QUEUE_KIB", 256, 16, LIMIT_QUEUE_BYTES >> 10);
    for (queue_slots = 256; (size_t)queue_slots * 2 * SLOT_BYTES <= (size_t)kib * 1024;)
        queue_slots *= 2;
    if (getrandom(&instance, sizeof instance, GRND_NONBLOCK) != sizeof instance)
        instance = clock_now() ^ ((uint64_t)getpid() << 40);
    char endpoint[400], file[PATH_MAX] = "";
    struct error error;
    bool absent = false;
    if (!endpoint_default(endpoint, sizeof endpoint, &error)) {
        say("%s", error.text);
        return;
    }
    if (strncmp(endpoint, "unix:", 5) != 0) {
        say("%s: a program is traced over a Unix socket only: set POET_SERVER=unix:PATH", endpoint);
        return;
    }
    const char *output = getenv("POET_OUTPUT"); /* asks for a server of its own */
    if (output && *output)
        absent = true;
    else
        connection = endpoint_connect(endpoint, 1000, &absent, &error);
    if (connection < 0 && (!absent || (named && *named))) {
        say("%s: the program runs untraced", error.text);
        return;
    }
    if (connection < 0 && !start_server(file, sizeof file, endpoint, sizeof endpoint))
        return;
    /* Out of the way of programs that count on low numbers. */
    int high = fcntl(connection, F_DUPFD_CLOEXEC, 512);
    if (high >= 0) {
        close(connection);
        connection = high;
    }
    fstat(connection, &connection_is);
    atomic_store(&tracing, true);
    struct out out = {0};
    put_first(&out);
    bool sent = send_all(&out, -1);
    out_free(&out);
    if (!sent || !read_welcome(*file ? "its own server" : endpoint)) {
        server_forget();
        return;
    }
    if (*file) {
        setenv("POET_SERVER", endpoint, 1); /* for those that this program starts */
        unsetenv("POET_OUTPUT");
        say("no server was running: tracing into %s (its newest %s); see it with: poet view %s", file,
            getenv("POET_KEEP") ? getenv("POET_KEEP") : "1 GB", file);
    }
}

static void after_fork(void)
{
    server_forget();
    thread_forget();
}

static void start(void) __attribute__((constructor(200)));
static void start(void)
{
    int saved = errno;
    real_find();
    modules_begin();
    clock_begin();
    server_start();
    if (atomic_load(&tracing))
        life_begin_main();
    pthread_atfork(NULL, NULL, after_fork);
    errno = saved;
}

static void stop(void) __attribute__((destructor(200)));
static void stop(void)
{
    if (!atomic_load(&tracing))
        return;
    life_end_main();
    if (!atomic_load(&recorded) && !modules_under_record())
        say("no event was recorded: no file of this program that uses threads was compiled with "
            "-trace; compile each with: poetcc -trace");
    else if (!atomic_load(&recorded) && atomic_load(&library_threads))
        say("no call of the program itself was recorded, but its libraries start threads: see them "
            "with: poet record --libraries");
}
