#include "import/granted.h"
#include "import/ptx/walk.h"
#include "import/python/amd/amd.h"
#include "import/python/dsa/dsa.h"
#include "import/python/pyread.h"
#include "import/python/pyread_kernels.h"
#include "import/python/pyread_modules.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

/* The door: text of a language -> design and what was not understood; findings back to its lines.
 */

static const struct {
    const char *text, *suffix, *mark, *help;
} from_table[] = {
#define WS_IMPORT_FROM(id, text, suffix, mark, help) { text, suffix, mark, help },
#include "import/from.def"
#undef WS_IMPORT_FROM
};

static const char all_names[] = ""
#define WS_IMPORT_FROM(id, text, ...) "|" text
#include "import/from.def"
#undef WS_IMPORT_FROM
    ;
const char *const ws_import_names = all_names + 1;

WsImportFrom ws_import_from(const char *text)
{
    guint i = 0;
    while (i < WS_IMPORT_FROM_COUNT && strcmp(from_table[i].text, text))
        i++;
    return (WsImportFrom)i;
}

const char *ws_import_from_text(WsImportFrom from)
{
    return from_table[from].text;
}

const char *ws_import_from_help(WsImportFrom from)
{
    return from_table[from].help;
}

const char *ws_import_from_mark(WsImportFrom from)
{
    return from_table[from].mark;
}

WsImportFrom ws_import_guess(const char *file, const char *text)
{
    guint found = WS_IMPORT_FROM_COUNT;
    for (guint i = 0; i < WS_IMPORT_FROM_COUNT; i++) {
        const char *mark = from_table[i].mark;
        const gboolean free = found == WS_IMPORT_FROM_COUNT || (mark && !from_table[found].mark);
        if (free && g_str_has_suffix(file, from_table[i].suffix) &&
            (!mark || (text && strstr(text, mark))))
            found = i;
    }
    return (WsImportFrom)found;
}

static gint by_line(gconstpointer a, gconstpointer b)
{
    const WsUnread *x = *(WsUnread *const *)a, *y = *(WsUnread *const *)b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : (gint)x->column - (gint)y->column;
}

static gboolean total_too_early(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *program = ws_elaborate(design, NULL, 0, findings);
    if (program)
        ws_program_unref(program);
    for (guint i = 0; i < findings->list->len; i++)
        if (((WsFinding *)g_ptr_array_index(findings->list, i))->rule == WS_RULE_N_TOTAL)
            return TRUE;
    return FALSE;
}

/* What stands in a file that the text imports from is told at that import. */
static void to_imports(WsRead *r)
{
    for (guint i = 0; i < r->unread->len; i++) {
        WsUnread *u = g_ptr_array_index(r->unread, i);
        const WsReadFile *of = ws_source_file(r, u->line);
        if (!of)
            continue;
        char *what = g_strdup_printf("%s (%s:%u)", u->what, of->name, u->line - of->first + 1);
        g_free(u->what);
        u->what = what;
        u->line = u->end_line = of->from;
        u->column = 1;
    }
    g_autoptr(GList) lines = r->files ? g_hash_table_get_keys(r->partial) : NULL;
    for (const GList *l = lines; l; l = l->next) {
        const WsReadFile *of = ws_source_file(r, GPOINTER_TO_UINT(l->data));
        if (of)
            g_hash_table_add(r->partial, GUINT_TO_POINTER(of->from));
    }
}

/* The design that was read, or the reader's error. */
static WsImport *finish(WsRead *r, WsDesign *design, GError *own, const char *file, GError **error)
{
    if (!design) {
        if (!own)
            g_set_error(&own, WS_IMPORT_ERROR, WS_IMPORT_ERROR_NOTHING,
                        "%s:1:1: nothing was read. Import the file that holds the kernel.", file);
        g_propagate_error(error, own);
        return NULL;
    }
    g_clear_error(&own);
    WsImport *import = g_new0(WsImport, 1);
    import->file = g_strdup(file);
    import->design = design;
    import->near = ws_source_near(r);
    to_imports(r);
    import->parity_may_help = r->parity_may_help;
    import->launched = r->launched;
    import->unread = g_steal_pointer(&r->unread);
    g_ptr_array_sort(import->unread, by_line);
    import->granted = g_steal_pointer(&r->granted);
    import->open = g_steal_pointer(&r->open);
    import->partial = g_steal_pointer(&r->partial);
    import->added = g_steal_pointer(&r->added);
    import->made = g_steal_pointer(&r->made);
    return import;
}

static gboolean is_set(const gint *cancel)
{
    return cancel && g_atomic_int_get(cancel);
}

static void say_files(WsRead *r, const GArray *files)
{
    r->files = files;
    for (guint i = 0; files && i < files->len; i++)
        ws_source_granted(r, ws_source_format(r, "what is imported from %s is what that file says",
                                              g_array_index(files, WsReadFile, i).name));
}

static WsImport *read_python(const WsPython *py, const char *source, const char *file,
                             WsImportFrom from, WsPythonWay way, GError **error)
{
    GError *own = NULL;
    g_autoptr(WsRead) r = ws_source_new(file, source, &own);
    r->cancel = way.cancel;
    r->at_line = way.line;
    say_files(r, way.files);
    WsDesign *design = ws_import_python(r, py, file, from, way);
    g_autoptr(GArray) weak = design && !way.weak ? py_amd_weak_borders(design) : NULL;
    if (weak) { /* those are listed */
        ws_design_unref(design);
        way.weak = weak;
        return read_python(py, source, file, from, way, error);
    }
    return finish(r, design, own, file, error);
}

static WsImport *read_opened(const WsPython *py, const char *source, const char *file,
                             WsImportFrom from, WsPythonWay way, GError **error)
{
    WsImport *import = read_python(py, source, file, from, way, error);
    if (!import || !total_too_early(import->design))
        return import;
    ws_import_free(import); /* rounds of a loop are asked for before it stands: count them */
    way.counters_only = TRUE;
    return read_python(py, source, file, from, way, error);
}

/* Lines that are not understood, and errors of the design; G_MAXUINT: nothing is read. */
static guint misread(const WsImport *import)
{
    if (!import)
        return G_MAXUINT;
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *program = ws_elaborate(import->design, NULL, 0, findings);
    if (program)
        ws_program_unref(program);
    return import->unread->len + ws_findings_count(findings, WS_SEVERITY_ERROR);
}

/* A default of `launch(A, N=3)` is one value of many, and a verdict for it says nothing of the
 * others: the parameter becomes a size. What must be a number to be read (the extents of a buffer,
 * the stages of a ring) keeps its default: sizes are what *open gets. */
static WsImport *read_sizes(const WsPython *py, const char *source, const char *file,
                            WsImportFrom from, WsPythonWay *way, GError **error)
{
    const guint64 all = ws_import_python_defaults(py, way);
    GError *own = NULL;
    way->open = 0;
    WsImport *best = read_opened(py, source, file, from, *way, &own);
    const guint closed = all ? misread(best) : 0;
    guint64 open = 0;
    /* all of them, else one after the other */
    for (guint i = 0; i <= 64 && open != all && !is_set(way->cancel); i++) {
        const guint64 more = i ? open | (all & (guint64)1 << (i - 1)) : all;
        if (more == open)
            continue;
        way->open = more;
        WsImport *opened = read_opened(py, source, file, from, *way, NULL);
        if (!opened || misread(opened) > closed) {
            ws_import_free(opened);
            continue;
        }
        ws_import_free(best);
        best = opened;
        open = more;
    }
    way->open = open;
    if (best)
        g_clear_error(&own);
    else
        g_propagate_error(error, own);
    return best;
}

static WsImport *read_ptx(const char *text, gsize length, const char *file,
                          const WsImportOptions *o, GError **error)
{
    GError *own = NULL;
    g_autofree char *source = g_strndup(text, length); /* ends with a NUL */
    g_autoptr(WsPtx) ptx = ws_ptx_parse(source, length, file, o->kernel, error);
    if (!ptx || !ws_ptx_flow(ptx, file, error) || !ws_ptx_define(ptx, o->define, file, error))
        return NULL;
    WsImport *import = NULL;
    for (guint count = 0; count < 2; count++) { /* rounds asked for before their loop: count them */
        g_autoptr(WsRead) r = ws_source_new(file, source, &own);
        r->by_parity = o->by_parity;
        r->named = o->named;
        r->cancel = o->cancel;
        r->at_line = o->line;
        for (guint i = 0; o->assume && o->assume[i]; i++)
            g_ptr_array_add(r->assume, (gpointer)ws_source_format(r, "%s", o->assume[i]));
        WsDesign *design = ws_import_ptx(r, ptx, file, count > 0);
        ws_import_free(import);
        import = finish(r, design, own, file, error);
        if (!import || !total_too_early(import->design))
            break;
    }
    if (import)
        import->kernel = g_strdup(o->kernel);
    return import;
}

GPtrArray *ws_import_kernels(const char *text, gsize length, const char *file, WsImportFrom from,
                             GError **error)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    if (from == WS_IMPORT_PTX) {
        g_ptr_array_unref(names);
        return ws_ptx_kernels(text, length);
    }
    g_autoptr(WsPython) py = ws_python_parse(text, length, file, error);
    g_autoptr(GArray) kernels = py ? py_kernels(ws_python_module(py)) : NULL;
    for (guint i = 0; kernels && i < kernels->len; i++)
        g_ptr_array_add(names, g_strdup(g_array_index(kernels, PyKernel, i).name));
    if (!py)
        g_clear_pointer(&names, g_ptr_array_unref);
    return names;
}

/* Its number in the file; a file with warp_specialize is read for that. */
static gboolean find_kernel(const WsPython *py, const char *file, const char *name, guint *number,
                            GError **error)
{
    g_autoptr(GArray) kernels = py_kernels(ws_python_module(py));
    *number = 0;
    for (guint i = kernels->len; !name && i-- > 0;)
        if (g_array_index(kernels, PyKernel, i).specialized)
            *number = i;
    for (guint i = 0; name && i < kernels->len; i++)
        if (!strcmp(g_array_index(kernels, PyKernel, i).name, name)) {
            *number = i;
            return TRUE;
        }
    if (name)
        g_set_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_NOTHING,
                    "%s:1:1: no kernel of the file is called `%s`. Ask --list for their names.",
                    file, name);
    return !name;
}

/* The kernel where it is one of TLE-DSA, which has a reader of its own; else NULL. */
static const WsPyNode *dsa_kernel(const WsPython *py, WsImportFrom from, guint number)
{
    g_autoptr(GArray) kernels = py_kernels(ws_python_module(py));
    const WsPyNode *node = from == WS_IMPORT_TLE && number < kernels->len
                               ? g_array_index(kernels, PyKernel, number).node
                               : NULL;
    return node && py_uses_dsa(node->kid[1]) ? node : NULL;
}

static WsImport *read_dsa(const WsPython *py, const WsPyNode *kernel, const char *source,
                          const char *file, const WsImportOptions *o, const GArray *files,
                          GError **error)
{
    GError *own = NULL;
    g_autoptr(WsRead) r = ws_source_new(file, source, &own);
    r->cancel = o->cancel;
    r->at_line = o->line;
    say_files(r, files);
    for (guint i = 0; o->assume && o->assume[i]; i++)
        g_ptr_array_add(r->assume, (gpointer)ws_source_format(r, "%s", o->assume[i]));
    WsDesign *design = py_import_dsa(r, py, kernel, o->define);
    WsImport *import = finish(r, design, own, file, error);
    if (import)
        import->kernel = g_strdup(o->kernel);
    return import;
}

#define MOST_HOSTS 6

/* Unread things that may synchronise or write. */
static guint gaps(const WsImport *import)
{
    guint n = 0;
    for (guint i = 0; i < import->unread->len; i++)
        n += !((const WsUnread *)g_ptr_array_index(import->unread, i))->harmless;
    return n;
}

static WsImport *read_text(const char *text, gsize length, const char *file, WsImportFrom from,
                           const WsImportOptions *o, GError **error)
{
    if (from == WS_IMPORT_PTX)
        return read_ptx(text, length, file, o, error);
    g_autoptr(WsPython) alone = ws_python_parse(text, length, file, error);
    if (!alone)
        return NULL;
    g_autoptr(PyModules) modules = py_modules_new(alone, text, length, file, o);
    g_autoptr(WsPython) joined = NULL;
    if (modules) {
        text = py_modules_text(modules, &length);
        joined = ws_python_parse(text, length, file, error);
        if (!joined)
            return NULL;
        py_modules_place(modules, joined);
    }
    WsPython *py = joined ? joined : alone;
    WsPythonWay way = { .files = modules ? py_modules_files(modules) : NULL,
                        .define = o->define,
                        .assume = o->assume,
                        .by_parity = o->by_parity,
                        .cancel = o->cancel,
                        .line = o->line };
    if (!find_kernel(py, file, o->kernel, &way.kernel, error))
        return NULL;
    g_autofree char *source = g_strndup(text, length);
    const WsPyNode *dsa = dsa_kernel(py, from, way.kernel);
    if (dsa)
        return read_dsa(py, dsa, source, file, o, way.files, error);
    const guint hosts = MIN(ws_import_python_hosts(py, &way), MOST_HOSTS);
    WsImport *best = NULL;
    for (guint i = 0; i < MAX(hosts, 1); i++) { /* who knows more of the values is believed */
        WsPythonWay own = way;
        own.host = i;
        GError *failed = NULL;
        WsImport *import = read_sizes(py, source, file, from, &own, &failed);
        if (import && (!best || gaps(import) < gaps(best))) {
            ws_import_free(best);
            best = import;
            best->given = ws_import_python_given(py, &own);
            best->kernel = g_strdup(o->kernel);
        } else {
            ws_import_free(import);
        }
        if (!best && i + 1 >= hosts)
            g_propagate_error(error, failed);
        else
            g_clear_error(&failed);
        if (best && !gaps(best))
            break;
    }
    if (best && modules)
        py_modules_explain(modules, best->unread);
    if (best && is_set(o->cancel)) { /* not all ways were tried: another one may be the kernel's */
        g_clear_pointer(&best, ws_import_free);
        g_set_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ,
                    "%s:1:1: cancelled. Import it again.", file);
    }
    return best;
}

WsImport *ws_import_text_as(const char *text, gsize length, const char *file, WsImportFrom from,
                            const WsImportOptions *options, GError **error)
{
    static const WsImportOptions none = { 0 };
    WsImport *import = read_text(text, length, file, from, options ? options : &none, error);
    g_autofree char *whole = import ? g_strndup(text, length) : NULL;
    if (import)
        ws_import_keep_granted(import, whole);
    return import;
}

WsImport *ws_import_text(const char *text, gsize length, const char *file, WsImportFrom from,
                         GError **error)
{
    return ws_import_text_as(text, length, file, from, NULL, error);
}

WsImport *ws_import_ref(WsImport *import)
{
    g_atomic_int_inc(&import->others);
    return import;
}

void ws_import_free(WsImport *import)
{
    if (!import || g_atomic_int_add(&import->others, -1) > 0)
        return;
    ws_design_unref(import->design);
    g_ptr_array_unref(import->unread);
    g_ptr_array_unref(import->granted);
    g_ptr_array_unref(import->open);
    g_clear_pointer(&import->partial, g_hash_table_unref);
    g_clear_pointer(&import->added, g_hash_table_unref);
    g_clear_pointer(&import->made, g_hash_table_unref);
    if (import->near)
        g_hash_table_unref(import->near);
    g_free(import->kernel);
    g_free(import->given);
    g_free(import->file);
    g_free(import);
}

gboolean ws_import_place(const WsNode *node, guint *line, guint *column, guint *last)
{
    const WsValue *place = ws_node_get(node, WS_F_source);
    if (place->kind != WS_VALUE_LIST || place->n < 2)
        return FALSE;
    *line = (guint)MIN(place->item[0].r, G_MAXINT);
    *column = (guint)MIN(place->item[1].r, G_MAXINT);
    if (last)
        *last = place->n > 2 ? MAX((guint)MIN(place->item[2].r, G_MAXINT), *line) : *line;
    return TRUE;
}

/* "common.py:12" of the note of a step that stands in a file which the text imports from. */
static void tell_file(WsFinding *f, const WsNode *node)
{
    const char *note = ws_node_text(node, WS_F_note), *end = note ? strstr(note, ": ") : NULL;
    const char *colon = end ? g_strrstr_len(note, end - note, ".py:") : NULL;
    if (!colon || strspn(colon + 4, "0123456789") != (gsize)(end - colon - 4) || end == colon + 4)
        return;
    g_autofree char *place = g_strdup_printf(" (%.*s)", (int)(end - note), note);
    if (g_str_has_suffix(f->message, place))
        return;
    char *message = g_strconcat(f->message, place, NULL);
    g_free(f->message);
    f->message = message;
}

void ws_import_locate(const WsDesign *design, WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        WsFinding *f = g_ptr_array_index(findings->list, i);
        g_autofree char *at = g_strdup(f->at ? f->at : "");
        at[strcspn(at, "#")] = '\0';
        const WsNode *node = ws_design_find(design, at);
        for (char *up; !node && (up = strrchr(at, '/'));) { /* a list of steps: its owner */
            *up = '\0';
            node = ws_design_find(design, at);
        }
        f->line = f->column = 0;
        for (; node; node = ws_design_owner(design, node, NULL, NULL))
            if (ws_import_place(node, &f->line, &f->column, NULL)) {
                tell_file(f, node);
                break;
            }
    }
}
