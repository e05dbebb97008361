/* File descriptors that get input from outside of the run: files, devices, named objects,
 * connections to other machines, and the descriptors that the first program of a run inherited; but
 * not pipes and socketpairs that the run created itself. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/external_fds.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INHERITED 3u /* descriptors that may be pipes from outside: the standard ones */
#define PIPES 0x50495045 /* what statfs(2) calls the file system of pipes without names */

static struct {
    dev_t device;
    ino_t inode;
    bool is;
} inherited[INHERITED];

void external_fd_add_inherited(void)
{
    struct stat st;
    int saved = errno;
    for (unsigned i = 0; i < INHERITED; i++)
        if (fstat((int)i, &st) == 0) {
            inherited[i].device = st.st_dev;
            inherited[i].inode = st.st_ino;
            inherited[i].is = true;
        }
    errno = saved;
}

static bool is_inherited(const struct stat *st)
{
    for (unsigned i = 0; i < INHERITED; i++)
        if (inherited[i].is && inherited[i].device == st->st_dev &&
            inherited[i].inode == st->st_ino)
            return true;
    return false;
}

static bool is_named_pipe(int fd)
{
    struct statfs fs;
    return syscall(SYS_fstatfs, fd, &fs) == 0 && fs.f_type != PIPES;
}

bool external_fd_is_remote_sender(const struct sockaddr_storage *sender)
{
    const struct sockaddr_in *four = (const void *)sender;
    const struct sockaddr_in6 *six = (const void *)sender;
    if (sender->ss_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
    return sender->ss_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) &&
           !(IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) && six->sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

static bool external_fd_get_peer(int fd, struct sockaddr_storage *peer)
{
    socklen_t size = sizeof *peer;
    *peer = (struct sockaddr_storage){0};
    return getpeername(fd, (struct sockaddr *)peer, &size) == 0;
}

static bool external_fd_is_remote(int fd)
{
    struct sockaddr_storage peer;
    return external_fd_get_peer(fd, &peer) && external_fd_is_remote_sender(&peer);
}

/* Returns -1 if it is not a socket. */
static int external_fd_socket_number(int fd, int option)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool external_fd_is_per_sender(int fd)
{
    struct sockaddr_storage peer;
    int saved = errno, domain = external_fd_socket_number(fd, SO_DOMAIN);
    bool is = (domain == AF_INET || domain == AF_INET6) &&
              external_fd_socket_number(fd, SO_TYPE) == SOCK_DGRAM &&
              !external_fd_get_peer(fd, &peer);
    errno = saved;
    return is;
}

bool external_fd_is_external(int fd)
{
    struct stat st;
    int saved = errno;
    bool is = fstat(fd, &st) == 0 &&
              (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ||
               (S_ISFIFO(st.st_mode) && (is_inherited(&st) || is_named_pipe(fd))) ||
               (S_ISSOCK(st.st_mode) && (is_inherited(&st) || external_fd_is_remote(fd))));
    errno = saved;
    return is;
}

void external_fd_skip(int fd, int64_t bytes)
{
    struct stat st;
    int saved = errno;
    off_t at =
        bytes > 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && at < st.st_size)
        lseek(fd, at + bytes < st.st_size ? at + (off_t)bytes : st.st_size, SEEK_SET);
    errno = saved;
}
