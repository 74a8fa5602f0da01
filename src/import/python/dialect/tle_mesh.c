#include "import/python/dialect/tle_mesh.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/names/names.h"

#include <string.h>

/* Meshes of TLE whose shards are the CTAs of one cluster: their numbers, what they meet at, and the
 * shared memory of others. A mesh of anything else is refused by name where it is used. */

#define OWN_RANK "cta"

static gboolean is_word(const Val *v, const char *word)
{
    g_autofree char *quoted = g_strdup_printf("\"%s\"", word);
    return v && v->kind == VAL_STRING && !strcmp(v->text, quoted);
}

/* --- the mesh --------------------------------------------------------------------------------- */

/* Axes so far; `wrong`: what is not read of them. */
typedef struct {
    const char *axis[PY_MESH_AXES], *wrong;
    gint64 size[PY_MESH_AXES], all;
    guint n;
} Axes;

static gboolean names(const char *quoted, const char *part)
{
    return quoted && strstr(quoted, part) != NULL;
}

static void axis_of(PyRead *p, Axes *m, const char *level, const WsPyNode *name, const char *own,
                    const WsPyNode *size)
{
    gint64 n = 0;
    const char *axis = name && name->kind == WS_PY_STRING ? name->text : own;
    if (!axis || !py_known(py_eval(p, size), &n) || n < 1 || n > 64)
        m->wrong = "a mesh whose axes are not known";
    else if (names(level, "node") || names(level, "device") || names(level, "chiplet"))
        m->wrong = "a mesh of devices";
    else if ((names(level, "block") && !names(level, "cluster")) ||
             (names(axis, "block") && !names(axis, "cluster")))
        m->wrong = "a mesh of blocks, which meet in the whole grid";
    else if (m->n == PY_MESH_AXES)
        m->wrong = "a mesh of more than three axes";
    for (guint i = 0; !m->wrong && i < m->n; i++)
        if (!strcmp(m->axis[i], axis))
            m->wrong = "a mesh with two axes of one name";
    if (m->wrong)
        return;
    m->axis[m->n] = axis;
    m->size[m->n++] = n;
    m->all *= n;
}

/* "level": n, or "level": [("axis", n), …] */
static void level_of(PyRead *p, Axes *m, const char *level, const WsPyNode *axes)
{
    const gboolean list = axes->kind == WS_PY_LIST || axes->kind == WS_PY_TUPLE;
    for (guint i = 0; list && i < axes->n && !m->wrong; i++) {
        const WsPyNode *pair = axes->kid[i];
        if ((pair->kind == WS_PY_TUPLE || pair->kind == WS_PY_LIST) && pair->n == 2)
            axis_of(p, m, level, pair->kid[0], NULL, pair->kid[1]);
        else
            m->wrong = "a mesh whose axes are not known";
    }
    if (!list)
        axis_of(p, m, level, NULL, level, axes);
}

/* device_mesh({level: axes, …}), device_mesh(MeshConfig(level=axes, …)) */
static void levels_of(PyRead *p, Axes *m, const WsPyNode *topology)
{
    const gboolean dict = topology && topology->kind == WS_PY_DICT && topology->n % 2 == 0;
    for (guint i = 0; dict && i < topology->n && !m->wrong; i += 2)
        level_of(p, m, topology->kid[i]->kind == WS_PY_STRING ? topology->kid[i]->text : NULL,
                 topology->kid[i + 1]);
    g_autofree char *word =
        topology && topology->kind == WS_PY_CALL ? ws_python_dotted(topology->kid[0]) : NULL;
    const gboolean config = word && g_str_has_suffix(word, "MeshConfig");
    for (guint i = 1; config && i < topology->n && !m->wrong; i++) {
        const WsPyNode *level = topology->kid[i];
        if (level->kind == WS_PY_KEYWORD)
            level_of(p, m, ws_source_format(p->r, "\"%s\"", level->text), level->kid[0]);
        else
            m->wrong = "a mesh whose axes are not known";
    }
    if (!m->n && !m->wrong)
        m->wrong = "a mesh whose axes are not known";
    if (!m->wrong && m->all != 2 && m->all != 4 && m->all != 8)
        m->wrong = "a mesh that is no cluster of 2, 4 or 8 CTAs";
}

const Val *py_mean_TLE_MESH(PyRead *p, const Val **a, const WsPyNode *at)
{
    Axes m = { .all = 1 };
    const WsPyNode *topology = at->kind == WS_PY_CALL && at->n == 2 ? at->kid[1] : NULL;
    if (topology && topology->kind == WS_PY_KEYWORD)
        topology = topology->kid[0];
    levels_of(p, &m, topology);
    Val *v = py_val(p, VAL_MESH);
    v->item = g_new0(const Val *, PY_MESH_AXES + 1);
    g_ptr_array_add(p->r->pool, v->item);
    for (guint i = 0; i < m.n; i++) {
        Val *axis = py_val(p, VAL_STRING);
        axis->text = m.axis[i];
        axis->rows = m.size[i];
        v->item[v->n++] = axis;
    }
    v->rows = m.all;
    v->dtype = m.wrong;
    return v;
}

/* mesh[0], mesh[1, 0]: one CTA of it. */
const Val *py_mesh_one(PyRead *p, const Val *mesh, const Val *index)
{
    Val *v = py_val(p, VAL_MESH);
    *v = *mesh;
    const gboolean tuple = index->kind == VAL_TUPLE;
    gint64 rank = 0;
    gboolean one = (tuple ? index->n : 1) == mesh->n && !mesh->at;
    for (guint i = 0; one && i < mesh->n; i++) {
        const gint64 size = mesh->item[i]->rows;
        gint64 n = G_MININT64;
        one = py_known(tuple ? index->item[i] : index, &n) && n >= -size && n < size;
        rank = rank * size + (n < 0 ? n + size : n);
    }
    v->at = one ? rank + 1 : 0;
    if (!one && !v->dtype)
        v->dtype = "a part of a mesh that is not one CTA of it";
    return v;
}

gboolean py_mesh_same(const Val *a, const Val *b)
{
    gboolean same = a->n == b->n;
    for (guint i = 0; same && i < a->n; i++)
        same = a->item[i]->rows == b->item[i]->rows && !strcmp(a->item[i]->text, b->item[i]->text);
    return same;
}

gint py_mesh_axis(const Val *mesh, const Val *axis)
{
    gint64 n;
    for (guint i = 0; axis && axis->kind == VAL_STRING && i < mesh->n; i++)
        if (!strcmp(mesh->item[i]->text, axis->text))
            return (gint)i;
    if (!axis || !py_known(axis, &n) || n < -(gint64)mesh->n || n >= mesh->n)
        return -1;
    return (gint)(n < 0 ? n + mesh->n : n);
}

gint64 py_mesh_stride(const Val *mesh, guint axis)
{
    gint64 stride = 1;
    for (guint i = axis + 1; i < mesh->n; i++)
        stride *= mesh->item[i]->rows;
    return stride;
}

const WsExpr *py_mesh_coordinate(PyRead *p, const Val *mesh, guint axis)
{
    const gint64 size = mesh->item[axis]->rows, stride = py_mesh_stride(mesh, axis);
    const WsExpr *e = ws_x_name(p->r, OWN_RANK);
    if (size == 1)
        return ws_x_int(p->r, 0);
    if (stride > 1)
        e = ws_x_op(p->r, WS_EXPR_DIV, e, ws_x_int(p->r, stride));
    return stride * size < mesh->rows ? ws_x_mod(p->r, e, size) : e;
}

/* What MeshConfig gives is read where a mesh is made of it. */
const Val *py_mean_TLE_LEVELS(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_opaque(p);
}

/* --- the cluster of the launch ---------------------------------------------------------------- */

static gboolean has_word(const WsPyNode *node, const char *word)
{
    gboolean has = node->kind == WS_PY_ATTR && !strcmp(node->text, word);
    for (guint i = 0; i < node->n && !has; i++)
        has = has_word(node->kid[i], word);
    return has;
}

/* A sharding alone says nothing of the launch; what turns one into another asks for the cluster. */
static gboolean uses_mesh(const WsPyNode *call, gboolean reshards)
{
    static const char *const words[] = { "shard_id", "distributed_barrier", "remote", "sharding" };
    for (guint i = 0; i < G_N_ELEMENTS(words) - !reshards; i++)
        if (call->kind == WS_PY_CALL && call->kid[0]->kind == WS_PY_ATTR &&
            !strcmp(call->kid[0]->text, words[i]))
            return TRUE;
    return FALSE;
}

typedef struct {
    PyRead *p;
    const WsPyNode *function; /* whose text it is */
    const Val **args;         /* of the kernel; NULL in a function that it names */
    guint depth;
    gboolean reshards;
} Look;

static const Val *named(const Look *l, const WsPyNode *node)
{
    const WsPyNode *params = l->function->kid[0];
    if (node->kind == WS_PY_KEYWORD || node->kind == WS_PY_INDEX)
        return named(l, node->kid[0]);
    if (node->kind != WS_PY_NAME)
        return NULL;
    for (guint i = 0; i < params->n; i++)
        if (!strcmp(params->kid[i]->text, node->text))
            return l->args ? l->args[i] : NULL;
    return py_lookup(l->p, node->text);
}

static void look(const Look *l, const WsPyNode *node)
{
    PyRead *p = l->p;
    for (guint i = 1; uses_mesh(node, l->reshards) && i < node->n && !p->mesh; i++) {
        const Val *v = named(l, node->kid[i]);
        if (v && v->kind == VAL_MESH && !v->dtype)
            p->mesh = v;
    }
    const WsPyNode *own = node->kind == WS_PY_NAME && l->depth < 4
                              ? g_hash_table_lookup(p->names->functions, node->text)
                              : NULL;
    if (own && own != l->function && own != p->kernel)
        look(&(Look){ p, own, NULL, l->depth + 1, l->reshards }, own->kid[1]);
    for (guint i = 0; i < node->n; i++)
        look(l, node->kid[i]);
}

/* The cluster is made of what the kernel asks a mesh for: known before its first statement, since
 * the number of a program is that of a CTA. */
void py_mesh_ahead(PyRead *p, const Val **args)
{
    if (p->from != WS_IMPORT_TLE || p->r->cluster != 1)
        return;
    const WsPyNode *body = p->kernel->kid[1];
    const gboolean moves = has_word(body, "reshard") || has_word(body, "distributed_dot");
    look(&(Look){ p, p->kernel, args, 0, moves }, body);
    if (p->mesh)
        p->r->cluster = p->mesh->rows;
}

/* A program is a CTA: `pid` counts clusters then. */
const WsExpr *py_mesh_program(PyRead *p, const WsExpr *pid)
{
    return p->mesh ? ws_x_op(p->r, WS_EXPR_ADD,
                             ws_x_op(p->r, WS_EXPR_MUL, pid, ws_x_int(p->r, p->mesh->rows)),
                             ws_x_name(p->r, OWN_RANK))
                   : pid;
}

/* e / n or e % n of a number of a CTA and multiples of the size of its cluster; NULL: it is none.
 */
const WsExpr *py_mesh_part(PyRead *p, gboolean rest, const WsExpr *e, gint64 n)
{
    WsAffine f;
    gboolean own = FALSE, whole = p->mesh && n == p->mesh->rows;
    if (!whole || !e || !ws_expr_affine(e, &f))
        return NULL;
    const WsExpr *sum = ws_x_int(p->r, f.constant / n);
    whole = f.constant >= 0 && f.constant % n == 0;
    for (guint i = 0; i < f.n; i++) {
        const gboolean rank =
            f.term[i]->op == WS_EXPR_NAME && f.factor[i] == 1 && !strcmp(f.term[i]->name, OWN_RANK);
        own |= rank;
        whole = whole && (rank || (f.factor[i] > 0 && f.factor[i] % n == 0));
        if (!rank)
            sum = ws_x_op(p->r, WS_EXPR_ADD, sum,
                          ws_x_op(p->r, WS_EXPR_MUL, ws_x_own(p->r, ws_expr_ref(f.term[i])),
                                  ws_x_int(p->r, f.factor[i] / n)));
    }
    ws_affine_clear(&f);
    return !own || !whole ? NULL : rest ? ws_x_name(p->r, OWN_RANK) : sum;
}

/* Clusters of a grid, which is a multiple of their size: else nothing is launched. */
const WsExpr *py_mesh_clusters(PyRead *p, const WsExpr *grid)
{
    WsAffine f;
    const gint64 n = p->mesh ? p->mesh->rows : 1;
    if (n == 1 || !grid)
        return grid;
    gboolean whole = ws_expr_affine(grid, &f);
    const WsExpr *sum = whole ? ws_x_int(p->r, f.constant / n) : NULL;
    whole = whole && f.constant % n == 0;
    for (guint i = 0; sum && i < f.n; i++) {
        whole = whole && f.factor[i] % n == 0;
        sum = ws_x_op(p->r, WS_EXPR_ADD, sum,
                      ws_x_op(p->r, WS_EXPR_MUL, ws_x_own(p->r, ws_expr_ref(f.term[i])),
                              ws_x_int(p->r, f.factor[i] / n)));
    }
    if (sum)
        ws_affine_clear(&f);
    if (whole)
        return sum;
    g_autofree char *text = ws_x_text(grid);
    const char *even = ws_source_format(p->r, "(%s) %% %" G_GINT64_FORMAT " == 0", text, n);
    for (guint i = 0; i < p->r->assume->len; i++)
        if (!strcmp(p->r->assume->pdata[i], even))
            even = NULL, i = p->r->assume->len - 1;
    if (even)
        g_ptr_array_add(p->r->assume, (gpointer)even);
    return ws_x_op(p->r, WS_EXPR_DIV, grid, ws_x_int(p->r, n));
}

/* What stands in the way of it; NULL: it is the mesh of the launch, or one CTA of it. */
const char *py_no_mesh_part(const PyRead *p, const Val *mesh)
{
    return !mesh || mesh->kind != VAL_MESH  ? "a mesh that is not known"
           : mesh->dtype                    ? mesh->dtype
           : !p->mesh && p->r->cluster != 1 ? "a mesh of a launch that has num_ctas"
           : !p->mesh                       ? "a mesh that is not known where the kernel begins"
           : mesh->rows != p->mesh->rows    ? "a mesh of another size than that of the launch"
                                            : NULL;
}

const char *py_no_mesh(const PyRead *p, const Val *mesh)
{
    const char *why = py_no_mesh_part(p, mesh);
    return why ? why : mesh->at ? "what one CTA of a mesh does alone" : NULL;
}

/* --- words ------------------------------------------------------------------------------------ */

const Val *py_mean_TLE_SHARD(PyRead *p, const Val **a, const WsPyNode *at)
{
    static const char *const beyond[] = { "device", "node", "chiplet" };
    for (guint i = 0; i < G_N_ELEMENTS(beyond); i++)
        if (is_word(a[1], beyond[i]) || py_given(a[2]))
            return py_wrong(p, at, "the number of a device");
    const char *why = py_no_mesh(p, a[0]);
    if (why)
        return py_wrong(p, at, why);
    p->meshed = TRUE;
    const gint axis = py_mesh_axis(a[0], a[1]);
    return axis >= 0 ? py_int(p, py_mesh_coordinate(p, a[0], (guint)axis))
                     : py_wrong(p, at, "an axis that its mesh does not have");
}

/* All threads of all CTAs of the cluster. */
const Val *py_mesh_meet(PyRead *p, const WsPyNode *at)
{
    if (!p->group || (p->prologue && p->to == p->prologue))
        return py_wrong(p, at, "a barrier of the cluster outside of the partitions");
    p->met = p->met ? p->met : at;
    p->begun |= p->to == p->group->body;
    py_step(p, WS_READ_CLUSTER, at)->name = "sync";
    py_have_met(p);
    return py_none(p);
}

const Val *py_mean_TLE_MEET(PyRead *p, const Val **a, const WsPyNode *at)
{
    for (guint i = 1; i < 7; i++)
        if (py_given(a[i]))
            return py_wrong(p, at, "a barrier of devices, or of another kind");
    const char *why = py_given(a[0]) ? py_no_mesh(p, a[0]) : NULL;
    if (!py_given(a[0]) && !p->mesh)
        why = "a barrier of a mesh that is not known where the kernel begins";
    p->meshed |= py_given(a[0]);
    return why ? py_wrong(p, at, why) : py_mesh_meet(p, at);
}

/* Calls in a branch that is not compiled ask for no cluster; threads of another partition never
 * come to its barrier, or wait for it to end. */
void py_mesh_finish(PyRead *p)
{
    if (p->mesh && !p->meshed)
        py_unread(p, p->kernel, "a cluster that nothing the kernel comes by asks for");
    if (p->met && p->r->groups->len > 1)
        py_unread(p, p->met, "a barrier of the cluster in a partition beside others");
}

/* The number of the CTA at the coordinates; NULL: they are not known. */
static const WsExpr *rank_at(PyRead *p, const Val *mesh, const Val *id, const WsPyNode *at)
{
    const WsExpr *rank = ws_x_int(p->r, 0);
    for (guint i = 0; id->n == mesh->n && i < mesh->n; i++) {
        const gint64 size = mesh->item[i]->rows;
        const WsExpr *e = py_as_int(p, id->item[i]);
        if (e) /* what is too large along one axis would be another CTA of the next one */
            py_need_within(p, e, size, at);
        rank =
            ws_x_op(p->r, WS_EXPR_ADD, ws_x_op(p->r, WS_EXPR_MUL, rank, ws_x_int(p->r, size)), e);
    }
    return id->n == mesh->n ? rank : NULL;
}

/* remote(buffer, rank): nothing but what loads from it takes it for memory. */
const Val *py_mean_TLE_REMOTE(PyRead *p, const Val **a, const WsPyNode *at)
{
    gint64 n;
    if ((py_given(a[3]) && !is_word(a[3], "cluster")) || py_given(a[4]) || py_given(a[5]))
        return py_wrong(p, at, "memory of another device");
    if (!a[0] || a[0]->kind != VAL_BUFFER)
        return py_wrong(p, at, "memory of another CTA that is no buffer");
    const char *why = py_given(a[2]) ? py_no_mesh(p, a[2]) : NULL;
    if (!py_given(a[2]) && !p->mesh)
        why = "memory of another CTA of a mesh that is not known where the kernel begins";
    if (why)
        return py_wrong(p, at, why);
    p->meshed |= py_given(a[2]);
    const gboolean tuple = a[1] && a[1]->kind == VAL_TUPLE && py_given(a[2]);
    const WsExpr *rank = tuple ? rank_at(p, a[2], a[1], at) : a[1] ? py_as_int(p, a[1]) : NULL;
    if (!rank)
        return py_wrong(p, at, "memory of a CTA whose number is not known");
    if (ws_x_is(rank, &n) && (n < 0 || n >= p->mesh->rows))
        return py_wrong(p, at, "memory of a CTA that the cluster does not have");
    Val *v = py_val(p, VAL_REMOTE);
    *v = *a[0];
    v->kind = VAL_REMOTE;
    v->e = rank;
    return v;
}

/* local_ptr of it. */
const Val *py_remote_part(PyRead *p, const Val *remote, const Val *indices, const WsPyNode *at)
{
    Val *own = py_val(p, VAL_BUFFER);
    *own = *remote;
    own->kind = VAL_BUFFER;
    own->e = NULL;
    const Val *part = py_mean_TLE_POINTER(p, (const Val *[]){ own, indices }, at);
    if (part->kind != VAL_BUFFER)
        return part->kind == VAL_PLACES
                   ? py_wrong(p, at, "a pointer into a part of another CTA that is not known")
                   : part;
    Val *v = py_val(p, VAL_REMOTE);
    *v = *part;
    v->kind = VAL_REMOTE;
    v->e = remote->e;
    return v;
}
