/* The runner as a process, on a driver that runs on the CPU (fake_cuda.c): exit statuses, results,
 * and what happens when kernels are wrong, hang, fault or kill the process. */
#include "fake_run.h"

#include <signal.h>

/* What hangs on purpose is given up soon; all else may take its time on a loaded machine. */
#define SOON "--timeout 1.5"

static const char header[] =
    "warpstave-bundle 1\nname Copy\ntarget sm_90a\nentry warpstave\n"
    "block 128 2 1024\nmodule timed kernel.ptx\n%s"
    "seed 7\nruns 4\nsustained 0\ntimeout 60\nrate 4096\nsizes M N\n"
    "scalar alpha 0.5\n"
    "tensor X bf16 2 read 0.02 0.004\n"
    "tensor Y bf16 2 write 0.02 0.004\nreference 1 reference-1.ptx\n"
    "map 0 128 64 32\nmap 1 64 8 4\n"
    "agents load mma\nwait 17 load empty[1] groups/load/body/0\nrecords 64 0 1 0 1\nctas 0\n";
static const char small[] = "case small sms 64 3 1e6\nvalues 4 8\nextent 0 4 8 8 1\n"
                            "fill 0 normal 0 0 0 0\nextent 1 4 8 8 1\nfill 1 zeros 0 0 0 0\n";
/* more samples than a warp has threads, fewer than a block */
static const char medium[] = "case medium ctas 2 3 0\nvalues 9 8\nextent 0 9 8 8 1\n"
                             "fill 0 normal 0 0 0 0\nextent 1 9 8 8 1\nfill 1 zeros 0 0 0 0\n";
static const char large[] = "case large ctas 2 3 0\nvalues 100 80\nextent 0 100 80 80 1\n"
                            "fill 0 normal 0 0 0 0\nextent 1 100 80 80 1\nfill 1 zeros 0 0 0 0\n";
static const char none[] = "case none ctas 0 0 0\nvalues 0 8\nextent 0 0 8 8 1\n"
                           "fill 0 normal 0 0 0 0\nextent 1 0 8 8 1\nfill 1 zeros 0 0 0 0\n";

static char *make_bundle(const char *modules, const char *cases)
{
    char *dir = g_dir_make_tmp("warpstave-runner-XXXXXX", NULL);
    g_autofree char *top = g_strdup_printf(header, modules);
    g_autofree char *manifest = g_strconcat(top, cases, NULL);
    put(dir, "bundle.txt", manifest);
    put(dir, "kernel.ptx", "build timed\n");
    put(dir, "traced.ptx", "build traced\n");
    put(dir, "debug.ptx", "build debug\n");
    put(dir, "reference-1.ptx", "build reference\n");
    return dir;
}

static void clear(Run *r)
{
    GDir *d = g_dir_open(r->dir, 0, NULL);
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(r->dir, name, NULL);
        g_assert_false(g_str_has_suffix(name, ".part")); /* no half-written file stays */
        g_unlink(path);
    }
    if (d)
        g_dir_close(d);
    g_rmdir(r->dir);
    g_free(r->dir);
    g_free(r->out);
    g_free(r->err);
    g_free(r->json);
    g_free(r->log);
    memset(r, 0, sizeof *r);
}

static void test_right(void)
{
    g_autofree char *cases = g_strconcat(small, none, medium, large, NULL);
    Run r = run(make_bundle("", cases), "", NULL);
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "small: right, 6 CTAs"); /* 7 SMs rounded down to the cluster */
    holds(r.out, "none: nothing to launch");
    g_assert_null(strstr(r.out, "SAYS LITTLE"));
    g_assert_null(strstr(r.out, "p10-p90")); /* of four launches */
    holds(r.out, "large: right, 2 CTAs");
    holds(r.out, "32 of 32 elements agree");
    holds(r.out, "72 of 72 elements agree");
    holds(r.out, "4096 of 8000 elements agree");
    holds(r.out, "second run bit-identical");
    holds(r.json, "\"warpstave_results\": 1");
    holds(r.json, "Fake \\\"H200\\\"");
    holds(r.json, "\"median_us\": 100");
    holds(r.json, "\"probe_mhz\": 1500");
    g_assert_null(strstr(r.json, "cycles\": 1")); /* no clock was true of the cold launches */
    holds(r.log, "launch warpstave timed grid 6 block 128 shared 1024 cluster 2");
    holds(r.log, "map dtype 9 rank 2 extent 8 4 stride 16 box 64 32 swizzle 3");
    holds(r.log, "shared 1024");
    holds(r.log, "flush 268435456");
    g_assert_cmpuint(count(r.log, "launch warpstave timed grid 6"), ==, 2 + 3 + 4);
    clear(&r);
}

static void test_traced(void)
{
    Run r = run(make_bundle("module traced traced.ptx\n", small), "", NULL);
    g_autofree char *records = get(r.dir, "records.bin");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "traced build bit-identical");
    holds(r.out, "recording costs +1.00 %");
    holds(r.json, "\"records\": \"records.bin\"");
    holds(r.json, "\"overhead\": 0.01");
    holds(r.json, "\"sm_mhz\": 1600, \"clock_source\": \"kernel\", \"cycles\": 160000");
    holds(r.out, "160000 cycles at 1600 MHz (clock of the traced kernel)");
    g_assert_nonnull(records);
    g_assert_cmpint(records[0], ==, 0x11);
    /* A, B, B, A: never all of one build first */
    holds(r.log, "launch warpstave timed grid 6 block 128 shared 1024 cluster 2\nflush 268435456\n"
                 "launch warpstave traced grid 6 block 128 shared 1024 cluster 2\nflush 268435456\n"
                 "launch warpstave traced");
    clear(&r);
    r = run(make_bundle("module traced traced.ptx\n", small), "traced-differs", NULL);
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "traced build DIFFERS");
    clear(&r);
}

static const struct {
    const char *mode;
    int status;
    const char *out, *err;
} trouble[] = {
    { "wrong", 1, "1 of 32 samples wrong, first Y[3, 7] = ", NULL },
    { "unwritten", 1, "1 elements are not finite or were never written (first: 1)", NULL },
    { "infinite", 0,
      "2 elements are infinite, as the reference is in all 2 of them that were compared", NULL },
    { "infinite-here", 1, "2 elements are not finite or were never written (first: 1)", NULL },
    { "infinite-sign", 1, "2 elements are not finite or were never written (first: 1)", NULL },
    { "infinite-nan", 1, "2 elements are not finite or were never written (first: 1)", NULL },
    { "any", 0, "2 elements hold no number, where any is right; 30 of 32 elements agree", NULL },
    { "any-beside", 1, "2 elements are not finite or were never written (first: 1)", NULL },
    { "any-infinite", 1, "1 elements are not finite or were never written", NULL },
    { "unsteady", 1, "second run DIFFERS", NULL },
    { "diagnostic", 0, "1 C75xx DIAGNOSTICS", NULL },
    { "no-device", 4, NULL, "no GPU on this machine (cuInit: CUDA_ERROR_NO_DEVICE)" },
    { "old-driver", 4, NULL,
      "the NVIDIA driver knows CUDA 11.8; code for sm_90a needs CUDA 12 or newer: update the "
      "driver" },
    { "old-gpu", 4, NULL, "compute capability 8.0" },
    { "no-memory", 4, NULL, "cuMemAlloc" },
    { "bad-ptx", 1, NULL, "kernel.ptx: ptxas application ptx input, line 9" },
    { "no-time", 1, "the driver's events are 0 ms apart around a launch", NULL },
    { "crash", 1, "ended by signal 6, while: first launch of the timed build", NULL },
};

/* Hidden parameters reach the kernel behind all others: a counter that is 0, a curve. */
static void test_hidden(void)
{
    Run r = run(make_bundle("module traced traced.ptx\ncounter\n",
                            "case small sms 64 3 1e6\nvalues 4 8\nhilbert 1 3\nextent 0 4 8 8 1\n"
                            "fill 0 normal 0 0 0 0\nextent 1 4 8 8 1\nfill 1 zeros 0 0 0 0\n"),
                "hidden", NULL);
    g_assert_cmpint(r.status, ==, 0);
    g_assert_cmpuint(count(r.log, "counter 0 curve 0,0 0,1 0,2\n"), >=, 2);
    g_assert_cmpuint(count(r.log, "counter"), ==, count(r.log, "counter 0 curve 0,0 0,1 0,2"));
    clear(&r);
}

static void test_trouble(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(trouble); i++) {
        Run r = run(make_bundle("", small), trouble[i].mode, NULL);
        g_test_message("%s: %s%s", trouble[i].mode, r.out, r.err);
        g_assert_cmpint(r.status, ==, trouble[i].status);
        if (trouble[i].out)
            holds(r.out, trouble[i].out);
        if (trouble[i].err)
            holds(r.err, trouble[i].err);
        holds(r.json, "\"status\": ");
        clear(&r);
    }
}

/* What was checked tells nothing, or was not there: no verdict passes it over. */
static void test_says_little(void)
{
    static const char zeros[] = "case zeros ctas 2 3 0\nvalues 4 8\nextent 0 4 8 8 1\n"
                                "fill 0 zeros 0 0 0 0\nextent 1 4 8 8 1\nfill 1 zeros 0 0 0 0\n";
    static const char no_tile[] = "case bare ctas 0 0 0\nvalues 4 8\nextent 0 4 8 8 1\n"
                                  "fill 0 normal 0 0 0 0\nextent 1 4 8 8 1\nfill 1 zeros 0 0 0 0\n";
    Run r = run(make_bundle("", zeros), "", "--runs 10");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "SAYS LITTLE: zeros would agree too");
    holds(r.out, "p10-p90 0.00 %");
    holds(r.json, "\"zeros_agree\": true");
    clear(&r);
    r = run(make_bundle("", no_tile), "", NULL);
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "bare: wrong");
    holds(r.out, "there is no tile, and nobody writes the 32 elements of Y");
    clear(&r);
}

/* A wrong kernel is not timed. */
static void test_wrong_is_not_timed(void)
{
    Run r = run(make_bundle("", small), "wrong", "--json");
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "\"state\": \"wrong\"");
    g_assert_null(strstr(r.out, "median_us"));
    clear(&r);
}

static void test_hang(void)
{
    g_autofree char *cases = g_strconcat(small, large, NULL);
    Run r = run(make_bundle("module debug debug.ptx\n", small), "hang", SOON);
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "small: hung");
    holds(r.out, "hung: no progress in time, while: first launch of the timed build");
    holds(r.out,
          "agent load waits at groups/load/body/0 on barrier empty[1] slot 3 for parity 1 (seen 1, "
          "1 arrivals missing), CTA 2, round 5.7");
    holds(r.json, "\"stuck_agents\": [\n        {\"cta\": 2, \"agent\": \"load\", "
                  "\"step\": \"groups/load/body/0\", \"barrier\": \"empty[1]\", \"op\": 17, "
                  "\"waits\": \"mbarrier\", \"slot\": 3, \"awaited\": 1, \"seen\": 1, "
                  "\"pending\": 1, \"rounds\": [5, 7]}]");
    clear(&r);
    r = run(make_bundle("", cases), "hang", SOON);
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "the bundle has no debug build");
    holds(r.out, "large: hung"); /* a hang does not keep the next case from its turn */
    clear(&r);
}

/* A float64 reference that does not end says nothing about the kernel: it is not judged by it, or
 * by the samples that did end, and its figures are taken all the same. */
static void test_late_reference(void)
{
    g_autofree char *cases = g_strconcat(large, small, NULL);
    Run r = run(make_bundle("", cases), "late-reference", "--judge 0.3");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "large: not judged, 2 CTAs");
    holds(r.out, "small: not judged");
    holds(r.out, "Y: not judged: its float64 reference did not end within 0.3 s");
    holds(r.out, "second run bit-identical");
    holds(r.json, "\"state\": \"not judged\"");
    holds(r.json, "\"late\": true, \"samples\": 0, \"wanted\": 32");
    holds(r.json, "\"median_us\": 100");
    g_assert_null(strstr(r.out, "hung"));
    g_assert_null(strstr(r.json, "\"error\""));
    clear(&r);
    r = run(make_bundle("", cases), "late-rest", "--judge 0.3");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "large: right");
    holds(r.out, "64 of 8000 elements agree");
    holds(r.out, "(of 4096 asked for: more would not have ended within 0.3 s)");
    holds(r.out, "32 of 32 elements agree");
    clear(&r);
    r = run(make_bundle("", cases), "late-rest", "--judge 0.3 --case 0 --json");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "\"state\": \"right\"");
    holds(r.out, "\"late\": true, \"samples\": 64, \"wanted\": 4096");
    clear(&r);
    /* a wrong value among them is still found, and one that was never written */
    r = run(make_bundle("", large), "late-rest,wrong", "--judge 0.3");
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "1 of 64 samples wrong, first Y[99, 79] = ");
    clear(&r);
    r = run(make_bundle("", small), "late-reference,unwritten", "--judge 0.3");
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "1 elements are not finite or were never written");
    holds(r.json, "\"state\": \"wrong\"");
    clear(&r);
    /* but where the reference may say `any`, or be infinite, too, nobody knows */
    static const struct {
        const char *more, *mode, *state;
    } open[] = {
        { "reference 1 reference-1.ptx any\n", "late-reference,any", "not judged" },
        { "reference 1 reference-1.ptx any\n", "late-reference,unwritten", "not judged" },
        { "", "late-reference,any", "wrong" },
        { "", "late-reference,infinite", "not judged" },
        { "", "late-reference,infinite-nan", "wrong" },
        { "reference 1 reference-1.ptx any\n", "late-reference,infinite-nan", "not judged" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(open); i++) {
        g_autofree char *state = g_strdup_printf("\"state\": \"%s\"", open[i].state);
        const gboolean wrong = strcmp(open[i].state, "wrong") == 0;
        g_autofree char *one = g_strconcat(open[i].more, small, NULL);
        r = run(make_bundle("", one), open[i].mode, "--judge 0.3");
        g_test_message("%u: %s", i, r.out);
        g_assert_cmpint(r.status, ==, wrong);
        holds(r.json, state);
        if (!wrong)
            holds(r.out, "(first: 1); whether they are right its float64 reference did not say "
                         "within 0.3 s (--judge); ");
        g_assert_cmpint(strstr(r.json, "\"open\": ") == NULL, ==, wrong);
        clear(&r);
    }
}

/* Held to a witness: a hang is as told if the very waits of the witness are stuck. */
static void test_adversary(void)
{
    static const struct {
        const char *lines, *mode;
        int status;
        const char *said;
    } row[] = {
        { "adversary 3 hang\ntold it hangs\nawait 17 0 3 1 5 7\n", "", 0,
          "the counterexample is reproduced" },
        { "adversary 3 hang\ntold it hangs\nawait 17 0 3 1 5 8\n", "", 1,
          "the counterexample is NOT reproduced" },
        { "adversary 3 hang\ntold it hangs\nawait 17 1 3 1 5 7\n", "", 1,
          "the counterexample is NOT reproduced" },
        { "adversary 3 hang\ntold it hangs\nawait 17 0 3 0 5 7\n", "", 1,
          "the counterexample is NOT reproduced" },
        { "adversary 3 hang\ntold it hangs\nawait 17 0 3 1 5 7\n", "ends", 1,
          "it ends with right values" },
        { "adversary 3 harm\ntold a race\n", "", 0, "it hangs, as predicted: a race" },
        { "adversary 4 harm\ntold a race\n", "", 1, "3 of 4 moves" },
        { "adversary 3 harm\ntold a race\n", "ends", 1, "the counterexample is NOT reproduced" },
    };
    for (gsize i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *lines = g_strconcat("module debug debug.ptx\n", row[i].lines, NULL);
        Run r = run(make_bundle(lines, small), row[i].mode, SOON);
        g_test_message("%s", r.out);
        g_assert_cmpint(r.status, ==, row[i].status);
        holds(r.out, row[i].said);
        g_assert_null(strstr(r.out, "median of"));
        g_assert_null(strstr(r.out, "second run")); /* a held build runs once */
        g_assert_null(strstr(r.json, "repeats"));
        clear(&r);
    }
}

/* After an illegal access the context is lost: the next case runs in a fresh process. */
static void test_fault(void)
{
    g_autofree char *cases = g_strconcat(large, small, NULL);
    Run r = run(make_bundle("", cases), "fault", NULL);
    g_assert_cmpint(r.status, ==, 1);
    holds(r.out, "large: failed");
    holds(r.out, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
                 "encountered), while: first launch of the timed build");
    holds(r.out, "small: right");
    clear(&r);
}

static void test_usage(void)
{
    Run r = run(make_bundle("", small), "", "--frobnicate");
    g_assert_cmpint(r.status, ==, 2);
    holds(r.err, "unknown option --frobnicate");
    clear(&r);
    r = run(make_bundle("modul traced x\n", small), "", NULL);
    g_assert_cmpint(r.status, ==, 2);
    holds(r.err, "bundle.txt line 7: unknown keyword 'modul'");
    clear(&r);
    r = run(make_bundle("module traced missing.ptx\n", small), "", NULL);
    g_assert_cmpint(r.status, ==, 2);
    holds(r.err, "cannot read");
    clear(&r);
}

static void test_interrupt(void)
{
    Run r = { .dir = make_bundle("", small) };
    g_auto(GStrv) env = g_get_environ();
    env = g_environ_setenv(env, "WARPSTAVE_LIBCUDA", FAKE, TRUE);
    env = g_environ_setenv(env, "FAKE_CUDA", "hang", TRUE);
    g_autofree char *log = g_build_filename(r.dir, "calls.log", NULL);
    env = g_environ_setenv(env, "FAKE_CUDA_LOG", log, TRUE);
    const char *argv[] = { RUNNER, r.dir, "--timeout", "60", NULL };
    GPid pid;
    int status;
    g_assert_true(g_spawn_async(NULL, (char **)argv, env,
                                G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                                &pid, NULL));
    for (guint i = 0; i < 6000 && !(r.log && strstr(r.log, "launch")); i++) {
        g_usleep(10000);
        g_free(r.log);
        r.log = get(r.dir, "calls.log");
    }
    kill(pid, SIGINT);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 130);
    r.json = get(r.dir, "results.json");
    g_assert_null(r.json);
    clear(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/process/right", test_right);
    g_test_add_func("/runner/process/traced", test_traced);
    g_test_add_func("/runner/process/hidden", test_hidden);
    g_test_add_func("/runner/process/trouble", test_trouble);
    g_test_add_func("/runner/process/says-little", test_says_little);
    g_test_add_func("/runner/process/wrong-is-not-timed", test_wrong_is_not_timed);
    g_test_add_func("/runner/process/hang", test_hang);
    g_test_add_func("/runner/process/late-reference", test_late_reference);
    g_test_add_func("/runner/process/adversary", test_adversary);
    g_test_add_func("/runner/process/fault", test_fault);
    g_test_add_func("/runner/process/usage", test_usage);
    g_test_add_func("/runner/process/interrupt", test_interrupt);
    return g_test_run();
}
