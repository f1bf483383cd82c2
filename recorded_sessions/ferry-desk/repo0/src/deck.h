#ifndef DECK_H
#define DECK_H

#include "manifest.h"

#define MAX_DECKS 4
#define MAX_LANES 8
#define MAX_SLOTS 64
#define GAP_CM    40 /* between two vehicles */

struct deck {
    char name[8];
    int lanes;
    int lane_cm;
    int limit_kg;
};

struct slot {
    const struct entry *entry;
    int deck;
    int lane;
    int from_cm;
};

struct plan {
    struct slot slots[MAX_SLOTS];
    size_t count;
    const struct entry *left[MAX_SLOTS]; /* what found no place */
    size_t left_count;
    int kg[MAX_DECKS];
    int used_cm[MAX_DECKS][MAX_LANES];
};

/* The decks of a file; how many, or -1. */
int decks_read(const char *path, struct deck *decks);

/* Places every vehicle of the manifest. */
void plan_load(const struct manifest *m, const struct deck *decks, int ndecks, struct plan *p);

/* Kilograms port minus starboard over all decks; the middle lane counts for neither. */
int plan_trim(const struct plan *p, const struct deck *decks);

#endif
