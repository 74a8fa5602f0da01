/* The state of one text: names of the whole file, and its end. */
#include "codegen/python/py.h"
#include "codegen/sizes.h"
#include "codegen/words.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

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

WsPy *ws_py_new(const WsProgram *p, const WsPyDialect *dialect)
{
    WsPy *y = g_new0(WsPy, 1);
    *y = (WsPy){ .p = p, .dialect = dialect, .out = g_string_new(NULL) };
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
    g_autofree char *refusal = ws_target_refusal(p->target, dialect->lens);
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

const char *ws_py_parameters(WsPy *y, const char *format, gboolean free)
{
    const char *s = "";
    for (guint i = 0; i < y->p->n_constants; i++) {
        gint64 lo = 0, hi = 0;
        if (y->numbers)
            ws_py_numbers_range(y->numbers, i, &lo, &hi);
        if (!y->parameter[i] || (free && lo == hi))
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

void ws_py_static_asserts(WsPy *y)
{
    const char *module = y->dialect->module;
    for (guint i = 0; y->numbers && i < y->p->n_constants; i++) {
        gint64 lo, hi;
        const char *name = y->constant[i];
        if (!y->parameter[i] && !y->of_file[i])
            continue;
        ws_py_numbers_range(y->numbers, i, &lo, &hi);
        if (lo == hi || y->of_file[i])
            ws_py_line(y,
                       "%s.static_assert(%s == %" G_GINT64_FORMAT
                       ", \"%s: nothing else goes with the rest\")",
                       module, name, y->p->constant[i], name);
        else
            ws_py_line(y,
                       "%s.static_assert(%" G_GINT64_FORMAT " <= %s and %s <= %" G_GINT64_FORMAT
                       ", \"%s: tried from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT "\")",
                       module, lo, name, name, hi, name, lo, hi);
    }
    const GPtrArray *q = y->numbers ? ws_py_numbers_quotients(y->numbers) : NULL;
    for (guint i = 0; q && i + 1 < q->len; i += 2) {
        const char *over = q->pdata[i], *under = q->pdata[i + 1];
        gboolean name = !strchr(under, ' ');
        ws_py_line(y, "%s.static_assert(%s %% %s%s%s == 0, \"%s is a multiple of %s\")", module,
                   over, name ? "" : "(", under, name ? "" : ")", over, under);
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
    g_free(y->map);
    g_free(y->buffer);
    g_free(y->barrier);
    g_hash_table_unref(y->global);
    g_hash_table_unref(y->local);
    g_ptr_array_unref(y->counters);
    g_hash_table_unref(y->helpers);
    ws_account_clear(&y->account);
    g_free(y);
    return text;
}
