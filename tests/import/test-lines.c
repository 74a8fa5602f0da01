/* Small kernels, each with one thing about how variables are followed: right ones are proved, wrong
 * ones never. */
#include "judged.h"

#include <string.h>

typedef enum { RIGHT, WRONG, OPEN } Truth; /* OPEN: right, and not proved so far */

static const struct {
    const char *title;
    Truth truth;
    const char *body;
} lines[] = {
#define LINES(title, truth, body) { title, truth, body },
#include "lines.def"
#undef LINES
};

/* BOUND(title, truth, module, text in front of the fill of slot 0 and the wait with parity x, text
 * behind the kernel) */
static const struct {
    const char *title;
    Truth truth;
    const char *module, *body, *behind;
} bounds[] = {
#define BOUND(title, truth, module, body, behind) { title, truth, module, body, behind },
#include "bound.def"
#undef BOUND
};

static const struct {
    const char *title;
    Truth truth;
    const char *produce, *consume, *first[2];
} pipes[] = {
#define PIPES(title, truth, produce, consume, a, b) { title, truth, produce, consume, { a, b } },
#include "pipes.def"
#undef PIPES
};

static const char *const two_pipes =
    "import triton\n"
    "import triton.experimental.tle.language as tle\n"
    "import triton.language as tl\n\n"
    "@triton.jit\n"
    "def produce(left, right, lens):\n"
    "    rows = tl.broadcast_to(tl.arange(0, 64)[:, None], (64, 64))\n"
    "    cols = tl.broadcast_to(tl.arange(0, 64)[None, :], (64, 64))\n"
    "    more = tl.broadcast_to((64 + tl.arange(0, 64))[None, :], (64, 64))\n"
    "    one = tl.full((64, 64), 1.0, tl.float16)\n"
    "@a"
    "    for k in range(n):\n"
    "@p\n"
    "@triton.jit\n"
    "def consume(left, right, lens):\n"
    "    rows = tl.broadcast_to(tl.arange(0, 64)[:, None], (64, 64))\n"
    "    cols = tl.broadcast_to(tl.arange(0, 64)[None, :], (64, 64))\n"
    "    more = tl.broadcast_to((64 + tl.arange(0, 64))[None, :], (64, 64))\n"
    "@b"
    "    for k in range(n):\n"
    "@c\n"
    "@triton.jit\n"
    "def kernel(lens):\n"
    "    ab = tle.gpu.alloc([2, 64, 128], dtype=tl.float16, layout=None, scope=tle.gpu.smem)\n"
    "    left = tle.pipe(capacity=2, scope=\"cta\", name=\"left\", ab=ab)\n"
    "    right = tle.pipe(capacity=2, scope=\"cta\", name=\"right\", ab=ab)\n"
    "    tle.gpu.warp_specialize([(consume, (left.reader(), right.reader(), lens)),\n"
    "                             (produce, (left.writer(), right.writer(), lens))], [4], [24])\n\n"
    "def run(lens):\n"
    "    kernel[(1,)](lens)\n";

static const char *const kernel =
    "import triton\n"
    "from triton.experimental import gluon\n"
    "from triton.experimental.gluon import language as gl\n"
    "from triton.experimental.gluon.nvidia.hopper import TensorDescriptor\n"
    "from triton.experimental.gluon.language.nvidia.hopper import tma, mbarrier\n"
    "from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp\n"
    "%m\n"
    "@gluon.jit\n"
    "def load_slot(desc, bar, smem, i):\n"
    "    mbarrier.expect(bar.index(i), 8192)\n"
    "    tma.async_copy_global_to_shared(desc, [0, 0], bar.index(i), smem.index(i))\n\n"
    "@gluon.jit\n"
    "def wait_for(bar, i, phase):\n"
    "    mbarrier.wait(bar.index(i), phase)\n\n"
    "@gluon.jit\n"
    "def kernel(desc, n, m):\n"
    "    smem = gl.allocate_shared_memory(gl.float16, [2, 64, 64], desc.layout)\n"
    "    bar = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())\n"
    "    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])\n"
    "    for i in gl.static_range(2):\n"
    "        mbarrier.init(bar.index(i), count=1)\n"
    "%s\n"
    "%b\n"
    "def run(x, n, m):\n"
    "    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)\n"
    "    desc = TensorDescriptor.from_tensor(x, [64, 64], layout)\n"
    "    kernel[(1,)](desc, n, m)\n";

static char *replaced(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) part = g_strsplit(text, from, -1);
    return g_strjoinv(to, part);
}

static char *filled(const char *module, const char *lines_of_it, const char *behind)
{
    g_autofree char *fill = replaced(lines_of_it, "fill(", "load_slot(desc, bar, smem, ");
    g_autofree char *body = replaced(fill, "full(", "wait_for(bar, ");
    g_autofree char *a = replaced(kernel, "%m", module), *b = replaced(a, "%b", behind);
    return replaced(b, "%s", body);
}

static void test_lines(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = filled("", lines[i].body, "");
    g_test_message("%s", text);
    g_assert_cmpint(is_proved(text, WS_IMPORT_GLUON), ==, lines[i].truth == RIGHT);
}

/* Right ones are not refuted either, proved or not. */
static void test_bound(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *body = g_strconcat(
        bounds[i].body, "    fill(0)\n    full(0, x)\n    y = smem.index(0).load(layout)\n", NULL);
    g_autofree char *text = filled(bounds[i].module, body, bounds[i].behind);
    g_test_message("%s", text);
    const WsVerdictKind verdict = verdict_of(text, WS_IMPORT_GLUON);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, bounds[i].truth == RIGHT);
    g_assert_false(verdict == WS_VERDICT_REFUTED && bounds[i].truth != WRONG);
}

static void test_pipes(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *a = replaced(two_pipes, "@a", pipes[i].first[0]);
    g_autofree char *b = replaced(a, "@b", pipes[i].first[1]);
    g_autofree char *p = replaced(b, "@p", pipes[i].produce);
    g_autofree char *text = replaced(p, "@c", pipes[i].consume);
    g_test_message("%s", text);
    const WsVerdictKind verdict = verdict_of(text, WS_IMPORT_TLE);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, pipes[i].truth == RIGHT);
    g_assert_false(verdict == WS_VERDICT_REFUTED && pipes[i].truth != WRONG);
}

/* Other languages and machines are refused by name. */
static void test_refused(void)
{
    static const struct {
        WsImportFrom from;
        const char *text, *says;
    } kernels[] = {
        { WS_IMPORT_GLUON,
          "import triton\nimport triton.language.extra.tlx as tlx\n@triton.jit\n"
          "def kernel(n):\n    with tlx.async_tasks():\n        pass\n"
          "def run(n):\n    kernel[(1,)](n)\n",
          "TLX" },
        { WS_IMPORT_TLE,
          "import triton\nfrom triton.language.extra import tlx as t\n@triton.jit\n"
          "def part(n):\n    t.local_alloc((64,), None, n)\n"
          "@triton.jit\ndef kernel(n):\n    part(n)\n"
          "def run(n):\n    kernel[(1,)](n)\n",
          "`kernel` is written in TLX (`t`)" },
        { WS_IMPORT_GLUON,
          "import triton\nimport triton.experimental.tle.language as tle\n@triton.jit\n"
          "def kernel(n):\n    tle.gpu.alloc((64,), n)\n"
          "def run(n):\n    kernel[(1,)](n)\n",
          "`kernel` is written in TLE (`tle`)" },
        { WS_IMPORT_TLX,
          "import triton\nimport triton.experimental.tle.language as tle\n@triton.jit\n"
          "def kernel(n):\n    tle.gpu.alloc((64,), n)\n"
          "def run(n):\n    kernel[(1,)](n)\n",
          "--from tle" },
        { WS_IMPORT_TLE,
          "import triton\nimport triton.experimental.tle.language as tle\n"
          "import triton.language.extra.tlx as tlx\n@triton.jit\n"
          "def kernel(n):\n    tle.gpu.alloc((64,), n)\n    tlx.local_alloc((64,), None, n)\n"
          "def run(n):\n    kernel[(1,)](n)\n",
          "TLX (`tlx`). Import a kernel of one language." },
        { WS_IMPORT_GLUON,
          "from triton.experimental import gluon\n"
          "from triton.experimental.gluon import language as gl\n"
          "from triton.experimental.gluon.language.nvidia.blackwell import tcgen05_mma\n"
          "@gluon.jit\ndef part(a):\n    tcgen05_mma(a, a, a)\n"
          "@gluon.jit\ndef kernel(a, N: gl.constexpr):\n    part(a)\n"
          "def run(a, n):\n    kernel[(1,)](a, n)\n",
          "Blackwell" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import = ws_import_text(kernels[i].text, strlen(kernels[i].text),
                                                    "kernel.py", kernels[i].from, &error);
        g_assert_null(import);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, kernels[i].says));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(pipes); i++) {
        g_autofree char *path = g_strdup_printf("/import/lines/pipes/%s", pipes[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_pipes);
    }
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autofree char *path = g_strdup_printf("/import/lines/%s", lines[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_lines);
    }
    for (guint i = 0; i < G_N_ELEMENTS(bounds); i++) {
        g_autofree char *path = g_strdup_printf("/import/lines/bound/%s", bounds[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_bound);
    }
    g_test_add_func("/import/lines/refused", test_refused);
    return g_test_run();
}
