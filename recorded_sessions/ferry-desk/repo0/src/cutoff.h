#ifndef CUTOFF_H
#define CUTOFF_H

#include "manifest.h"

enum verdict { IN_TIME, LATE };

/* Minutes before departure at which the gate closes for a class. */
int cutoff_minutes(enum vclass cls);

/* Whether an entry arrived before the gate closed; departure in minutes since midnight. */
enum verdict cutoff_check(const struct entry *e, int departure);

#endif
