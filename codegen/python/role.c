/* One function per group: its variables, where its values come into being, its body; replicas fold
 * into one function of `replica`. */
#include "codegen/python/py.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* A value is a register of the design and a name here. A name must exist before a loop that changes
 * it, and should not exist longer than that (or it is carried around outer loops): it comes into
 * being before kid `at` of sequence `seq`; NULL: by its first assignment. Borrows from the program.
 */
struct WsPyHome {
    const WsTree *seq;
    guint at;
};

/* --- where values come into being ------------------------------------------------------------- */

typedef struct {
    const WsAgent *agent;
    guint value;
    const WsTree *first, *common; /* first leaf that touches it; the least sequence around all */
    gboolean reads_first, defines_all;
} Touch;

/* What a step does with a value: 0 nothing, else WsMode. `all`: a write of all of it; `since`: a
 * loop in whose first round it is all written, while later rounds may go on with it. */
typedef struct {
    guint mode;
    gboolean all;
    const WsTree *since;
} Use;

static Use use_of_math(const WsOp *op, guint value)
{
    for (guint i = 0; i < op->n_math; i++) {
        if (ws_array_reads(op->assign[i].array, value))
            return (Use){ .mode = WS_MODE_READ };
        if (op->assign[i].value == (gint)value)
            return (Use){ .mode = op->skip ? WS_MODE_READ : WS_MODE_WRITE, .all = !op->skip };
    }
    return (Use){ 0 };
}

static Use use_of_product(const WsOp *op, gboolean whole)
{
    gint64 first = 0;
    if (whole && ws_expr_is_int(op->mma->first, &first))
        return (Use){ .mode = first ? WS_MODE_WRITE : WS_MODE_READ, .all = first != 0 };
    const WsTree *since = whole ? ws_py_first_loop(op) : NULL;
    return (Use){ .mode = since ? WS_MODE_WRITE : WS_MODE_READ, .since = since };
}

/* Names in flight pass through a wait. */
static gboolean flies_at(const WsOp *wait, guint value)
{
    return ws_op_retires(wait->kind) && ws_op_queue(wait->kind) == WS_QUEUE_MMA &&
           ws_py_accumulates(wait, value);
}

static Use use_of(const WsOp *op, const WsAgent *agent, guint value)
{
    const WsRegValue *v = &agent->value[value];
    if (op->kind == WS_OP_MATH)
        return use_of_math(op, value);
    for (guint i = 0; i < op->n_value; i++) {
        const WsValueUse *u = &op->value[i];
        if (u->value != value)
            continue;
        gboolean whole = u->rows == v->rows && u->cols == v->cols;
        if (ws_op_is_product(op->kind) && i == 0)
            return use_of_product(op, whole);
        if (u->mode & WS_MODE_READ || !whole)
            return (Use){ .mode = WS_MODE_READ };
        return (Use){ .mode = WS_MODE_WRITE, .all = TRUE };
    }
    return (Use){ .mode = flies_at(op, value) ? WS_MODE_READ : 0 };
}

/* A stage is no place of its own: what it makes is there for the stages behind it. */
static const WsTree *sequence_of(const WsTree *t)
{
    while (t && (t->kind != WS_TREE_SEQ || t->stage))
        t = t->parent;
    return t;
}

static gboolean inside(const WsTree *t, const WsTree *seq)
{
    for (; t; t = t->parent) {
        if (t == seq)
            return TRUE;
    }
    return FALSE;
}

static void look(Touch *h, const WsTree *t)
{
    if (t->kind == WS_TREE_OP) {
        const Use use = use_of(t->op, h->agent, h->value);
        if (!use.mode)
            return;
        if (!h->first) {
            h->first = t;
            h->common = sequence_of(use.since ? use.since->parent : t->parent);
            h->reads_first = use.mode == WS_MODE_READ;
            h->defines_all = use.all;
        }
        while (h->common && !inside(t, h->common))
            h->common = sequence_of(h->common->parent);
        return;
    }
    for (guint i = 0; i < t->n_kids; i++) {
        if (t->kid[i])
            look(h, t->kid[i]);
    }
}

static struct WsPyHome home_of(const WsAgent *a, guint value)
{
    Touch h = { .agent = a, .value = value };
    look(&h, a->body);
    if (!h.first)
        return (struct WsPyHome){ NULL, 0 };
    if (h.reads_first || !h.common) /* what an earlier round left in it */
        return (struct WsPyHome){ a->body, 0 };
    for (guint i = 0; i < h.common->n_kids; i++) {
        const WsTree *kid = h.common->kid[i];
        if (kid == h.first)
            return (struct WsPyHome){ h.defines_all ? NULL : h.common, i };
        if (kid && inside(h.first, kid)) {
            const gboolean made = kid->stage && h.first->parent == kid && h.defines_all;
            return (struct WsPyHome){ made ? NULL : h.common, i };
        }
    }
    return (struct WsPyHome){ a->body, 0 };
}

void ws_py_values_before(WsPy *y, const WsTree *seq, guint i)
{
    for (guint v = 0; y->home && v < y->agent->n_values; v++) {
        if (y->home[v].seq != seq || y->home[v].at != i)
            continue;
        const char *fresh = y->dialect->fresh(y, v);
        if (fresh)
            ws_py_line(y, "%s", fresh);
    }
}

void ws_py_begin_block(WsPy *y, const WsTree *t)
{
    if (y->dialect->block_around)
        y->dialect->block_around(y, t, TRUE);
}

void ws_py_end_block(WsPy *y, const WsTree *t)
{
    if (y->dialect->block_around)
        y->dialect->block_around(y, t, FALSE);
}

/* --- variables -------------------------------------------------------------------------------- */

static void bind_variables(WsPy *y, guint number)
{
    for (guint i = 0; i < y->p->n_vars; i++) {
        const WsVar *v = &y->p->var[i];
        if (v->agent != (gint)number ||
            (v->kind != WS_VAR_TOTAL && v->kind != WS_VAR_COUNTER && v->kind != WS_VAR_LET))
            continue;
        gint64 low = v->kind == WS_VAR_TOTAL ? 0 : WS_INTERVAL_MIN;
        gint64 high = v->kind == WS_VAR_LET ? WS_INTERVAL_MAX : G_MAXINT32;
        y->var[i] = (WsTermName){ TRUE, ws_py_local(y, v->name), ws_interval(low, high) };
    }
}

static guint lets_of(const WsTree *t, guint var)
{
    if (t->kind == WS_TREE_OP)
        return t->op->kind == WS_OP_LET && t->op->var == (gint)var;
    guint n = 0;
    for (guint i = 0; i < t->n_kids; i++)
        n += t->kid[i] ? lets_of(t->kid[i], var) : 0;
    return n;
}

/* `text` without the lines that only count what nobody reads. Caller frees. */
static char *without_idle(WsPy *y, guint number, const char *text)
{
    GString *s = g_string_new(text);
    for (guint i = 0; i < y->p->n_vars; i++) {
        const WsVar *v = &y->p->var[i];
        if (v->agent != (gint)number || v->kind != WS_VAR_TOTAL || !y->var[i].bound)
            continue;
        g_autofree char *step = g_strdup_printf("%s += 1", y->var[i].s);
        g_auto(GStrv) line = g_strsplit(s->str, "\n", -1);
        GString *less = g_string_new(NULL);
        for (guint k = 0; line[k]; k++) {
            const int blanks = (int)strspn(line[k], " ");
            if (strcmp(line[k] + blanks, step) != 0)
                g_string_append_printf(less, "%s%s", line[k], line[k + 1] ? "\n" : "");
            else if (ws_py_empty_block(less)) /* it was all there is in the body */
                g_string_append_printf(less, "%*spass\n", blanks, "");
        }
        if (ws_py_mentions(less->str, y->var[i].s))
            g_string_free(less, TRUE);
        else {
            g_string_free(s, TRUE);
            s = less;
        }
    }
    return g_string_free(s, FALSE);
}

static void declare(WsPy *y, guint number, const char *text)
{
    for (guint i = 0; i < y->counters->len; i++) {
        const char *name = y->counters->pdata[i];
        if (ws_py_mentions(text, name))
            ws_py_line(y, "%s = 0", name);
    }
    g_autoptr(GHashTable) declared = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < y->p->n_vars; i++) {
        const WsVar *v = &y->p->var[i];
        if (v->agent != (gint)number || !y->var[i].bound || !ws_py_mentions(text, y->var[i].s) ||
            !g_hash_table_add(declared, (gpointer)y->var[i].s))
            continue;
        if (v->kind == WS_VAR_TOTAL)
            ws_py_line(y, "%s = 0  # rounds of %.*s so far", y->var[i].s,
                       (int)strcspn(v->name, "."), v->name);
        else if (v->kind == WS_VAR_COUNTER)
            ws_py_line(y, "%s = %s", y->var[i].s, v->value ? ws_py_text(y, v->value) : "0");
        else if (v->kind == WS_VAR_LET && lets_of(y->agent->body, i) > 1)
            ws_py_line(y, "%s = 0", y->var[i].s);
    }
}

/* --- roles ------------------------------------------------------------------------------------ */

/* The statements of a role at depth 1. Caller frees. */
static char *role_body(WsPy *y, guint number)
{
    const WsAgent *a = &y->p->agent[number];
    GString *outer = y->out;
    y->agent = a;
    y->commented = NULL;
    y->terms.plus_zero = a->replicas > 1;
    y->value = g_new0(const char *, a->n_values + 1);
    y->home = g_new0(struct WsPyHome, a->n_values + 1);
    g_hash_table_remove_all(y->local);
    g_ptr_array_set_size(y->counters, 0);
    for (guint v = 0; v < a->n_values; v++) {
        y->value[v] = ws_py_local(y, a->value[v].name);
        g_hash_table_add(y->local, (gpointer)y->value[v]);
        y->home[v] = home_of(a, v);
    }
    bind_variables(y, number);
    if (y->dialect->role_begin)
        y->dialect->role_begin(y);
    y->out = g_string_new(NULL);
    y->depth = 1;
    gboolean single = y->p->tiles->launch == WS_LAUNCH_SINGLE;
    ws_py_tiles_bind(y, single);
    ws_py_tree(y, a->body);
    g_autofree char *all = g_string_free(y->out, FALSE);
    g_autofree char *body = without_idle(y, number, all);
    y->out = g_string_new(NULL);
    declare(y, number, body);
    if (single)
        ws_py_tiles_single(y, body);
    ws_py_tiles_bind(y, FALSE);
    g_string_append(y->out, body);
    if (!y->out->len)
        ws_py_line(y, "pass");
    char *text = g_string_free(y->out, FALSE);
    y->out = outer;
    y->depth = 0;
    y->terms.plus_zero = FALSE;
    g_clear_pointer(&y->value, g_free);
    g_clear_pointer(&y->home, g_free);
    y->agent = NULL;
    return text;
}

static void role_free(gpointer data)
{
    WsPyRole *r = data;
    g_free(r->parameters);
    g_free(r->text);
    g_free(r);
}

static guint constant_of(const WsPy *y, const char *name)
{
    guint i = 0;
    while (strcmp(y->constant[i], name) != 0)
        i++;
    return i;
}

static WsPyRole *role_new(WsPy *y, guint first, guint n, gboolean replica, const char *name,
                          const char *text, const WsPyParam *param, guint n_param)
{
    g_autofree char *head = y->dialect->role_head ? y->dialect->role_head(y, text) : g_strdup("");
    g_autofree char *body = ws_py_piece(y, g_strconcat(head, text, NULL), FALSE);
    WsPyRole *r = g_new0(WsPyRole, 1);
    GString *s = g_string_new(NULL), *given = g_string_new(NULL);
    for (guint i = 0; i < n_param; i++) {
        if (!ws_py_mentions(body, param[i].name))
            continue;
        if (param[i].constant && !y->parameter[constant_of(y, param[i].name)])
            continue;
        g_string_append_printf(s, "%s%s%s%s", s->len ? ", " : "", param[i].name,
                               param[i].constant ? ": " : "",
                               param[i].constant ? y->dialect->constexpr_t : "");
        g_string_append_printf(given, "%s%s", given->len ? ", " : "", param[i].given);
    }
    *r = (WsPyRole){ .name = name, .first = first, .n = n, .replica = replica };
    r->arguments = g_string_chunk_insert_const(y->terms.pool, given->str);
    r->parameters = g_string_free(s, FALSE);
    r->text = g_strdup_printf("def %s(%s%s%s%s):\n%s", name, r->parameters,
                              replica && *r->parameters ? ", " : "", replica ? "replica: " : "",
                              replica ? y->dialect->constexpr_t : "", body);
    g_string_free(given, TRUE);
    return r;
}

GPtrArray *ws_py_roles(WsPy *y, const WsPyParam *given, guint n_given)
{
    const guint n_param = n_given + y->p->n_constants;
    g_autofree WsPyParam *param = g_new0(WsPyParam, n_param + 1);
    memcpy(param, given, n_given * sizeof *param);
    for (guint i = 0; i < y->p->n_constants; i++)
        param[n_given + i] = (WsPyParam){ y->constant[i], y->constant[i], TRUE };
    GPtrArray *all = g_ptr_array_new_with_free_func(role_free);
    for (guint first = 0, end; first < y->p->n_agents && !y->error; first = end) {
        const WsAgent *a = &y->p->agent[first];
        for (end = first + 1; end < y->p->n_agents && y->p->agent[end].group == a->group;)
            end++;
        g_auto(GStrv) body = g_new0(char *, end - first + 1);
        for (guint i = first; i < end && !y->error; i++)
            body[i - first] = role_body(y, i);
        if (y->error)
            break;
        const char *name = ws_py_ident(y, y->p->group_name[a->group]);
        guint n = end - first;
        g_autofree char *one = n > 1 ? ws_py_fold((const char *const *)body, n, "replica") : NULL;
        if (n == 1 || one)
            g_ptr_array_add(all, role_new(y, first, n, n > 1 && ws_py_mentions(one, "replica"),
                                          name, one ? one : body[0], param, n_param));
        for (guint i = 0; n > 1 && !one && i < n; i++)
            g_ptr_array_add(all, role_new(y, first + i, 1, FALSE, ws_py_format(y, "%s_%u", name, i),
                                          body[i], param, n_param));
    }
    return all;
}

const WsPyRole *ws_py_role_of(const GPtrArray *roles, guint agent)
{
    for (guint i = 0; i < roles->len; i++) {
        const WsPyRole *r = roles->pdata[i];
        if (agent >= r->first && agent < r->first + r->n)
            return r;
    }
    g_assert_not_reached();
}

const char *ws_py_role_arguments(WsPy *y, const WsPyRole *r, guint i)
{
    gboolean any = *r->arguments != '\0';
    if (r->replica)
        return ws_py_format(y, "(%s%s%u,)", r->arguments, any ? ", " : "", i);
    return ws_py_format(y, "(%s%s)", r->arguments, any ? "," : "");
}
