/* Reader of Python source: text -> tokens -> tree. Nothing is ever executed; the tree is data.
 * The language read is Python 3 without `match`; what a recogniser
 * does not need (lambda, comprehension, dictionary) is kept as a node of its own.
 *
 * A WsPython owns the text, the tokens and every node; all pointers are borrowed from it. Lines and
 * columns are 1-based, columns count characters. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define WS_PYTHON_MAX_BYTES   (1 << 20)
#define WS_PYTHON_MAX_NESTING 100 /* brackets, operators and blocks inside each other */
#define WS_PYTHON_MAX_NODES   400000

typedef enum {
    WS_PYTHON_ERROR_SIZE,   /* too large, nested too deep */
    WS_PYTHON_ERROR_SYNTAX, /* not Python, or not the part of it that is read */
} WsPythonError;
#define WS_PYTHON_ERROR ws_python_error_quark()
GQuark ws_python_error_quark(void);

typedef enum {
#define WS_PY(id, text) WS_PY_##id,
#include "import/python/text/python.def"
#undef WS_PY
    WS_PY_KIND_COUNT
} WsPyKind;
const char *ws_python_kind_text(WsPyKind kind);

typedef struct WsPyNode WsPyNode;
struct WsPyNode {
    WsPyKind kind;
    guint line, column, end_line;
    const char *text; /* python.def says what */
    gint64 i;         /* INT */
    guint n;
    WsPyNode **kid;
};

typedef struct WsPython WsPython;
/* Reads a module. `file` names it in errors ("FILE:LINE:COLUMN: … Remedy"). NULL with
 * WS_PYTHON_ERROR. */
WsPython *ws_python_parse(const char *text, gsize length, const char *file, GError **error);
void ws_python_free(WsPython *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsPython, ws_python_free)
const WsPyNode *ws_python_module(const WsPython *p); /* a BLOCK */
/* The source of lines first..last, without common indentation. Caller frees. */
char *ws_python_lines(const WsPython *p, guint first, guint last);
/* "gl.nvidia.hopper.tma" of a chain of names and attributes, NULL if it is none. Caller frees. */
char *ws_python_dotted(const WsPyNode *node);
/* The name stands somewhere in it. */
gboolean ws_python_mentions(const WsPyNode *node, const char *name);

G_END_DECLS
