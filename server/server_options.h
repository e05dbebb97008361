/* Command-line options of the server. */
#ifndef SERVER_SERVER_OPTIONS_H
#define SERVER_SERVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTENERS_MAX 64u

struct server_options {
    const char *listens[LISTENERS_MAX]; /* endpoints; none: the default one */
    size_t listen_count;
    const char *to;      /* it is an agent of the server there; NULL: it orders itself */
    const char *from;    /* it reads a run from NATS there; NULL none */
    char **merged;       /* files that are ordered together, then it ends; NULL none */
    size_t merged_count;
    const char *output;  /* FILE or DIR/, NULL: the default directory */
    uint64_t keep_bytes; /* 0: everything */
    int client;          /* the descriptor of the one client that started it, -1 none */
    const char *file;    /* the one trace that it is about, NULL none */
    bool stdio, once, quiet, merge;
};

/* -1: read; else the exit status, with everything said. */
int server_options_read(struct server_options *options, int argc, char **argv);

#endif
