#include "runner/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables of a launcher; NULL: it has none. */
typedef struct {
    const char *name;
    const char *rank, *ranks, *local_rank, *local_ranks;
    const char *hosts;  /* how many, where it says that */
    const char *key[2]; /* what tells its runs apart */
} Launcher;

static const Launcher launchers[] = {
    { "torchrun",
      "RANK",
      "WORLD_SIZE",
      "LOCAL_RANK",
      "LOCAL_WORLD_SIZE",
      NULL,
      { "TORCHELASTIC_RUN_ID", "MASTER_PORT" } },
    { "mpirun",
      "OMPI_COMM_WORLD_RANK",
      "OMPI_COMM_WORLD_SIZE",
      "OMPI_COMM_WORLD_LOCAL_RANK",
      "OMPI_COMM_WORLD_LOCAL_SIZE",
      NULL,
      { "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid" } },
    { "mpirun",
      "PMI_RANK",
      "PMI_SIZE",
      "MPI_LOCALRANKID",
      "MPI_LOCALNRANKS",
      NULL,
      { "PMI_KVSNAME", "HYDRA_JOBID" } },
    { "srun",
      "SLURM_PROCID",
      "SLURM_STEP_NUM_TASKS",
      "SLURM_LOCALID",
      NULL,
      "SLURM_STEP_NUM_NODES",
      { "SLURM_JOB_ID", "SLURM_STEP_ID" } },
};

static bool number(const char *name, int *value)
{
    const char *text = name ? getenv(name) : NULL;
    char *end;
    const long n = text ? strtol(text, &end, 10) : -1;
    if (n < 0 || n > 1 << 20 || end == text || *end)
        return false;
    *value = (int)n;
    return true;
}

static bool several_hosts(const Launcher *l, const WsRunOptions *o)
{
    int hosts = 1, here = o->ranks;
    return (number(l->hosts, &hosts) && hosts > 1) ||
           (number(l->local_ranks, &here) && here < o->ranks);
}

/* Of what tells runs apart, however long it is and whatever is in it (FNV-1a). `said`: it says
 * anything. */
static unsigned long long key_of(const Launcher *l, bool *said)
{
    unsigned long long hash = 14695981039346656037u;
    *said = false;
    for (size_t k = 0; k < sizeof l->key / sizeof *l->key; k++) {
        const char *text = l->key[k] ? getenv(l->key[k]) : NULL;
        *said = *said || (text && *text);
        for (const char *c = text ? text : ""; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        hash = (hash ^ 256) * 1099511628211u; /* between the two */
    }
    return hash;
}

static bool meeting(WsRunOptions *o, const char *folder, const char *key, char *error, size_t size)
{
    const char *tmp = folder ? folder : getenv("TMPDIR");
    if (!folder && !*key) {
        snprintf(error, size,
                 "%s does not say which run this is: give --meet FOLDER, one that all of its "
                 "processes see and nobody else uses",
                 o->launcher);
        return false;
    }
    const int n = snprintf(o->meet, sizeof o->meet, "%s/warpstave-%u%s", tmp && *tmp ? tmp : "/tmp",
                           (unsigned)getuid(), key);
    if (n > 0 && (size_t)n < sizeof o->meet)
        return true;
    snprintf(error, size,
             "the name of the socket at which processes meet is too long (%d of %zu "
             "bytes): give --meet with a shorter folder",
             n, sizeof o->meet - 1);
    return false;
}

bool ws_launcher_read(WsRunOptions *o, const char *folder, char *error, size_t size)
{
    char key[24] = "";
    if (o->ranks > 1) { /* --process */
        snprintf(o->launcher, sizeof o->launcher, "--process");
        o->local_rank = o->rank;
        return meeting(o, folder, key, error, size);
    }
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const Launcher *l = &launchers[i];
        if (!number(l->rank, &o->rank) || !number(l->ranks, &o->ranks) || o->ranks < 2)
            continue;
        snprintf(o->launcher, sizeof o->launcher, "%s", l->name);
        if (o->rank >= o->ranks) {
            snprintf(error, size, "%s: process %d of %d (%s, %s)", l->name, o->rank, o->ranks,
                     l->rank, l->ranks);
            return false;
        }
        if (several_hosts(l, o)) {
            snprintf(error, size,
                     "%s started processes on several hosts: devices reach each other's memory "
                     "within one host alone",
                     l->name);
            return false;
        }
        if (!number(l->local_rank, &o->local_rank))
            o->local_rank = o->rank;
        bool said;
        const unsigned long long hash = key_of(l, &said);
        if (said)
            snprintf(key, sizeof key, "-%016llx", hash);
        return meeting(o, folder, key, error, size);
    }
    o->rank = o->ranks = 0;
    return true;
}
