/* A mesh in as many processes as it has devices, on a driver that runs on the CPU (fake_cuda.c):
 * memory that goes from process to process as file descriptors, who starts them, and that none goes
 * on when another one is not there, is killed, dies or hangs. */
#include "fake_run.h"

#include <signal.h>

#define TOP                                                                                        \
    "warpstave-bundle 1\nname Ring\ntarget sm_90a\nentry warpstave\nblock 128 1 1024\n"            \
    "module timed kernel.ptx\nseed 7\nruns 4\nsustained 0\ntimeout 60\nrate 4096\n"                \
    "sizes M N rank\nscalar alpha 0.5\ntensor X bf16 2 read 0.02 0.004\n"                          \
    "tensor Y bf16 2 write 0.02 0.004\nreference 1 reference-1.ptx\nmap 0 128 64 32\n"             \
    "map 1 64 8 4\nmesh rank come all\n"
#define CASE(name, n, adds)                                                                        \
    "case " name " ctas 3 3 1e6\nvalues 4 8 0\ndevices " n "\nflags 1 1 2 " adds "\n"              \
    "extent 0 4 8 8 1\nfill 0 normal 0 0 0 0\nextent 1 4 8 8 1\nfill 1 zeros 0 0 0 0\n"
#define TWO  TOP CASE("two", "2", "4")
#define FOUR TOP CASE("four", "4", "8")

typedef struct {
    GPid pid;
    int status;
    char *out, *err;
    int fd[2];
} Process;

typedef struct {
    char *dir;
    int n;
    Process of[4];
    char *json, *log;
} Together;

/* Variables of the environment for process `rank` of `n`, "NAME=VALUE …"; NULL: --process. */
typedef char *(*Environment)(int rank, int n);

static char *read_all(int fd)
{
    GString *s = g_string_new(NULL);
    char room[4096];
    for (gssize got; (got = read(fd, room, sizeof room)) > 0;)
        g_string_append_len(s, room, got);
    close(fd);
    return g_string_free(s, FALSE);
}

static void start(Together *t, int rank, const char *dir, const char *mode, const char *extra,
                  Environment environment)
{
    g_auto(GStrv) env = g_get_environ();
    g_autofree char *log = g_build_filename(t->dir, "calls.log", NULL);
    g_autofree char *process =
        environment ? g_strdup("") : g_strdup_printf(" --process %d/%d", rank, t->n);
    g_autofree char *more = environment ? environment(rank, t->n) : g_strdup("");
    g_autofree char *words = g_strdup_printf("%s %s --meet %s%s%s%s", RUNNER, dir, t->dir, process,
                                             extra ? " " : "", extra ? extra : "");
    g_auto(GStrv) argv = g_strsplit(words, " ", -1), set = g_strsplit(more, " ", -1);
    g_autoptr(GError) error = NULL;
    env = g_environ_setenv(env, "WARPSTAVE_LIBCUDA", FAKE, TRUE);
    env = g_environ_setenv(env, "WARPSTAVE_LIBNVML", "/nonexistent", TRUE);
    env = g_environ_setenv(env, "FAKE_CUDA", mode, TRUE);
    env = g_environ_setenv(env, "FAKE_CUDA_LOG", log, TRUE);
    for (guint i = 0; set[i] && *set[i]; i++) {
        g_auto(GStrv) pair = g_strsplit(set[i], "=", 2);
        env = g_environ_setenv(env, pair[0], pair[1], TRUE);
    }
    g_assert_true(g_spawn_async_with_pipes(NULL, argv, env, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                           &t->of[rank].pid, NULL, &t->of[rank].fd[0],
                                           &t->of[rank].fd[1], &error));
}

static Together begin(const char *manifest, int n)
{
    Together t = { .dir = g_dir_make_tmp("ws-XXXXXX", NULL), .n = n };
    put(t.dir, "bundle.txt", manifest);
    put(t.dir, "kernel.ptx", "build timed\n");
    put(t.dir, "reference-1.ptx", "build reference\n");
    return t;
}

static void end(Together *t)
{
    static const char *const files[] = { "bundle.txt", "kernel.ptx", "reference-1.ptx",
                                         "results.json", "calls.log" };
    for (int i = 0; i < t->n; i++) {
        int status;
        if (!t->of[i].pid)
            continue;
        t->of[i].out = read_all(t->of[i].fd[0]);
        t->of[i].err = read_all(t->of[i].fd[1]);
        g_assert_cmpint(waitpid(t->of[i].pid, &status, 0), ==, t->of[i].pid);
        t->of[i].status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        g_test_message("%d: %d\n%s%s", i, t->of[i].status, t->of[i].out, t->of[i].err);
    }
    t->json = get(t->dir, "results.json");
    t->log = get(t->dir, "calls.log");
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(t->dir, files[i], NULL);
        g_unlink(path);
    }
    g_assert_cmpint(g_rmdir(t->dir), ==, 0); /* the socket, too, is gone */
}

static void clear(Together *t)
{
    for (int i = 0; i < t->n; i++) {
        g_free(t->of[i].out);
        g_free(t->of[i].err);
    }
    g_free(t->dir);
    g_free(t->json);
    g_free(t->log);
}

static Together together(const char *manifest, int n, const char *mode, const char *extra,
                         Environment environment)
{
    Together t = begin(manifest, n);
    for (int i = n; i-- > 0;) /* process 0 comes last */
        start(&t, i, t.dir, mode, extra, environment);
    end(&t);
    return t;
}

static void right(void)
{
    Together t = together(TWO, 2, "mesh,two-devices", NULL, NULL);
    for (int i = 0; i < 2; i++)
        g_assert_cmpint(t.of[i].status, ==, 0);
    holds(t.of[0].out, "two: right, 3 CTAs");
    holds(t.of[0].out, "64 of 64 elements agree"); /* of both devices */
    holds(t.of[0].out, "second run bit-identical");
    g_assert_cmpstr(t.of[1].out, ==, "");
    g_assert_cmpstr(t.of[1].err, ==, "");
    holds(t.json, "\"devices\": [0, 1]");
    holds(t.json, "\"median_us\": 100");
    holds(t.log, "rank 1 after 8 launches\n");
    g_assert_null(strstr(t.log, "after 9 launches"));
    g_assert_cmpuint(count(t.log, "export"), ==, 2 * 3); /* X, Y and the flags */
    g_assert_cmpuint(count(t.log, "import"), ==, 2 * 3);
    g_assert_cmpuint(count(t.log, "release"), ==, 2 * 6);
    g_assert_cmpuint(count(t.log, "cooperative 1\n"), ==, 2 * 9);
    clear(&t);
    t = together(FOUR, 4, "mesh,four-devices,quad", "--again 3", NULL);
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(t.of[i].status, ==, 0);
    holds(t.of[0].out, "128 of 128 elements agree");
    holds(t.of[0].out, "3 launches more: 0 with other values");
    holds(t.json, "\"devices\": [0, 1, 2, 3]");
    g_assert_cmpuint(count(t.log, "import"), ==, 4 * 3 * 3);
    clear(&t);
}

static char *torchrun(int rank, int n)
{
    return g_strdup_printf(
        "RANK=%d WORLD_SIZE=%d LOCAL_RANK=%d LOCAL_WORLD_SIZE=%d MASTER_PORT=29500", rank, n, rank,
        n);
}

static char *mpirun(int rank, int n)
{
    return g_strdup_printf("OMPI_COMM_WORLD_RANK=%d OMPI_COMM_WORLD_SIZE=%d "
                           "OMPI_COMM_WORLD_LOCAL_RANK=%d OMPI_COMM_WORLD_LOCAL_SIZE=%d",
                           rank, n, rank, n);
}

static char *srun(int rank, int n)
{
    return g_strdup_printf(
        "SLURM_PROCID=%d SLURM_STEP_NUM_TASKS=%d SLURM_LOCALID=%d SLURM_JOB_ID=7 "
        "SLURM_STEP_ID=0 SLURM_STEP_NUM_NODES=1",
        rank, n, rank);
}

static char *batch(int rank, int n) /* in a script of sbatch: no step of several tasks */
{
    return g_strdup("SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_LOCALID=0 SLURM_JOB_ID=7");
}

static char *two_hosts(int rank, int n)
{
    return g_strdup_printf("RANK=%d WORLD_SIZE=%d LOCAL_RANK=0 LOCAL_WORLD_SIZE=1", rank, n);
}

static char *two_nodes(int rank, int n)
{
    g_autofree char *one = srun(rank, n);
    g_auto(GStrv) parts = g_strsplit(one, "NODES=1", 2);
    return g_strjoinv("NODES=2", parts);
}

static void launchers(void)
{
    static const Environment of[] = { torchrun, mpirun, srun };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        Together t = together(TWO, 2, "mesh,two-devices", "--runs 0", of[i]);
        g_assert_cmpint(t.of[0].status, ==, 0);
        g_assert_cmpint(t.of[1].status, ==, 0);
        holds(t.of[0].out, "64 of 64 elements agree");
        holds(t.json, "\"devices\": [0, 1]");
        clear(&t);
    }
    /* Each process may be shown its own GPU alone. */
    Together t = together(TWO, 2, "mesh,one-shown", "--runs 0", torchrun);
    g_assert_cmpint(t.of[0].status, ==, 0);
    holds(t.json, "\"devices\": [0, 0]");
    clear(&t);
    /* --devices says that this one runs it alone; so does a script that started none. */
    t = together(TWO, 1, "mesh,two-devices", "--runs 0 --devices 0,1", torchrun);
    g_assert_cmpint(t.of[0].status, ==, 0);
    clear(&t);
    t = together(TWO, 1, "mesh,two-devices", "--runs 0", batch);
    g_assert_cmpint(t.of[0].status, ==, 0);
    clear(&t);
    static const Environment far[] = { two_hosts, two_nodes };
    for (guint i = 0; i < G_N_ELEMENTS(far); i++) {
        t = together(TWO, 2, "mesh,two-devices", NULL, far[i]);
        g_assert_cmpint(t.of[0].status, ==, 2);
        holds(t.of[1].err, "started processes on several hosts");
        clear(&t);
    }
}

/* What all refuse, or one says of another one: each ends, and not after a minute. */
static void refused(void)
{
    const char *traced =
        TOP "module traced kernel.ptx\nplan 7\nrecords 128 0 1 0 1\nctas 0\n" CASE("two", "2", "4");
    const struct {
        const char *manifest, *mode;
        int status;
        const char *says;
    } of[] = {
        { TWO, "mesh,two-devices,one-gpu", 4, "processes 0 and 1 are on the same GPU" },
        { FOUR, "mesh,two-devices", 2, "case four runs on 4 devices, and --process started 2" },
        { traced, "mesh,two-devices", 2, "a traced build of several devices is recorded by one" },
        { TWO, "mesh,two-devices,no-export", 1, "cuMemExportToShareableHandle" },
        { TWO, "mesh,two-devices,own", 1, "two: wrong" },
        { TWO, "mesh,two-devices,lost", 1, "of flag come of device" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        Together t = together(of[i].manifest, 2, of[i].mode, NULL, NULL);
        g_autofree char *all = g_strconcat(t.of[0].out, t.of[0].err, t.json, NULL);
        g_assert_cmpint(t.of[0].status, ==, of[i].status);
        g_assert_cmpint(t.of[1].status, !=, 0);
        holds(all, of[i].says);
        clear(&t);
    }
}

static void take_away(const char *dir, const char *file)
{
    g_autofree char *at = g_build_filename(dir, file, NULL);
    g_assert_cmpint(g_unlink(at), ==, 0);
}

static void absent(void)
{
    for (int there = 0; there < 2; there++) {
        Together t = begin(TWO, 2);
        start(&t, there, t.dir, "mesh,two-devices", "--meet-seconds 0.3", NULL);
        end(&t);
        g_assert_cmpint(t.of[there].status, ==, 4);
        holds(t.of[there].err,
              there ? "process 0 of 2 did not come to" : "of 2 processes 1 came to");
        if (!there)
            holds(t.of[0].err, "missing: 1");
        clear(&t);
    }
    /* Another bundle: of other cases, of other code, without it. */
    static const char *const others[][2] = { { "bundle.txt", NULL },
                                             { "kernel.ptx", "build timed, another day\n" },
                                             { "reference-1.ptx", "another one\n" },
                                             { "kernel.ptx", NULL } };
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        Together t = begin(TWO, 2), other = begin(i == 0 ? FOUR : TWO, 2);
        if (others[i][1])
            put(other.dir, others[i][0], others[i][1]);
        else if (i > 0)
            take_away(other.dir, others[i][0]);
        start(&t, 1, other.dir, "mesh,two-devices", NULL, NULL);
        start(&t, 0, t.dir, "mesh,two-devices", NULL, NULL);
        end(&t);
        end(&other);
        holds(t.of[0].err, "process 1 has another bundle");
        g_assert_cmpint(t.of[0].status, !=, 0);
        g_assert_cmpint(t.of[1].status, !=, 0);
        clear(&other);
        clear(&t);
    }
}

/* The kernel of process 0 waits for one that never comes: it is ended since process 1 is, and not
 * by its time, a minute. */
static void lost(void)
{
    static const struct {
        const char *mode;
        int other;
    } of[] = { { "mesh,two-devices,killed", -SIGKILL }, { "mesh,two-devices,dies", 5 } };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        const gint64 since = g_get_monotonic_time();
        Together t = together(TWO, 2, of[i].mode, NULL, NULL);
        g_autofree char *all = g_strconcat(t.of[0].out, t.of[0].err, t.json, NULL);
        g_assert_cmpint(t.of[0].status, ==, 1);
        g_assert_cmpint(t.of[1].status, ==, of[i].other);
        holds(all, "process 1 of 2 has ended");
        g_assert_cmpint(g_get_monotonic_time() - since, <, 20 * G_USEC_PER_SEC);
        clear(&t);
    }
    /* All hang: the watchdogs end them. */
    Together t = together(TWO, 2, "mesh,two-devices,hang", "--timeout 1", NULL);
    g_autofree char *all = g_strconcat(t.of[0].out, t.of[0].err, t.json, NULL);
    g_assert_cmpint(t.of[0].status, ==, 1);
    g_assert_cmpint(t.of[1].status, !=, 0);
    holds(all, "hung: no progress in time");
    holds(t.of[1].err, "process 0 of 2 has ended");
    clear(&t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/processes/right", right);
    g_test_add_func("/runner/processes/launchers", launchers);
    g_test_add_func("/runner/processes/refused", refused);
    g_test_add_func("/runner/processes/absent", absent);
    g_test_add_func("/runner/processes/lost", lost);
    return g_test_run();
}
