#ifndef REPORT_H
#define REPORT_H

#include "deck.h"

void report_list(const struct manifest *m);
void report_load(const struct plan *p, const struct deck *decks, int ndecks);
int report_cutoff(const struct manifest *m, int departure);

#endif
