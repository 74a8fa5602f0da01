#include "import/alone.h"
#include "import/python/amd/amd.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_mesh.h"
#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_host.h"
#include "target/target.h"

#include <string.h>

/* A Python file -> a design: its kernel is the function that calls warp_specialize, entered through
 * the launch that the file holds, or with its parameters open. */

/* "NAME=VALUE" of the command line, VALUE an expression of Python. */
static void read_definitions(PyRead *p, GPtrArray *trees)
{
    for (guint i = 0; p->way.define && p->way.define[i]; i++) {
        const char *text = p->way.define[i], *sign = strchr(text, '=');
        WsPython *tree = sign ? ws_python_parse(sign + 1, strlen(sign + 1), p->file, NULL) : NULL;
        const WsPyNode *module = tree ? ws_python_module(tree) : NULL;
        if (tree)
            g_ptr_array_add(trees, tree);
        if (!module || module->n != 1 || module->kid[0]->kind != WS_PY_EXPR || sign == text) {
            ws_source_fail(p->r, 1, 1, "Write NAME=VALUE.", "the definition `%s` is none", text);
            return;
        }
        const char *name = ws_source_format(p->r, "%.*s", (int)(sign - text), text);
        if (g_hash_table_contains(p->defined, name)) {
            ws_source_fail(p->r, 1, 1, "Write it once.", "`%s` is defined twice", name);
            return;
        }
        const gboolean type = g_str_has_suffix(name, ".dtype");
        const Val *v = type ? py_val(p, VAL_NAME) : py_eval(p, module->kid[0]->kid[0]);
        if (type) /* of a tensor that the host is given */
            ((Val *)v)->text = ws_source_format(p->r, "%s", sign + 1);
        if (type && !py_dtype(v->text)) {
            ws_source_fail(p->r, 1, 1, "Write x.dtype=torch.bfloat16.",
                           "`%s` says no type that designs have", text);
            return;
        }
        if (v->kind == VAL_STRING)
            ((Val *)v)->text = ws_source_format(p->r, "%s", v->text);
        g_hash_table_insert(p->defined, (gpointer)name, (gpointer)v);
    }
}

/* A persistent kernel that works on tiles outside of its loop over them: its number is a size then,
 * for whose every value the check holds; a design has no word for it. */
static void open_number(PyRead *p, const char *name)
{
    WsRead *r = p->r;
    gboolean used = FALSE;
    for (guint i = 0; i < r->groups->len; i++) {
        const WsReadGroup *g = g_ptr_array_index(r->groups, i);
        used |= py_steps_mention(g->body, name);
        for (guint k = 0; k < g->starts->len; k++)
            used |= ws_expr_mentions(g_ptr_array_index(g->starts, k), name);
    }
    if (!used)
        return;
    const gint64 preset = strcmp(name, PY_GRID) ? 0 : 132;
    g_ptr_array_add(r->sizes, (gpointer)name);
    g_array_append_val(r->presets, preset);
    ws_source_unread(r, p->kernel->line, p->kernel->column, p->kernel->line,
                     "which tile is worked on outside of the loop over tiles", name);
}

/* The programs of a loop over tiles are those along the first axis of the grid. */
static void need_one_axis(PyRead *p)
{
    gint64 one;
    gboolean more = FALSE;
    for (guint i = 1; p->grid && p->grid->kind == VAL_TUPLE && i < p->grid->n; i++)
        more = more || !ws_x_is(py_as_int(p, p->grid->item[i]), &one) || one != 1;
    if (more)
        ws_source_unread(p->r, p->kernel->line, p->kernel->column, p->kernel->line,
                         "programs along another axis of the grid, which work on the same tiles",
                         p->kernel->text);
}

/* Tiles: the range a persistent loop runs over, or the grid. */
static void finish_tiles(PyRead *p)
{
    WsRead *r = p->r;
    r->launched = p->grid && p->grid->kind == VAL_TUPLE && !p->counts_programs;
    if (p->tile) {
        if (strcmp(r->launch, "dynamic"))
            r->launch = "persistent";
        g_ptr_array_add(r->axes, (gpointer)p->tile);
        g_autofree char *text = ws_x_text(p->tiles);
        g_ptr_array_add(r->axes, (gpointer)ws_source_format(r, "%s", p->tiles ? text : "1"));
        open_number(p, PY_PID);
        open_number(p, PY_GRID);
        need_one_axis(p);
        return;
    }
    static const char *const pid[] = { PY_PID "_2", PY_PID "_1", PY_PID }; /* x is fastest */
    for (guint i = 0; i < 3; i++) {
        const guint axis = 2 - i;
        const WsExpr *e = p->grid && p->grid->kind == VAL_TUPLE && axis < p->grid->n
                              ? py_as_int(p, p->grid->item[axis])
                          : axis == 0 ? NULL
                                      : ws_x_int(r, 1);
        if (axis == 0 && p->counts_programs) { /* num_programs is a size of its own there */
            g_ptr_array_add(r->sizes, (gpointer)PY_GRID);
            const gint64 preset = 132;
            g_array_append_val(r->presets, preset);
            e = ws_x_name(r, PY_GRID);
        }
        if (!e) {
            const char *grid = ws_source_size_of(r, "grid", "grid", 132);
            e = ws_x_name(r, grid);
            if (p->grid)
                ws_source_open(r, grid);
        }
        if (axis == 0)
            e = py_mesh_clusters(p, e);
        g_autofree char *text = ws_x_text(e);
        g_ptr_array_add(r->axes, (gpointer)pid[i]);
        g_ptr_array_add(r->axes, (gpointer)ws_source_format(r, "%s", text));
    }
}

static gboolean reads(const GPtrArray *list, gint tensor)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean in = s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER ||
                            (s->kind == WS_READ_READ && s->tensor >= 0);
        if ((in && !s->off && s->tensor == tensor) || reads(s->body, tensor) ||
            reads(s->other, tensor))
            return TRUE;
    }
    return FALSE;
}

static void write_to(GPtrArray *list, gint from, gint to)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == WS_READ_STORE || (s->kind == WS_READ_WRITE && s->tensor >= 0)) &&
            s->tensor == from)
            s->tensor = to;
        write_to(s->body, from, to);
        write_to(s->other, from, to);
    }
}

/* Designs read a tensor or write it: one that is both is two, and what is read of the written one
 * is not followed. */
static void part_tensors(WsRead *r)
{
    for (guint i = 0, n = r->tensors->len; i < n; i++) {
        WsReadTensor t = g_array_index(r->tensors, WsReadTensor, i);
        gboolean read = FALSE;
        for (guint g = 0; g < r->groups->len; g++)
            read |= reads(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, (gint)i);
        if (!read || (!t.written && !t.reduced))
            continue;
        g_array_index(r->tensors, WsReadTensor, i).written = FALSE;
        g_array_index(r->tensors, WsReadTensor, i).reduced = FALSE;
        ws_source_unread_value(
            r, t.line, 1, t.line,
            ws_source_format(r, "whether `%s` is read where it was written", t.name), "");
        ws_source_granted(
            r, ws_source_format(r, "loads from `%s` and stores to it do not race", t.name));
        t.name = ws_source_name(r, ws_source_format(r, "%s_written", t.name));
        t.fills = 0;
        g_array_append_val(r->tensors, t);
        for (guint g = 0; g < r->groups->len; g++)
            write_to(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, (gint)i,
                     (gint)r->tensors->len - 1);
    }
}

/* Elements that the kernel counts by extents alone lie so in contiguous tensors only. */
static void grant_contiguous(WsRead *r)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < r->tensors->len; i++) {
        const WsReadTensor *t = &g_array_index(r->tensors, WsReadTensor, i);
        if (t->strided && !t->stride[0] && !t->contiguous)
            g_string_append_printf(names, "%s`%s`", names->len ? ", " : "", t->name);
    }
    if (names->len)
        ws_source_granted(
            r,
            ws_source_format(r, "the strides of %s are those of contiguous tensors", names->str));
}

static void finish_tensors(PyRead *p)
{
    WsRead *r = p->r;
    grant_contiguous(r);
    for (guint i = 0; i < r->tensors->len; i++) {
        WsReadTensor *t = &g_array_index(r->tensors, WsReadTensor, i);
        t->rank = CLAMP(t->rank, 1, 5);
        for (guint d = 0; d < t->rank; d++)
            py_extent(p, (gint)i, d, NULL);
    }
}

WsDesign *ws_import_python(WsRead *r, const WsPython *py, const char *file, WsImportFrom from,
                           WsPythonWay way)
{
    PyRead p = {
        .r = r, .py = py, .file = file, .from = from, .num_warps = 4, .replica = -1, .way = way
    };
    p.globals = g_hash_table_new(g_str_hash, g_str_equal);
    p.cases = g_hash_table_new(NULL, NULL);
    p.passed = g_array_new(FALSE, FALSE, sizeof(guint));
    p.aliases = g_hash_table_new(g_str_hash, g_str_equal);
    p.loops = g_array_new(FALSE, TRUE, sizeof(OpenLoop));
    p.loop_names = g_ptr_array_new();
    p.handed = g_ptr_array_new();
    p.scattered = g_ptr_array_new_with_free_func(g_free);
    p.call_sites =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    p.constants = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    p.pipes = g_ptr_array_new();
    p.rising = g_hash_table_new(g_str_hash, g_str_equal);
    p.numbers = g_ptr_array_new();
    p.stored = py_aways();
    p.fetched = py_aways();
    p.counted = py_aways();
    p.missing = g_ptr_array_new();
    p.open_gathers = g_ptr_array_new();
    p.allocated = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    p.staged = g_hash_table_new(NULL, NULL);
    p.rounds = g_string_new("");
    p.waited_on = g_array_new(FALSE, FALSE, sizeof(gint));
    p.generic = g_array_new(FALSE, FALSE, sizeof(gint));
    p.closures = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    p.locals = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref);
    static const char *const own[] = { PY_PID, PY_PID "_1", PY_PID "_2", PY_GRID };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        g_hash_table_add(r->names, (gpointer)own[i]);
    g_autoptr(GPtrArray) trees = g_ptr_array_new_with_free_func((GDestroyNotify)ws_python_free);
    p.defined = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) kernels = py_kernels(ws_python_module(py));
    const PyKernel *kernel =
        way.kernel < kernels->len ? &g_array_index(kernels, PyKernel, way.kernel) : NULL;
    p.kernel = kernel ? kernel->node : NULL;
    p.alone = kernel && !kernel->specialized ? kernel->node : NULL;
    read_definitions(&p, trees);
    WsDesign *design = NULL;
    if (!p.kernel)
        ws_source_fail(r, 1, 1, "Import the file that holds the kernel.",
                       "no function of the file calls warp_specialize");
    if (!*r->error) {
        p.names = py_names_new(ws_python_module(py));
        py_read_module(&p, ws_python_module(py));
        p.amd = from == WS_IMPORT_GLUON && p.alone && py_is_amd(&p, ws_python_module(py));
        py_run_host(&p, kernel);
    }
    if (p.epilogue)
        g_ptr_array_unref(p.epilogue);
    if (p.prologue)
        g_ptr_array_unref(p.prologue);
    if (!*r->error && !r->groups->len)
        ws_source_fail(r, p.kernel->line, p.kernel->column,
                       "Call warp_specialize in the body of the kernel itself.",
                       "the call of warp_specialize in `%s` was not reached", p.kernel->text);
    if (!*r->error) {
        r->title = ws_source_format(r, "%s of %s", p.kernel->text, r->file);
        for (guint i = 0; way.assume && way.assume[i]; i++)
            g_ptr_array_add(r->assume, (gpointer)ws_source_format(r, "%s", way.assume[i]));
        if (p.amd) {
            py_amd_room(&p);
            py_amd_turn(&p);
        }
        py_finish_numbers(&p);
        py_finish_aways(&p);
        if (from != WS_IMPORT_TLE)
            py_finish_bytes(&p);
        finish_tiles(&p);
        part_tensors(r);
        finish_tensors(&p);
        if (from == WS_IMPORT_TLE) {
            py_finish_places(&p);
            py_tle_finish(&p);
            py_mesh_finish(&p);
            if (p.alone) {
                ws_source_few_rows(r);
                ws_source_two_groups(r);
            }
        }
        if (way.weak && !p.weak_listed)
            ws_source_unread(r, p.kernel->line, p.kernel->column, p.kernel->line,
                             "a border whose barrier waits for less than the design's", "");
        r->inits = TRUE;
        r->by_parity = way.by_parity;
        r->fences = from != WS_IMPORT_TLE && !p.amd ? "drawn" : NULL;
        r->target = p.amd ? ws_target_gfx950.name : NULL;
        py_finish_implied(&p);
        ws_source_parts(r);
        design = ws_source_write(r);
    }
    g_hash_table_unref(p.globals);
    g_array_unref(p.waited_on);
    g_array_unref(p.generic);
    g_hash_table_unref(p.defined);
    py_names_free(p.names);
    g_hash_table_unref(p.cases);
    g_array_unref(p.passed);
    g_hash_table_unref(p.aliases);
    g_array_unref(p.loops);
    g_ptr_array_unref(p.loop_names);
    g_ptr_array_unref(p.handed);
    g_ptr_array_unref(p.scattered);
    g_hash_table_unref(p.constants);
    g_hash_table_unref(p.call_sites);
    g_ptr_array_unref(p.pipes);
    g_hash_table_unref(p.rising);
    g_ptr_array_unref(p.numbers);
    g_array_unref(p.stored);
    g_array_unref(p.fetched);
    g_array_unref(p.counted);
    g_ptr_array_unref(p.missing);
    g_ptr_array_unref(p.open_gathers);
    g_hash_table_unref(p.allocated);
    g_hash_table_unref(p.staged);
    g_string_free(p.rounds, TRUE);
    g_ptr_array_unref(p.closures);
    g_hash_table_unref(p.locals);
    g_clear_pointer(&p.taken, g_array_unref);
    return design;
}
