/* The state of one text: names of the whole file, and its end. */
#include "codegen/python/py.h"
#include "codegen/sizes.h"
#include "codegen/words.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/refusal.h"

#include <string.h>

static const char *global_name(WsPy *y, const char *name)
{
    const char *id = ws_py_ident(y, name);
    g_hash_table_add(y->global, (gpointer)id);
    return id;
}

/* Sizes and constants keep their names: they stand in expressions of both kinds. What would mean a
 * second thing takes an underscore. */
static const char *own_name(WsPy *y, const char *name)
{
    const char *id = ws_py_ident(y, name);
    while (g_hash_table_contains(y->global, id))
        id = ws_py_format(y, "%s_", id);
    g_hash_table_add(y->global, (gpointer)id);
    return id;
}

static void bind_launch(WsPy *y)
{
    for (guint i = 0; i < y->p->n_vars; i++) {
        const WsVar *v = &y->p->var[i];
        if (v->kind == WS_VAR_CTA) {
            y->var[i] =
                (WsTermName){ TRUE, "0", ws_interval(0, (gint64)MAX(y->p->cluster, 1) - 1) };
            continue;
        }
        if (v->kind != WS_VAR_SIZE && v->kind != WS_VAR_SCALAR && v->kind != WS_VAR_RUN)
            continue;
        y->var[i] =
            (WsTermName){ TRUE, global_name(y, v->name), ws_interval(WS_INTERVAL_MIN, G_MAXINT32) };
        if (v->kind == WS_VAR_SIZE)
            y->var[i].in = ws_fact_size(y->p, (gint)i);
    }
    for (guint i = 0; i < y->p->n_vars; i++) { /* after all names are known */
        const WsVar *v = &y->p->var[i];
        if (v->kind == WS_VAR_RUN && !v->real && v->value)
            y->var[i].in = ws_py_uniform(y, v->value).in;
    }
}

WsPy *ws_py_new(const WsProgram *p, const WsPyDialect *dialect, gboolean remarks,
                WsPyPieces *pieces, const WsPyNumbers *numbers)
{
    WsPy *y = g_new0(WsPy, 1);
    *y = (WsPy){ .p = p,
                 .dialect = dialect,
                 .remarks = remarks,
                 .pieces = pieces,
                 .numbers = numbers,
                 .out = g_string_new(NULL) };
    y->terms = (WsTermWriter){ .language = &ws_py_language,
                               .printer = y,
                               .pool = g_string_chunk_new(1 << 14) };
    y->var = g_new0(WsTermName, p->n_vars + 1);
    y->tensor = g_new0(const char *, p->n_tensors + 1);
    y->buffer = g_new0(const char *, p->n_buffers + 1);
    y->barrier = g_new0(const char *, p->n_barriers + 1);
    y->global = g_hash_table_new(g_str_hash, g_str_equal);
    y->counters = g_ptr_array_new();
    y->local = g_hash_table_new(g_str_hash, g_str_equal);
    y->helpers = g_hash_table_new(g_str_hash, g_str_equal);
    y->account = ws_account_new(p);
    y->constant = g_new0(const char *, p->n_constants + 1);
    y->parameter = g_new0(gboolean, p->n_constants + 1);
    y->of_file = g_new0(gboolean, p->n_constants + 1);
    for (guint i = 0; i < p->n_constants; i++)
        y->constant[i] = global_name(y, p->constant_name[i]);
    y->host = TRUE;
    bind_launch(y);
    y->host = FALSE;
    for (guint i = 0; i < p->n_tensors; i++)
        y->tensor[i] = own_name(y, p->tensor[i].name);
    for (guint i = 0; i < p->n_buffers; i++)
        y->buffer[i] = own_name(y, p->buffer[i].name);
    for (guint i = 0; i < p->n_barriers; i++)
        y->barrier[i] = own_name(y, p->barrier[i].name);
    for (guint i = 0; i < p->n_groups; i++)
        global_name(y, p->group_name[i]);
    GString *title = ws_words_title(p->name);
    y->kernel = own_name(y, title->str);
    g_string_free(title, TRUE);
    g_autofree char *refusal = ws_program_refusal(p, dialect->lens);
    if (refusal)
        g_set_error(&y->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP, "%s", refusal);
    return y;
}

const char *ws_py_local(WsPy *y, const char *name)
{
    const char *id = ws_py_ident(y, name);
    while (g_hash_table_contains(y->global, id) || g_hash_table_contains(y->local, id))
        id = ws_py_format(y, "%s_", id);
    return id;
}

/* --- pieces, parameters ------------------------------------------------------------------------*/

char *ws_py_piece(WsPy *y, char *text, gboolean frozen)
{
    if (y->pieces)
        ws_py_pieces_add(y->pieces, text, frozen);
    if (y->numbers) {
        char *named = ws_py_numbers_apply(y->numbers, y->piece, text, y->constant);
        g_free(text);
        text = named;
    }
    y->piece++;
    for (guint i = 0; i < y->p->n_constants; i++) {
        gboolean *of = frozen ? y->of_file : y->parameter;
        of[i] = (of[i] || ws_py_mentions(text, y->constant[i])) && (frozen || !y->of_file[i]);
    }
    return text;
}

/* One value only. */
static gboolean pinned(const WsPy *y, guint i)
{
    const GArray *values = y->numbers ? ws_py_numbers_values(y->numbers, i) : NULL;
    return !values || values->len < 2;
}

const char *ws_py_parameters(WsPy *y, const char *format, gboolean free)
{
    const char *s = "";
    for (guint i = 0; i < y->p->n_constants; i++) {
        if (!y->parameter[i] || (free && pinned(y, i)))
            continue;
        GString *one = g_string_new(format);
        g_autofree char *value = g_strdup_printf("%" G_GINT64_FORMAT, y->p->constant[i]);
        g_string_replace(one, "%v", value, 0);
        g_string_replace(one, "%s", y->constant[i], 0);
        s = ws_py_format(y, "%s%s%s", s, *s ? ", " : "", one->str);
        g_string_free(one, TRUE);
    }
    return s;
}

/* A parameter of the kernel, with a choice. */
static gboolean is_free(const WsPy *y, guint i)
{
    return y->parameter[i] && !y->of_file[i] && !pinned(y, i);
}

/* "BN == 128 or BN == 256": what a parameter may be, in order. */
static const char *choices(WsPy *y, guint i)
{
    const GArray *values = ws_py_numbers_values(y->numbers, i);
    const char *s = "";
    gint64 last = G_MININT64;
    for (guint n = 0; n < values->len; n++) {
        gint64 next = G_MAXINT64;
        for (guint k = 0; k < values->len; k++) {
            gint64 v = g_array_index(values, gint64, k);
            next = v > last ? MIN(next, v) : next;
        }
        s = ws_py_format(y, "%s%s%s == %" G_GINT64_FORMAT, s, n ? " or " : "", y->constant[i],
                         next);
        last = next;
    }
    return s;
}

/* How many parameters may be changed: the kernel counts them. */
static void at_most_two(WsPy *y)
{
    const char *s = "";
    guint n = 0;
    for (guint i = 0; i < y->p->n_constants; i++) {
        if (is_free(y, i))
            s = ws_py_format(y, "%s%s(%s != %" G_GINT64_FORMAT ")", s, n++ ? " + " : "",
                             y->constant[i], y->p->constant[i]);
    }
    if (n > 2)
        ws_py_line(y,
                   "%s.static_assert(%s <= 2, \"tried with one and with two constants changed, "
                   "not with more\")",
                   y->dialect->module, s);
}

void ws_py_static_asserts(WsPy *y)
{
    const char *module = y->dialect->module;
    gboolean any = FALSE;
    for (guint i = 0; y->numbers && i < y->p->n_constants; i++) {
        const char *name = y->constant[i];
        if (!y->parameter[i] && !y->of_file[i])
            continue;
        if (!is_free(y, i)) {
            ws_py_line(y,
                       "%s.static_assert(%s == %" G_GINT64_FORMAT
                       ", \"%s: nothing else goes with the rest\")",
                       module, name, y->p->constant[i], name);
            continue;
        }
        if (!any)
            ws_py_line(y, "# values at which the design was generated again, is this text, was "
                          "proved and rehearsed");
        any = TRUE;
        ws_py_line(y, "%s.static_assert(%s, \"%s: not tried at this value\")", module,
                   choices(y, i), name);
    }
    if (!any)
        return;
    at_most_two(y);
    const GArray *apart = ws_py_numbers_apart(y->numbers);
    for (guint i = 0; i < apart->len; i++) {
        const WsPyPair *at = &g_array_index(apart, WsPyPair, i);
        if (!is_free(y, at->constant[0]) || !is_free(y, at->constant[1]))
            continue;
        const char *a = y->constant[at->constant[0]], *b = y->constant[at->constant[1]];
        ws_py_line(y,
                   "%s.static_assert(%s != %" G_GINT64_FORMAT " or %s != %" G_GINT64_FORMAT
                   ", \"%s and %s: not right, or not this kernel, at these two values\")",
                   module, a, at->value[0], b, at->value[1], a, b);
    }
}

char *ws_py_finish(WsPy *y, GError **error)
{
    ws_py_account(y);
    char *text = y->error ? NULL : ws_py_tidy(y->out->str);
    if (y->error)
        g_propagate_error(error, y->error);
    g_string_free(y->out, TRUE);
    g_string_chunk_free(y->terms.pool);
    g_free(y->constant);
    g_free(y->parameter);
    g_free(y->of_file);
    g_free(y->var);
    g_free(y->tensor);
    g_free(y->buffer);
    g_free(y->barrier);
    g_clear_pointer(&y->boxes, g_array_unref);
    g_hash_table_unref(y->global);
    g_hash_table_unref(y->local);
    g_ptr_array_unref(y->counters);
    g_hash_table_unref(y->helpers);
    ws_account_clear(&y->account);
    g_free(y);
    return text;
}
