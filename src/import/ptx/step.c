#include "import/ptx/walk.h"

#include <string.h>

/* What an instruction means: which family of steps it belongs to. Addresses stay expressions until
 * all threads were walked: a step's place holds the address in `index` and object -1. */

const WsExpr *ptx_condition(PtxWalk *w, const WsPtxInst *i)
{
    if (!i->guard)
        return ws_x_int(w->p.r, 1);
    const WsExpr *e = ptx_int(w, i->guard);
    return i->negated ? ws_x_op(w->p.r, WS_EXPR_NOT, e, NULL) : e;
}

const WsExpr *ptx_predicate(PtxWalk *w, const WsPtxInst *i)
{
    const WsExpr *e = ptx_condition(w, i);
    return e && (ws_expr_mentions(e, PTX_TOKEN) || ptx_of_claim(e)) ? NULL : e;
}

WsReadStep *ptx_new_step(PtxWalk *w, WsReadKind kind, const WsPtxInst *i)
{
    gint64 known;
    if (kind != WS_READ_OPAQUE && kind != WS_READ_COMPUTE && kind != WS_READ_READ)
        ptx_products_closed(w, i);
    if (kind == WS_READ_WAIT || kind == WS_READ_SYNC || kind == WS_READ_CLUSTER)
        ptx_tokens_end(w);
    WsReadStep *s = ws_source_step(w->p.r, w->p.to, kind, i->line, 1, i->line);
    if (w->p.to->len > PTX_MOST_STEPS) /* they are compared with each other */
        ws_source_fail(w->p.r, i->line, 1, "Import a smaller kernel.",
                       "more than %d steps in a row", PTX_MOST_STEPS);
    const WsExpr *guard = ptx_predicate(w, i);
    if (!ws_x_is(guard, &known))
        s->when = guard;
    g_hash_table_insert(w->made_by, s, ptx_made(w->syncs, w->passed, w->tid));
    return s;
}

void ptx_unread(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    if (w->p.probing)
        return;
    const WsRead *r = w->p.r;
    if (i->loc)
        what = ws_source_format(w->p.r, "%s, from %s,", what, i->loc);
    ws_source_unread(w->p.r, i->line, 1, i->line, what,
                     i->line && i->line <= r->n_lines ? r->line[i->line - 1] : "");
}

void ptx_opaque(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    ptx_new_step(w, WS_READ_OPAQUE, i);
    ptx_unread(w, i, what);
}

void ptx_lost(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    ptx_opaque(w, i, what);
    w->lost |= !w->p.probing;
}

void ptx_lose_line(PtxWalk *w, guint line, const char *what)
{
    WsRead *r = w->p.r;
    ws_source_unread(r, line, 1, line, what, line && line <= r->n_lines ? r->line[line - 1] : "");
    w->lost = TRUE;
}

static void elect(PtxWalk *w, const WsPtxInst *i)
{
    const char *bar = i->n ? strchr(i->arg[0], '|') : NULL;
    if (bar)
        ptx_set(w, g_string_chunk_insert(w->p.r->text, bar + 1), py_literal(&w->p, w->first));
}

/* mapa to, address, rank: the same address in another CTA. */
static void map_address(PtxWalk *w, const WsPtxInst *i)
{
    PyRead *p = &w->p;
    const Val *at = i->n > 2 ? ptx_operand(w, i->arg[1]) : NULL;
    const WsExpr *rank = i->n > 2 ? ptx_int(w, i->arg[2]) : NULL;
    if (!i->n)
        return;
    if (!rank || at->kind != VAL_INT) {
        ptx_set(w, i->arg[0], py_opaque(p));
        return;
    }
    Val *pair = py_val(p, VAL_TUPLE);
    const Val **item = g_new(const Val *, 2);
    g_ptr_array_add(p->r->pool, item);
    item[0] = at;
    item[1] = py_int(p, rank);
    pair->n = 2;
    pair->item = item;
    ptx_set(w, i->arg[0], pair);
}

static guint bytes_of(const char *op)
{
    const char *dot = strrchr(op, '.'), *type = dot ? dot : "";
    return strstr(type, "64") ? 8 : strstr(type, "32") ? 4 : strstr(type, "16") ? 2 : 1;
}

/* A field of a parameter: a number of its own. */
const Val *ptx_field_at(PtxWalk *w, const char *name, gint64 offset)
{
    const Val *whole = ptx_operand(w, name);
    if (whole->kind != VAL_PARAM || !offset)
        return whole;
    Val *v = py_val(&w->p, VAL_PARAM);
    v->text = ws_source_format(w->p.r, "%s_%" G_GINT64_FORMAT, whole->text, offset);
    return v;
}

/* ld.param to, [name+8], or [%rd1+8] with what begins at a parameter. */
static void parameter(PtxWalk *w, const WsPtxInst *i)
{
    g_autofree char *name = g_strndup(i->arg[1] + 1, strcspn(i->arg[1] + 1, "]+"));
    const char *plus = strchr(i->arg[1], '+');
    g_autofree char *behind = plus ? g_strdelimit(g_strdup(plus + 1), "]", ' ') : NULL;
    gint64 offset = 0;
    const gboolean read =
        !(plus && !ptx_number(g_strstrip(behind), &offset)) && bytes_of(i->op) >= 4;
    const char *base = g_string_chunk_insert(w->p.r->text, g_strstrip(name));
    const Val *at = ptx_operand(w, base);
    gint64 more;
    if (at->kind == VAL_INT && (base = ptx_parameter(w, at->e, &more)))
        offset += more;
    else if (at->kind != VAL_PARAM)
        base = NULL;
    g_autofree char *list = g_strdelimit(g_strdup(i->arg[0]), "{},", ' ');
    g_auto(GStrv) word = g_strsplit(list, " ", -1);
    for (guint k = 0; word[k]; k++) {
        if (!*word[k])
            continue;
        const Val *v = base && read ? ptx_field_at(w, base, offset) : py_opaque(&w->p);
        offset += bytes_of(i->op);
        ptx_set(w, g_string_chunk_insert_const(w->p.r->text, word[k]),
                strstr(i->op, "64") || v->kind != VAL_PARAM ? v
                                                            : py_int(&w->p, py_as_int(&w->p, v)));
    }
}

const char *ptx_parameter(PtxWalk *w, const WsExpr *e, gint64 *offset)
{
    WsAffine f;
    const char *name = NULL;
    if (!e || !ws_expr_affine(e, &f))
        return NULL;
    *offset = f.constant;
    for (guint i = 0; i < w->ptx->params->len && f.n == 1 && f.factor[0] == 1; i++) {
        const char *one = g_array_index(w->ptx->params, const char *, i);
        if (f.term[0]->op == WS_EXPR_NAME &&
            !g_strcmp0(f.term[0]->name, ptx_parameter_size(w, one)))
            name = one;
    }
    ws_affine_clear(&f);
    return name;
}

static gboolean same_value(const Val *a, const Val *b)
{
    return a && b &&
           (a == b || (a->kind == VAL_INT && b->kind == VAL_INT && ws_expr_equal(a->e, b->e)));
}

/* shfl.sync.idx to, from, lane: the first lane of a warp is followed before its others. */
static void shuffle(PtxWalk *w, const WsPtxInst *i)
{
    gint64 lane;
    const Val *own = ptx_operand(w, i->arg[1]), *v = own;
    const WsPtxInst *all = ws_ptx_inst(w->ptx, 0);
    gpointer key = GUINT_TO_POINTER((guint)(i - all) * 64 + w->tid / 32);
    if (w->tid % 32 == 0 && w->first) {
        g_hash_table_insert(w->shuffles, key, (gpointer)own);
    } else if (!w->p.probing || own->kind != VAL_INT || py_known(own, &lane)) {
        const Val *first = g_hash_table_lookup(w->shuffles, key);
        if (!same_value(first, own) && !(ptx_same_claim(first, own) && i->n > 2 &&
                                         ws_x_is(ptx_int(w, i->arg[2]), &lane) && lane == 0))
            v = first && i->n > 2 && ws_x_is(ptx_int(w, i->arg[2]), &lane) && lane == 0
                    ? first
                    : py_opaque(&w->p);
    }
    ptx_forget(w, i->arg[0]);
    g_autofree char *to = g_strndup(i->arg[0], strcspn(i->arg[0], "|"));
    ptx_set(w, g_string_chunk_insert_const(w->p.r->text, to), v);
}

/* Instructions that say what they compute themselves, where no predicate stands before them. */
static gboolean unguarded(PtxWalk *w, const WsPtxInst *i)
{
    if (i->guard)
        return FALSE;
    if (g_str_has_prefix(i->op, "elect.sync"))
        elect(w, i);
    else if (g_str_has_prefix(i->op, "shfl.sync.idx") && i->n > 1)
        shuffle(w, i);
    else if (g_str_has_prefix(i->op, "ld.param") && i->n > 1 && *i->arg[1] == '[')
        parameter(w, i);
    else
        return FALSE;
    return TRUE;
}

/* Registers per thread that a launch begins with, at most. */
gint64 ptx_entry_registers(const WsPtx *ptx)
{
    const gint64 warps = MAX(ptx->threads / 32, 1), most = MIN(65536 / (32 * warps) / 8 * 8, 248);
    return ptx->maxnreg > 0 ? MIN(ptx->maxnreg / 8 * 8, most) : most;
}

/* PTX ISA, setmaxnreg: once for all warps of a group, 24 to 256 in steps of 8, no fewer than before
 * for `inc`, no more for `dec`, a barrier before the next one. With how many a launch begins the
 * assembler decides: there is only the most that it may take. */
static void registers(PtxWalk *w, const WsPtxInst *i)
{
    gint64 n;
    const gboolean raises = strstr(i->op, ".inc") != NULL;
    const gint64 before = w->registers_last ? w->registers_last : ptx_entry_registers(w->ptx);
    w->raises |= raises;
    if (i->guard)
        ptx_lost(w, i, "registers that are handed over under a predicate");
    else if (!i->n || !ws_x_is(ptx_int(w, i->arg[0]), &n))
        ptx_lost(w, i, "a number of registers that is not known");
    else if (n < 24 || n > 256 || n % 8)
        ptx_lost(w, i, "a number of registers that is not a multiple of 8 from 24 to 256");
    else if (w->depth > 1 || (w->registers_last && n != w->registers_last &&
                              (w->p.loops->len || w->passed == w->registers_at)))
        ptx_lost(w, i, "registers that are handed over in rounds, in a branch, or twice at once");
    else if (!raises && n > before)
        ptx_lost(w, i, "more registers than there are before, asked for as fewer");
    else if (raises && w->registers_last > n)
        ptx_lost(w, i, "fewer registers than there are before, asked for as more");
    else {
        const PtxHanded one = { w->tid / 32, w->passed, n, w->held, w->depth ? w->branched : 0 };
        if (w->first && !w->p.probing)
            g_array_append_val(w->handed, one);
        w->registers_last = n;
        w->registers_at = w->passed;
        w->most_left = raises ? w->most_left : MAX(w->most_left, n);
        w->most_raised = raises ? MAX(w->most_raised, n) : w->most_raised;
        w->registers = w->waits ? w->registers : n;
    }
}

static gboolean is_matrix_access(const char *op)
{
    return g_str_has_prefix(op, "stmatrix") || g_str_has_prefix(op, "ldmatrix");
}

/* Functions that print or stop the launch. */
static void call(PtxWalk *w, const WsPtxInst *i)
{
    static const char *const harmless[] = { "vprintf", "__assertfail", "free" };
    gboolean known = FALSE;
    for (guint h = 0; h < G_N_ELEMENTS(harmless); h++)
        known |= ws_ptx_calls(w->ptx, i, harmless[h]);
    if (!known)
        ptx_lost(w, i, "the call of a function");
}

/* Ordinary accesses, in shared memory or elsewhere. */
static void plain_access(PtxWalk *w, const WsPtxInst *i)
{
    const char *op = i->op;
    if (ptx_in_shared(op) || is_matrix_access(op)) {
        ptx_shared(w, i);
        return;
    }
    static const char *const elsewhere[] = { ".global", ".local", ".param", ".const" };
    gboolean known = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(elsewhere); k++)
        known |= strstr(op, elsewhere[k]) != NULL;
    if (!known)
        known = ptx_generic(w, i);
    if (known && !strstr(op, ".local") && !strstr(op, ".param") && !w->p.probing) {
        w->global_from = w->n_global ? MIN(w->global_from, i->line) : i->line;
        w->global_to = MAX(w->global_to, i->line);
        w->n_global++;
        if (!strstr(op, ".const"))
            ws_source_away(w->p.r, i->line);
        w->global_written |= *op != 'l';
    }
    const Val *tile = known ? ptx_counted(w, i) : NULL;
    if (tile)
        ptx_set(w, i->arg[0], tile);
    else if (known && i->n && *i->arg[0] != '[')
        ptx_forget(w, i->arg[0]);
}

static gboolean starts(const char *op, const char *word)
{
    const gsize n = strlen(word);
    return !strncmp(op, word, n) && (op[n] == '.' || !op[n]);
}

static void fence(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    if (g_str_has_prefix(i->op, "fence.proxy.async") && !strstr(i->op, "global"))
        ptx_new_step(w, WS_READ_FENCE, i)->name = "async";
    else if (g_str_has_prefix(i->op, "fence.mbarrier_init"))
        w->init_fenced |= ws_x_is(ptx_predicate(w, i), &known);
}

/* A family of instructions that is read, or listed where it is met. */
static const struct {
    const char *word;
    void (*read)(PtxWalk *w, const WsPtxInst *i);
} families[] = {
    { "mbarrier", ptx_mbarrier },
    { "cp.async.bulk", ptx_bulk },
    { "cp.async", ptx_cp_async },
    { "wgmma", ptx_matrix },
    { "barrier.cluster", ptx_cluster },
    { "bar.warp", ptx_warp },
    { "barrier", ptx_named },
    { "bar", ptx_named },
    { "mapa", map_address },
    { "setmaxnreg", registers },
    { "fence", fence },
    { "call", call },
    { "ld", plain_access },
    { "ldu", plain_access },
    { "st", plain_access },
    { "atom", plain_access },
    { "red", plain_access },
    { "ldmatrix", plain_access },
    { "stmatrix", plain_access },
};

gboolean ptx_step(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    const WsExpr *guard = ptx_predicate(w, i);
    const gboolean mine = !i->guard || !ws_x_is(guard, &known) || known;
    const PtxLaw law = i->law;
    if (unguarded(w, i))
        return TRUE;
    if (!mine)
        return TRUE; /* another thread's */
    const WsPtxInst *all = ws_ptx_inst(w->ptx, 0);
    g_hash_table_add(w->met, GUINT_TO_POINTER((guint)(i - all)));
    if (g_hash_table_size(w->sum_names))
        ptx_reads(w, i);
    ptx_flying_touched(w, i);
    if (law == PTX_LAW_UNKNOWN || (i->guard && !guard && i->matters)) {
        ptx_lost(w, i,
                 law == PTX_LAW_UNKNOWN ? ws_source_format(w->p.r, "the instruction `%s`", i->op)
                                        : "an instruction under a predicate that is not known");
        if (i->n && *i->arg[0] != '[')
            ptx_forget(w, i->arg[0]);
        return TRUE;
    }
    for (guint k = 0; k < G_N_ELEMENTS(families); k++)
        if (starts(i->op, families[k].word)) {
            families[k].read(w, i);
            return TRUE;
        }
    return law != PTX_LAW_VALUE;
}
