/* What assistive technology sees, asked for over the accessibility bus as a screen reader does. */
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "scenario/scenario.h"

#include <string.h>

#define ACCESSIBLE "org.a11y.atspi.Accessible"
#define ROOT       "/org/a11y/atspi/accessible/root"

typedef struct {
    char *role, *name, *description;
    guint depth;
    gboolean focusable;
} Node;

static void node_free(gpointer data)
{
    Node *n = data;
    g_free(n->role);
    g_free(n->name);
    g_free(n->description);
    g_free(n);
}

typedef struct {
    GDBusConnection *bus;
    char *owner; /* this program on the accessibility bus */
    GPtrArray *node;
} Tree;

/* --- calls: asynchronous, since this program answers them itself
 * ---------------------------------- */

static void store(GObject *source, GAsyncResult *result, gpointer data)
{
    GAsyncResult **out = data;
    *out = g_object_ref(result);
}

static void begin_call(GDBusConnection *bus, const char *owner, const char *path,
                       const char *interface, const char *method, GVariant *arguments,
                       GAsyncResult **result)
{
    g_dbus_connection_call(bus, owner, path, interface, method, arguments, NULL,
                           G_DBUS_CALL_FLAGS_NONE, 15000, NULL, store, result);
}

static GVariant *end_call(GDBusConnection *bus, GAsyncResult **result)
{
    WAIT_FOR(*result);
    GVariant *reply = g_dbus_connection_call_finish(bus, *result, NULL);
    g_clear_object(result);
    return reply;
}

static GVariant *call_on(GDBusConnection *bus, const char *owner, const char *path,
                         const char *interface, const char *method, GVariant *arguments)
{
    GAsyncResult *result = NULL;
    begin_call(bus, owner, path, interface, method, arguments, &result);
    return end_call(bus, &result);
}

static char *text_of(GVariant *reply)
{
    g_autoptr(GVariant) boxed = NULL;
    if (!reply)
        return g_strdup("");
    g_variant_get(reply, "(v)", &boxed);
    return g_strdup(g_variant_get_string(boxed, NULL));
}

static gboolean is_focusable(GVariant *reply)
{
    g_autoptr(GVariant) states = reply ? g_variant_get_child_value(reply, 0) : NULL;
    guint32 low = 0;
    if (states && g_variant_n_children(states))
        g_variant_get_child(states, 0, "u", &low);
    return low >> 11 & 1; /* ATSPI_STATE_FOCUSABLE */
}

/* All that is asked of an object is under way at once. */
static void visit(Tree *t, const char *path, guint depth)
{
    static const struct {
        const char *interface, *method, *property;
    } asked[] = {
        { ACCESSIBLE, "GetRoleName", NULL },
        { ACCESSIBLE, "GetChildren", NULL },
        { "org.freedesktop.DBus.Properties", "Get", "Name" },
        { "org.freedesktop.DBus.Properties", "Get", "Description" },
        { ACCESSIBLE, "GetState", NULL },
    };
    GAsyncResult *result[G_N_ELEMENTS(asked)] = { NULL };
    GVariant *reply[G_N_ELEMENTS(asked)];
    for (guint i = 0; i < G_N_ELEMENTS(asked); i++)
        begin_call(t->bus, t->owner, path, asked[i].interface, asked[i].method,
                   asked[i].property ? g_variant_new("(ss)", ACCESSIBLE, asked[i].property) : NULL,
                   &result[i]);
    for (guint i = 0; i < G_N_ELEMENTS(asked); i++)
        reply[i] = end_call(t->bus, &result[i]);
    Node *n = g_new0(Node, 1);
    g_assert_nonnull(reply[0]);
    g_variant_get(reply[0], "(s)", &n->role);
    n->name = text_of(reply[2]);
    n->description = text_of(reply[3]);
    n->focusable = is_focusable(reply[4]);
    n->depth = depth;
    g_ptr_array_add(t->node, n);
    g_autoptr(GVariantIter) each = NULL;
    const char *owner, *child;
    if (reply[1])
        g_variant_get(reply[1], "(a(so))", &each);
    while (each && g_variant_iter_loop(each, "(&s&o)", &owner, &child))
        if (!strcmp(owner, t->owner))
            visit(t, child, depth + 1);
    for (guint i = 0; i < G_N_ELEMENTS(asked); i++)
        if (reply[i])
            g_variant_unref(reply[i]);
}

static GDBusConnection *accessibility_bus(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GDBusConnection) session = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    if (!session)
        return NULL;
    g_autoptr(GVariant) reply =
        call_on(session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", NULL);
    const char *address;
    if (!reply)
        return NULL;
    g_variant_get(reply, "(&s)", &address);
    return g_dbus_connection_new_for_address_sync(
        address,
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
            G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
        NULL, NULL, &error);
}

static char *application_on(GDBusConnection *bus)
{
    g_autoptr(GVariant) kids =
        call_on(bus, "org.a11y.atspi.Registry", ROOT, ACCESSIBLE, "GetChildren", NULL);
    g_autoptr(GVariantIter) each = NULL;
    const char *owner, *path;
    char *found = NULL;
    if (!kids)
        return NULL;
    g_variant_get(kids, "(a(so))", &each);
    while (!found && g_variant_iter_loop(each, "(&s&o)", &owner, &path))
        found = g_strdup(owner);
    return found;
}

/* FALSE and a skipped case where there is no accessibility bus. */
static gboolean read_tree(Scenario *s, Tree *t)
{
    *t = (Tree){ .bus = accessibility_bus() };
    if (!t->bus) {
        g_test_skip("no accessibility bus: install at-spi2-core");
        return FALSE;
    }
    WAIT_FOR((t->owner = application_on(t->bus)));
    /* The outline is filled while nothing else is to do. */
    guint before = 0;
    for (int calm = 0; calm < 3;) {
        g_clear_pointer(&t->node, g_ptr_array_unref);
        t->node = g_ptr_array_new_with_free_func(node_free);
        visit(t, ROOT, 0);
        calm = t->node->len == before ? calm + 2 : 0;
        before = t->node->len;
    }
    g_test_message("%u accessible objects", t->node->len);
    return TRUE;
}

static void tree_clear(Tree *t)
{
    g_clear_pointer(&t->node, g_ptr_array_unref);
    g_clear_object(&t->bus);
    g_clear_pointer(&t->owner, g_free);
}

static const Node *find(const Tree *t, const char *role, const char *description, const char *name)
{
    for (guint i = 0; i < t->node->len; i++) {
        const Node *n = t->node->pdata[i];
        if ((!role || !strcmp(n->role, role)) &&
            (!description || !strcmp(n->description, description)) &&
            (!name || strstr(n->name, name)) && *n->name)
            return n;
    }
    return NULL;
}

/* Every step with its name and role, every edge by its barrier. */
static void check_steps(const Tree *t, WsDocument *d)
{
    const WsProgram *p = ws_document_program(d);
    WsTrace *trace = ws_document_predicted(d);
    guint steps = 0, edges = 0;
    for (guint i = 0; i < trace->record->len; i++) {
        const char *step = trace->op_id->pdata[g_array_index(trace->record, WsTraceRecord, i).op];
        if (!find(t, "list item", step, NULL))
            g_error("no accessible list item for step %s", step);
        steps++;
    }
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->kind != WS_OP_MBAR_WAIT || !op->step)
            continue;
        const char *barrier = p->barrier[op->barrier].name;
        const Node *n = NULL;
        for (guint k = 0; k < t->node->len && !n; k++) {
            const Node *x = t->node->pdata[k];
            if (!strcmp(x->role, "list item") && !strcmp(x->description, op->step) &&
                strstr(x->name, "edge") && strstr(x->name, barrier))
                n = x;
        }
        if (!n)
            g_error("no accessible edge of %s to step %s", barrier, op->step);
        edges++;
    }
    g_assert_cmpuint(steps, >, 0);
    g_assert_cmpuint(edges, >, 0);
}

static void steps_and_edges(Scenario *s)
{
    Tree t;
    if (!read_tree(s, &t))
        return;
    check_steps(&t, s->document);
    g_assert_nonnull(find(&t, "list", NULL, "edges"));
    tree_clear(&t);
}

/* A row of GTK's own lists speaks with the label in it. */
static gboolean named_inside(const Tree *t, guint at)
{
    const Node *n = t->node->pdata[at];
    for (guint i = at + 1; i < t->node->len; i++) {
        const Node *inner = t->node->pdata[i];
        if (inner->depth <= n->depth)
            return FALSE;
        if (!strcmp(inner->role, "label") && *inner->name)
            return TRUE;
    }
    return FALSE;
}

/* Nothing that takes the keyboard is without a name. */
static void names(Scenario *s)
{
    static const char *const roles[] = { "push button", "toggle button", "entry",   "combo box",
                                         "list item",   "check box",     "page tab" };
    Tree t;
    guint unnamed = 0;
    if (!read_tree(s, &t))
        return;
    for (guint i = 0; i < t.node->len; i++) {
        const Node *n = t.node->pdata[i];
        for (guint r = 0; r < G_N_ELEMENTS(roles); r++)
            if (n->focusable && !strcmp(n->role, roles[r]) && !*n->name && !named_inside(&t, i)) {
                g_test_message("without a name: a %s at depth %u after '%s'", n->role, n->depth,
                               i ? ((Node *)t.node->pdata[i - 1])->name : "");
                unnamed++;
            }
    }
    g_assert_cmpuint(unnamed, ==, 0);
    tree_clear(&t);
}

static void landmarks(Scenario *s)
{
    static const char *const wanted[] = { "Problems", "Measurements", "Search", "Generate",
                                          "Rehearse", "Run",          "Menu",   "Colours" };
    Tree t;
    if (!read_tree(s, &t))
        return;
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
        if (!find(&t, NULL, NULL, wanted[i]))
            g_error("nothing accessible is called %s", wanted[i]);
    tree_clear(&t);
}

static void add(void)
{
    scenario_add("accessible/steps-and-edges", steps_and_edges);
    scenario_add("accessible/names", names);
    scenario_add("accessible/landmarks", landmarks);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
