/* Turning the main loop by hand, where a program drives its own windows. */
#pragma once

/* One turn; at most 2 ms of waiting for something to do. */
void ws_main_loop_turn(void);
