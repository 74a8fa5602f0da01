/* Exit codes of every command and of the runner (a stable contract, DESIGN: command line). */
#pragma once

typedef enum {
    WS_EXIT_YES = 0,
    WS_EXIT_NO = 1,      /* refuted, budget exceeded, wrong values, hang */
    WS_EXIT_USAGE = 2,   /* unreadable input or usage */
    WS_EXIT_OUTSIDE = 3, /* outside the fragment, or less than --require asks */
    WS_EXIT_ABSENT = 4,  /* GPU, driver, ptxas, host or display is absent here */
    WS_EXIT_DEFECT = 5,  /* our own defect */
    WS_EXIT_INTERRUPTED = 130,
} WsExit;
