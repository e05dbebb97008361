/* ring ME ALL ROUNDS [ONE-WAY]: datagrams to the next process and back, each with a key. */
#include <arpa/inet.h>
#include <poet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int port_of(int fd)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &size);
    return ntohs(at.sin_port);
}
int main(int argc, char **argv)
{
    int me = atoi(argv[1]), all = atoi(argv[2]), rounds = atoi(argv[3]), one_way = argc > 4;
    int fd = socket(AF_INET, SOCK_DGRAM, 0), port = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(fd, (struct sockaddr *)&at, sizeof at);
    char name[32];
    snprintf(name, sizeof name, "port.%d.new", me);
    FILE *f = fopen(name, "w");
    fprintf(f, "%d", port_of(fd));
    fclose(f);
    char is[32];
    snprintf(is, sizeof is, "port.%d", me);
    rename(name, is);
    int next = (me + 1) % all;
    snprintf(is, sizeof is, "port.%d", next);
    while (!port) {
        f = fopen(is, "r");
        if (!f || fscanf(f, "%d", &port) != 1)
            usleep(1000);
        if (f)
            fclose(f);
    }
    at.sin_port = htons((unsigned short)port);
    poet_environment("actors");
    poet_line_t line = poet_line("actor", is, NULL, 0);
    poet_type_t sends = poet_type("send", NULL), receives = poet_type("receive", NULL);
    for (long i = 0; i < rounds; i++) { /* round and round, each waits for its turn */
        long got = i;
        if (me || (i && !one_way)) {
            if (recv(fd, &got, sizeof got, 0) != sizeof got)
                return 1;
            poet_receive_key(line, receives, 128, (uint64_t)(got * all + (me + all - 1) % all));
        }
        if (i % 16 == 0)
            usleep(2000);
        if (one_way && me == all - 1)
            continue;
        poet_send_key(line, sends, 128, (uint64_t)(i * all + me));
        sendto(fd, &i, sizeof i, 0, (struct sockaddr *)&at, sizeof at);
    }
    if (!me && !one_way) {
        long got;
        recv(fd, &got, sizeof got, 0);
        poet_receive_key(line, receives, 128, (uint64_t)(got * all + all - 1));
    }
    while (access("go", F_OK) != 0) /* all are there */
        usleep(1000);
    return 0;
}
