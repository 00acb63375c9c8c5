/* Memory: many pieces that are given back at once. */
#include <stdio.h>
#include <stdlib.h>

#include "ldlt.h"

enum { BLOCK = 1 << 20, ALIGNED = 16 };

typedef struct Block {
    struct Block *next;
    size_t size, used;
    char *at;
} Block;

struct Arena {
    Block *first, *now;
};

static void *checked(void *p) {
    if (p) return p;
    fputs("no memory is left for factors of a matrix\n", stderr);
    abort();
}

void *zeros(size_t count, size_t bytes) { return checked(calloc(count + 1, bytes)); }

void *resized(void *old, size_t bytes) { return checked(realloc(old, bytes + 1)); }

Arena *new_arena(void) { return zeros(1, sizeof(Arena)); }

static int fits(const Block *b, size_t bytes) { return b && b->size - b->used >= bytes; }

void *take(Arena *a, size_t bytes) {
    bytes = (bytes / ALIGNED + 1) * ALIGNED;
    while (a->now && !fits(a->now, bytes) && a->now->next) a->now = a->now->next;
    if (!fits(a->now, bytes)) {
        Block *b = zeros(1, sizeof(Block));
        b->size = bytes > BLOCK ? bytes : BLOCK;
        b->at = checked(malloc(b->size));
        if (a->now) a->now->next = b; else a->first = b;
        a->now = b;
    }
    void *p = a->now->at + a->now->used;
    a->now->used += bytes;
    return p;
}

void clear(Arena *a) {
    for (Block *b = a->first; b; b = b->next) b->used = 0;
    a->now = a->first;
}

void free_arena(Arena *a) {
    for (Block *b = a->first, *next; b; b = next) {
        next = b->next;
        free(b->at), free(b);
    }
    free(a);
}
