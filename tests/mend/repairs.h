/* Broken designs that are written as changes of right ones, with what a person would do about them:
 * tests/designs/repairs (README.md there tells the form). */
#pragma once

#include <glib.h>

typedef struct {
    char *name, *of; /* the right design, under tests/designs */
    char *cause;     /* what is wrong, in words */
    char **rules;    /* any of them may come first; "none": the change breaks nothing */
    char **says;     /* words that the first finding must say */
    char **remedy;   /* one of them must stand in its remedy */
    char **answer;   /* what held when it was asked first: of rule, place, remedy, proved, offered,
                        equal; NULL: not noted */
    gboolean open;   /* nobody knows what the author would do: any proof will do */
    char *right, *wrong;
    GPtrArray *also; /* char*: texts that mend it as well as the right one does */
} Repair;

/* Of all files of a folder of tests/designs, by name. Ends the program if a change does not fit.
 * Transfer full (Repair*; the array frees them). */
GPtrArray *repairs_read(const char *under);
