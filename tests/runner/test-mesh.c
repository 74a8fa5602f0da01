/* Bundles for several devices, run by the runner as a process on a driver that runs on the CPU
 * (fake_cuda.c): memory that all reach, maps and flags of all, launches that are counted, a hang of
 * one, and what is refused by name. */
#include "fake_run.h"

static const char header[] = "warpstave-bundle 1\nname Ring\ntarget sm_90a\nentry warpstave\n"
                             "block 128 1 1024\nmodule timed kernel.ptx\n"
                             "seed 7\nruns 4\nsustained 0\ntimeout 60\nrate 4096\nsizes M N rank\n"
                             "scalar alpha 0.5\n"
                             "tensor X bf16 2 read 0.02 0.004\n"
                             "tensor Y bf16 2 write 0.02 0.004\nreference 1 reference-1.ptx\n"
                             "map 0 128 64 32\nmap 1 64 8 4\nmesh rank come all\n";
static const char ring[] = "case two ctas 3 3 1e6\nvalues 4 8 0\ndevices 2\nflags 1 1 2 4\n"
                           "extent 0 4 8 8 1\nfill 0 normal 0 0 0 0\n"
                           "extent 1 4 8 8 1\nfill 1 zeros 0 0 0 0\n";
static const char three[] = "case three ctas 2 3 1e6\nvalues 4 8 0\ndevices 3\nflags 1 1 2 6\n"
                            "extent 0 4 8 8 1\nfill 0 normal 0 0 0 0\n"
                            "extent 1 4 8 8 1\nfill 1 zeros 0 0 0 0\n";

/* Of a bundle that stands in a folder of its own, of which nothing else is left. */
static Run mesh(const char *top, const char *cases, const char *mode, const char *extra)
{
    static const char *const files[] = { "bundle.txt",      "kernel.ptx",   "traced.ptx",
                                         "reference-1.ptx", "results.json", "calls.log",
                                         "records.bin" };
    char *dir = g_dir_make_tmp("warpstave-mesh-XXXXXX", NULL);
    g_autofree char *manifest = g_strconcat(top, cases, NULL);
    put(dir, "bundle.txt", manifest);
    put(dir, "kernel.ptx", "build timed\n");
    put(dir, "traced.ptx", "build traced\n");
    put(dir, "reference-1.ptx", "build reference\n");
    Run r = run(dir, mode, extra);
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(dir, files[i], NULL);
        g_unlink(path);
    }
    g_assert_cmpint(g_rmdir(dir), ==, 0);
    g_test_message("%s: %d\n%s%s%s", extra ? extra : "", r.status, r.out, r.err,
                   r.log ? r.log : "");
    return r;
}

static void clear(Run *r)
{
    g_free(r->dir);
    g_free(r->out);
    g_free(r->err);
    g_free(r->json);
    g_free(r->log);
}

/* Two devices of a machine, and two that share one: the same but for where memory is, how often it
 * is reached, and that what shares a GPU is no cooperative launch. */
static void test_right(void)
{
    for (int shared = 0; shared < 2; shared++) {
        Run r = mesh(header, ring, shared ? "mesh" : "mesh,two-devices",
                     shared ? "--devices 0,0" : NULL);
        g_assert_cmpint(r.status, ==, 0);
        holds(r.out, "two: right, 3 CTAs");
        holds(r.out, "64 of 64 elements agree"); /* of both devices */
        holds(r.out, "second run bit-identical");
        holds(r.json, shared ? "\"devices\": [0, 0]" : "\"devices\": [0, 1]");
        holds(r.json, "\"median_us\": 100");
        g_assert_cmpuint(count(r.log, "cooperative 1\n"), ==, shared ? 0 : 2 * 9);
        holds(r.log, shared ? "access 0:3\n" : "access 0:3 1:3\n");
        g_assert_cmpuint(count(r.log, "create 4096 on 1"), ==, shared ? 0 : 3);
        g_assert_cmpuint(count(r.log, "reserve 8192"), ==, 3); /* X, Y and the flags */
        g_assert_cmpuint(count(r.log, "release"), ==, 6);
        g_assert_cmpuint(count(r.log, "free 8192"), ==, 3);
        holds(r.log, "rank 1 after 0 launches\n");
        holds(r.log, "rank 0 after 8 launches\n"); /* checked twice, timed 3 + 4 times */
        g_assert_null(strstr(r.log, "after 9 launches"));
        clear(&r);
    }
}

static void test_again(void)
{
    Run r = mesh(header, ring, "mesh", "--devices 0,0 --runs 0 --again 5");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.log, "rank 1 after 6 launches\n");
    holds(r.json, "\"again\": 5");
    holds(r.out, "5 launches more: 0 with other values");
    clear(&r);
    g_auto(GStrv) parts = g_strsplit(header, "Y bf16 2 write", 2);
    g_autofree char *sums = g_strjoinv("Y bf16 2 reduce", parts);
    r = mesh(sums, ring, "mesh", "--devices 0,0 --runs 0 --again 5");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "5 launches more came to their end; sums are not compared");
    clear(&r);
}

static void test_wrong(void)
{
    static const struct {
        const char *cases, *mode, *extra;
        int status;
        const char *says;
    } of[] = {
        { ring, "mesh,own", "--devices 0,0", 1, "two: wrong" },
        { ring, "mesh,lost", "--devices 0,0 --runs 0", 1,
          "element 0 of flag come of device 0 is 1 after 2 launches, each of which adds 1" },
        { ring, "mesh,hang", "--devices 0,0 --timeout 1.5", 1, "hung" },
        { ring, "mesh", NULL, 4, "the bundle runs on 2 devices, and this machine has 1" },
        { ring, "mesh,two-devices,no-peer", NULL, 4, "GPU 0 does not reach the memory of GPU 1" },
        { ring, "mesh,no-peer-memory", "--devices 0,0", 1, "cuMemCreate" },
        { three, "mesh,three", "--devices 0,0", 2, "runs on 3 devices, and --devices names 2" },
        { three, "mesh,three", "--devices 0,0,", 2, "--devices needs GPU numbers" },
        { three, "mesh,three", "--devices 0,0,7", 4, "there is no GPU number 7" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        Run r = mesh(header, of[i].cases, of[i].mode, of[i].extra);
        g_autofree char *all = g_strconcat(r.out, r.err, r.json, NULL);
        g_assert_cmpint(r.status, ==, of[i].status);
        holds(all, of[i].says);
        clear(&r);
    }
}

/* The traced build runs on all devices, by turns with the timed one; the records of both lie behind
 * each other, and the second one's timer runs ahead by what the exchange shows. */
static void test_traced(void)
{
    g_auto(GStrv) parts = g_strsplit(header, "module timed kernel.ptx\n", 2);
    g_autofree char *top = g_strjoinv("module timed kernel.ptx\nmodule traced traced.ptx\n", parts);
    g_autofree char *traced = g_strconcat(top, "plan 7\nrecords 128 0 1 0 1\nctas 0\n", NULL);
    static const struct {
        const char *mode, *devices, *timers;
    } of[] = {
        { "mesh,two-devices", "0,1",
          "[{\"ahead_ns\": 0.0, \"error_ns\": 0.0}, {\"ahead_ns\": 50000.0, \"error_ns\": "
          "400.0}]" },
        { "mesh,two-devices,no-meeting", "0,1", "[{\"ahead_ns\": 0.0, \"error_ns\": 0.0}, null]" },
        { "mesh,two-devices,timers-jump", "0,1", "[{\"ahead_ns\": 0.0, \"error_ns\": 0.0}, null]" },
        { "mesh", "0,0",
          "[{\"ahead_ns\": 0.0, \"error_ns\": 0.0}, {\"ahead_ns\": 0.0, \"error_ns\": 0.0}]" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        g_autofree char *devices = g_strconcat("--devices ", of[i].devices, NULL);
        Run r = mesh(traced, ring, of[i].mode, devices);
        g_assert_cmpint(r.status, ==, 0);
        holds(r.out, "traced build bit-identical");
        holds(r.out, "(clock of the traced kernel)");
        holds(r.json, of[i].timers);
        holds(r.json, "\"records\": \"records.bin\"");
        /* once for its values, 3 + 4 times beside the timed one, once for the records */
        g_assert_cmpuint(count(r.log, "launch warpstave traced"), ==, 2 * 9);
        g_assert_cmpuint(count(r.log, "launch warpstave timed"), ==, 2 * (2 + 7 + 5));
        clear(&r);
    }
}

/* Of a GPU with 7 SMs, one CTA each: three devices of 2 CTAs fit, of 3 not. */
static void test_residents(void)
{
    Run r = mesh(header, three, "mesh,three", "--devices 0,0,0");
    g_assert_cmpint(r.status, ==, 0);
    holds(r.out, "96 of 96 elements agree");
    clear(&r);
    g_autofree char *wide = g_strdup(three);
    strstr(wide, "ctas 2")[5] = '3';
    r = mesh(header, wide, "mesh,three", "--devices 0,0,0");
    g_assert_cmpint(r.status, ==, 1);
    g_autofree char *all = g_strconcat(r.out, r.json, NULL);
    holds(all, "9 CTAs of 3 devices of the mesh are to run at once on GPU 0, which holds 7");
    clear(&r);
}

/* Lines of the manifest that do not fit together. */
static void test_manifest(void)
{
    static const struct {
        const char *from, *to, *says;
    } of[] = {
        { "devices 2\n", "", "has no `devices`" },
        { "flags 1 1 2 4\n", "", "not as many `flags`" },
        { "flags 1 1 2 4\n", "flags 1 1\n", "2 numbers for 2 flags" },
        { "flags 1 1 2 4\n", "flags 0 1 2 4\n", "outside 1..1048576" },
        { "devices 2\n", "devices 2\ndevices 2\n", "a second `devices`" },
        { "mesh rank come all\n", "mesh Rank come all\n", "'Rank' is not a size" },
        { "mesh rank come all\n", "", "`devices` without a `mesh`" },
        { "tensor Y bf16 2 write", "tensor Y bf16 2 exchanged", "unknown word" },
        { "module timed kernel.ptx\n", "module timed kernel.ptx\nmodule debug kernel.ptx\n",
          "has no debug build" },
        { "devices 2\n", "devices 17\n", "more than 16 devices" },
    };
    g_autofree char *whole = g_strconcat(header, ring, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        g_auto(GStrv) parts = g_strsplit(whole, of[i].from, 2);
        g_autofree char *text = g_strjoinv(of[i].to, parts);
        Run r = mesh(text, "", "mesh", "--devices 0,0");
        g_autofree char *all = g_strconcat(r.out, r.err, NULL);
        g_assert_cmpint(r.status, ==, 2);
        holds(all, of[i].says);
        clear(&r);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/mesh/right", test_right);
    g_test_add_func("/runner/mesh/again", test_again);
    g_test_add_func("/runner/mesh/wrong", test_wrong);
    g_test_add_func("/runner/mesh/traced", test_traced);
    g_test_add_func("/runner/mesh/residents", test_residents);
    g_test_add_func("/runner/mesh/manifest", test_manifest);
    return g_test_run();
}
