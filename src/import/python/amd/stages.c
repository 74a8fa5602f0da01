#include "import/python/amd/amd.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Stages of Gluon's warp pipelines (amd.warp_pipeline_stage). The compiler cuts the body of a loop
 * behind each of them: what stands between two is part of the later one, what stands behind the
 * last is a stage of its own, and where a wait does not stand at a border there is no pipeline. So
 * only loops are read whose rounds are stages, and one wait or barrier between two of them. All
 * stages of the kernel's own block are one pipeline, too (a flat one); its first stage begins
 * behind the last wait or barrier before it. */

#define STAGE        "amd.warp_pipeline_stage"
#define AFTER_OTHERS "stages right after other stages: the compiler may make one pipeline of both"

static gboolean is_stage(PyRead *p, const WsPyNode *item)
{
    if (item->kind != WS_PY_CALL)
        return FALSE;
    const WsPyNode *f = item->kid[0];
    if (f->kind != WS_PY_ATTR && f->kind != WS_PY_NAME)
        return FALSE;
    const Val *v = py_eval(p, f);
    return v->kind == VAL_NAME && py_ends_in(v->text, STAGE);
}

/* --- one stage -------------------------------------------------------------------------------- */

static const char *label_of(PyRead *p, const Val *v)
{
    GString *s = g_string_new(NULL);
    for (const char *c = v && v->kind == VAL_STRING ? v->text : ""; *c; c++)
        if (g_ascii_isalnum(*c) || *c == '_')
            g_string_append_c(s, *c);
        else if (*c != '"' && *c != '\'')
            g_string_append_c(s, '_');
    if (!s->len || g_ascii_isdigit(*s->str))
        g_string_prepend(s, "stage");
    g_string_truncate(s, MIN(s->len, 40));
    const char *kept = ws_source_format(p->r, "%s", s->str);
    g_string_free(s, TRUE);
    return kept;
}

static void read_arguments(PyRead *p, WsReadStep *s, const WsPyNode *call)
{
    const Val *label = NULL, *priority = NULL;
    const char *what = NULL;
    for (guint i = 1; i < call->n; i++) {
        const WsPyNode *arg = call->kid[i];
        const gboolean named = arg->kind == WS_PY_KEYWORD;
        const Val **to = named && !strcmp(arg->text, "priority")                        ? &priority
                         : (named && !strcmp(arg->text, "label")) || (!named && i == 1) ? &label
                                                                                        : NULL;
        if (!to || *to || arg->kind == WS_PY_STAR)
            what = "an argument of a stage that is not known here";
        else
            *to = py_eval(p, named ? arg->kid[0] : arg);
    }
    if (label && label->kind != VAL_STRING && label->kind != VAL_NONE)
        what = "a stage whose name is not known";
    s->name = label_of(p, label);
    s->n = -1;
    if (priority && priority->kind != VAL_NONE && !what) {
        s->n = py_number(priority, -1);
        if (s->n < 0 || s->n > 3)
            what = "a stage whose priority is not one of 0, 1, 2 and 3";
        s->n = CLAMP(s->n, -1, 3);
    }
    if (what)
        py_unread(p, call, what);
}

static gboolean in_a_loop(const PyRead *p)
{
    if (!p->loops->len)
        return FALSE;
    const OpenLoop *l = &g_array_index(p->loops, OpenLoop, p->loops->len - 1);
    return l->node->kind == WS_PY_FOR && l->count && p->to == l->body;
}

/* A stage of the kernel's own block, of which the compiler makes a pipeline that is no loop. */
static gboolean is_flat(const PyRead *p)
{
    return !p->loops->len && p->group && p->to == p->group->body;
}

static gboolean is_weak(const PyRead *p, guint line)
{
    for (guint i = 0; p->way.weak && i < p->way.weak->len; i++)
        if (g_array_index(p->way.weak, guint, i) == line)
            return TRUE;
    return FALSE;
}

/* --- a pipeline that is no loop ----------------------------------------------------------------
 */

static guint stages_in(const GPtrArray *list, guint from)
{
    guint n = 0;
    for (guint i = from; list && i < list->len; i++)
        n += ((const WsReadStep *)list->pdata[i])->kind == WS_READ_STAGE;
    return n;
}

static void unread_step(PyRead *p, const WsReadStep *s, const char *what)
{
    g_autofree char *source = ws_python_lines(p->py, s->line, s->end_line);
    ws_source_unread(p->r, s->line, s->column, s->end_line, what, source);
}

static gboolean is_scalar(const WsReadStep *s)
{
    return s->off || s->kind == WS_READ_ADVANCE || s->kind == WS_READ_LET;
}

/* What keeps two pipelines apart: work on memory, or a wait for it. */
static gboolean parts(const GPtrArray *list, guint from, guint to)
{
    for (guint i = from; i < to; i++) {
        const WsReadStep *s = list->pdata[i];
        const gboolean none = is_scalar(s) || s->kind == WS_READ_SYNC || s->kind == WS_READ_COMPUTE;
        if (!none)
            return TRUE;
    }
    return FALSE;
}

/* Of the steps before this stage: between two stages stand a wait or a barrier alone, and before
 * the first one stands one, or a loop of stages that something parts from it. */
static void flat_stage(PyRead *p, const WsPyNode *item)
{
    gboolean met = FALSE;
    guint i = p->to->len;
    while (i > 0) {
        const WsReadStep *s = p->to->pdata[i - 1];
        const gboolean waits = s->kind == WS_READ_LOAD_WAIT || s->kind == WS_READ_SYNC;
        met |= waits;
        if (!waits && !is_scalar(s))
            break;
        i--;
    }
    const WsReadStep *before = i ? p->to->pdata[i - 1] : NULL;
    const gboolean later = stages_in(p->to, 0) > 0;
    if (later && before->kind != WS_READ_STAGE)
        unread_step(p, before, "a statement between two stages: it becomes part of the later one");
    else if (!later && before && !met)
        py_unread(p, item,
                  "a stage without a wait or barrier before it: the compiler makes what stands "
                  "before it part of it");
    if (later && p->displaced)
        py_unread(p, p->displaced, "a statement between a stage and the wait or barrier after it");
    p->displaced = NULL;
    for (guint k = later ? 0 : p->to->len; k-- > 0;) {
        const WsReadStep *s = p->to->pdata[k];
        if (s->kind != WS_READ_FOR || !stages_in(s->body, 0))
            continue;
        if (!parts(p->to, k + 1, p->to->len))
            py_unread(p, item, AFTER_OTHERS);
        break;
    }
}

gboolean py_amd_stage(PyRead *p, const WsPyNode *with)
{
    guint n = 0;
    for (guint i = 0; i + 1 < with->n; i++)
        n += is_stage(p, with->kid[i]);
    if (!n || !p->group)
        return FALSE;
    const WsPyNode *item = with->kid[0];
    const Val *anything = py_opaque(p);
    if (with->n != 2 || with->text)
        py_law_unread(p, item, "a stage with other contexts, or with a name", &anything, 1);
    if (!p->probing && !p->stage && is_flat(p))
        flat_stage(p, item);
    else if (!p->probing && !p->stage && !in_a_loop(p))
        py_unread(
            p, item,
            "a stage that is not directly in the body of a `for` over a range, or of the kernel");
    if (!p->probing && p->num_warps != 8)
        py_unread(p, item, "stages of other than eight warps");
    WsReadStep *s = py_step(p, WS_READ_STAGE, item);
    for (guint i = 0; i + 1 < with->n; i++)
        if (is_stage(p, with->kid[i]))
            read_arguments(p, s, with->kid[i]);
    const gboolean weak = !p->probing && is_weak(p, item->line);
    p->weak_listed |= weak;
    if (weak)
        py_unread(p, item,
                  "the border after a stage: the compiler's barrier does not wait there for the "
                  "reads of shared memory before it (gl.barrier() does)");
    WsReadStep *around = p->stage;
    GPtrArray *to = p->to;
    const guint copies = p->open_gathers->len;
    if (!p->probing && !p->stage)
        p->beside = NULL;
    if (!p->probing)
        p->due = NULL; /* the border's own barrier follows */
    p->stage = s;
    p->to = s->body;
    py_run(p, with->kid[with->n - 1]);
    py_copies_left(p, copies, with);
    p->to = to;
    p->stage = around;
    if (!p->probing)
        p->due = NULL;
    return TRUE;
}

/* --- what stands beside stages ---------------------------------------------------------------- */

/* Names for values that are there anyway: nothing is computed. */
static gboolean is_name(const WsPyNode *e)
{
    gboolean all = e->kind == WS_PY_TUPLE || e->kind == WS_PY_LIST;
    for (guint i = 0; all && i < e->n; i++)
        all = is_name(e->kid[i]);
    return all || e->kind == WS_PY_NAME || e->kind == WS_PY_STRING;
}

static gboolean does_nothing(const WsPyNode *node)
{
    if (node->kind == WS_PY_ASSIGN)
        return is_name(node->kid[node->n - 1]);
    if (node->kind == WS_PY_EXPR)
        return node->kid[0]->kind == WS_PY_STRING;
    return node->kind == WS_PY_PASS ||
           (node->kind == WS_PY_RETURN && (!node->n || is_name(node->kid[0])));
}

/* A wait or barrier was the statement. */
static gboolean waits(const GPtrArray *to, guint before)
{
    gboolean any = FALSE;
    for (guint i = before; to && i < to->len; i++) {
        const WsReadStep *s = to->pdata[i];
        if (s->kind != WS_READ_LOAD_WAIT && s->kind != WS_READ_SYNC && !s->off)
            return FALSE;
        any |= !s->off;
    }
    return any;
}

void py_amd_beside(PyRead *p, const WsPyNode *node, const GPtrArray *to, guint before)
{
    if (p->probing || !p->in_kernel || !p->group || p->stage || p->to != to)
        return;
    if (does_nothing(node) || stages_in(to, before) || waits(to, before))
        return;
    p->beside = node;
    p->beside_in = to;
}

void py_amd_at_border(PyRead *p, const WsPyNode *at)
{
    if (p->probing || p->stage || !p->beside || p->beside_in != p->to)
        return;
    if (is_flat(p) && stages_in(p->to, 0) && !p->displaced)
        p->displaced = p->beside; /* whether another stage follows shows there */
    if (!in_a_loop(p))
        return;
    OpenLoop *l = &g_array_index(p->loops, OpenLoop, p->loops->len - 1);
    if (!l->displaced)
        l->displaced = p->beside;
}

void py_amd_met_within(PyRead *p, const WsPyNode *at, const char *what)
{
    if (p->probing)
        return;
    if (p->stage) {
        py_unread(p, at, what);
        return;
    }
    for (guint i = 0; i < p->loops->len; i++) { /* whether it is one of stages shows at its end */
        OpenLoop *l = &g_array_index(p->loops, OpenLoop, i);
        if (l->meets)
            continue;
        l->meets = at;
        l->why = what;
    }
}

/* The barrier that the compiler puts between a wait of this block and what comes now. */
static WsReadStep *meet(PyRead *p)
{
    WsReadStep *met = NULL;
    const WsReadStep *wait = NULL;
    if (p->probing)
        return NULL;
    for (guint i = p->due == p->to && !p->stage && p->due ? p->to->len : 0; i-- > 0 && !wait;) {
        const WsReadStep *s = p->to->pdata[i];
        wait = s->kind == WS_READ_LOAD_WAIT ? s : NULL;
    }
    if (wait) {
        met = ws_source_step(p->r, p->to, WS_READ_SYNC, wait->line, wait->column, wait->end_line);
        met->name = "group";
        met->implied = TRUE;
    }
    p->due = NULL;
    return met;
}

void py_amd_meet(PyRead *p)
{
    meet(p);
}

WsReadStep *py_amd_loop_begins(PyRead *p)
{
    if (!p->probing)
        p->beside = NULL;
    return meet(p);
}

/* --- a loop of them --------------------------------------------------------------------------- */

GPtrArray *py_amd_last_stage(GPtrArray *body)
{
    for (guint i = body->len; i-- > 0;) {
        const WsReadStep *s = body->pdata[i];
        if (s->kind == WS_READ_STAGE)
            return s->body;
    }
    return body;
}

/* range(…, loop_unroll_factor=2) and the like. */
static gboolean is_hinted(const WsPyNode *loop)
{
    const WsPyNode *call = loop->kid[1];
    for (guint i = 1; call->kind == WS_PY_CALL && i < call->n; i++)
        if (call->kid[i]->kind == WS_PY_KEYWORD)
            return TRUE;
    return FALSE;
}

typedef struct {
    const GPtrArray *sizes;
    GHashTable *names; /* those of sizes, unowned */
} Names;

static void note_names(const WsExpr *e, gpointer data)
{
    Names *n = data;
    for (guint i = 0; e->op == WS_EXPR_NAME && i < n->sizes->len; i++)
        if (strcmp(e->name, n->sizes->pdata[i]) == 0)
            g_hash_table_add(n->names, n->sizes->pdata[i]);
}

static void is_not_one(PyRead *p, const char *what)
{
    const char *text = ws_source_format(p->r, "%s != 1", what);
    for (guint i = 0; i < p->r->assume->len; i++)
        if (strcmp(p->r->assume->pdata[i], text) == 0)
            return;
    g_ptr_array_add(p->r->assume, (gpointer)text);
}

/* Of a loop whose rounds the compiler counts, one or none, it makes a flat pipeline or nothing,
 * with a barrier less than the loop has. It counts what is constant, and arguments that are 1 are:
 * it compiles the kernel once more for them. So those that rounds depend on are taken to be none.
 */
static void counted(PyRead *p, const WsPyNode *loop, const WsExpr *count)
{
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    Names of_count = { p->r->sizes, names };
    gint64 n;
    if (ws_x_is(count, &n)) {
        if (n < 2)
            py_unread(p, loop,
                      "a loop of stages of one round or none, which the compiler writes out");
        return;
    }
    ws_expr_visit(count, note_names, &of_count);
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, names);
    const WsPyNode *params = p->kernel->kid[0];
    for (guint i = 0; p->args && i < params->n; i++) {
        const Val *v = p->args[i];
        if (!v || v->kind != VAL_INT || !v->e || ws_x_is(v->e, &n) || v->e->op == WS_EXPR_NAME)
            continue;
        g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
        Names of_argument = { p->r->sizes, own };
        ws_expr_visit(v->e, note_names, &of_argument);
        gboolean shared = FALSE;
        GHashTableIter mine;
        g_hash_table_iter_init(&mine, own);
        while (g_hash_table_iter_next(&mine, &name, NULL))
            shared |= g_hash_table_contains(names, name);
        if (shared) {
            g_autofree char *text = ws_x_text(v->e);
            g_autofree char *whole = g_strdup_printf("(%s)", text);
            is_not_one(p, whole);
        }
    }
    while (g_hash_table_iter_next(&iter, &name, NULL))
        is_not_one(p, name);
}

void py_amd_loop_ends(PyRead *p, const WsPyNode *loop, GPtrArray *body)
{
    const OpenLoop *l = &g_array_index(p->loops, OpenLoop, p->loops->len - 1);
    if (p->probing)
        return;
    if (!stages_in(body, 0)) {
        if (p->due == body)
            py_amd_meet(p);
        p->due = NULL;
        p->beside = NULL;
        return;
    }
    p->due = NULL;
    if (l->met) /* stages begin with a barrier of their own */
        l->met->off = TRUE;
    for (guint i = 0; i < body->len; i++) {
        const WsReadStep *s = body->pdata[i];
        if (!is_scalar(s) && s->kind != WS_READ_STAGE && s->kind != WS_READ_LOAD_WAIT &&
            s->kind != WS_READ_SYNC) {
            unread_step(p, s, "a statement between the stages of a loop: it becomes part of one");
            break;
        }
    }
    counted(p, loop, l->count);
    if (is_hinted(loop))
        py_unread(p, loop, "a loop of stages of which the compiler may write out rounds");
    if (stages_in(body, 0) < 2)
        py_unread(p, loop, "a loop of one stage, of which the compiler makes no pipeline");
    if (l->meets)
        py_unread(p, l->meets, l->why);
    if (l->displaced)
        py_unread(p, l->displaced, "a statement between a stage and the wait or barrier after it");
    if (p->beside && p->beside_in == body)
        py_unread(p, p->beside,
                  "a statement after the last stage of a loop: it becomes another stage");
    p->beside = NULL;
    GPtrArray *outer = l->outer;
    const guint own = outer->len - 1; /* the loop itself is its last step */
    for (guint i = own; i-- > 0;) {
        const WsReadStep *s = outer->pdata[i];
        if (s->kind != WS_READ_STAGE && (s->kind != WS_READ_FOR || !stages_in(s->body, 0)))
            continue;
        if (!parts(outer, i + 1, own))
            py_unread(p, loop, AFTER_OTHERS);
        break;
    }
}
