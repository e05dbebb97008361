/* What the kernel alone knows of a socket. */
#define _GNU_SOURCE
#include "clients/trace/process/socket.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

bool cookie_of(int fd, uint64_t *cookie)
{
    socklen_t size = sizeof *cookie;
    return getsockopt(fd, SOL_SOCKET, SO_COOKIE, cookie, &size) == 0;
}

/* ---- who the peer is (sock_diag(7)) ---- */

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

uint64_t peer_of(uint64_t inode)
{
    struct {
        struct nlmsghdr h;
        struct unix_diag_req r;
    } ask = {
        {.nlmsg_len = sizeof ask, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        {.sdiag_family = AF_UNIX,
         .udiag_states = ~0u,
         .udiag_ino = (uint32_t)inode,
         .udiag_show = UDIAG_SHOW_PEER,
         .udiag_cookie = {~0u, ~0u}}};
    _Alignas(struct nlmsghdr) char answer[1024];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t n = -1;
    if (fd >= 0 && sendto(fd, &ask, sizeof ask, 0, (struct sockaddr *)&kernel, sizeof kernel) ==
                       (ssize_t)sizeof ask)
        n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
    const struct nlmsghdr *h = (const void *)answer;
    return n >= (ssize_t)sizeof *h && NLMSG_OK(h, (size_t)n) ? peer_in(h) : 0;
}
