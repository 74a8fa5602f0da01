/* The machine as a program of its own, for oracle.py where no tests are built. */
#include "machine.h"

int main(int argc, char **argv)
{
    return machine_main(argc, argv);
}
