/* Mixing of the 128-bit keys by which events are paired, from what both sides know. Processes of
 * one run must mix alike: the functions here are part of the protocol between them. */
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
