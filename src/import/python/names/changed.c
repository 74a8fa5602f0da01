#include "import/python/names/names.h"
#include "import/python/pyread_kernels.h"

#include <string.h>

/* Lists and objects that the host changes where they are (`x[0] = 1`, `x.append(1)`), functions,
 * classes and modules that it patches (`x.f = g`), and whatever is given to something unknown: what
 * names hold that may be one of them is not known. Followed from the change back to the names it
 * came through, by names alone, in the whole file and in any order; a name of two functions is one.
 */

typedef enum { AT_LINK, AT_DATA, AT_PATCH } Start;

/* If `from` is changed as deep as `least`, `to` is as deep as `then`. Without a `from` it is, where
 * `start` says what is changed. */
typedef struct {
    const char *from, *to;
    PyDepth least, then;
    Start start;
} Rule;

typedef struct {
    PyNames *names;
    GArray *rules;    /* Rule */
    const char *self; /* of the method at hand; NULL */
} Changes;

/* Where the loop of a file is: the function, or lambda, and the class that it stands in directly.
 */
typedef struct {
    const WsPyNode *function, *class;
} Place;

#define EVERYTHING "*"        /* whatever the host has */
#define LAUNCHED   "kernel[]" /* what launches are given, and hand on to hooks */
#define RAISED     "raise"    /* what exceptions hold */
#define IMPLICIT   "__()"     /* what operators, properties and the like of classes give */

static void link_(Changes *c, const char *from, PyDepth least, const char *to, PyDepth then)
{
    const Rule r = { from, to, least, then, AT_LINK };
    g_array_append_val(c->rules, r);
}

static void begin(Changes *c, Start start, const char *to, PyDepth then)
{
    const Rule r = { NULL, to, PY_KEPT, then, start };
    g_array_append_val(c->rules, r);
}

static const char *called(const char *name, const char *sign)
{
    g_autofree char *text = g_strconcat(name, sign, NULL);
    return g_intern_string(text);
}

/* `name` with `+=`: changes those that it was. What a function gives. */
static const char *more_of(const char *name)
{
    return called(name, "+=");
}

static const char *result_of(const char *function)
{
    return called(function, "()");
}

/* `name` is `other`: what changes it changes the other one. */
static void same(Changes *c, const char *name, const char *other)
{
    for (PyDepth d = PY_SHALLOW; d <= PY_DEEP; d++)
        link_(c, name, d, other, d);
    link_(c, more_of(name), PY_SHALLOW, other, PY_SHALLOW);
}

static const WsPyNode *function_of(const Changes *c, const WsPyNode *callee)
{
    const gboolean named = callee->kind == WS_PY_NAME || callee->kind == WS_PY_ATTR;
    return named && !g_hash_table_contains(c->names->many, callee->text)
               ? g_hash_table_lookup(c->names->functions, callee->text)
               : NULL;
}

/* What calls of functions of the file by this name give; NULL: there are none. */
static const char *result_by(const Changes *c, const WsPyNode *callee)
{
    const gboolean named = callee->kind == WS_PY_NAME || callee->kind == WS_PY_ATTR;
    return named && g_hash_table_contains(c->names->functions, callee->text)
               ? result_of(callee->text)
               : NULL;
}

static gboolean is_new(const Changes *c, const WsPyNode *call)
{
    return !result_by(c, call->kid[0]) && py_call_kind(c->names, call) == PY_CALL_NEW;
}

/* gl.float16: something of a module that is no module itself, which nothing can store to. */
static gboolean is_constant_of_module(const Changes *c, const WsPyNode *v)
{
    static const char *const inner[] = {
        "language",  "experimental", "gluon",    "nvidia",   "hopper",  "mbarrier", "tma",
        "gpu",       "async_copy",   "extra",    "runtime",  "testing", "tools",    "math",
        "core",      "semantic",     "standard", "compiler", "tlx",     "tle",      "_core",
        "_semantic", "_standard",    "modules",  NULL
    };
    const WsPyNode *root = py_root(v);
    return v->kind == WS_PY_ATTR && root->kind == WS_PY_NAME &&
           g_hash_table_contains(c->names->imports, root->text) && !g_strv_contains(inner, v->text);
}

/* x.START, getattr(x, "START") of what may be this module: its name. A self is none. */
static const char *attribute_of(const Changes *c, const WsPyNode *v)
{
    const WsPyNode *f = v->kind == WS_PY_CALL ? v->kid[0] : NULL;
    if (v->kind == WS_PY_ATTR)
        return !(v->kid[0]->kind == WS_PY_NAME && c->self == v->kid[0]->text) ? v->text : NULL;
    if (!f || f->kind != WS_PY_NAME || strcmp(f->text, "getattr") || v->n < 3)
        return NULL;
    const char *text = v->kid[2]->kind == WS_PY_STRING ? v->kid[2]->text : "";
    g_autofree char *name = *text == '"' ? g_strndup(text + 1, strlen(text) - 2) : NULL;
    return name ? g_intern_string(name) : EVERYTHING; /* by a name that is not written out */
}

static void reach_attribute(Changes *c, const char *name, const WsPyNode *v)
{
    const char *own = attribute_of(c, v);
    if (own && name)
        link_(c, name, PY_SHALLOW, own, PY_DEEP);
    else if (own)
        begin(c, AT_DATA, own, PY_DEEP);
}

/* A call of a function of the file, of which all that it gives is what it returns. */
static gboolean is_plain_call(const Changes *c, const WsPyNode *call)
{
    const WsPyNode *callee = call->kid[0],
                   *f = callee->kind == WS_PY_NAME ? function_of(c, callee) : NULL;
    gboolean plain = f && !g_hash_table_contains(c->names->classes, callee->text);
    for (guint k = 2; plain && k < f->n; k++)
        plain = py_known_decorator(c->names, f->kid[k]);
    return plain;
}

/* `name` may be anything that `v` mentions, or lie in it; without a name all of that is changed. */
static void reach(Changes *c, const char *name, const WsPyNode *v)
{
    if (is_constant_of_module(c, v))
        return;
    if (v->kind == WS_PY_CALL && is_new(c, v))
        return;
    const char *f = v->kind == WS_PY_CALL ? result_by(c, v->kid[0]) : NULL;
    const char *one = v->kind == WS_PY_NAME ? v->text : f;
    if (one && name)
        link_(c, name, PY_SHALLOW, one, PY_DEEP);
    for (Start s = AT_DATA; one && !name && s <= AT_PATCH; s++)
        begin(c, s, one, PY_DEEP);
    if (v->kind != WS_PY_NAME && name)
        link_(c, name, PY_SHALLOW, IMPLICIT, PY_DEEP);
    reach_attribute(c, name, v);
    if (f && name && is_plain_call(c, v))
        return;
    const WsPyNode *root = v->kind == WS_PY_CALL ? py_root(v->kid[0]) : NULL;
    const gboolean known = root && root->kind == WS_PY_NAME && /* it is no value of the file */
                           ((f && root == v->kid[0]) || py_computes(c->names, root) ||
                            g_hash_table_contains(c->names->imports, root->text));
    for (guint i = known; i < v->n; i++)
        reach(c, name, v->kid[i]);
}

/* `name` is bound to the value, or (`inside`) to something that holds it. */
static void holds(Changes *c, const char *name, const WsPyNode *v, gboolean inside)
{
    const gboolean list =
        v->kind == WS_PY_TUPLE || v->kind == WS_PY_LIST || v->kind == WS_PY_DICT ||
        v->kind == WS_PY_STAR ||
        (v->kind == WS_PY_BINARY && strcmp(v->text, "and") && strcmp(v->text, "or"));
    const WsPyNode *root = py_root(v);
    const char *f = v->kind == WS_PY_CALL ? result_by(c, v->kid[0]) : NULL;
    const gboolean class = f && g_hash_table_contains(c->names->classes, v->kid[0]->text);
    const gboolean lambda =
        v->kind == WS_PY_LAMBDA && !inside && g_hash_table_contains(c->names->functions, name);
    if (lambda)
        return; /* `name` is the function */
    const gboolean slice = v->kind == WS_PY_INDEX && v->kid[1]->kind == WS_PY_SLICE;
    if (v->kind == WS_PY_NAME && inside) {
        link_(c, name, PY_DEEP, v->text, PY_DEEP);
    } else if (v->kind == WS_PY_NAME) {
        same(c, name, v->text);
    } else if (slice) { /* another list */
        holds(c, name, v->kid[0], TRUE);
    } else if ((v->kind == WS_PY_ATTR || v->kind == WS_PY_INDEX) && root->kind == WS_PY_NAME) {
        link_(c, name, inside ? PY_DEEP : PY_SHALLOW, root->text, PY_DEEP);
        link_(c, more_of(name), PY_SHALLOW, root->text, PY_DEEP);
        link_(c, name, PY_SHALLOW, IMPLICIT, PY_DEEP);
        for (const WsPyNode *x = v; x->kind == WS_PY_ATTR || x->kind == WS_PY_INDEX; x = x->kid[0])
            reach_attribute(c, name, x);
    } else if (v->kind == WS_PY_COMP) {
        holds(c, name, v->kid[0], TRUE);
    } else if (v->kind == WS_PY_CALL && is_new(c, v)) {
        return;
    } else if (f) {
        link_(c, name, inside ? PY_DEEP : PY_SHALLOW, f, inside ? PY_DEEP : PY_SHALLOW);
        link_(c, name, PY_DEEP, f, PY_DEEP);
        link_(c, more_of(name), PY_SHALLOW, f, PY_SHALLOW);
        if (class)
            link_(c, name, PY_DEEP, v->kid[0]->text, PY_DEEP);
        const gboolean object =
            class || v->kid[0]->kind == WS_PY_ATTR || !function_of(c, v->kid[0]);
        for (guint i = v->kid[0]->kind == WS_PY_NAME; object && i < v->n; i++)
            holds(c, name, v->kid[i], TRUE); /* it may hold what it is made of */
    } else if (list || v->kind == WS_PY_BINARY || v->kind == WS_PY_TERNARY) {
        for (guint i = v->kind == WS_PY_TERNARY; i < v->n; i++)
            holds(c, name, v->kid[i], inside || list);
    } else if (v->kind == WS_PY_CALL) {
        const gboolean copies =
            v->kid[0]->kind == WS_PY_NAME && py_call_kind(c->names, v) == PY_CALL_HOLD &&
            strcmp(v->kid[0]->text, "min") && strcmp(v->kid[0]->text, "max") &&
            strcmp(v->kid[0]->text, "next") && strcmp(v->kid[0]->text, "getattr");
        const gboolean copied =
            v->kid[0]->kind == WS_PY_ATTR && v->n == 1 && !strcmp(v->kid[0]->text, "copy");
        for (guint i = 1; copies && i < v->n; i++)
            holds(c, name, v->kid[i], TRUE);
        if (copied)
            holds(c, name, v->kid[0]->kid[0], TRUE);
        else if (!copies)
            reach(c, name, v);
    } else {
        for (guint i = 0; i < v->n; i++)
            holds(c, name, v->kid[i], TRUE);
    }
}

static void bind(Changes *c, const WsPyNode *target, const WsPyNode *value, gboolean element)
{
    const gboolean pairs = py_several(target) && !element && value->kind == WS_PY_TUPLE &&
                           value->n == target->n && target->kind != WS_PY_STAR;
    for (guint i = 0; py_several(target) && i < target->n; i++)
        bind(c, target->kid[i], pairs ? value->kid[i] : value, element || !pairs);
    const WsPyNode *root = py_root(target);
    if (py_several(target) || root->kind != WS_PY_NAME)
        return;
    if (element && root == target && py_root(value)->kind == WS_PY_NAME) {
        link_(c, root->text, PY_SHALLOW, py_root(value)->text, PY_DEEP);
        link_(c, root->text, PY_SHALLOW, IMPLICIT, PY_DEEP);
    } else if (element) {
        const gboolean list = value->kind == WS_PY_TUPLE || value->kind == WS_PY_LIST;
        for (guint i = 0; list && i < value->n; i++)
            if (value->kid[i]->kind == WS_PY_STAR)
                reach(c, root->text, value->kid[i]);
            else
                holds(c, root->text, value->kid[i], root != target);
        if (!list)
            reach(c, root->text, value);
    } else {
        holds(c, root->text, value, root != target);
    }
}

/* What lies at `node` is changed. */
static void change(Changes *c, Start start, const WsPyNode *node, gboolean inside)
{
    const WsPyNode *root = py_root(node);
    const char *f = root->kind == WS_PY_CALL ? result_by(c, root->kid[0]) : NULL;
    if (root->kind == WS_PY_NAME)
        begin(c, start, root->text, inside || root != node ? PY_DEEP : PY_SHALLOW);
    if (f)
        begin(c, start, f, PY_DEEP);
    if (node->kind != WS_PY_NAME)
        begin(c, AT_DATA, IMPLICIT, PY_DEEP);
    for (const WsPyNode *x = node; x->kind == WS_PY_ATTR || x->kind == WS_PY_INDEX; x = x->kid[0])
        if (start == AT_DATA)
            reach_attribute(c, NULL, x);
    if (start == AT_DATA)
        reach_attribute(c, NULL, root);
    if (root->kind == WS_PY_LAMBDA) {
        change(c, start, root->kid[1], TRUE);
    } else if (root->kind == WS_PY_NAMED) {
        begin(c, start, root->text, PY_DEEP);
        change(c, start, root->kid[0], TRUE);
    } else if (root->kind != WS_PY_NAME && !(root->kind == WS_PY_CALL && is_new(c, root))) {
        for (guint i = 0; i < root->n; i++)
            if (!(f && i == 0 && root->kid[0]->kind == WS_PY_NAME))
                change(c, start, root->kid[i], TRUE);
    }
}

static gboolean is_self(const Changes *c, const Place *at, const WsPyNode *object)
{
    return object->kind == WS_PY_NAME && at->function && at->function->kind == WS_PY_DEF &&
           py_is_method(c->names, at->class, at->function) &&
           !strcmp(at->function->kid[0]->kid[0]->text, object->text);
}

static void change_target(Changes *c, const Place *at, const WsPyNode *target)
{
    for (guint i = 0; py_several(target) && i < target->n; i++)
        change_target(c, at, target->kid[i]);
    if (target->kind == WS_PY_INDEX)
        change(c, AT_DATA, target->kid[0], FALSE);
    const WsPyNode *object = target->kind == WS_PY_ATTR ? target->kid[0] : NULL;
    const WsPyNode *root = object ? py_root(object) : NULL;
    const gboolean module =
        root && root->kind == WS_PY_NAME && g_hash_table_contains(c->names->imports, root->text);
    if (object && !module && !is_self(c, at, object)) /* of a module: names->stored */
        change(c, AT_PATCH, object, FALSE);
}

/* --- calls -------------------------------------------------------------------------------------*/

/* What a lambda or a function of the file is given by a call that it is an argument of. */
static void hand(Changes *c, const WsPyNode *f, const WsPyNode *call)
{
    const WsPyNode *params = f->kid[0];
    for (guint k = 0; k < params->n; k++)
        for (guint i = 1; i < call->n; i++) {
            const WsPyNode *v = call->kid[i];
            v = v->kind == WS_PY_KEYWORD ? v->kid[0] : v;
            if (v != f)
                reach(c, params->kid[k]->text + strspn(params->kid[k]->text, "*"), v);
        }
}

/* Whether calling the argument does nothing but compute; lambdas and functions of the file are
 * followed. */
static gboolean is_followed(Changes *c, const WsPyNode *v, const WsPyNode *call)
{
    const WsPyNode *f = v->kind == WS_PY_LAMBDA ? v
                        : v->kind == WS_PY_NAME ? function_of(c, v)
                                                : NULL;
    if (f)
        hand(c, f, call);
    return f || py_computes(c->names, v) || v->kind == WS_PY_CONST;
}

/* map(f, …), sorted(…, key=f): calls f. */
static gboolean calls_followed(Changes *c, const WsPyNode *call)
{
    const char *name = call->kid[0]->kind == WS_PY_NAME ? call->kid[0]->text : "";
    gboolean followed = TRUE;
    if ((!strcmp(name, "map") || !strcmp(name, "filter")) && call->n > 1)
        followed &= is_followed(c, call->kid[1], call);
    for (guint i = 1; i < call->n; i++)
        if (call->kid[i]->kind == WS_PY_KEYWORD && !strcmp(call->kid[i]->text, "key"))
            followed &= is_followed(c, call->kid[i]->kid[0], call);
    return followed;
}

/* Arguments are what the parameters of a function of the file are. */
static void give(Changes *c, const WsPyNode *f, const WsPyNode *call, gboolean object)
{
    const WsPyNode *params = f->kid[0];
    for (guint i = 1; i < call->n; i++) {
        const WsPyNode *arg = call->kid[i], *v = arg->kind == WS_PY_KEYWORD ? arg->kid[0] : arg;
        gboolean taken = FALSE;
        for (guint k = 0; k < params->n; k++) {
            const char *own = params->kid[k]->text;
            const gboolean star = *own == '*', named = arg->kind == WS_PY_KEYWORD;
            const gboolean fits = star                      ? own[1] != '\0'
                                  : named                   ? !strcmp(arg->text, own)
                                  : arg->kind == WS_PY_STAR ? TRUE
                                  : object                  ? k == i || k + 1 == i
                                                            : k + 1 == i;
            if (!fits)
                continue;
            holds(c, own + strspn(own, "*"), v, star);
            taken = TRUE;
        }
        if (!taken)
            reach(c, NULL, arg);
    }
}

static void call(Changes *c, const WsPyNode *node)
{
    const WsPyNode *callee = node->kid[0], *f = function_of(c, callee);
    for (guint i = 1; callee->kind == WS_PY_INDEX && i < node->n; i++)
        reach(c, LAUNCHED, node->kid[i]);
    gboolean known = f != NULL;
    for (guint k = 2; f && k < f->n; k++)
        known &= py_known_decorator(c->names, f->kid[k]);
    if (f) {
        const gboolean object =
            callee->kind == WS_PY_ATTR || g_hash_table_contains(c->names->classes, callee->text);
        give(c, f, node, object);
        if (callee->kind == WS_PY_ATTR && f->kid[0]->n && *f->kid[0]->kid[0]->text != '*')
            holds(c, f->kid[0]->kid[0]->text, callee->kid[0], FALSE); /* self */
        if (callee->kind == WS_PY_NAME && known)
            return;
    }
    if (callee->kind == WS_PY_LAMBDA)
        give(c, callee, node, FALSE);
    const gboolean class =
        callee->kind == WS_PY_NAME && g_hash_table_contains(c->names->classes, callee->text);
    PyCallKind kind = known || class ? PY_CALL_HOLD
                      : f            ? PY_CALL_UNKNOWN
                                     : py_call_kind(c->names, node);
    if (kind == PY_CALL_HOLD && !known && !calls_followed(c, node))
        kind = PY_CALL_UNKNOWN;
    const WsPyNode *object = callee->kind == WS_PY_ATTR ? callee->kid[0] : NULL;
    if (kind == PY_CALL_PUT || kind == PY_CALL_TAKE)
        change(c, AT_DATA, object, FALSE);
    if (kind == PY_CALL_PUT && py_root(object)->kind == WS_PY_NAME)
        for (guint i = 1; i < node->n; i++)
            holds(c, py_root(object)->text, node->kid[i], TRUE);
    if (kind == PY_CALL_PUT && py_root(object)->kind != WS_PY_NAME)
        for (guint i = 1; i < node->n; i++)
            reach(c, NULL, node->kid[i]);
    if (kind != PY_CALL_UNKNOWN || callee->kind == WS_PY_LAMBDA)
        return;
    for (guint i = 1; i < node->n; i++)
        reach(c, NULL, node->kid[i]);
    if (callee->kind != WS_PY_NAME || !g_hash_table_contains(c->names->imports, callee->text))
        change(c, AT_DATA, callee, TRUE);
}

/* --- the file ----------------------------------------------------------------------------------*/

/* Functions that are not called by their names: hooks, operators. What is stored to attributes is
 * left to PyNames.stored. */
static void unknown_calls(Changes *c, const WsPyNode *f, gboolean method, const char *with)
{
    for (guint k = method; k < f->kid[0]->n; k++) {
        const char *name = f->kid[0]->kid[k]->text;
        const Rule r = { name + strspn(name, "*"), with, PY_SHALLOW, PY_DEEP, AT_DATA };
        g_array_append_val(c->rules, r);
    }
}

static void definition(Changes *c, const WsPyNode *node, const Place *at)
{
    static const char *const called[] = { "__init__", "__call__", "__post_init__", NULL };
    if (at->class && g_str_has_prefix(node->text, "__") && !g_strv_contains(called, node->text))
        unknown_calls(c, node, TRUE, EVERYTHING);
    if (at->class && strcmp(node->text, "__init__") &&
        (g_str_has_prefix(node->text, "__") || node->n > 2))
        link_(c, IMPLICIT, PY_SHALLOW, result_of(node->text), PY_DEEP);
    if (at->class && !strcmp(node->text, "__init__") && node->kid[0]->n)
        same(c, result_of(at->class->text), node->kid[0]->kid[0]->text);
    for (guint k = 2; k < node->n; k++) { /* is called with the function */
        const WsPyNode *f = function_of(c, node->kid[k]);
        if (f && f->kid[0]->n)
            link_(c, f->kid[0]->kid[0]->text + strspn(f->kid[0]->kid[0]->text, "*"), PY_SHALLOW,
                  node->text, PY_DEEP);
        else if (!py_known_decorator(c->names, node->kid[k]))
            begin(c, AT_PATCH, node->text, PY_DEEP);
    }
}

static void collect(Changes *c, const WsPyNode *node, const Place *at);

static void collect_kids(Changes *c, const WsPyNode *node, const Place *at)
{
    const gboolean jit = py_is_jit(node);
    for (guint i = 0; i < node->n; i++) {
        Place inner = *at;
        if (node->kind == WS_PY_CLASS && !i)
            inner = (Place){ NULL, node };
        else if (node->kind == WS_PY_DEF && i == 1)
            inner = (Place){ node, at->function ? NULL : at->class };
        else if (node->kind == WS_PY_LAMBDA && i == 1)
            inner = (Place){ node, NULL };
        const WsPyNode *kid = node->kid[i];
        const gboolean callee = i == 0 && (node->kind == WS_PY_CALL || node->kind == WS_PY_INDEX);
        const gboolean apart = callee || node->kind == WS_PY_ATTR || node->kind == WS_PY_DEF ||
                               node->kind == WS_PY_RETURN;
        const WsPyNode *f = apart                       ? NULL
                            : kid->kind == WS_PY_LAMBDA ? kid
                            : kid->kind == WS_PY_NAME   ? function_of(c, kid)
                                                        : NULL;
        if (f && !py_is_jit(f)) /* handed on */
            unknown_calls(c, f, FALSE, LAUNCHED);
        const char *self = c->self;
        if (node->kind == WS_PY_DEF && i == 1)
            c->self = inner.class && py_is_method(c->names, inner.class, node)
                          ? node->kid[0]->kid[0]->text
                          : NULL;
        if (!jit || i != 1) /* what kernels hold is never changed */
            collect(c, kid, &inner);
        c->self = self;
    }
}

static void collect(Changes *c, const WsPyNode *node, const Place *at)
{
    guint targets;
    WsPyNode **target = py_targets(node, &targets);
    const gboolean loop = node->kind == WS_PY_FOR || node->kind == WS_PY_CLAUSE;
    for (guint i = 0; i < targets; i++) {
        change_target(c, at, target[i]);
        if (loop || node->kind == WS_PY_ASSIGN)
            bind(c, target[i], node->kid[loop ? 1 : node->n - 1], loop);
    }
    for (guint i = 0; node->kind == WS_PY_ASSIGN && i < targets; i++)
        for (guint k = 0; k < targets; k++)
            if (i != k && target[i]->kind == WS_PY_NAME && target[k]->kind == WS_PY_NAME)
                same(c, target[i]->text, target[k]->text);
    if (node->kind == WS_PY_ASSIGN && node->n == 2 && node->kid[0]->kind == WS_PY_NAME &&
        node->kid[1]->kind == WS_PY_LAMBDA)
        holds(c, result_of(node->kid[0]->text), node->kid[1]->kid[1], FALSE);
    if (node->kind == WS_PY_AUGMENT && target[0]->kind == WS_PY_NAME &&
        strchr("+*|&-^", *node->text))
        begin(c, AT_DATA, more_of(target[0]->text), PY_SHALLOW);
    else if (node->kind == WS_PY_AUGMENT)
        change(c, AT_DATA, target[0], FALSE);
    if (node->kind == WS_PY_AUGMENT && py_root(target[0])->kind == WS_PY_NAME)
        holds(c, py_root(target[0])->text, node->kid[1], TRUE);
    if (node->kind == WS_PY_NAMED)
        holds(c, node->text, node->kid[0], FALSE);
    g_autofree char *set = py_set_attribute(node);
    if (set && !is_self(c, at, node->kid[1]))
        change(c, AT_PATCH, node->kid[1], FALSE);
    if (node->kind == WS_PY_CALL && !set)
        call(c, node);
    if (node->kind == WS_PY_DEF)
        definition(c, node, at);
    for (guint i = 0; node->kind == WS_PY_CLASS && i < node->kid[0]->n; i++) {
        const WsPyNode *s = node->kid[0]->kid[i];
        for (guint k = 0; s->kind == WS_PY_ASSIGN && k + 1 < s->n; k++)
            if (s->kid[k]->kind == WS_PY_NAME)
                link_(c, node->text, PY_DEEP, s->kid[k]->text, PY_DEEP);
    }
    for (guint k = 1; node->kind == WS_PY_CLASS && k < node->n; k++)
        reach(c, node->text, node->kid[k]); /* its bases */
    if (node->kind == WS_PY_PARAM)
        holds(c, node->text + strspn(node->text, "*"), node->kid[1], FALSE);
    const gboolean gives = node->kind == WS_PY_RETURN ||
                           (node->kind == WS_PY_OTHER && !g_strcmp0(node->text, "yield"));
    if (gives && node->n && at->function && at->function->kind == WS_PY_DEF)
        holds(c, result_of(at->function->text), node->kid[0], node->kind == WS_PY_OTHER);
    g_auto(GStrv) bound =
        node->kind == WS_PY_WITH && node->text ? g_strsplit(node->text, " ", -1) : NULL;
    for (guint i = 0; bound && bound[i]; i++)
        for (guint k = 0; k + 1 < node->n; k++)
            reach(c, g_intern_string(bound[i]), node->kid[k]);
    const gboolean raises = node->kind == WS_PY_OTHER && !g_strcmp0(node->text, "raise");
    for (guint i = 0; raises && i < node->n; i++)
        reach(c, RAISED, node->kid[i]);
    g_auto(GStrv) caught =
        node->kind == WS_PY_TRY && node->text ? g_strsplit(node->text, " ", -1) : NULL;
    for (guint i = 0; caught && caught[i]; i++)
        link_(c, g_intern_string(caught[i]), PY_SHALLOW, RAISED, PY_DEEP);
    collect_kids(c, node, at);
}

static void spread(const GArray *rules, Start start, GHashTable *changed)
{
    g_autoptr(GHashTable) by_name = g_hash_table_new_full(
        g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref); /* from -> guint */
    g_autoptr(GPtrArray) todo = g_ptr_array_new();
    for (guint i = 0; i < rules->len; i++) {
        const Rule *r = &g_array_index(rules, Rule, i);
        if (r->from) {
            GArray *list = g_hash_table_lookup(by_name, r->from);
            if (!list) {
                list = g_array_new(FALSE, FALSE, sizeof(guint));
                g_hash_table_insert(by_name, (gpointer)r->from, list);
            }
            g_array_append_val(list, i);
        } else if (r->start == start &&
                   GPOINTER_TO_UINT(g_hash_table_lookup(changed, r->to)) < r->then) {
            g_hash_table_insert(changed, (gpointer)r->to, GUINT_TO_POINTER(r->then));
            g_ptr_array_add(todo, (gpointer)r->to);
        }
    }
    while (todo->len) {
        const char *name = g_ptr_array_remove_index_fast(todo, todo->len - 1);
        const PyDepth depth = GPOINTER_TO_UINT(g_hash_table_lookup(changed, name));
        const GArray *list = g_hash_table_lookup(by_name, name);
        for (guint i = 0; list && i < list->len; i++) {
            const Rule *r = &g_array_index(rules, Rule, g_array_index(list, guint, i));
            if (depth < r->least || (r->start == AT_DATA && start != AT_DATA) ||
                GPOINTER_TO_UINT(g_hash_table_lookup(changed, r->to)) >= r->then)
                continue;
            g_hash_table_insert(changed, (gpointer)r->to, GUINT_TO_POINTER(r->then));
            g_ptr_array_add(todo, (gpointer)r->to);
        }
    }
}

void py_find_changed(PyNames *names, const WsPyNode *module)
{
    g_autoptr(GArray) rules = g_array_new(FALSE, FALSE, sizeof(Rule));
    Changes c = { names, rules, NULL };
    const Place at = { NULL, NULL };
    collect(&c, module, &at);
    spread(rules, AT_DATA, names->changed);
    spread(rules, AT_PATCH, names->patched);
    names->all = g_hash_table_contains(names->changed, EVERYTHING);
}
