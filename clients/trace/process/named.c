/* Unix sockets by name.  Both streams of a connection are called by the inode of the socket that connects:
 * it knows that by itself, and the other side asks the kernel who its peer is (sock_diag(7)). */
#define _GNU_SOURCE
#include "clients/trace/process/inside.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { NAMED_LISTENER = 20, NAMED_END, NAMED_STREAM };

static uint64_t way(uint64_t inode, bool to_listener) { return mix(mix(NAMED_STREAM, inode), to_listener); }

/* The file that stands for it, or its abstract name; 0: none. */
static uint64_t name_of(const struct sockaddr *at, socklen_t size)
{
    const struct sockaddr_un *un = (const void *)at;
    char path[sizeof un->sun_path + 1] = "";
    struct stat st;
    size_t length = size > offsetof(struct sockaddr_un, sun_path) ? size - offsetof(struct sockaddr_un, sun_path) : 0;
    if (length == 0 || length > sizeof un->sun_path)
        return 0;
    memcpy(path, un->sun_path, length);
    if (*path)
        return stat(path, &st) == 0 ? mix(mix(NAMED_LISTENER, st.st_dev), st.st_ino) : 0;
    uint64_t key = NAMED_LISTENER;
    for (size_t i = 1; i < length; i++)
        key = mix(key, (unsigned char)path[i]);
    return key;
}

static void set_end(int fd, uint64_t inode, bool connects)
{
    uint64_t cookie;
    uint64_t *end = cookie_of(fd, &cookie) ? poet_counter(mix(NAMED_END, cookie), true) : NULL;
    if (end)
        STORE(end, inode << 1 | connects);
}

uint64_t named_end(uint64_t cookie, bool out)
{
    const uint64_t *end = poet_counter(mix(NAMED_END, cookie), false);
    uint64_t is = end ? LOAD(end) : 0;
    return is ? way(is >> 1, (is & 1) == (out ? 1 : 0)) : 0;
}

void named_listen(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = name_of(at, size);
    uint64_t *there = key ? poet_counter(key, true) : NULL;
    if (there)
        STORE(there, 1);
}

static bool is_ours(const struct sockaddr *at, socklen_t size)
{
    uint64_t key = name_of(at, size);
    return key && poet_counter(key, false);
}

static uint64_t inode_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Before the other side can write. */
void named_connecting(int fd, const struct sockaddr *to, socklen_t size)
{
    uint64_t inode = is_ours(to, size) ? inode_of(fd) : 0;
    if (!inode)
        return;
    stream_make(way(inode, true));
    stream_make(way(inode, false));
    set_end(fd, inode, true);
}

/* ---- who the peer is ---- */

static uint64_t peer_in(const struct nlmsghdr *h)
{
    const struct unix_diag_msg *m = NLMSG_DATA(h);
    int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof *m));
    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || left < 0)
        return 0;
    for (const struct rtattr *a = (const void *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(uint32_t)) {
            uint32_t inode;
            memcpy(&inode, RTA_DATA(a), sizeof inode);
            return inode;
        }
    return 0;
}

static uint64_t peer_of(uint64_t inode)
{
    struct {
        struct nlmsghdr h;
        struct unix_diag_req r;
    } ask = {{.nlmsg_len = sizeof ask, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
             {.sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_ino = (uint32_t)inode,
              .udiag_show = UDIAG_SHOW_PEER, .udiag_cookie = {~0u, ~0u}}};
    _Alignas(struct nlmsghdr) char answer[1024];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t n = -1;
    if (fd >= 0 && sendto(fd, &ask, sizeof ask, 0, (struct sockaddr *)&kernel, sizeof kernel) == (ssize_t)sizeof ask)
        n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
    const struct nlmsghdr *h = (const void *)answer;
    return n >= (ssize_t)sizeof *h && NLMSG_OK(h, (size_t)n) ? peer_in(h) : 0;
}

void named_accepted(const struct sockaddr *at, socklen_t size, int fd)
{
    if (!is_ours(at, size))
        return;
    uint64_t inode = peer_of(inode_of(fd));
    if (inode)
        set_end(fd, inode, false);
    else
        poet_unseen("Unix sockets by name, whose peers the kernel does not tell");
}
