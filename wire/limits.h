/* Limits on all input from outside. */
#ifndef WIRE_LIMITS_H
#define WIRE_LIMITS_H

#define LIMIT_MESSAGE_BYTES (1u << 20)  /* one message to the server */
#define LIMIT_ANSWER_BYTES (256u << 20) /* one message from the server */
#define LIMIT_TEXT_BYTES 4096u          /* one name, text or path */
#define LIMIT_PAYLOAD_BYTES 65536u      /* what follows one slot */
#define LIMIT_TYPES 16384u              /* type codes of one session, types of a run */
#define LIMIT_KINDS 2048u               /* kinds of lines of a run */
#define LIMIT_SHAPES 4096u              /* compound records of one session */
#define LIMIT_AFTER 64u /* types that one type comes after, as declared */
#define LIMIT_STEPS 8u /* events of a compound record, per side */
#define LIMIT_PARTNERS 4096u /* partners of one event */
#define LIMIT_GROUP 65536u /* members of a group */
#define LIMIT_MODULES 4096u /* modules of one program */
#define LIMIT_TEXTS 10000u /* annotations of one event */
#define LIMIT_CARRIERS 65536u /* worker threads of a program, of a run */
#define LIMIT_LINES (1u << 24) /* lines of a session, of a run */
#define LIMIT_REMOTE_STREAMS (1u << 20) /* byte streams between hosts, of a run */
#define LIMIT_SESSIONS 4096u /* simultaneous connections */
#define LIMIT_QUEUE_BYTES (64u << 20) /* one shared queue */
#define LIMIT_HELD_BYTES (16u << 20) /* slots kept until their line is declared */
#define LIMIT_VIEWER_BYTES (64u << 20) /* unsent responses to one viewer */
#define LIMIT_COLUMNS 200000u /* columns of one window */
#define LIMIT_PIXELS 100000u /* pixels of one density */
#define LIMIT_WINDOWS 8u /* pending window requests of one viewer */
#define LIMIT_QUERIES 8u /* other pending requests of one type */
#define LIMIT_SEARCHES 4u /* pending searches */
#define LIMIT_REQUESTS 64u /* pending requests of one viewer */
#define LIMIT_STANDS 100000u /* events in one request for their relation to an event */
#define LIMIT_HITS 100000u /* hits sent of one search */
#define LIMIT_PENDING 10000u /* pending events in one window */
#define LIMIT_EVENTS_SENT 1000u /* inconsistent events, pending events in one response */
#define LIMIT_SITES 1000000u /* call sites in one response */
/* lines declared to a client that wants only the lines that responses mention */
#define LIMIT_LINES_SENT 20000u
#define LIMIT_LINES_ASKED 100000u /* lines of one request */
#define LIMIT_LIST 4096u /* events of one list */
#define LIMIT_TABLE_COLUMNS 256u /* columns of one table */
#define LIMIT_TABLE_ROWS (1u << 20) /* rows of one table */
#define LIMIT_TABLE_CELLS (1u << 23) /* cells of one table */
#define LIMIT_TABLE_OPTIONS 64u /* options of one table request */
#define LIMIT_OPTION_BYTES 65536u /* one of these options */
#define LIMIT_USAGE_FIGURES 65536u /* values of one USAGE */
#define LIMIT_CURVE_PIXELS (1u << 21) /* of all curves of one response */
#define LIMIT_DID_BYTES (512u << 20) /* code segments of a run's threads */
#define LIMIT_INPUT_BYTES (256u << 20) /* recorded input of a run */
#define LIMIT_TARGET_BYTES (1u << 20) /* one target description */

#endif
