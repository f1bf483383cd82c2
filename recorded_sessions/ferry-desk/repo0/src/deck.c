#include "deck.h"

#include <stdio.h>
#include <string.h>

int decks_read(const char *path, struct deck *decks)
{
    char line[80];
    int n = 0;
    FILE *file = fopen(path, "r");

    if (!file)
        return -1;
    while (n < MAX_DECKS && fgets(line, sizeof line, file)) {
        struct deck *d = &decks[n];
        if (sscanf(line, "%7[^,],%d,%d,%d", d->name, &d->lanes, &d->lane_cm, &d->limit_kg) == 4)
            n++;
    }
    fclose(file);
    return n;
}

static int place(const struct entry *e, const struct deck *decks, int ndecks, struct plan *p)
{
    for (int d = 0; d < ndecks; d++) {
        if (p->kg[d] + e->weight_kg > decks[d].limit_kg)
            continue;
        for (int l = 0; l < decks[d].lanes; l++) {
            int from = p->used_cm[d][l];
            if (from + e->length_cm > decks[d].lane_cm)
                continue;
            p->slots[p->count++] = (struct slot){e, d, l, from};
            p->used_cm[d][l] = from + e->length_cm + GAP_CM;
            p->kg[d] += e->weight_kg;
            return 1;
        }
    }
    return 0;
}

void plan_load(const struct manifest *m, const struct deck *decks, int ndecks, struct plan *p)
{
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < m->count; i++) {
        const struct entry *e = &m->entries[i];
        if (e->cls == FOOT)
            continue;
        if (!place(e, decks, ndecks, p))
            p->left[p->left_count++] = e;
    }
}

int plan_trim(const struct plan *p, const struct deck *decks)
{
    int trim = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct slot *s = &p->slots[i];
        int lanes = decks[s->deck].lanes;
        if (s->lane < lanes / 2)
            trim += s->entry->weight_kg;
        else if (s->lane >= lanes - lanes / 2)
            trim -= s->entry->weight_kg;
    }
    return trim;
}
