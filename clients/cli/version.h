/* Which release this is. */
#define POET_VERSION "0.1"
