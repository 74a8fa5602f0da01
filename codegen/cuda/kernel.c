/* struct Problem, struct Kernel with one member function per role, and the __global__ function. */
#include "codegen/cuda/cuda.h"
#include "codegen/span.h"
#include "program/array.h"
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* --- sizes -------------------------------------------------------------------------------------*/

static const char *names_of(WsCuda *c, WsVarKind kind, const char *format, const char *between)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < c->p->n_vars; i++) {
        const WsVar *v = &c->p->var[i];
        if (v->kind != kind || (kind == WS_VAR_RUN && v->real))
            continue;
        const char *name = ws_cuda_ident(c, v->name);
        g_autofree char *one = g_strdup(format);
        GString *t = g_string_new(one);
        g_string_replace(t, "%", name, 0);
        g_string_append_printf(s, "%s%s", s->len ? between : "", t->str);
        g_string_free(t, TRUE);
    }
    const char *text = g_string_chunk_insert_const(c->terms.pool, s->str);
    g_string_free(s, TRUE);
    return text;
}

static void run_names(WsCuda *c)
{
    for (guint i = 0; i < c->p->n_vars && !c->error; i++) {
        const WsVar *v = &c->p->var[i];
        if (v->kind != WS_VAR_RUN || v->real)
            continue;
        WsTerm t = ws_cuda_uniform(c, v->value);
        const char *name = ws_cuda_ident(c, v->name);
        ws_cuda_line(c, "%s = %s;", name, t.s);
        c->var[i] = (WsTermName){ .bound = TRUE, .s = name, .in = t.in };
    }
}

char *ws_cuda_problem(WsCuda *c)
{
    const WsTiles *t = c->p->tiles;
    GString *outer = c->out;
    c->out =
        g_string_new("// What the sizes of a launch decide, for the host and for the kernel.\n");
    ws_cuda_open(c, "struct Problem");
    const char *sizes = names_of(c, WS_VAR_SIZE, "%", ", ");
    const char *run = names_of(c, WS_VAR_RUN, "%", ", ");
    GString *extents = g_string_new(NULL), *count = g_string_new(NULL);
    for (guint i = 0; i < t->n_axes; i++) {
        const char *name = ws_cuda_ident(c, t->axis[i].name);
        g_string_append_printf(extents, "%sn_%s", i ? ", " : "", name);
        g_string_append_printf(count, "%sn_%s", i ? " * " : "", name);
    }
    if (*sizes)
        ws_cuda_line(c, "int %s;", sizes);
    if (*run)
        ws_cuda_line(c, "int %s;", run);
    if (extents->len)
        ws_cuda_line(c, "int %s; // tiles along each axis", extents->str);
    ws_cuda_line(c, "int n_tiles;");
    ws_cuda_line(c, "%s", "");
    ws_cuda_line(c, "__host__ __device__ explicit Problem(%s)",
                 names_of(c, WS_VAR_SIZE, "int %_", ", "));
    if (*sizes)
        ws_cuda_line(c, "    : %s", names_of(c, WS_VAR_SIZE, "%(%_)", ", "));
    ws_cuda_block(c, "");
    run_names(c);
    for (guint i = 0; i < t->n_axes && !c->error; i++) {
        const WsTerm extent = ws_cuda_uniform(c, t->axis[i].extent);
        ws_cuda_line(c, extent.in.lo < 0 ? "n_%s = max(%s, 0);" : "n_%s = %s;",
                     ws_cuda_ident(c, t->axis[i].name), extent.s);
    }
    ws_cuda_line(c, "n_tiles = %s;", count->len ? count->str : "1");
    ws_cuda_close(c);
    c->depth--;
    ws_cuda_line(c, "};");
    ws_cuda_line(c, "%s", "");
    g_string_free(extents, TRUE);
    g_string_free(count, TRUE);
    char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    return text;
}

/* --- roles -------------------------------------------------------------------------------------*/

static void bind_variables(WsCuda *c, guint number)
{
    for (guint i = 0; i < c->p->n_vars && !c->error; i++) {
        const WsVar *v = &c->p->var[i];
        if (v->agent != (gint)number)
            continue;
        WsTermName *n = &c->var[i];
        if (v->kind == WS_VAR_TOTAL || v->kind == WS_VAR_COUNTER || v->kind == WS_VAR_LET) {
            gint64 low = v->kind == WS_VAR_TOTAL ? 0 : WS_INTERVAL_MIN;
            gint64 high = v->kind == WS_VAR_LET ? WS_INTERVAL_MAX : G_MAXINT32;
            *n = (WsTermName){ .bound = TRUE,
                               .s = ws_cuda_ident(c, v->name),
                               .in = ws_interval(low, high) };
        }
    }
}

/* A variable that only its own "++x;" mentions is not written at all. */
static char *without_idle_totals(WsCuda *c, guint number, const char *body)
{
    GString *s = g_string_new(body);
    for (guint i = 0; i < c->p->n_vars; i++) {
        if (c->p->var[i].agent != (gint)number || c->p->var[i].kind != WS_VAR_TOTAL ||
            !c->var[i].bound)
            continue;
        g_autofree char *step = g_strdup_printf("++%s;\n", c->var[i].s);
        g_auto(GStrv) rest = g_strsplit(s->str, step, -1);
        g_autofree char *others = g_strjoinv("", rest);
        if (ws_fold_mentions(others, c->var[i].s))
            continue;
        GString *less = g_string_new(NULL); /* whole lines, with their indentation */
        g_auto(GStrv) line = g_strsplit(s->str, "\n", -1);
        for (guint k = 0; line[k]; k++) {
            const char *at = line[k];
            while (*at == ' ')
                at++;
            if (strncmp(at, step, strlen(step) - 1) == 0 && strlen(at) == strlen(step) - 1)
                continue;
            g_string_append(less, line[k]);
            if (line[k + 1])
                g_string_append_c(less, '\n');
        }
        g_string_free(s, TRUE);
        s = less;
    }
    return g_string_free(s, FALSE);
}

/* The compiler warns of what is written and never read. */
static gboolean is_read(const WsProgram *p, guint number, guint value)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent != (gint)number)
            continue;
        for (guint k = 0; k < op->n_value; k++) {
            if (op->value[k].value == value && op->value[k].mode & WS_MODE_READ)
                return TRUE;
        }
        for (guint k = 0; k < op->n_math; k++) {
            if (ws_array_reads(op->assign[k].array, value))
                return TRUE;
        }
    }
    return FALSE;
}

static void declare(WsCuda *c, guint number, const char *text)
{
    const WsAgent *a = c->agent;
    g_autofree char *body = ws_cuda_code(text);
    gboolean leader = ws_fold_mentions(body, "leader");
    gboolean warp = leader || ws_fold_mentions(body, "role_warp") || ws_fold_mentions(body, "row0");
    if (ws_fold_mentions(body, "thread"))
        ws_cuda_line(c, "const int thread = tid - %u; // in this role",
                     a->warp0 * c->p->hardware->lanes);
    if (warp)
        ws_cuda_line(c, "const int role_warp = warp - %u;", a->warp0);
    if (leader)
        ws_cuda_line(c, "const bool leader = role_warp == 0 && elect();");
    if (ws_fold_mentions(body, "row0"))
        ws_cuda_line(c, "const int row0 = role_warp * 16 + lane / 4; // of this thread in a tile");
    if (ws_fold_mentions(body, "col0"))
        ws_cuda_line(c, "const int col0 = lane %% 4 * 2;");
    for (guint v = 0; v < a->n_values; v++) {
        const WsRegValue *r = &a->value[v];
        if (!ws_fold_mentions(body, c->value[v]))
            continue;
        const char *unread = is_read(c->p, number, v) ? "" : "[[maybe_unused]] ";
        if (ws_cuda_shape(r) == WS_PLACE_SCALAR)
            ws_cuda_line(c, "%s%s %s; // %s", unread, ws_cuda_register_type(r), c->value[v],
                         ws_dtype_text(r->dtype));
        else
            ws_cuda_line(c, "%s%s %s[%u]; // %s [%u rows][%u columns]%s", unread,
                         ws_cuda_register_type(r), c->value[v], r->registers,
                         ws_dtype_text(r->dtype), r->rows, r->cols,
                         r->layout == WS_LAYOUT_ACCUMULATOR ? ", accumulator layout" : "");
    }
    g_autoptr(GHashTable) declared = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < c->p->n_vars && !c->error; i++) {
        const WsVar *v = &c->p->var[i];
        if (v->agent != (gint)number || !c->var[i].bound || !ws_fold_mentions(body, c->var[i].s) ||
            !g_hash_table_add(declared, (gpointer)c->var[i].s)) /* names of scopes side by side */
            continue;
        if (v->kind == WS_VAR_TOTAL)
            ws_cuda_line(c, "int %s = 0; // rounds of %.*s so far", c->var[i].s,
                         (int)strcspn(v->name, "."), v->name);
        else if (v->kind == WS_VAR_COUNTER)
            ws_cuda_line(c, "int %s = %s;", c->var[i].s,
                         v->value ? ws_cuda_uniform(c, v->value).s : "0");
        else if (v->kind == WS_VAR_LET)
            ws_cuda_line(c, "[[maybe_unused]] int %s = 0;", c->var[i].s);
    }
}

/* The agent has its warp groups for itself. */
static gboolean alone(const WsProgram *p, guint number)
{
    for (WsWarpSpan s = { 0 }; s.hi < p->threads / p->hardware->lanes;) {
        s = ws_span_next(p, s);
        if (s.first <= number && number < s.end)
            return ws_span_alone(p, &s);
    }
    return FALSE;
}

/* The statements of a role, declarations first. Caller frees. */
static char *role_body(WsCuda *c, guint number)
{
    const WsAgent *a = &c->p->agent[number];
    GString *outer = c->out;
    c->agent = a;
    c->commented = NULL;
    c->row = "row0";
    c->col = "col0";
    c->terms.plus_zero = a->replicas > 1;
    c->whole_group = alone(c->p, number);
    c->value = g_new0(const char *, a->n_values + 1);
    for (guint v = 0; v < a->n_values; v++)
        c->value[v] = ws_cuda_ident(c, a->value[v].name);
    c->cuts = g_array_new(FALSE, FALSE, sizeof(WsCut));
    bind_variables(c, number);
    c->out = g_string_new(NULL);
    c->depth = 2;
    gboolean single = c->p->tiles->launch == WS_LAUNCH_SINGLE;
    if (single)
        ws_cuda_tiles_bind(c, TRUE);
    ws_cuda_tree(c, a->body);
    ws_cuda_tiles_bind(c, FALSE);
    c->op = NULL;
    g_autofree char *all = g_string_free(c->out, FALSE);
    g_autofree char *body = without_idle_totals(c, number, all);
    c->out = g_string_new(NULL);
    declare(c, number, body);
    if (single && ws_fold_mentions(body, "here"))
        ws_cuda_line(c, "const Tile here = tile_at%s(cluster_id);", c->tile_alone ? "<false>" : "");
    g_string_append(c->out, body);
    char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    c->depth = 0;
    c->terms.plus_zero = FALSE;
    g_clear_pointer(&c->cuts, g_array_unref);
    g_free(c->value);
    c->agent = NULL;
    return text;
}

static void role(WsCuda *c, GString *s, guint number, const char *name, gboolean replicas,
                 const char *body)
{
    static const char *const word[] = { "producer", "consumer", "worker" };
    const WsAgent *a = &c->p->agent[number];
    g_string_append_printf(s, "\n    // Role %s (%s), %u warp%s", c->p->group_name[a->group],
                           word[a->role], a->warps, a->warps == 1 ? "" : "s");
    if (replicas)
        g_string_append_printf(s, " in each of %u replicas", a->replicas);
    if (a->registers)
        g_string_append_printf(s, ", %u registers per thread", a->registers);
    if (a->one_code)
        g_string_append(s, "; a code for each replica here (one_code: --as ptx)");
    g_string_append_printf(s,
                           "\n%s    __device__ __forceinline__ void %s() const\n    {\n%s    }\n",
                           replicas ? "    template <int replica>\n" : "", name, body);
}

/* Replicas of a group: one function if their texts fold. c->fn[agent] is how it is called. */
static void group(WsCuda *c, GString *s, guint first, guint end)
{
    g_auto(GStrv) body = g_new0(char *, end - first + 1);
    const char *name = ws_cuda_ident(c, c->p->group_name[c->p->agent[first].group]);
    for (guint i = first; i < end && !c->error; i++)
        body[i - first] = role_body(c, i);
    if (c->error)
        return;
    name = ws_cuda_format(c, "%s_role", name);
    g_autofree char *one = ws_fold_text((const char *const *)body, end - first, "replica", TRUE);
    if (one) {
        role(c, s, first, name, TRUE, one);
        for (guint i = first; i < end; i++)
            c->fn[i] = ws_cuda_format(c, "%s<%u>", name, i - first);
        return;
    }
    for (guint i = first; i < end; i++) {
        c->fn[i] = end - first > 1 ? ws_cuda_format(c, "%s_%u", name, i - first) : name;
        role(c, s, i, c->fn[i], FALSE, body[i - first]);
    }
}

static void prologue(WsCuda *c, GString *s)
{
    c->out = g_string_new(NULL);
    c->depth = 2;
    for (guint i = 0; i < c->p->n_prologue && !c->error;) {
        if (!ws_op_leader_only(c->p->prologue[i])) {
            ws_cuda_op(c, c->p->prologue[i++]);
            continue;
        }
        ws_cuda_open(c, "if (tid == 0)");
        c->in_leader = TRUE;
        for (; i < c->p->n_prologue && ws_op_leader_only(c->p->prologue[i]) && !c->error; i++)
            ws_cuda_op(c, c->p->prologue[i]);
        c->in_leader = FALSE;
        ws_cuda_close(c);
    }
    c->op = NULL;
    c->depth = 0;
    g_autofree char *text = g_string_free(c->out, FALSE);
    g_string_append_printf(s,
                           "\n    // Once per CTA: barriers are initialised and published\n"
                           "    __device__ __forceinline__ void prologue() const\n    {\n%s    }\n",
                           text);
}

char *ws_cuda_roles(WsCuda *c)
{
    GString *s = g_string_new(NULL);
    GString *outer = c->out;
    prologue(c, s);
    for (guint i = 0, end; i < c->p->n_agents && !c->error; i = end) {
        for (end = i + 1; end < c->p->n_agents && c->p->agent[end].group == c->p->agent[i].group;)
            end++;
        group(c, s, i, end);
    }
    c->out = outer;
    return g_string_free(s, FALSE);
}

/* --- the kernel --------------------------------------------------------------------------------*/

static void shared_span(WsCuda *c, const WsWarpSpan *s)
{
    const WsOp *plan = ws_span_plan(c->p, s);
    if (plan)
        ws_cuda_op(c, plan);
    for (guint i = s->first; i < s->end; i++) {
        const WsAgent *a = &c->p->agent[i];
        ws_cuda_open(c, "if (k.warp >= %u && k.warp < %u)", a->warp0, a->warp0 + a->warps);
        ws_cuda_line(c, "k.%s();", c->fn[i]);
        ws_cuda_close(c);
    }
}

static void roles(WsCuda *c)
{
    const WsTarget *hw = c->p->hardware;
    guint warps = c->p->threads / hw->lanes;
    WsWarpSpan one = ws_span_next(c->p, (WsWarpSpan){ 0 });
    ws_cuda_line(c, "// roles: the number of a warp is the same in all of its threads");
    if (one.hi < warps)
        ws_cuda_line(c, "const int warp_group = k.warp / %u;", hw->group_warps);
    for (WsWarpSpan s = { 0 }; s.hi < warps && !c->error;) {
        s = ws_span_next(c->p, s);
        const char *otherwise = s.lo ? "else " : "";
        if (!s.lo && s.hi >= warps && ws_span_alone(c->p, &s)) {
            ws_cuda_line(c, "k.%s();", c->fn[s.first]);
            return;
        }
        if (s.hi < warps)
            ws_cuda_open(c, "%sif (warp_group < %u)", otherwise,
                         (s.hi + hw->group_warps - 1) / hw->group_warps);
        else
            ws_cuda_open(c, "%s", s.lo ? "else" : "");
        if (s.end == s.first)
            ws_cuda_line(c, "// idle");
        else if (ws_span_alone(c->p, &s))
            ws_cuda_line(c, "k.%s();", c->fn[s.first]);
        else
            shared_span(c, &s);
        ws_cuda_close(c);
    }
}

static void parameters(WsCuda *c)
{
    const WsProgram *p = c->p;
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (guint i = 0; i < p->n_maps; i++)
        g_ptr_array_add(
            all, (gpointer)ws_cuda_format(c, "const __grid_constant__ CUtensorMap %s", c->map[i]));
    for (guint i = 0; i < p->n_tensors; i++)
        g_ptr_array_add(all, (gpointer)ws_cuda_format(c, "uint64_t %s", c->tensor[i]));
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SIZE)
            g_ptr_array_add(all, (gpointer)ws_cuda_format(c, "int64_t %s", c->var[i].s));
    }
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SCALAR)
            g_ptr_array_add(all, (gpointer)ws_cuda_format(c, "float %s", c->var[i].s));
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        g_ptr_array_add(all, (gpointer) "uint64_t counter");
    if (p->tiles->order == WS_ORDER_HILBERT)
        g_ptr_array_add(all, (gpointer) "uint64_t hilbert");
    for (guint i = 0; i < all->len; i++)
        ws_cuda_line(c, "%s%s%s", i ? "          " : "warpstave(", (char *)all->pdata[i],
                     i + 1 < all->len ? "," : ")");
    if (!all->len)
        ws_cuda_line(c, "warpstave()");
}

/* Outside the kernel's members, a run name that another one is made from is a member of `k`. */
static void real_run_names(WsCuda *c)
{
    const WsProgram *p = c->p;
    g_autofree const char **name = g_new0(const char *, p->n_vars);
    for (guint i = 0; i < p->n_vars; i++) {
        name[i] = c->var[i].s;
        if (p->var[i].kind == WS_VAR_RUN)
            c->var[i].s = ws_cuda_format(c, "k.%s", ws_cuda_ident(c, p->var[i].name));
    }
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_RUN && p->var[i].real)
            ws_cuda_line(c, "%s = %s;", c->var[i].s, ws_cuda_run_name(c, p->var[i].array));
    }
    for (guint i = 0; i < p->n_vars; i++)
        c->var[i].s = name[i];
}

static void fill(WsCuda *c)
{
    const WsProgram *p = c->p;
    for (guint i = 0; i < p->n_maps; i++)
        ws_cuda_line(c, "k.%s = reinterpret_cast<uint64_t>(&%s);", c->map[i], c->map[i]);
    for (guint i = 0; i < p->n_tensors; i++)
        ws_cuda_line(c, "k.%s = %s;", c->tensor[i], c->tensor[i]);
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SCALAR)
            ws_cuda_line(c, "k.%s = %s;", c->var[i].s, c->var[i].s);
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        ws_cuda_line(c, "k.counter = counter;");
    if (p->tiles->order == WS_ORDER_HILBERT)
        ws_cuda_line(c, "k.hilbert = hilbert;");
    real_run_names(c);
}

char *ws_cuda_entry(WsCuda *c)
{
    GString *outer = c->out;
    c->out = g_string_new(NULL);
    c->depth = 0;
    ws_cuda_line(c, "#ifdef WARPSTAVE_BUNDLE // whose kernels all go by one name\nextern "
                    "\"C\"\n#else\nstatic\n#endif");
    ws_cuda_line(c, "__global__ void __launch_bounds__(THREADS, %u)%s", c->p->per_sm,
                 c->p->cluster > 1 ? " __cluster_dims__(CLUSTER, 1, 1)" : "");
    parameters(c);
    ws_cuda_block(c, "");
    ws_cuda_line(c, "extern __shared__ __align__(1024) uint8_t shared_memory[];");
    ws_cuda_line(c, "Kernel k{ Problem(%s) };", names_of(c, WS_VAR_SIZE, "int(%)", ", "));
    ws_cuda_line(c,
                 "k.smem.base = static_cast<uint32_t>(__cvta_generic_to_shared(shared_memory));");
    ws_cuda_line(c, "k.tid = threadIdx.x;");
    ws_cuda_line(c, "k.lane = k.tid %% %u;", c->p->hardware->lanes);
    ws_cuda_line(c, "k.warp = shfl_idx(k.tid / %u, 0); // through a shuffle: uniform for ptxas",
                 c->p->hardware->lanes);
    if (c->p->cluster > 1)
        ws_cuda_line(c, "k.cta = cluster_rank();");
    ws_cuda_line(c, "k.cluster_id = blockIdx.x / CLUSTER;");
    ws_cuda_line(c, "k.n_clusters = gridDim.x / CLUSTER;");
    fill(c);
    ws_cuda_line(c, "%s", "");
    ws_cuda_line(c, "k.prologue();");
    ws_cuda_line(c, "%s", "");
    roles(c);
    ws_cuda_close(c);
    char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    return text;
}
