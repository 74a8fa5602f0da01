/* What names of a file mean: which binding reaches a use, and whether what is bound there is
 * changed by something that is not followed. Whole files are looked at, in no order, by names
 * alone; what is not understood makes a name open. Private to the reader. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

typedef enum { PY_KEPT, PY_SHALLOW, PY_DEEP } PyDepth; /* SHALLOW: itself; DEEP: what it holds */

/* What a name is bound to: a new object, an import, anything. */
typedef enum { PY_BOUND_NEW = 1, PY_BOUND_IMPORT, PY_BOUND_ANY } PyBinding;

/* Where something was done first: name -> its line. */
struct PyNames {
    GHashTable *imports; /* name -> dotted text, of all scopes; two of them: "name/" */
    GHashTable *changed; /* name -> PyDepth: what it holds, lists and objects, may be changed */
    GHashTable *patched; /* the same of functions, classes and modules */
    GHashTable *stored;  /* attributes stored to what may be a module, a class, a function */
    GHashTable *fields;  /* attributes stored elsewhere than on `self` of __init__ */
    GHashTable *any;     /* attributes stored at all */
    GHashTable *rebound; /* names in `global` and `nonlocal` */
    GHashTable *bound;   /* names that the file binds -> PyBinding, the worst of them */
    GHashTable *classes; /* name -> CLASS; functions: name -> DEF or LAMBDA, of a class __init__ */
    GHashTable *functions;
    GHashTable *many;     /* names of several functions, which are not told apart */
    GHashTable *mixed;    /* those of a kernel and of another function */
    GHashTable *by_class; /* "Class.name" wherever it is written; owned */
    guint
        modules; /* line of the first sys.modules[…] = …: what is imported behind it is not known */
    const WsPyNode *module;
    gboolean all; /* any list of the host may be changed */
};

/* --- names.c: all forms that bind a name ----------------------------------------------------- */
typedef void (*PyBound)(const char *name, const WsPyNode *at, gpointer data);
/* What `node` binds in the scope it stands in; functions, classes, lambdas and comprehensions in it
 * have scopes of their own. "*": all names of a module. */
void py_bound_names(const WsPyNode *node, PyBound each, gpointer data);
/* The targets of a statement, and how many. */
WsPyNode **py_targets(const WsPyNode *node, guint *n);
gboolean py_several(const WsPyNode *target); /* a tuple, a list, a star */
/* The name that an import binds. */
const char *py_import_name(const WsPyNode *word);
/* The name at the head of attributes and indices, or what stands there instead. */
const WsPyNode *py_root(const WsPyNode *node);

PyNames *py_names_new(const WsPyNode *module);
void py_names_free(PyNames *names);
/* Whether what the name is was changed in a way that is not followed. */
gboolean py_is_changed(const PyRead *p, const char *name, const Val *v);
/* In a kernel: its function binds the name, but not before here. What compiles a kernel refuses to
 * read it. */
gboolean py_is_unbound(PyRead *p, const char *name);
/* A name that is not what it seems: "name/" outside of the file, no word of a dialect. */
const Val *py_unknown_name(PyRead *p, const char *name);
gboolean py_is_generator(const WsPyNode *function); /* its calls do not run it */

/* --- module.c: names of the module in the order of its statements ------------------------------
 */
void py_read_module(PyRead *p, const WsPyNode *module);

/* --- chosen.c: the kernel's parameters that autotune and heuristics choose are open -------------
 */
void py_leave_chosen(PyRead *p, const Val **args);

/* --- stored.c ----------------------------------------------------------------------------------*/
void py_find_stored(PyNames *names, const WsPyNode *module);
/* A function in a class whose first parameter is nothing but an object of it. */
gboolean py_is_method(const PyNames *names, const WsPyNode *class, const WsPyNode *function);
/* setattr(object, "attribute", …), delattr: the attribute; NULL: it is no such call, or the
 * attribute is not written out. */
char *py_set_attribute(const WsPyNode *call);

/* --- changed.c ---------------------------------------------------------------------------------*/
void py_find_changed(PyNames *names, const WsPyNode *module);

/* --- calls.c: what calls do to what they are given ---------------------------------------------*/
typedef enum {
    PY_CALL_NEW,     /* changes nothing, gives something new */
    PY_CALL_HOLD,    /* changes nothing; what it gives may be or hold what it is given */
    PY_CALL_PUT,     /* a method: its object holds the arguments then */
    PY_CALL_TAKE,    /* a method that changes its object and gives something of it */
    PY_CALL_UNKNOWN, /* may change whatever it is given */
} PyCallKind;
/* Of a call of no function of the file. */
PyCallKind py_call_kind(const PyNames *names, const WsPyNode *call);
/* A callable that does nothing but compute: int, len. */
gboolean py_computes(const PyNames *names, const WsPyNode *callee);
/* What it makes of a function does what the function does, with the same arguments. */
gboolean py_known_decorator(const PyNames *names, const WsPyNode *decorator);
gboolean py_is_binder(const char *name); /* exec, setattr, …: they bind what they say */

G_END_DECLS
