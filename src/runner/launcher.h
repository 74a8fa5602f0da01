/* Who started this process beside others, one for each device of a mesh: torchrun, mpirun or srun,
 * by the environment that they set, or `--process R/N`. */
#pragma once

#include "runner/results.h"

/* Fills rank, ranks, local_rank, launcher and the socket at which the processes meet; leaves ranks
 * 0 where nobody started several. false, with a text: they stand on several hosts, or where they
 * meet is not known. */
bool ws_launcher_read(WsRunOptions *o, const char *folder, char *error, size_t size);
