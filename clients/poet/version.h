#define POET_VERSION "0.1"
