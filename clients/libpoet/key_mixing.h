/* How keys by which events meet are made of what is known on both sides.  Both sides must mix
 * alike: what is here is a part of what processes of one run agree on. */
#ifndef CLIENTS_LIBPOET_KEY_MIXING_H
#define CLIENTS_LIBPOET_KEY_MIXING_H

#include <stdint.h>

/* splitmix64 (Steele, Lea and Flood, 2014) over both. */
static inline uint64_t key_mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
