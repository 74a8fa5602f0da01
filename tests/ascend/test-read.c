/* TLE-DSA text that is read: drawn texts get flags under which nothing goes wrong in any order of
 * the queues (stream.c), and which are proved; what is not understood is refused by name. */
#include "ascend/designs.h"
#include "ascend/stream.h"
#include "check/check.h"
#include "import/import.h"
#include "whole.h"

#define HEAD                                                                                       \
    "import triton\nimport triton.language as tl\nimport triton.experimental.tle as tle\n\n\n"     \
    "@triton.jit\ndef kernel(X_ptr, Z_ptr, N, M):\n"
#define BUFFERS                                                                                    \
    "    x = tle.dsa.alloc([64], tl.float32, tle.dsa.ascend.UB)\n"                                 \
    "    y = tle.dsa.alloc([64], tl.float32, tle.dsa.ascend.UB)\n"                                 \
    "    z = tle.dsa.alloc([64], tl.float32, tle.dsa.ascend.UB)\n"                                 \
    "    p = tl.arange(0, 64)\n"

/* --- drawn texts ------------------------------------------------------------------------------ */

typedef struct {
    GRand *r;
    GString *text;
    guint indices;
} Draw;

static void statement(Draw *d, guint depth, guint in)
{
    static const char *const buffer[] = { "x", "y", "z" };
    static const char *const counts[] = { "N // 64", "M // 64", "2", "3", "tl.cdiv(N, 64)" };
    const gint kind = g_rand_int_range(d->r, 0, depth < 2 ? 8 : 6);
    const char *a = buffer[g_rand_int_range(d->r, 0, 3)], *b = buffer[g_rand_int_range(d->r, 0, 3)],
               *c = buffer[g_rand_int_range(d->r, 0, 3)];
    g_string_append_printf(d->text, "%*s", (int)in, "");
    if (kind < 2) {
        g_string_append_printf(d->text, "tle.dsa.copy(X_ptr + p, %s, [64])\n", a);
    } else if (kind == 2) {
        g_string_append_printf(d->text, "tle.dsa.copy(%s, Z_ptr + p, [64])\n", a);
    } else if (kind < 6) {
        g_string_append_printf(d->text, "tle.dsa.%s(%s, %s, %s)\n", kind & 1 ? "add" : "max", a, b,
                               c);
    } else {
        g_string_append_printf(d->text, "for i%u in range(%s):\n", d->indices++,
                               counts[g_rand_int_range(d->r, 0, G_N_ELEMENTS(counts))]);
        for (gint n = g_rand_int_range(d->r, 1, 5); n > 0; n--)
            statement(d, depth + 1, in + 4);
    }
}

/* Buffers are written in front of everything, so that only the order of queues is asked for. */
static char *drawn(guint32 seed)
{
    Draw d = { g_rand_new_with_seed(seed), g_string_new(HEAD BUFFERS), 0 };
    g_string_append(d.text, "    tle.dsa.copy(X_ptr + p, x, [64])\n"
                            "    tle.dsa.copy(X_ptr + p, y, [64])\n"
                            "    tle.dsa.copy(X_ptr + p, z, [64])\n");
    for (gint n = g_rand_int_range(d.r, 1, 6); n > 0; n--)
        statement(&d, 0, 4);
    g_rand_free(d.r);
    return g_string_free(d.text, FALSE);
}

typedef struct {
    guint proved, undecided, open, budget;
} Count;

static void judge(guint32 seed, Count *n)
{
    g_autofree char *text = drawn(seed);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text(text, strlen(text), "kernel.py", WS_IMPORT_TLE, &error);
    if (!import)
        g_error("%u: %s\n%s", seed, error->message, text);
    g_assert_cmpuint(import->unread->len, ==, 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(import->design, NULL, 0, findings);
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) { /* more flags than there are */
        const WsFinding *f = findings->list->pdata[0];
        if (f->rule != WS_RULE_B_BARRIERS)
            g_error("%u: %s\n%s", seed, f->message, text);
        n->budget++;
        return;
    }
    for (gint64 rounds = 0; rounds <= 2; rounds++) {
        g_autofree char *wrong = stream_wrong(import->design, rounds);
        n->open += wrong && *wrong == '?';
        if (wrong && *wrong != '?')
            g_error("%u, %d rounds: %s\n%s\n%s", seed, (int)rounds, wrong, text,
                    ws_design_print(import->design));
    }
    g_autoptr(WsVerdict) v = ws_check(p, &(WsCheckOptions){ .max_findings = 1 }, findings);
    for (guint i = 0; v->kind == WS_VERDICT_REFUTED && i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR && f->rule != WS_RULE_G_TWICE &&
            f->rule != WS_RULE_G_NEVER)
            g_error("%u: refuted: %s\n%s\n%s", seed, f->message, text,
                    ws_design_print(import->design));
    }
    n->proved += v->kind == WS_VERDICT_PROVED;
    n->undecided += v->kind == WS_VERDICT_OUTSIDE;
}

static void test_drawn(void)
{
    Count n = { 0 };
    const char *from = g_getenv("WARPSTAVE_SEED"), *many = g_getenv("WARPSTAVE_DRAWN");
    const guint32 first = from ? (guint32)atoi(from) : 0;
    const guint32 count = many ? (guint32)atoi(many) : g_test_slow() ? 5000 : 60;
    for (guint32 i = 0; i < count; i++)
        judge(first + i, &n);
    g_test_message("%u texts: %u proved, %u not decided, %u with more flags than there are, %u "
                   "launches too large to be played",
                   count, n.proved, n.undecided, n.budget, n.open);
    g_assert_cmpuint(n.proved, >, count / 3);
}

/* --- refused ---------------------------------------------------------------------------------- */

static const struct {
    const char *body, *why; /* why NULL: it is read */
} refused[] = {
    { "    tle.dsa.copy(X_ptr + p, x, [64])\n    tle.dsa.copy(x, Z_ptr + p, [64])\n", NULL },
    { "    tle.dsa.copy(X_ptr + p, x, [tl.minimum(N, 64)])\n", NULL },
    { "    tle.dsa.copy(X_ptr + p, x, [32])\n", "the number of elements" },
    { "    tle.dsa.copy(X_ptr + p + 8, x, [tl.minimum(N, 64)])\n", "another one than the copy's" },
    { "    tle.dsa.copy(X_ptr + (p - 8), x, [tl.minimum(N + 8, 64)])\n", "below 0" },
    { "    tle.dsa.copy(X_ptr + (N % 3 - 1) // 2 + p, x, [64])\n", "rounds towards 0" },
    { "    tle.dsa.copy(X_ptr + 2*p, x, [64])\n    tle.dsa.copy(X_ptr + p, x, [64])\n",
      "two strides" },
    { "    tle.dsa.copy(X_ptr + p, x, [tl.minimum(N, 64)])\n"
      "    tle.dsa.copy(X_ptr + p, x, [tl.minimum(M, 64)])\n",
      "by two extents" },
    { "    tle.dsa.copy(x, y, [64])\n    tle.dsa.copy(x, y, [32])\n", "a part of" },
    { "    tl.store(X_ptr + p, tl.load(Z_ptr + p))\n", "the call of" },
    { "    tle.dsa.exp(x, y)\n", "dsa.exp" },
    { "    tle.dsa.add(x, y, z, 1)\n", "an argument too many" },
    { "    tle.dsa.add(x, y, out=z)\n", "`out`" },
    { "    k = tle.dsa.alloc([64], tl.float16, tle.dsa.ascend.UB)\n    tle.dsa.add(x, k, x)\n",
      "two shapes or types" },
    { "    k = tle.dsa.alloc([64], tl.int32, tle.dsa.ascend.UB)\n", "a type of elements" },
    { "    k = tle.dsa.alloc([64], tl.float32, tle.gpu.smem)\n", "a memory space" },
    { "    k = tle.dsa.alloc([N], tl.float32, tle.dsa.ascend.UB)\n", "no known number" },
    { "    k = tle.dsa.alloc([64], tl.float32, tle.dsa.ascend.L1)\n"
      "    tle.dsa.copy(x, k, [64])\n",
      "which the core has not" },
    { "    if N > 5:\n        tle.dsa.copy(X_ptr + p, x, [64])\n", "a condition" },
    { "    while N > 5:\n        tle.dsa.copy(X_ptr + p, x, [64])\n", "while" },
    { "    for i in range(N and 3):\n        tle.dsa.copy(X_ptr + p, x, [64])\n",
      "`and` of what is no condition" },
    { "    n = 0 or 5\n    for i in range(n):\n        tle.dsa.copy(X_ptr + p, x, [64])\n",
      "`or` of what is no condition" },
    { "    n = 0\n    for i in range(N):\n        n = n + 1\n", "which rounds of a loop change" },
    { "    for i in range(N):\n        t = i\n    tle.dsa.copy(X_ptr + t + p, x, [64])\n",
      "`t`, which has no value" },
    { "    t = tle.dsa.to_tensor(x)\n    tle.dsa.copy(X_ptr + p, x, [64])\n"
      "    w = tle.dsa.to_buffer(t + tle.dsa.to_tensor(y), tle.dsa.ascend.UB)\n",
      "written since" },
    { "    t = tle.dsa.to_tensor(x)\n    for i in range(N):\n"
      "        w = tle.dsa.to_buffer(t + tle.dsa.to_tensor(y), tle.dsa.ascend.UB)\n"
      "        tle.dsa.copy(X_ptr + p, x, [64])\n",
      "in front of a loop" },
    { "    tle.dsa.copy(X_ptr + p, x, [64])\n    return\n", "return" },
    { "    tl = N\n    tle.dsa.copy(X_ptr + p, x, [tl.minimum(N, 64)])\n", "minimum" },
    { "    for i in range(0, N, M):\n        tle.dsa.copy(X_ptr + p, x, [64])\n", "the step" },
    { "    for i in range(tl.program_id(0), N, tl.num_programs(0)):\n"
      "        tle.dsa.copy(X_ptr + tl.program_id(0) + p, x, [64])\n",
      "beside a loop over tiles" },
    { "    tle.dsa.copy(X_ptr + p, x, [64])\n    tle.dsa.copy(x, X_ptr + p, [64])\n",
      "copied in and out" },
    { "    c = tl.zeros([16, 16], tl.float32)\n    d = c\n", "a second name" },
    { "    c = tl.zeros([16, 16], tl.float32)\n"
      "    r = tl.arange(0, 16)\n"
      "    tle.dsa.copy(tle.dsa.to_buffer(c, tle.dsa.ascend.L0C), Z_ptr + r[:, None]*16 + r[None, "
      ":], [16, 16])\n",
      "no product was added" },
    { "    c = tl.zeros([16, 16], tl.float32)\n"
      "    a = tle.dsa.alloc([16, 16], tl.float16, tle.dsa.ascend.L0A)\n"
      "    b = tle.dsa.alloc([16, 16], tl.float16, tle.dsa.ascend.L0B)\n"
      "    d = tl.dot(tle.dsa.to_tensor(a), tle.dsa.to_tensor(b), c)\n",
      "something else than the variable" },
    { "    c = tl.zeros([16, 32], tl.float32)\n"
      "    a = tle.dsa.alloc([16, 16], tl.float16, tle.dsa.ascend.L0A)\n"
      "    b = tle.dsa.alloc([16, 16], tl.float16, tle.dsa.ascend.L0B)\n"
      "    c = tl.dot(tle.dsa.to_tensor(a), tle.dsa.to_tensor(b), c)\n",
      "do not fit" },
    { "    c = tl.zeros([16, 16], tl.float32)\n"
      "    a = tle.dsa.alloc([16, 16], tl.float16, tle.dsa.ascend.L0A)\n"
      "    b = tle.dsa.alloc([16, 16], tl.float16, tle.dsa.ascend.L0B)\n"
      "    for t in range(tl.program_id(0), N, tl.num_programs(0)):\n"
      "        c = tl.dot(tle.dsa.to_tensor(a), tle.dsa.to_tensor(b), c)\n",
      "zeros in front of a loop" },
};

/* What a host says, and what it does not say. */
static const struct {
    const char *host, *said; /* said NULL: nothing is assumed of N */
} hosts[] = {
    { "def launch(X, Z, N, M):\n    assert N > 7\n    kernel[(N,)](X, Z, N, M)\n", "N > 7" },
    { "def launch(X, Z, K, M):\n    assert K > 7\n    kernel[(K,)](X, Z, K, M)\n", "N > 7" },
    { "def launch(X, Z, N, M):\n    assert N > 7\n    N = 3 * M\n    kernel[(N,)](X, Z, N, M)\n",
      NULL },
    { "def launch(X, Z, N, M):\n    assert M > 7\n    N = 3 * M\n    kernel[(N,)](X, Z, N, M + "
      "1)\n",
      NULL },
    { "def launch(X, Z, N, M):\n    if M:\n        assert N > 7\n    kernel[(N,)](X, Z, N, M)\n",
      NULL },
    { "def launch(X, Z, N, M):\n    kernel[(N,)](X, Z, N, M)\n    assert N > 7\n", NULL },
    { "def launch(X, Z, N, M):\n    def later():\n        nonlocal N\n        N = 0\n"
      "    assert N > 7\n    later()\n    kernel[(N,)](X, Z, N, M)\n",
      NULL },
};

static void test_hosts(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(hosts); i++) {
        g_autofree char *text =
            g_strconcat(HEAD BUFFERS, refused[0].body, "\n", hosts[i].host, NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import =
            ws_import_text(text, strlen(text), "kernel.py", WS_IMPORT_TLE, &error);
        g_assert_no_error(error);
        g_autofree char *design = ws_design_print(import->design);
        const char *assume = strstr(design, "\"assume\"");
        if (!assume != !hosts[i].said || (assume && !strstr(assume, hosts[i].said)))
            g_error("host %u: %s", i, design);
    }
}

/* A second axis of programs that nobody asks for does everything twice. */
static void test_grid(void)
{
    static const char *const grid[] = { "(triton.cdiv(N, 64),)", "(triton.cdiv(N, 64), 2)" };
    for (guint i = 0; i < 2; i++) {
        g_autofree char *text = g_strconcat(
            HEAD BUFFERS,
            "    s = tl.program_id(0) * 64\n    t = tl.minimum(N - s, 64)\n"
            "    tle.dsa.copy(X_ptr + s + p, x, [t])\n    tle.dsa.copy(x, Z_ptr + s + p, [t])\n\n"
            "def launch(X, Z, N, M):\n    kernel[",
            grid[i], "](X, Z, N, M)\n", NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import =
            ws_import_text(text, strlen(text), "kernel.py", WS_IMPORT_TLE, &error);
        g_assert_no_error(error);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = ws_elaborate(import->design, NULL, 0, findings);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_assert_cmpint(v->kind, ==, i ? WS_VERDICT_REFUTED : WS_VERDICT_PROVED);
    }
}

static void test_refused(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *text = g_strconcat(HEAD BUFFERS, refused[i].body, NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import =
            ws_import_text(text, strlen(text), "kernel.py", WS_IMPORT_TLE, &error);
        const gboolean read = import != NULL;
        if (read != !refused[i].why || (!read && !strstr(error->message, refused[i].why)))
            g_error("row %u: %s\n%s", i, read ? "read" : error->message, refused[i].body);
        if (!read) /* its place */
            g_assert_true(g_regex_match_simple("^kernel.py:[0-9]+:[0-9]+: ", error->message, 0, 0));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/read/drawn", test_drawn);
    g_test_add_func("/ascend/read/refused", test_refused);
    g_test_add_func("/ascend/read/hosts", test_hosts);
    g_test_add_func("/ascend/read/grid", test_grid);
    return g_test_run();
}
