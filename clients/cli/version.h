/* The version of this release. */
#define POET_VERSION "0.1"
