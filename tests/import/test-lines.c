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

static const char *const kernel =
    "import triton\n"
    "from triton.experimental import gluon\n"
    "from triton.experimental.gluon import language as gl\n"
    "from triton.experimental.gluon.nvidia.hopper import TensorDescriptor\n"
    "from triton.experimental.gluon.language.nvidia.hopper import tma, mbarrier\n\n"
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
    "    for i in gl.static_range(2):\n"
    "        mbarrier.init(bar.index(i), count=1)\n"
    "%s\n"
    "def run(x, n, m):\n"
    "    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)\n"
    "    desc = TensorDescriptor.from_tensor(x, [64, 64], layout)\n"
    "    kernel[(1,)](desc, n, m)\n";

static char *replaced(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) part = g_strsplit(text, from, -1);
    return g_strjoinv(to, part);
}

static void test_lines(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *fill = replaced(lines[i].body, "fill(", "load_slot(desc, bar, smem, ");
    g_autofree char *body = replaced(fill, "full(", "wait_for(bar, ");
    g_autofree char *text = replaced(kernel, "%s", body);
    g_test_message("%s", text);
    g_assert_cmpint(is_proved(text, WS_IMPORT_GLUON), ==, lines[i].truth == RIGHT);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autofree char *path = g_strdup_printf("/import/lines/%s", lines[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_lines);
    }
    return g_test_run();
}
