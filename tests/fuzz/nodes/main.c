/* The command line itself, as a function. */
#define main warpstave_main
int warpstave_main(int argc, char **argv);
#include "../../../src/cli/main.c"
