/* What the head of a trace file says that is asked of it without opening it (docs/tracefile.md). */
#ifndef WIRE_TRACE_HEADER_H
#define WIRE_TRACE_HEADER_H

#define TRACEHEAD_MAGIC "POETRACE"
#define TRACEHEAD_BYTES 128u
/* u64: when the run began, in ns since 1970, and its complement; or zeros: it is not known */
#define TRACEHEAD_BEGUN_AT 98u
#define TRACEHEAD_BEGUN_BYTES 16u

#endif
