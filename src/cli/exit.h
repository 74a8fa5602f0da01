/* Exit codes of every command and of the runner (a stable contract, DESIGN: command line). */
#pragma once

typedef enum {
    WS_EXIT_YES = 0,
    WS_EXIT_NO = 1,    /* refuted, a resource limit exceeded, wrong values, a hang, a missed goal */
    WS_EXIT_USAGE = 2, /* unreadable input or usage */
    WS_EXIT_OUTSIDE = 3, /* undecided or unsupported, or less than --require asks */
    WS_EXIT_ABSENT = 4,  /* a GPU, driver, tool, host or display is missing */
    WS_EXIT_DEFECT = 5,  /* a bug of this program */
    WS_EXIT_INTERRUPTED = 130,
} WsExit;
