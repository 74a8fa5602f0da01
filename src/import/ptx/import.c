#include "import/ptx/unite.h"

#include <string.h>

/* The roles of a compiled kernel: every warp is followed once, as its first lane and, to see who
 * arrives, as its second one. Warps of a warp group that wait for the same become one group. */

typedef struct {
    WsReadGroup *group;
    GHashTable *lines; /* of the steps it made */
    GHashTable *waits;
    gint64 registers;
    guint n_steps;
    gboolean meets;      /* others, at a named barrier */
    gboolean inner_sync; /* of all threads, in a loop or a branch */
    gboolean uneven; /* it waits at the barrier of the cluster more or less often than it arrives */
} Role;

static void note_lines(const GPtrArray *list, Role *role)
{
    for (guint i = 0; i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        g_hash_table_add(role->lines, GUINT_TO_POINTER(s->line));
        if (s->kind == WS_READ_WAIT)
            g_hash_table_add(role->waits, GUINT_TO_POINTER(s->line));
        role->meets |= s->kind == WS_READ_BAR_ARRIVE ||
                       (s->kind == WS_READ_SYNC && g_str_has_prefix(s->name, "bar_"));
        role->n_steps += s->kind != WS_READ_FENCE && s->kind != WS_READ_SYNC &&
                         s->kind != WS_READ_CLUSTER && s->kind != WS_READ_FOR &&
                         s->kind != WS_READ_IF && s->kind != WS_READ_OPAQUE;
        if (s->body)
            note_lines(s->body, role);
        if (s->other)
            note_lines(s->other, role);
    }
}

static gboolean same_conditions(const GPtrArray *a, const GPtrArray *b)
{
    gboolean same = a->len == b->len;
    for (guint i = 0; same && i < a->len; i++)
        same = ws_expr_equal(g_ptr_array_index(a, i), g_ptr_array_index(b, i));
    return same;
}

/* Conditions under which all that the thread does is a loop without rounds. */
static void drop_guards(PtxWalk *w)
{
    const WsReadStep *only = NULL;
    guint n = 0;
    for (guint i = 0; i < w->p.group->body->len; i++) {
        const WsReadStep *s = g_ptr_array_index(w->p.group->body, i);
        g_autoptr(GPtrArray) one = g_ptr_array_new();
        g_ptr_array_add(one, (gpointer)s);
        if (s->off || !ptx_works(one))
            continue;
        only = s;
        n++;
    }
    for (guint k = 0; k < w->p.group->body->len; k++) {
        WsReadStep *s = g_ptr_array_index(w->p.group->body, k);
        for (guint i = 0; i < w->skips->len; i++)
            if (s->kind == WS_READ_FOR && ptx_guards(&w->p, g_ptr_array_index(w->skips, i), s))
                s->text = NULL; /* where it would make no round nobody comes to it */
    }
    for (guint i = w->skips->len; n == 1 && i-- > 0;)
        if (ptx_guards(&w->p, g_ptr_array_index(w->skips, i), only))
            g_ptr_array_remove_index(w->skips, i);
}

/* All threads come to the same barriers of the CTA, and those that do anything leave the CTA under
 * the same conditions. */
static void same_ends(PtxWalk *w, const WsPtxInst *end)
{
    if (!w->all_ids)
        w->all_ids = g_array_copy(w->sync_ids);
    else if (w->sync_ids->len != w->all_ids->len ||
             (w->all_ids->len &&
              memcmp(w->sync_ids->data, w->all_ids->data, w->sync_ids->len * sizeof(gint64)) != 0))
        ptx_lost(w, end, "barriers of all threads to which not all threads come");
    drop_guards(w);
    if (w->all_skips && ptx_works(w->p.group->body) && !same_conditions(w->skips, w->all_skips))
        ptx_lost(w, end, "a CTA that only some of the warps leave");
    if (!w->all_skips && ptx_works(w->p.group->body))
        w->all_skips = w->skips;
    else
        g_ptr_array_unref(w->skips);
    w->skips = NULL;
}

static void follow(PtxWalk *w, guint tid, gboolean first, Role *role)
{
    WsRead *r = w->p.r;
    Frame frame = { .vars = g_hash_table_new(g_str_hash, g_str_equal), .prefix = "" };
    w->tid = tid;
    w->first = first;
    w->ended = w->waits = w->held = FALSE;
    w->registers = w->registers_last = 0;
    w->walked = NULL;
    w->depth = w->syncs = w->passed = w->dispatched = w->tokens = 0;
    w->empty_commit = w->warp_synced = w->stored = w->apart = FALSE;
    w->counted = NULL;
    w->p.frame = &frame;
    w->p.group = ws_source_group(r, "role", w->ptx->line);
    w->p.to = w->p.group->body;
    g_hash_table_remove_all(w->heads);
    g_hash_table_remove_all(w->sum_names);
    g_hash_table_remove_all(w->begun);
    g_hash_table_remove_all(w->seen);
    g_hash_table_remove_all(w->flying);
    g_hash_table_remove_all(w->unfenced);
    g_hash_table_remove_all(w->had);
    g_hash_table_remove_all(w->value_of);
    g_hash_table_remove_all(w->turned);
    g_ptr_array_set_size(w->p.loop_names, 0);
    g_array_set_size(w->mma, 0);
    g_array_set_size(w->stores, 0);
    g_array_set_size(w->sync_ids, 0);
    w->inner_sync = FALSE;
    w->arrivals = 0;
    w->skips = g_ptr_array_new();
    ptx_run(w, 0, -1);
    const WsPtxInst *end = ws_ptx_inst(w->ptx, w->ptx->inst->len - 1);
    ptx_products_closed(w, end);
    ptx_stores_closed(w, end);
    ptx_stores_counted(w);
    same_ends(w, end);
    g_hash_table_unref(frame.vars);
    guint waits = 0;
    for (guint i = 0; i < w->sync_ids->len; i++)
        waits += g_array_index(w->sync_ids, gint64, i) < 0;
    *role = (Role){ .uneven = w->ptx->cluster > 1 && waits != w->arrivals,
                    .group = w->p.group,
                    .lines = g_hash_table_new(NULL, NULL),
                    .waits = g_hash_table_new(NULL, NULL),
                    .registers = w->registers,
                    .inner_sync = w->inner_sync };
    note_lines(role->group->body, role);
    g_ptr_array_steal_index(r->groups, r->groups->len - 1);
    w->p.group = NULL;
    w->p.frame = NULL;
}

static gboolean same_set(GHashTable *a, GHashTable *b)
{
    GHashTableIter it;
    gpointer key;
    if (g_hash_table_size(a) != g_hash_table_size(b))
        return FALSE;
    g_hash_table_iter_init(&it, a);
    while (g_hash_table_iter_next(&it, &key, NULL))
        if (!g_hash_table_contains(b, key))
            return FALSE;
    return TRUE;
}

static gboolean has(const GPtrArray *list, WsReadKind kind)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == kind && !s->off) || has(s->body, kind) || has(s->other, kind))
            return TRUE;
    }
    return FALSE;
}

static void sums_start(WsRead *r, WsReadGroup *g)
{
    for (guint i = 0; i < g->values->len; i++) {
        const WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
        if (!v->accumulator)
            continue;
        WsReadStep *s = ws_source_step(r, NULL, WS_READ_COMPUTE, g->line, 1, g->line);
        s->added = TRUE;
        s->text = ws_source_format(r, "%s = 0.0", v->name);
        g_ptr_array_insert(g->body, 0, s); /* registers hold something; what does not matter here */
    }
}

static void finish_group(PtxWalk *w, Role *role, guint warps)
{
    WsReadGroup *g = role->group;
    const char *name = has(g->body, WS_READ_MMA)    ? "mma"
                       : has(g->body, WS_READ_LOAD) ? "load"
                                                    : "work";
    g->warps = warps;
    g->registers = role->registers;
    guint n = 2;
    g->name = name;
    for (guint i = 0; i < w->p.r->groups->len; i++)
        if (!strcmp(((WsReadGroup *)g_ptr_array_index(w->p.r->groups, i))->name, g->name)) {
            g->name = ws_source_format(w->p.r, "%s_%u", name, n++);
            i = (guint)-1;
        }
    sums_start(w->p.r, g);
    g_ptr_array_add(w->p.r->groups, g);
    role->group = NULL;
}

static void clear_role(WsRead *r, Role *role)
{
    if (role->group) { /* nobody's */
        g_ptr_array_add(r->groups, role->group);
        g_ptr_array_remove_index(r->groups, r->groups->len - 1);
    }
    g_hash_table_unref(role->lines);
    g_hash_table_unref(role->waits);
}

/* Several lanes of a warp issue bulk stores: all of its lanes are followed. */
static void all_lanes(PtxWalk *w, GPtrArray *body, guint warp, Role *second)
{
    ptx_unite_copies(body, second->group->body);
    ptx_lanes_drop(second->group->body);
    for (guint i = 2; i < 32 && !*w->p.r->error; i++) {
        Role lane;
        follow(w, warp * 32 + i, FALSE, &lane);
        ptx_agree(w, body, lane.group->body, PTX_SOME_LANE);
        ptx_unite_copies(body, lane.group->body);
        clear_role(w->p.r, &lane);
    }
    ptx_lanes_wait(w, body, TRUE);
}

/* The last of the lanes that make a store which not all make: the bytes up to its own. */
static void some_lanes(PtxWalk *w, GPtrArray *body, guint first)
{
    guint seen = 0;
    GHashTableIter it;
    gpointer value;
    g_hash_table_iter_init(&it, w->partly);
    while (g_hash_table_iter_next(&it, NULL, &value) && !*w->p.r->error) {
        const guint last = GPOINTER_TO_UINT(value) >> 8;
        Role lane;
        if (seen >> last & 1)
            continue;
        seen |= 1u << last;
        follow(w, first + last, FALSE, &lane);
        ptx_agree(w, body, lane.group->body, PTX_LAST_LANE);
        ptx_unite_last(w, body, lane.lines);
        ptx_unite_bytes(w, body, lane.group->body, last);
        clear_role(w->p.r, &lane);
    }
}

/* Warps `first` … `first + n - 1`, which were followed as `warp`, as one group. */
static void one_group(PtxWalk *w, Role *warp, guint first, guint n, guint leader)
{
    Role lane, last;
    GHashTable *lines[4];
    GPtrArray *body = warp[leader].group->body;
    w->compared = 0;
    for (guint i = 0; i < n; i++)
        lines[i] = warp[i].lines;
    follow(w, (first + leader) * 32 + 1, FALSE, &lane);
    const gboolean many = ptx_lanes_store(body, lane.group->body);
    const gint storing = w->storing - (gint)first;
    if (storing >= 0 && storing < (gint)n && (storing != (gint)leader || !many))
        ptx_lose_line(w, w->ptx->line, "stores of several lanes of a warp");
    ptx_agree(w, body, lane.group->body, many ? PTX_SOME_LANE : PTX_NEXT_LANE);
    if (many)
        all_lanes(w, body, first + leader, &lane);
    for (guint i = 0; i < n; i++)
        if (i != leader)
            ptx_agree(w, body, warp[i].group->body, PTX_OTHER_WARP);
    ptx_unite_arrivals(w, body, lines, n, lane.lines);
    ptx_spread_drop(lane.group->body);
    for (guint i = 0; i < n; i++) { /* first and last lanes: between them lies what the others do */
        if (!warp[i].n_steps)
            continue;
        if (i != leader) {
            ptx_unite_copies(body, warp[i].group->body);
            ptx_unite_bytes(w, body, warp[i].group->body, 0);
        }
        follow(w, (first + i) * 32 + 31, FALSE, &last);
        ptx_agree(w, body, last.group->body, PTX_LAST_LANE);
        ptx_unite_last(w, body, last.lines);
        if (i == leader && many)
            ptx_lanes_drop(last.group->body);
        if (i == leader)
            ptx_agree(w, last.group->body, lane.group->body, PTX_TWO_LANES);
        ptx_unite_bytes(w, body, last.group->body, 31);
        clear_role(w->p.r, &last);
        some_lanes(w, body, (first + i) * 32);
        for (guint k = 8; k < 32 && w->ptx->few_lanes; k *= 2) { /* the last of 8, of 16 matrices */
            follow(w, (first + i) * 32 + k - 1, FALSE, &last);
            ptx_unite_bytes(w, body, last.group->body, k - 1);
            clear_role(w->p.r, &last);
        }
    }
    clear_role(w->p.r, &lane);
    if (w->repeated) {
        ws_source_granted(w->p.r,
                          "a bulk store that is the same in all lanes of a warp counts once");
        ptx_lanes_wait(w, body, TRUE);
        w->repeated = FALSE;
    }
    ptx_agree_others(w, body, 32 * (gint64)n);
    finish_group(w, &warp[leader], n);
}

static void warp_group(PtxWalk *w, guint first, guint n)
{
    Role warp[4];
    guint leader = n;
    gboolean one = TRUE;
    for (guint i = 0; i < n; i++) {
        follow(w, (first + i) * 32, TRUE, &warp[i]);
        w->taken += w->registers_last;
        w->unset |= !w->registers_last;
    }
    for (guint i = 0; i < n; i++) {
        const gboolean idle = !warp[i].n_steps && !warp[i].inner_sync;
        w->idle |= idle;
        w->uneven |= idle && warp[i].uneven; /* nobody else looks at what it does there */
        w->all_inner |= warp[i].inner_sync;
    }
    for (guint i = 0; i < n; i++)
        if ((warp[i].n_steps || warp[i].meets) &&
            (leader == n || warp[i].n_steps > warp[leader].n_steps))
            leader = i;
    if (leader < n)
        for (guint i = 0; i < n; i++) /* a named barrier counts all threads of a group */
            one &= (!warp[i].n_steps || same_set(warp[i].waits, warp[leader].waits)) &&
                   warp[i].meets == warp[leader].meets;
    if (leader < n && one) {
        one_group(w, warp, first, n, leader);
    } else if (leader < n) {
        for (guint i = 0; i < n; i++)
            if (warp[i].n_steps || warp[i].meets)
                one_group(w, &warp[i], first + i, 1, 0);
    }
    for (guint i = 0; i < n; i++)
        clear_role(w->p.r, &warp[i]);
}

static void finish_tiles(PyRead *p)
{
    WsRead *r = p->r;
    if (p->tile) {
        r->launch = strcmp(r->launch, "dynamic") ? "persistent" : r->launch;
        g_autofree char *text = ws_x_text(p->tiles);
        g_ptr_array_add(r->axes, (gpointer)p->tile);
        g_ptr_array_add(r->axes, (gpointer)ws_source_format(r, "%s", p->tiles ? text : "1"));
        return;
    }
    static const char *const pid[] = { PY_PID "_2", PY_PID "_1", PY_PID };
    const char *size[] = { "grid_z", "grid_y", "grid_x" };
    for (guint i = 0; i < r->groups->len; i++) /* the kernel asks how many CTAs there are */
        if (py_steps_mention(((WsReadGroup *)g_ptr_array_index(r->groups, i))->body, PY_GRID))
            size[2] = NULL;
    if (!size[2]) {
        const gint64 preset = 132;
        g_ptr_array_add(r->sizes, (gpointer)PY_GRID);
        g_array_append_val(r->presets, preset);
    }
    for (guint i = 0; i < 3; i++) {
        g_ptr_array_add(r->axes, (gpointer)pid[i]);
        g_ptr_array_add(
            r->axes,
            (gpointer)(size[i] ? ws_source_size_of(r, ws_source_format(r, "launch %s", size[i]),
                                                   size[i], i == 2 ? 132 : 1)
                               : PY_GRID));
    }
}

static void collect_list(PtxWalk *w, const char *text, GHashTable *into)
{
    g_autofree char *list = g_strdelimit(g_strdup(text), "{},", ' ');
    g_auto(GStrv) word = g_strsplit(list, " ", -1);
    for (guint r = 0; word[r]; r++)
        if (*word[r])
            g_hash_table_add(into, g_string_chunk_insert_const(w->p.r->text, word[r]));
}

static void collect_sums(PtxWalk *w)
{
    for (guint k = 0; k < w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        const char *shape = strstr(i->op, ".m64n");
        if (!g_str_has_prefix(i->op, "wgmma.mma_async") || !shape || !i->n || *i->arg[0] != '{')
            continue;
        const char *start = i->arg[0] + strspn(i->arg[0], "{ ");
        const char *reg =
            g_string_chunk_insert_len(w->p.r->text, start, (gssize)strcspn(start, ",} "));
        const gsize n = (gsize)CLAMP(g_ascii_strtoll(shape + 5, NULL, 10), 8, 256);
        g_hash_table_insert(w->sums, (gpointer)reg, GSIZE_TO_POINTER(n));
        collect_list(w, i->arg[0], w->matrix);
        if (i->n > 1 && *i->arg[1] == '{')
            collect_list(w, i->arg[1], w->parts);
    }
}

enum { BY_TEXT = 14, TABLES = 35 };

/* Its tables, those by text first. */
static void tables_of(PtxWalk *w, GHashTable **tables[TABLES])
{
    GHashTable **const all[TABLES] = {
        &w->p.rising, &w->sums,   &w->sum_names, &w->begun,    &w->matrix,  &w->seen,  &w->flying,
        &w->unfenced, &w->parts,  &w->lazy,      &w->turned,   &w->told,    &w->had,   &w->value_of,
        &w->memory,   &w->inits,  &w->beside,    &w->operands, &w->heads,   &w->met,   &w->shuffles,
        &w->made_by,  &w->table,  &w->numbers,   &w->alone,    &w->far_of,  &w->twins, &w->counts,
        &w->nobody,   &w->aborts, &w->spread,    &w->partly,   &w->flip_at, &w->mixed, &w->far_if
    };
    memcpy(tables, all, sizeof all);
}

static void walk_init(PtxWalk *w)
{
    GHashTable **tables[TABLES];
    tables_of(w, tables);
    for (guint i = 0; i < TABLES; i++)
        *tables[i] =
            i < BY_TEXT ? g_hash_table_new(g_str_hash, g_str_equal) : g_hash_table_new(NULL, NULL);
    w->p.loops = g_array_new(FALSE, TRUE, sizeof(OpenLoop));
    w->p.loop_names = g_ptr_array_new();
    w->p.open_gathers = g_ptr_array_new();
    w->flips =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_ptr_array_unref);
    w->phases = g_ptr_array_new();
    w->mma = g_array_new(FALSE, TRUE, sizeof(PtxMma));
    w->stores = g_array_new(FALSE, TRUE, sizeof(WsReadStep *));
    w->handed = g_array_new(FALSE, FALSE, sizeof(PtxHanded));
    w->least = g_ptr_array_new();
    /* the number of a CTA is below how many there are */
    g_ptr_array_add(w->least,
                    (gpointer)ws_x_op(w->p.r, WS_EXPR_SUB, ws_x_name(w->p.r, PY_GRID),
                                      ws_x_op(w->p.r, WS_EXPR_ADD, ws_x_name(w->p.r, PY_PID),
                                              ws_x_int(w->p.r, 1))));
    w->always = w->least->len;
    w->sync_ids = g_array_new(FALSE, TRUE, sizeof(gint64));
    collect_sums(w);
    ptx_lazy_find(w);
}

static void walk_clear(PtxWalk *w)
{
    GHashTable **tables[TABLES];
    tables_of(w, tables);
    for (guint i = 0; i < TABLES; i++)
        g_hash_table_unref(*tables[i]);
    g_hash_table_unref(w->flips);
    g_array_unref(w->p.loops);
    g_ptr_array_unref(w->p.loop_names);
    g_ptr_array_unref(w->p.open_gathers);
    g_array_unref(w->mma);
    g_array_unref(w->stores);
    g_ptr_array_unref(w->least);
    g_array_unref(w->handed);
    g_array_unref(w->sync_ids);
    g_ptr_array_unref(w->phases);
    if (w->all_ids)
        g_array_unref(w->all_ids);
    if (w->all_skips)
        g_ptr_array_unref(w->all_skips);
}

/* What every kernel is read with: see README.md. */
static void granted(PtxWalk *w)
{
    WsRead *r = w->p.r;
    ws_source_granted(r, "its integers do not overflow and its indices are not negative");
    ws_source_granted(r, "lanes between the first and the last of a warp do what both do, to bytes "
                         "between theirs");
    if (w->ptx->threads_most)
        ws_source_granted(
            r, ws_source_format(r, "a CTA is launched with %d threads", (int)w->ptx->threads));
    if (w->ptx->cluster_given)
        ws_source_granted(r, ws_source_format(r, "a cluster has %d CTAs", (int)w->ptx->cluster));
    guint at;
    if (w->ptx->shared_align >= 1024 &&
        g_ptr_array_find_with_equal_func(r->granted, PTX_ALIGNED, g_str_equal, &at))
        g_ptr_array_remove_index(r->granted, at);
}

static WsDesign *design_of(PtxWalk *w)
{
    WsRead *r = w->p.r;
    granted(w);
    if (w->place_from)
        ws_source_unread_value(r, w->place_from, 1, w->place_to,
                               "where in their tensors copies in these lines read or write", "");
    if (w->global_written)
        ws_source_grant_away(r);
    if (w->n_global)
        ws_source_unread_value(r, w->global_from, 1, w->global_to,
                               "plain accesses to global memory and arithmetic, in these lines",
                               "");
    r->title = ws_source_format(r, "%s of %s", w->ptx->entry, r->file);
    r->fences = "drawn";
    ptx_unite_cta(r);
    ptx_unite_cluster(w);
    finish_tiles(&w->p);
    ptx_finish(w);
    for (guint i = 0; i < r->tensors->len; i++) {
        WsReadTensor *t = &g_array_index(r->tensors, WsReadTensor, i);
        for (guint d = 0; d < t->rank; d++)
            t->shape[d] =
                ws_x_name(r, ws_source_size_of(r, ws_source_format(r, "extent %s %u", t->name, d),
                                               ws_source_format(r, "%s_%u", t->name, d), 1024));
    }
    return ws_source_write(r);
}

/* A kernel that asks for its cluster is another one in a cluster. */
static void needs_cluster(PtxWalk *w)
{
    for (guint k = 0; k < w->ptx->inst->len && !w->ptx->cluster_said; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        gboolean asks = strstr(i->op, "multicast") || g_str_has_prefix(i->op, "mapa");
        for (guint a = 0; a < i->n; a++)
            asks |= g_str_has_prefix(i->arg[a], "%cluster_");
        if (!asks)
            continue;
        ptx_unread(w, i, "how many CTAs a cluster has (say --define cluster=N)");
        w->lost = TRUE;
        return;
    }
}

/* The first thing that was not read is why. */
static void nothing_read(WsRead *r, const WsPtx *ptx)
{
    const WsUnread *first = r->unread->len ? g_ptr_array_index(r->unread, 0) : NULL;
    ws_source_fail(r, first ? first->line : ptx->line, 1, "Import a kernel that has a pipeline.",
                   "no warp of `%s` waits, copies or multiplies in a way that is read%s%s",
                   ptx->entry, first ? "; not read here: " : "", first ? first->what : "");
}

WsDesign *ws_import_ptx(WsRead *r, const WsPtx *ptx, const char *file, gboolean counters)
{
    PtxWalk w = { .p = { .r = r, .file = file, .way = { .counters_only = counters } }, .ptx = ptx };
    static const char *const own[] = { PY_PID, PY_PID "_1", PY_PID "_2", PY_GRID, PTX_SMEM };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        g_hash_table_add(r->names, (gpointer)own[i]);
    walk_init(&w);
    w.storing = -1;
    r->cluster = ptx->cluster;
    const guint warps = (guint)CLAMP(ptx->threads, 0, 1024) / 32;
    if (!ptx->threads)
        ws_source_fail(r, ptx->line, 1,
                       "Say --define NTID=N, or compile it with __launch_bounds__.",
                       "the kernel does not say how many threads it has (.maxntid or .reqntid)");
    else if (ptx->threads % 32)
        ws_source_fail(r, ptx->line, 1, "Import a kernel of whole warps.",
                       "the kernel has %d threads, which are no whole warps", (int)ptx->threads);
    if (ptx->cluster > 8 || (ptx->cluster & (ptx->cluster - 1)))
        ws_source_fail(r, ptx->line, 1, "Import a kernel for clusters of 1, 2, 4 or 8 CTAs.",
                       "the kernel wants clusters of %d CTAs", (int)ptx->cluster);
    needs_cluster(&w);
    for (guint i = 0; i < ptx->odd->len; i++) {
        const WsPtxOdd *odd = &g_array_index(ptx->odd, WsPtxOdd, i);
        ws_source_unread(r, odd->line, 1, odd->line,
                         ws_source_format(r, "the directive `%s`", odd->text), odd->text);
        w.lost = TRUE;
    }
    if (!*r->error)
        ptx_lanes_alike(&w);
    for (guint i = 0; i < warps && !*r->error; i += 4)
        warp_group(&w, i, MIN(4, warps - i));
    w.p.to = NULL;
    ptx_handed(&w, (guint)warps);
    if (w.uneven) {
        ws_source_unread(r, ptx->line, 1, ptx->line,
                         "arrivals of idle warps at the barrier of the cluster", "");
        w.lost = TRUE;
    }
    if (w.idle && w.all_inner) {
        ws_source_unread(r, ptx->line, 1, ptx->line,
                         "barriers of all threads inside of loops, to which idle warps do not come",
                         "");
        w.lost = TRUE;
    }
    if (!*r->error && r->groups->len && !w.lost)
        ptx_law_covered(&w);
    if (!*r->error && !r->groups->len)
        nothing_read(r, ptx);
    WsDesign *design = *r->error ? NULL : design_of(&w);
    walk_clear(&w);
    return design;
}
