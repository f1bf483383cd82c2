#include "report.h"

#include <stdio.h>

#include "cutoff.h"

void report_list(const struct manifest *m)
{
    int kg = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct entry *e = &m->entries[i];
        printf("%-8s %-20s %-6s %5d cm %6d kg  %02d:%02d\n", e->ref, e->name,
               class_names[e->cls], e->length_cm, e->weight_kg, e->arrived / 60, e->arrived % 60);
        kg += e->weight_kg;
    }
    printf("%zu entries, %d kg, %zu bad lines\n", m->count, kg, m->bad);
}

void report_load(const struct plan *p, const struct deck *decks, int ndecks)
{
    for (int d = 0; d < ndecks; d++) {
        printf("deck %s: %d of %d kg\n", decks[d].name, p->kg[d], decks[d].limit_kg);
        for (int l = 0; l < decks[d].lanes; l++) {
            printf("  lane %d, %4d of %d cm:", l + 1, p->used_cm[d][l], decks[d].lane_cm);
            for (size_t i = 0; i < p->count; i++)
                if (p->slots[i].deck == d && p->slots[i].lane == l)
                    printf(" %s", p->slots[i].entry->ref);
            printf("\n");
        }
    }
    for (size_t i = 0; i < p->left_count; i++)
        printf("left behind: %s %s, %d cm, %d kg\n", p->left[i]->ref,
               class_names[p->left[i]->cls], p->left[i]->length_cm, p->left[i]->weight_kg);
    printf("%zu placed, %zu left behind, trim %d kg\n", p->count, p->left_count,
           plan_trim(p, decks));
}

int report_cutoff(const struct manifest *m, int departure)
{
    int late = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct entry *e = &m->entries[i];
        if (cutoff_check(e, departure) == LATE) {
            printf("late: %s %s %s at %02d:%02d\n", e->ref, e->name, class_names[e->cls],
                   e->arrived / 60, e->arrived % 60);
            late++;
        }
    }
    printf("%d late\n", late);
    return late;
}
