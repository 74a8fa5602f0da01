#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_mesh.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Pointers: integers that are loaded through them, and parts of buffers that index tiles pick. */

/* --- integers of global memory ---------------------------------------------------------------- */

/* base + offset -> the tensor of the base and the offset. */
static gint base_of(PyRead *p, const WsExpr *e, const WsExpr **offset, guint line)
{
    const WsPyNode *params = p->kernel->kid[0];
    for (guint i = 0; i < params->n; i++) {
        gint64 factor;
        const WsExpr *rest = ws_x_without(p->r, e, params->kid[i]->text, FALSE, &factor);
        if (factor != 1 || ws_expr_mentions(rest, params->kid[i]->text))
            continue;
        Val base = { .kind = VAL_PARAM, .text = params->kid[i]->text };
        *offset = rest;
        return py_tensor(p, &base, 1, line);
    }
    return -1;
}

void py_note_number(PyRead *p, const char *tensor)
{
    if (!p->probing && !g_ptr_array_find_with_equal_func(p->numbers, tensor, g_str_equal, NULL))
        g_ptr_array_add(p->numbers, (gpointer)tensor);
}

const Val *py_loaded_number(PyRead *p, const Val *pointer, const WsPyNode *at)
{
    if (!p->group || !pointer || at->n != 2 ||
        (pointer->kind != VAL_INT && pointer->kind != VAL_PARAM))
        return NULL;
    const WsExpr *offset = NULL;
    const gint tensor = base_of(p, py_as_int(p, pointer), &offset, at->line);
    if (tensor < 0 || !offset)
        return NULL;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    if (t->rank > 1 || (t->dtype && strcmp(t->dtype, "i32")))
        return NULL;
    t->rank = 1;
    t->dtype = "i32";
    py_note_number(p, t->name);
    WsExpr *arg[] = { ws_expr_ref(offset) };
    return py_int(p, ws_x_own(p->r, ws_expr_index(t->name, -1, arg, 1)));
}

static gboolean has_word(const char *text, const char *word)
{
    const gsize n = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        const gboolean begins = at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '_');
        if (begins && !g_ascii_isalnum(at[n]) && at[n] != '_')
            return TRUE;
    }
    return FALSE;
}

/* Everything that value `v` of the group is computed from, as texts; FALSE: something else makes
 * it. */
static gboolean made_from(const PyRead *p, const GPtrArray *list, gint64 v, GArray *seen,
                          GString *all)
{
    gboolean found = FALSE;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_COMPUTE && s->value == v && s->text && !s->off) {
            g_string_append_printf(all, " %s", s->text);
            found = TRUE;
        } else if (((s->kind == WS_READ_READ || s->kind == WS_READ_MMA) && s->value == v) ||
                   s->old == v + 1) {
            return FALSE;
        }
        found = made_from(p, s->body, v, seen, all) || found;
        found = made_from(p, s->other, v, seen, all) || found;
    }
    return found;
}

/* The same for a tile of pointers and the tiles it is made of. */
static char *pointers_text(const PyRead *p, gint64 v)
{
    g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(gint64));
    GString *all = g_string_new(NULL);
    gboolean good = TRUE;
    g_array_append_val(seen, v);
    for (guint at = 0; good && at < seen->len && seen->len < 64; at++) {
        good = made_from(p, p->group->body, g_array_index(seen, gint64, at), seen, all);
        for (gint64 k = 0; good && k < p->group->values->len; k++) {
            gboolean known = FALSE;
            for (guint i = 0; i < seen->len; i++)
                known |= g_array_index(seen, gint64, i) == k;
            if (!known && has_word(all->str, g_array_index(p->group->values, WsReadValue, k).name))
                g_array_append_val(seen, k);
        }
    }
    if (!good)
        g_string_assign(all, "?");
    return g_string_free(all, FALSE);
}

/* What the sum of pointers is made of; "?": it is not known. Caller frees. */
static char *words_of(const PyRead *p, const Val *pointer)
{
    char *text = !pointer || !p->group        ? g_strdup("?")
                 : pointer->kind == VAL_INT   ? ws_x_text(pointer->e)
                 : pointer->kind == VAL_MATH  ? g_strdup(pointer->text)
                 : pointer->kind == VAL_PARAM ? g_strdup(pointer->text)
                 : pointer->kind == VAL_POINTER && pointer->item[0]->text
                     ? g_strdup_printf("%s %s", pointer->item[0]->text, pointer->text)
                 : pointer->kind == VAL_TILE ? pointers_text(p, pointer->index)
                                             : g_strdup("?");
    if (pointer && pointer->kind == VAL_MATH)
        for (guint i = 0; pointer->reads && i < pointer->reads->len; i++) {
            g_autofree char *more = pointers_text(p, g_array_index(pointer->reads, gint64, i));
            char *both = g_strconcat(text, " ", more, NULL);
            g_free(text);
            text = both;
        }
    return text;
}

static void clear_away(gpointer data)
{
    g_free(((PyAway *)data)->text);
}

GArray *py_aways(void)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(PyAway));
    g_array_set_clear_func(list, clear_away);
    return list;
}

static void note(PyRead *p, GArray *list, const Val *pointer, const WsPyNode *at)
{
    if (p->probing || !p->in_kernel)
        return;
    const PyAway away = { words_of(p, pointer), at->line };
    g_array_append_val(list, away);
}

void py_note_store(PyRead *p, const Val *pointer, const WsPyNode *at)
{
    note(p, p->stored, pointer, at);
}

void py_note_fetch(PyRead *p, const Val *pointer, const WsPyNode *at)
{
    note(p, p->fetched, pointer, at);
}

void py_note_count(PyRead *p, const Val *pointer, const WsPyNode *at)
{
    note(p, p->counted, pointer, at);
}

/* The parameter that a tensor is called after: "lens" of "lens_2". */
static char *base_name(const PyRead *p, const char *name)
{
    const WsPyNode *params = p->kernel->kid[0];
    const char *best = name;
    for (guint i = 0; i < params->n; i++)
        if (g_str_has_prefix(name, params->kid[i]->text) &&
            (best == name || strlen(params->kid[i]->text) > strlen(best)))
            best = params->kid[i]->text;
    return g_strdup(best);
}

/* Any of the three names; `address` may be NULL. */
static gboolean is_among(const GArray *list, const char *name, const char *base,
                         const char *address)
{
    for (guint k = 0; k < list->len; k++) {
        const char *text = g_array_index(list, PyAway, k).text;
        if (strchr(text, '?') || has_word(text, name) || has_word(text, base) ||
            (address && has_word(text, address)))
            return TRUE;
    }
    return FALSE;
}

void py_finish_numbers(PyRead *p)
{
    for (guint i = 0; i < p->numbers->len; i++) {
        const char *name = g_ptr_array_index(p->numbers, i);
        g_autofree char *base = base_name(p, name);
        const char *address = g_hash_table_lookup(p->r->size_of, base); /* in sums of numbers */
        gboolean written = FALSE;
        for (guint k = 0; k < p->r->tensors->len; k++) {
            const WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, k);
            written |= !strcmp(t->name, name) && (t->written || t->reduced);
        }
        written |=
            is_among(p->stored, name, base, address) || is_among(p->counted, name, base, address);
        if (written)
            ws_source_unread(
                p->r, p->kernel->line, p->kernel->column, p->kernel->line,
                ws_source_format(p->r, "whether `%s`, which is loaded from, is also stored to",
                                 name),
                "");
    }
}

/* A parameter of the kernel, or a pointer or number that its launch gives for one. */
static gboolean is_given(const PyRead *p, const char *word)
{
    const WsPyNode *params = p->kernel->kid[0];
    for (guint i = 0; i < params->n; i++)
        if (!g_strcmp0(params->kid[i]->text, word))
            return TRUE;
    return ws_source_has_size(p->r, word) ||
           g_ptr_array_find_with_equal_func(p->r->scalars, word, g_str_equal, NULL);
}

/* Whether both sums may hold one pointer. */
static gboolean may_meet(const PyRead *p, const char *one, const char *other)
{
    gboolean meet = strchr(one, '?') || strchr(other, '?');
    for (const char *at = one; *at && !meet;) {
        const gsize n = strspn(at, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_");
        g_autofree char *word = g_strndup(at, n);
        meet = n && has_word(other, word) && is_given(p, word);
        at += n ? n : 1;
    }
    return meet;
}

static gboolean may_be_among(const PyRead *p, const char *text, const GArray *list)
{
    gboolean may = FALSE;
    for (guint i = 0; i < list->len && !may; i++)
        may = may_meet(p, text, g_array_index(list, PyAway, i).text);
    return may;
}

static gboolean may_be_written(const PyRead *p, const char *text)
{
    gboolean may = may_be_among(p, text, p->stored) || may_be_among(p, text, p->counted);
    for (guint i = 0; i < p->r->tensors->len && !may; i++) {
        const WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, i);
        g_autofree char *base = base_name(p, t->name);
        may = (t->written || t->reduced) && may_meet(p, text, base);
    }
    return may;
}

void py_finish_aways(PyRead *p)
{
    for (guint i = 0; i < p->stored->len; i++)
        ws_source_away(p->r, g_array_index(p->stored, PyAway, i).line);
    for (guint i = 0; i < p->fetched->len; i++) {
        const PyAway *away = &g_array_index(p->fetched, PyAway, i);
        if (may_be_written(p, away->text))
            ws_source_away(p->r, away->line);
    }
    ws_source_grant_away(p->r);
}

/* --- parts of buffers ------------------------------------------------------------------------- */

/* An index tile: `from` on, `n` of them along rows or columns; one number stands for all (n 1). */
typedef struct {
    gint64 from, n;
    gboolean rows; /* of a tile, counted by rows */
} Index;

static gboolean index_of(const Val *v, Index *i)
{
    gint64 number;
    if (py_known(v, &number)) {
        *i = (Index){ number, 1, FALSE };
        return number >= 0;
    }
    if (!v || (v->kind != VAL_MATH && v->kind != VAL_ZERO) || !v->text)
        return FALSE;
    const gboolean wrapped = g_str_has_prefix(v->text, "i32(") && strchr(v->text, ')') &&
                             !strchr(v->text, ')')[1]; /* i32(0) */
    g_autofree char *inside =
        wrapped ? g_strndup(v->text + 4, strlen(v->text) - 5) : g_strdup(v->text);
    g_autoptr(WsExpr) e = ws_expr_parse(inside, NULL);
    WsAffine f;
    if (!e || !ws_expr_affine(e, &f))
        return FALSE;
    gboolean good = f.n == 0;
    i->from = f.constant;
    i->n = 1;
    if (f.n == 1 && f.factor[0] == 1 && f.term[0]->op == WS_EXPR_NAME && v->kind == VAL_MATH) {
        i->rows = !strcmp(f.term[0]->name, "row");
        good = i->rows || !strcmp(f.term[0]->name, "col");
        i->n = i->rows ? v->rows : v->cols;
    }
    ws_affine_clear(&f);
    return good && i->from >= 0 && i->n >= 1;
}

static void is_counted(const WsExpr *node, gpointer data)
{
    *(gboolean *)data |= node->op == WS_EXPR_TOTAL || node->op == WS_EXPR_INDEX;
}

/* Places of a tile and numbers, nothing of which is held in a value: rows, columns, offsets. */
gboolean py_is_index(const Val *v)
{
    if (v->kind != VAL_MATH || g_strcmp0(v->dtype, "i32") || v->rows * v->cols < 2 ||
        (v->reads && v->reads->len))
        return FALSE;
    g_autoptr(WsExpr) e = ws_expr_parse(v->text, NULL);
    gboolean counted = FALSE;
    if (e)
        ws_expr_visit(e, is_counted, &counted);
    return e && !counted;
}

/* Elements that index tiles pick one by one, which atomics alone go through. */
static const Val *places_of(PyRead *p, const Val *buffer, const Val *index, const WsPyNode *at)
{
    const guint n = index->kind == VAL_TUPLE ? index->n : 0;
    Val full = { 0 };
    if (buffer && buffer->kind == VAL_BUFFER) {
        full = *buffer;
        py_extents(p, &full);
    }
    if (!full.cols || n < 1 || n > 2 || (n == 1 && full.rows != 1))
        return py_wrong(p, at, "a pointer into a part of a buffer that is not known");
    Val *v = py_val(p, VAL_PLACES);
    v->item = g_new0(const Val *, n + 2);
    g_ptr_array_add(p->r->pool, v->item);
    v->item[v->n++] = buffer;
    for (guint i = 0; i < n; i++)
        v->item[v->n++] = index->item[i];
    return v;
}

/* local_ptr(buffer, (rows, columns)): the part that the index tiles pick. */
const Val *py_mean_TLE_POINTER(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[1] || a[1]->kind == VAL_NONE)
        return a[0] ? a[0] : py_opaque(p);
    if (a[0] && a[0]->kind == VAL_REMOTE)
        return py_remote_part(p, a[0], a[1], at);
    Index row = { 0 }, col = { 0 };
    Val full = { 0 };
    if (a[0] && a[0]->kind == VAL_BUFFER) {
        full = *a[0];
        if (!full.rows)
            py_extents(p, &full);
    }
    const guint n = a[1]->kind == VAL_TUPLE ? a[1]->n : 0;
    if (n == 1 && full.rows == 1 && !py_known(a[1]->item[0], &(gint64){ 0 }) &&
        py_as_int(p, a[1]->item[0]))
        return py_element(p, a[0], a[1]->item[0], at);
    if (n == 1) /* of a buffer of one dimension */
        row = (Index){ 0, 1, FALSE };
    if (!full.rows || n < 1 || n > 2 || (n == 1 && full.rows != 1) ||
        (n == 2 && !index_of(a[1]->item[0], &row)) || !index_of(a[1]->item[n - 1], &col) ||
        (row.n > 1 && !row.rows) || (col.n > 1 && col.rows))
        return places_of(p, a[0], a[1], at);
    const Val *v = a[0];
    if (row.from + row.n > full.rows || col.from + col.n > full.cols)
        return py_wrong(p, at, "a pointer to what a buffer does not have");
    if (row.n < full.rows)
        v = py_mean_SLICE(
            p,
            (const Val *[]){ v, py_literal(p, row.from), py_literal(p, row.n), py_literal(p, 0) },
            at);
    if (col.n < full.cols)
        v = py_mean_SLICE(
            p,
            (const Val *[]){ v, py_literal(p, col.from), py_literal(p, col.n), py_literal(p, 1) },
            at);
    return v;
}

/* Another shape of the same; index tiles stay what they are. */
const Val *py_mean_TLE_BROADCAST(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[0] && a[0]->kind == VAL_MATH && !g_strcmp0(a[0]->dtype, "i32"))
        return a[0];
    py_law_value(p, at, "what this computes");
    return py_plain(p);
}
