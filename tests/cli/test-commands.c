/* The command line as a person meets it: exit codes and what is said, from tables. */
#include "../remove.h"
#include "../whole.h"
#include "run.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define LENS      WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave"
#define NO_LENS   WS_SOURCE_ROOT "/tests/cli/no-lens.wstave"
#define RIGHT     WS_SOURCE_ROOT "/tests/designs/gemm-pipe.wstave"
#define UNDECIDED WS_SOURCE_ROOT "/tests/designs/memory/exchange-alias-same-threads.wstave"

#define GEMM     WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"
#define CYCLES   WS_SOURCE_ROOT "/projects/cycles.txt"
#define CLUSTER  WS_SOURCE_ROOT "/projects/gemm-bf16-cluster2/design.wstave"
#define PINGPONG WS_SOURCE_ROOT "/tests/designs/gemm-pingpong.wstave"

typedef struct {
    const char *title;
    const char *arguments[16];
    int exit_code;
    const char *says; /* part of stdout + stderr, or NULL */
} Case;

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autofree char *output = NULL;
    int code = run(c->arguments, &output);
    if (code != c->exit_code || (c->says && !strstr(output, c->says))) {
        g_test_message("exit %d, expected %d; wanted \"%s\" in:\n%s", code, c->exit_code,
                       c->says ? c->says : "", output);
        g_test_fail();
    }
}

#define RULES          WS_SOURCE_ROOT "/projects/gemm.pick"
#define ATTENTION      WS_SOURCE_ROOT "/projects/attention.pick"
#define NO_TABLE       WS_SOURCE_ROOT "/tests/cli/no-table.pick"
#define SHAPE(m, n, k) "--size", "M=" m, "--size", "N=" n, "--size", "K=" k
#define HEADS(d, causal, s)                                                                        \
    "--size", "D=" d, "--size", "CAUSAL=" causal, "--size", "B=4", "--size", "HQ=16", "--size",    \
        "SQ=" s, "--size", "SK=" s
static const Case cases[] = {
    { "simulate-no-stride-of-tma",
      { "simulate", GEMM, SHAPE("8192", "8192", "100"), NULL },
      2,
      "TMA needs a multiple of 16 bytes" },
    { "simulate-no-extent-of-tma",
      { "simulate", GEMM, SHAPE("12800000000", "256", "64"), NULL },
      2,
      "TMA takes 1 to 4294967296" },
    { "advise-no-stride-of-tma",
      { "advise", GEMM, SHAPE("8192", "8192", "100"), NULL },
      2,
      "TMA needs a multiple of 16 bytes" },
    { "search-case-and-size",
      { "search", GEMM, "--case", "M=1 N=1 K=64", "--size", "M=64", NULL },
      2,
      "--size and --resume do not go with it" },
    { "search-case-unknown",
      { "search", GEMM, "--dry", "--case", "M=64 N=64 Q=64", NULL },
      2,
      "there is no size 'Q'" },
    { "search-dry-writes",
      { "search", GEMM, "--dry", "-o", "/dev/null", NULL },
      2,
      "writes no design" },
    { "search-resume-other",
      { "search", GEMM, "--dry", "--resume", RULES, NULL },
      2,
      "not a file of a search" },
    { "pick-waves", { "pick", RULES, SHAPE("4096", "4096", "4096"), NULL }, 0, "balanced/design" },
    { "pick-one-wave", { "pick", RULES, SHAPE("2048", "2048", "2048"), NULL }, 0, "single/design" },
    { "pick-short-k",
      { "pick", RULES, SHAPE("8192", "8192", "1024"), NULL },
      0,
      "deferred/design" },
    { "pick-few-rows", { "pick", RULES, SHAPE("128", "8192", "8192"), NULL }, 0, "splitk/design" },
    { "pick-small",
      { "pick", RULES, SHAPE("1000", "1016", "520"), NULL },
      0,
      "gemm-bf16/design.wstave --set BN=128 --set STAGES=6" },
    { "pick-nothing", { "pick", RULES, SHAPE("0", "8", "8"), NULL }, 0, "gemm-bf16/design.wstave" },
    { "pick-all", { "pick", RULES, "--all", SHAPE("128", "128", "64"), NULL }, 0, "           -" },
    { "pick-attention-rows-to-spare",
      { "pick", ATTENTION, HEADS("64", "0", "1024"), NULL },
      0,
      "d64/design.wstave --set ROWS=1" },
    { "pick-attention-long",
      { "pick", ATTENTION, HEADS("64", "0", "16384"), NULL },
      0,
      "d64/design.wstave\n" },
    { "pick-attention-short-mask",
      { "pick", ATTENTION, HEADS("64", "1", "1024"), NULL },
      0,
      "LOCK=1" },
    { "pick-attention-mask",
      { "pick", ATTENTION, HEADS("64", "1", "4096"), NULL },
      0,
      "d64/design.wstave --set CAUSAL=1\n" },
    { "pick-attention-128",
      { "pick", ATTENTION, HEADS("128", "1", "1024"), NULL },
      0,
      "d128/design.wstave --set CAUSAL=1\n" },
    { "pick-attention-empty",
      { "pick", ATTENTION, HEADS("256", "0", "0"), NULL },
      0,
      "d256/design.wstave\n" },
    { "pick-no-size",
      { "pick", RULES, "--size", "M=1", "--size", "N=1", NULL },
      2,
      "line 7: K has no" },
    { "pick-regret", { "pick", RULES, "--regret", NULL }, 0, "regret over " },
    { "pick-regret-none", { "pick", NO_TABLE, "--regret", NULL }, 1, "nothing was measured" },
    { "pick-regret-sizes",
      { "pick", RULES, "--regret", "--size", "M=1", NULL },
      2,
      "do not go with it" },
    { "pick-not-rules",
      { "pick", GEMM, "--size", "M=1", NULL },
      2,
      "line 1: expected let, table, design" },
    { "package-where", { "package", GEMM, NULL }, 2, "say where: -o DIR" },
    { "package-no-name",
      { "package", GEMM, "--name", "a-b", "-o", "/nonexistent/p", NULL },
      2,
      "--name" },
    { "package-name-keyword",
      { "package", GEMM, "--name", "class", "-o", "p", NULL },
      2,
      "a word of Python); say another with --name" },
    { "package-name-hidden",
      { "package", GEMM, "--name", "random", "-o", "p", NULL },
      2,
      "(a module that Python or torch has); say another with --name" },
    { "package-name-own",
      { "package", RULES, "--name", "kernel", "-o", "p", NULL },
      2,
      "(a name of the package's own); say another with --name" },
    { "package-folder-keyword",
      { "package", GEMM, "--backward", GEMM, "-o", "yield", NULL },
      2,
      "Python cannot import from a folder 'yield' (a word of Python); say another with -o" },
    { "package-here", { "package", GEMM, "-o", ".", NULL }, 2, "the folder you are in" },
    { "package-no-folder",
      { "package", "/nonexistent.wstave", "-o", "/nonexistent/p", NULL },
      2,
      "cannot make a folder beside /nonexistent/p" },
    { "bundle-ctas-twice",
      { "bundle", GEMM, "--traced", "--ctas=0,00", "-o", "b", NULL },
      2,
      "CTA numbers, each once" },
    { "draw-width", { "draw", GEMM, "--width=-5", "-o", "x.svg", NULL }, 2, "more than 0" },
    { "draw-height", { "draw", GEMM, "--height=nan", "-o", "x.svg", NULL }, 2, "more than 0" },
    { "draw-no-width", { "draw", GEMM, "--width=0", "-o", "x.svg", NULL }, 2, "more than 0" },
    { "search-resume",
      { "search", GEMM, "--dry", "--resume=/nonexistent/r", NULL },
      2,
      "cannot write beside /nonexistent/r" },
    { "search-resume-design",
      { "search", GEMM, "--dry", "--resume=" GEMM, NULL },
      2,
      "is what this command reads" },
    { "bundle-ctas", { "bundle", GEMM, "--ctas", "0", "-o", "b", NULL }, 2, "add --traced" },
    { "bundle-rounds", { "bundle", GEMM, "--rounds", "3", "-o", "b", NULL }, 2, "add --traced" },
    { "bundle-every", { "bundle", GEMM, "--every", "1", "-o", "b", NULL }, 2, "add --traced" },
    { "bundle-tiles", { "bundle", GEMM, "--tiles", "4", "-o", "b", NULL }, 2, "add --traced" },
    { "bundle-first", { "profile", GEMM, "--first-round", "0", NULL }, 2, "add --traced" },
    { "bundle-rounds-negative",
      { "bundle", GEMM, "--traced", "--rounds=-1", "-o", "b", NULL },
      2,
      "--rounds takes a number from 0" },
    { "bundle-rounds-none",
      { "bundle", GEMM, "--traced", "--rounds=0", "--every=2", "-o", "b", NULL },
      2,
      "leave --every and --first-round away" },
    { "bundle-no-tiles",
      { "bundle", GEMM, "--traced", "--tiles=0", "-o", "b", NULL },
      2,
      "--tiles takes a number from 1" },
    { "bundle-every-three",
      { "bundle", GEMM, "--traced", "--every=3", "-o", "b", NULL },
      2,
      "--every takes a power of two" },
    { "bundle-runs", { "bundle", GEMM, "--runs=0", "-o", "b", NULL }, 2, "--runs takes" },
    { "bundle-seed", { "bundle", GEMM, "--seed=-1", "-o", "b", NULL }, 2, "--seed takes" },
    { "bundle-delays", { "bundle", GEMM, "--delays=0", "-o", "b", NULL }, 2, "--delays takes" },
    { "bundle-sustained",
      { "bundle", GEMM, "--sustained=nan", "-o", "b", NULL },
      2,
      "--sustained" },
    { "bundle-timeout", { "bundle", GEMM, "--timeout=0", "-o", "b", NULL }, 2, "--timeout takes" },
    { "profile-devices-twice",
      { "profile", GEMM, "--devices=0,00", NULL },
      2,
      "write numbers of GPUs, each once" },
    { "profile-devices-one", { "profile", GEMM, "--devices=0,1", NULL }, 2, "is of one device" },
    { "profile-trace", { "profile", GEMM, "--trace=/nonexistent/t", NULL }, 2, "/nonexistent/t" },
    { "package-both",
      { "package", GEMM, "--figures", "a", "--measured", "b", "-o", "p", NULL },
      2,
      "not both" },
    { "package-no-figures",
      { "package", GEMM, "--figures", "/nonexistent.md", "-o", "p", NULL },
      2,
      "/nonexistent.md" },
    { "table-empty", { "calibrate", "--table", "/dev/null", NULL }, 2, "no launch in it" },
    { "trace-not-one", { "trace", GEMM, NULL }, 2, "warpstave: " GEMM ": not a Warpstave trace" },
    { "machine-cut-short",
      { "simulate", GEMM, "--machine", "/dev/null", NULL },
      2,
      "ends too early" },
    { "no-command", { NULL }, 2, "usage: warpstave COMMAND" },
    { "unknown-command", { "chekc", NULL }, 2, "did you mean 'check'" },
    { "command-of-habit", { "export", NULL }, 2, "here: 'warpstave generate DESIGN --as" },
    { "no-command-at-all", { "qqqqqqqq", NULL }, 2, "no command 'qqqqqqqq'; see" },
    { "help", { "--help", NULL }, 0, "rehearse" },
    { "rehearse-nothing",
      { "rehearse", WS_SOURCE_ROOT "/tests/cli/nothing-written.wstave", NULL },
      1,
      "nothing was compared with the reference" },
    { "no-file", { "check", NULL }, 2, "usage: warpstave check" },
    { "missing-file", { "check", "/nonexistent.wstave", NULL }, 2, "/nonexistent.wstave" },
    { "bad-setting", { "check", GEMM, "--set", "STAGES=x", NULL }, 2, "NAME=INTEGER" },
    { "unknown-setting", { "check", GEMM, "--set", "STAGE=3", NULL }, 2, "STAGE" },
    { "zero-stages", { "check", GEMM, "--set", "STAGES=0", NULL }, 2, "stages is 0" },
    { "too-large", { "check", GEMM, "--set", "STAGES=9", NULL }, 1, "B-" },
    { "sweep",
      { "simulate", GEMM, "--sweep", "STAGES=2..3", "--sweep", "BN=128,256", NULL },
      0,
      "fewest cycles: STAGES=" },
    { "sweep-step", { "simulate", GEMM, "--sweep", "BN=64..256/64", NULL }, 0, "BN=192" },
    { "sweep-form", { "simulate", GEMM, "--sweep", "BN=64..", NULL }, 2, "NAME=FROM..TO" },
    { "sweep-large",
      { "simulate", GEMM, "--sweep", "BN=1..4000", "--sweep", "BM=1..4000", NULL },
      2,
      "fewer at a time" },
    { "sweep-unknown", { "simulate", GEMM, "--sweep", "X=1..2", NULL }, 2, "X" },
    { "profile-sweep-trace",
      { "profile", GEMM, "--sweep", "STAGES=2..3", "--trace", "x.wtrace", NULL },
      2,
      "keeps no bundle" },
    { "profile-sweep-devices",
      { "profile", GEMM, "--sweep", "STAGES=2..3", "--devices", "0,1", NULL },
      2,
      "--devices" },
    { "calibrate-one-device", { "calibrate", "--devices", "0", NULL }, 2, "two GPU numbers" },
    { "calibrate-same-device", { "calibrate", "--devices", "1,1", NULL }, 2, "two GPU numbers" },
    { "calibrate-same-number", { "calibrate", "--devices=0,00", NULL }, 2, "two GPU numbers" },
    { "calibrate-letters", { "calibrate", "--devices=a,b", NULL }, 2, "two GPU numbers" },
    { "calibrate-table-devices",
      { "calibrate", "--table", "/dev/null", "--devices=0,1", NULL },
      2,
      "--devices means nothing there" },
    { "calibrate-table-output",
      { "calibrate", "--table", "/dev/null", "-o", "x", NULL },
      2,
      "--output means nothing there" },
    { "calibrate-from-host",
      { "calibrate", "--from", "x", "--host", "y", NULL },
      2,
      "--host means nothing there" },
    { "calibrate-json", { "calibrate", "--json", NULL }, 2, "--json means nothing there" },
    { "calibrate-output", { "calibrate", "-o", "/nonexistent/m", NULL }, 2, "/nonexistent/m" },
    { "calibrate-open-list", { "calibrate", "--devices", "0,", NULL }, 2, "two GPU numbers" },
    { "draw-no-such-device",
      { "draw", GEMM, "--device", "1", "-o", "x.svg", NULL },
      2,
      "device 1 has no CTA in the predicted trace" },
    { "draw-device-word",
      { "draw", GEMM, "--device", "-1", "-o", "x.svg", NULL },
      2,
      "write the number of a device, or all" },
    { "profile-two-hosts", { "profile", GEMM, "--host", "a", "--host", "b", NULL }, 2, "--sweep" },
    { "diff-same", { "diff", GEMM, GEMM, NULL }, 0, "the same design" },
    { "diff", { "diff", GEMM, PINGPONG, NULL }, 1, "+ groups/mma" },
    { "diff-edits", { "diff", "--edits", GEMM, PINGPONG, NULL }, 1, "insert groups/mma" },
    { "diff-mixed", { "diff", GEMM, "x.wtrace", NULL }, 2, "not one of each" },
    { "diff-one", { "diff", GEMM, NULL }, 2, "usage: warpstave diff A B" },
    { "check", { "check", GEMM, NULL }, 0, "proved for every interleaving" },
    { "check-3-stages", { "check", GEMM, "--set", "STAGES=3", NULL }, 0, "proved" },
    { "check-narrow", { "check", GEMM, "--set", "BN=128", NULL }, 0, "proved" },
    { "check-json", { "check", GEMM, "--json", NULL }, 0, "\"verdict\": \"proved\"" },
    { "policy", { "check", GEMM, "--policy", "strict", NULL }, 0, "proved" },
    { "policy-unknown", { "check", GEMM, "--policy", "lax", NULL }, 2, "write war, gather" },
    { "certificate", { "check", GEMM, "--certificate", "-", NULL }, 0, "nodes " },
    { "certificate-nowhere",
      { "check", GEMM, "--certificate", "/nonexistent/c.txt", NULL },
      2,
      "/nonexistent/c.txt" },
    { "require-proved", { "check", GEMM, "--require", "proved", NULL }, 0, "proved" },
    { "format", { "format", GEMM, NULL }, 0, "\"warpstave\": 1" },
    { "explain", { "explain", "p-dl", NULL }, 0, "deadlock" },
    { "explain-step", { "explain", "load", NULL }, 0, "into" },
    { "explain-object", { "explain", "barrier", NULL }, 0, "arrivals" },
    { "explain-unknown", { "explain", "P-NOPE", NULL }, 2, "explain --all" },
    { "simulate",
      { "simulate", GEMM, "--size", "M=4096", "--size", "N=4096", "--size", "K=4096", NULL },
      0,
      "cycles" },
    { "advise",
      { "advise", GEMM, "--set", "STAGES=2", "--size", "M=4096", "--size", "N=4096", NULL },
      0,
      "Ring of a: 4 stages instead of 2" },
    { "advise-json", { "advise", GEMM, "--no-edits", "--json", NULL }, 0, "\"edges\": [" },
    { "advise-no-trace", { "advise", GEMM, "--trace", "/nonexistent", NULL }, 2, "/nonexistent" },
    { "calibrate-table",
      { "calibrate", "--table", CYCLES, "--within", "40", NULL },
      0,
      "held out:" },
    { "calibrate-table-strict",
      { "calibrate", "--table", CYCLES, "--within", "2", NULL },
      1,
      "BEYOND" },
    { "calibrate-table-form", { "calibrate", "--table", GEMM, NULL }, 2, "six cells expected" },
    { "calibrate-table-missing",
      { "calibrate", "--table", "/nonexistent", NULL },
      2,
      "/nonexistent" },
    { "calibrate-machine", { "calibrate", "--machine", GEMM, NULL }, 2, "machine description" },
    { "calibrate-unread", { "calibrate", "--from", "/nonexistent", NULL }, 2, "/nonexistent" },
    { "simulate-assume", { "simulate", GEMM, "--size", "K=0", NULL }, 2, "K >= 1" },
    { "simulate-unknown-size", { "simulate", GEMM, "--size", "Q=1", NULL }, 2, "Q" },
    { "simulate-negative", { "simulate", GEMM, "--size", "M=-1", NULL }, 2, "M" },
    { "generate-program", { "generate", GEMM, "--as", "program", NULL }, 0, "full" },
    { "generate-gluon",
      { "generate", GEMM, "--as", "gluon", "--pinned", NULL },
      0,
      "gl.warp_specialize([" },
    { "generate-tle", { "generate", GEMM, "--as", "tle", "--pinned", NULL }, 0, "warp_specialize" },
    { "generate-gluon-not",
      { "generate", CLUSTER, "--as", "gluon", NULL },
      3,
      "step load at groups/load/" },
    { "generate-tle-refused",
      { "generate", WS_SOURCE_ROOT "/tests/designs/gemm-cluster.wstave", "--as", "tle", NULL },
      3,
      "TLE says (F9)" },
    { "check-tle",
      { "check", WS_SOURCE_ROOT "/tests/codegen/tle/by_hand.py", NULL },
      0,
      "proved for every interleaving" },
    { "import-tle",
      { "import", WS_SOURCE_ROOT "/tests/codegen/tle/by_hand.py", "--from", "tle", NULL },
      0,
      "\"empty_b\"" },
    { "generate-amdgpu-not", { "generate", GEMM, "--as", "amdgpu", NULL }, 3, "its code is PTX" },
    { "generate-ptx-not",
      { "generate", WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave", "--as", "ptx", NULL },
      3,
      "its code is AMDGPU" },
    { "generate-amdgpu",
      { "generate", WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave", "--as", "amdgpu", NULL },
      0,
      "v_mfma_f32_16x16x32_f16" },
    { "generate-amdgpu-report",
      { "generate", WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave", "--as", "report", NULL },
      0,
      "spilled: 0 vector, 0 scalar registers; 0 bytes of scratch" },
    { "generate-code-object",
      { "generate", GEMM, "--as", "hsaco", "--code-object", "7", NULL },
      2,
      "takes 4, 5 or 6" },
    { "generate-gluon-amd",
      { "generate", WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave", "--as", "gluon", "--pinned",
        NULL },
      0,
      "with gl.amd.warp_pipeline_stage(\"mem\", priority=1):" },
    { "package-wheel-amd",
      { "package", WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave", "-o", "p", "--wheel",
        "/nonexistent/w", NULL },
      3,
      "leave --wheel out" },
    { "package-amd",
      { "package", WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave", "-o", "/nonexistent/p",
        NULL },
      2,
      "/nonexistent" },
    { "generate-unknown", { "generate", GEMM, "--as", "elf", NULL }, 2, "elf" },
};

/* What a language cannot say leaves no file, and takes none away. */
static void test_no_partial_file(void)
{
    g_autofree char *dir = g_dir_make_tmp("warpstave-cli-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "kernel.py", NULL);
    const char *const arguments[] = { "generate", CLUSTER, "--as", "gluon", "-o", file, NULL };
    g_autofree char *output = NULL, *again = NULL, *kept = NULL;
    g_assert_cmpint(run(arguments, &output), ==, 3);
    g_assert_false(g_file_test(file, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_set_contents(file, "mine", -1, NULL));
    g_assert_cmpint(run(arguments, &again), ==, 3);
    g_assert_true(g_file_get_contents(file, &kept, NULL, NULL));
    g_assert_cmpstr(kept, ==, "mine");
    g_unlink(file);
    g_rmdir(dir);
}

/* Bad input: the shipped design with one text replaced; every one is exit 2 (or 1: a finding) with
 * file, place and remedy, from check, format and generate alike. */
typedef struct {
    const char *title, *from, *to;
    int exit_code;
    const char *says;
} BadText;

static const BadText bad_texts[] = {
    { "unknown-key", "\"slots\": \"STAGES\"", "\"slotz\": \"STAGES\"", 2, "slots" },
    { "wrong-type", "\"STAGES\": 4", "\"STAGES\": [4]", 2, "constants" },
    { "missing-name", "\"name\": \"full\", ", "", 2, "barriers/0" },
    { "recursive", "\"BM\": 128", "\"BM\": \"BM + 1\"", 2, "BM" },
    { "overflow", "\"BM\": 128", "\"BM\": \"9223372036854775807*2\"", 2, "BM" },
    { "unknown-barrier", "\"wait\": \"full\"", "\"wait\": \"fool\"", 2, "full" },
    { "newer-version", "\"warpstave\": 1", "\"warpstave\": 2", 2, "2" },
    { "negative-size", "\"M\": 8192", "\"M\": -8192", 2, "M" },
    { "zero-stages", "\"STAGES\": 4", "\"STAGES\": 0", 2, "stages is 0" },
    { "too-large", "\"STAGES\": 4", "\"STAGES\": 12", 1, "shared memory" },
    { "unreadable-expression", "\"cdiv(K, BK)\"", "\"cdiv(K, \"", 2, "column" },
    /* what people write out of habit has a remedy of its own */
    { "ceildiv", "\"cdiv(K, BK)\"", "\"ceildiv(K, BK)\"", 2, "write cdiv(a, b)" },
    { "power", "\"cdiv(K, BK)\"", "\"K**2\"", 2, "powers are products" },
    { "view", "\"cdiv(K, BK)\"", "\"a.rows(0, 64)\"", 2, "views are for" },
    { "bad-view", "\"into\": \"a\"", "\"into\": \"a.rows(0\"", 2, "correct the text" },
    { "comment", "\"constants\"", "# tiles\n\"constants\"", 2, "no comments" },
    { "single-quotes", "\"constants\"", "'constants'", 2, "double quotes" },
    { "last-comma", "\"groups\": [", "\"suppress\": [ 1, ], \"groups\": [", 2, "remove the comma" },
    { "no-comma", "\"groups\": [", "\"suppress\": [] \"groups\": [", 2, "put a comma" },
    { "no-colon", "\"groups\": [", "\"groups\" [", 2, "one complete JSON object" },
    { "other-language", "{", "import triton\n{", 2, "--from" },
};

static void test_bad_text(gconstpointer data)
{
    const BadText *c = data;
    g_autofree char *text = NULL, *output = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(GEMM, &text, NULL, &error);
    g_assert_no_error(error);
    char *at = strstr(text, c->from);
    g_assert_nonnull(at);
    g_autoptr(GString) broken = g_string_new_len(text, at - text);
    g_string_append(broken, c->to);
    g_string_append(broken, at + strlen(c->from));
    g_autofree char *file = g_build_filename(g_get_tmp_dir(), "warpstave-test-XXXXXX", NULL);
    int fd = g_mkstemp(file);
    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_file_set_contents(file, broken->str, -1, &error);
    g_assert_no_error(error);
    const char *const arguments[] = { "check", file, NULL };
    int code = run(arguments, &output);
    g_unlink(file);
    if (code != c->exit_code || !strstr(output, c->says) || !strstr(output, file) ||
        !strstr(output, "remedy: ")) {
        g_test_message("exit %d, expected %d; wanted \"%s\", the file and a remedy in:\n%s", code,
                       c->exit_code, c->says, output);
        g_test_fail();
    }
}

/* Whoever asks for times or values of a design whose import did not read all is told so. */
static void test_unread(void)
{
    static const char *const commands[] = { "simulate", "advise", "search" };
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(GEMM, &text, NULL, NULL));
    g_autoptr(GString) kept = g_string_new(text);
    g_assert_cmpuint(g_string_replace(kept, "\"groups\": [",
                                      "\"unread\": [\"line 3: a value\"], \"groups\": [", 1),
                     ==, 1);
    g_autofree char *file = g_build_filename(g_get_tmp_dir(), "warpstave-test-XXXXXX", NULL);
    int fd = g_mkstemp(file);
    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(file, kept->str, -1, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *output = NULL;
        const char *const arguments[] = { commands[i], file,     "--size", "M=256", "--size",
                                          "N=256",     "--size", "K=64",   NULL };
        run(arguments, &output);
        g_test_message("%s: %s", commands[i], output);
        g_assert_nonnull(strstr(output, "line 3: a value was not read"));
    }
    g_unlink(file);
}

/* Texts that are no design at all: cut off, too long, too deep. */
static char *cut_off(void)
{
    g_autofree char *text = NULL;
    g_file_get_contents(GEMM, &text, NULL, NULL);
    return g_strndup(text, 500);
}

static char *too_long(void)
{
    return g_strnfill((1 << 20) + 1, ' ');
}

static char *too_deep(void)
{
    return g_strnfill(100000, '[');
}

static void test_no_design(gconstpointer data)
{
    char *(*make)(void) = (char *(*)(void))data;
    g_autofree char *text = make(), *output = NULL;
    g_autofree char *file = g_build_filename(g_get_tmp_dir(), "warpstave-test-XXXXXX", NULL);
    close(g_mkstemp(file));
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    const char *const arguments[] = { "format", file, "-w", NULL };
    int code = run(arguments, &output);
    g_autofree char *after = NULL;
    g_assert_true(g_file_get_contents(file, &after, NULL, NULL));
    g_unlink(file);
    g_assert_cmpint(code, ==, 2);
    g_assert_nonnull(strstr(output, file));
    g_assert_cmpstr(after, ==, text); /* a failed load loses nothing */
}

/* What no command can answer is 3, whatever is asked: a target without code, an undecided design.
 */
static void test_undecided(void)
{
    static const char *const asked[][8] = {
        { "check", NO_LENS, NULL },
        { "check", "--json", NO_LENS, NULL },
        { "check", "--fix", "--dry-run", NO_LENS, NULL },
        { "check", RIGHT, NO_LENS, NULL },
        { "simulate", NO_LENS, NULL },
        { "simulate", LENS, "--machine", WS_SOURCE_ROOT "/resources/machines/h200.json", NULL },
        { "generate", LENS, "--as", "ptx", NULL },
        { "generate", NO_LENS, "--as", "program", NULL },
        { "draw", NO_LENS, "-o", "none.svg", NULL },
        { "bundle", WS_SOURCE_ROOT "/tests/designs/ascend/vector-add.wstave", "-o", "none", NULL },
        { "bench", NO_LENS, NULL },
        { "check", UNDECIDED, NULL },
        { "check", "--fix", "--dry-run", UNDECIDED, NULL },
        { "bench", UNDECIDED, NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(asked); i++) {
        g_autofree char *output = NULL;
        const int status = run(asked[i], &output);
        if (status != 3)
            g_error("%s %s: exit %d, not 3: %s", asked[i][0], asked[i][1], status, output);
    }
}

/* Text of the author in CUDA C++ has no PTX of ours: a bundle by nvcc alone asks for none. */
static void test_own_cuda(void)
{
    g_autofree char *dir = g_dir_make_tmp("warpstave-own-cuda-XXXXXX", NULL), *output = NULL;
    g_autofree char *to = g_build_filename(dir, "b", NULL);
    g_autofree char *cubin = g_build_filename(to, "kernel.cubin", NULL);
    g_autofree char *ptx = g_build_filename(to, "kernel.ptx", NULL);
    const char *const arguments[] = {
        "bundle", WS_SOURCE_ROOT "/tests/designs/raw-cuda.wstave", "--from-cuda", "-o", to, NULL
    };
    const int status = run(arguments, &output);
    if (status == 4) {
        g_test_skip("nvcc or LLVM is not installed");
    } else {
        g_assert_cmpint(status, ==, 0);
        g_assert_true(g_file_test(cubin, G_FILE_TEST_EXISTS));
        g_assert_false(g_file_test(ptx, G_FILE_TEST_EXISTS));
    }
    remove_tree(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        if (!test_often(i))
            continue;
        g_autofree char *path = g_strdup_printf("/cli/%s", cases[i].title);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    for (guint i = 0; i < G_N_ELEMENTS(bad_texts); i++) {
        if (!test_often(i))
            continue;
        g_autofree char *path = g_strdup_printf("/cli/bad/%s", bad_texts[i].title);
        g_test_add_data_func(path, &bad_texts[i], test_bad_text);
    }
    g_test_add_func("/cli/commands/unread", test_unread);
    g_test_add_func("/cli/undecided", test_undecided);
    g_test_add_func("/cli/own-cuda", test_own_cuda);
    g_test_add_func("/cli/no-partial-file", test_no_partial_file);
    g_test_add_data_func("/cli/bad/cut-off", (gconstpointer)cut_off, test_no_design);
    g_test_add_data_func("/cli/bad/too-long", (gconstpointer)too_long, test_no_design);
    g_test_add_data_func("/cli/bad/too-deep", (gconstpointer)too_deep, test_no_design);
    return g_test_run();
}
