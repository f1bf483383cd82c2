#include <stdio.h>
#include <string.h>

#include "report.h"

#define REFUSED 4

static int usage(void)
{
    fprintf(stderr, "usage: ferrydesk list MANIFEST\n"
                    "       ferrydesk load MANIFEST DECKS\n"
                    "       ferrydesk cutoff MANIFEST HH:MM\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct manifest m;
    int status = 0;

    if (argc < 3)
        return usage();
    if (manifest_read(argv[2], &m) != 0) {
        perror(argv[2]);
        return 1;
    }
    if (strcmp(argv[1], "list") == 0) {
        report_list(&m);
    } else if (strcmp(argv[1], "load") == 0 && argc == 4) {
        struct deck decks[MAX_DECKS];
        struct plan p;
        int n = decks_read(argv[3], decks);
        if (n < 1) {
            fprintf(stderr, "%s: no decks\n", argv[3]);
            return 1;
        }
        plan_load(&m, decks, n, &p);
        report_load(&p, decks, n);
        if (p.left_count > 0)
            status = REFUSED;
    } else if (strcmp(argv[1], "cutoff") == 0 && argc == 4) {
        int hours, minutes;
        if (sscanf(argv[3], "%d:%d", &hours, &minutes) != 2)
            return usage();
        if (report_cutoff(&m, hours * 60 + minutes) > 0)
            status = REFUSED;
    } else {
        return usage();
    }
    manifest_free(&m);
    return status;
}
