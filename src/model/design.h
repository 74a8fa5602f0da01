/* A design: the document a person edits. It is a tree of nodes; a node is one object or step of the
 * language, its kind a row of node.def (objects) or step.def (steps), its fields the columns of
 * that row. Reader, writer, inspector, palette, edits and test generators all work on these tables.
 *
 * Designs and nodes are immutable once published and reference-counted; an edit copies the path
 * from the root to what changes and shares the rest. Reading from any thread needs no lock. */
#pragma once

#include "expr/expr.h"
#include "model/forward.h"
#include "model/kind.h"

#include <glib.h>

G_BEGIN_DECLS

#define WS_DESIGN_VERSION        1
#define WS_DESIGN_MAX_BYTES      (1 << 20)
#define WS_DESIGN_MAX_STEPS      4096
#define WS_DESIGN_MAX_NESTING    12
#define WS_DESIGN_MAX_JSON_DEPTH 32

gboolean ws_node_kind_is_step(WsNodeKind kind);
const char *ws_node_kind_keyword(WsNodeKind kind); /* "load", "tensor" */
const char *ws_node_kind_help(WsNodeKind kind);    /* one line */
WsNodeKind ws_step_find(const char *keyword);      /* WS_NODE_KIND_COUNT if there is none */

/* What step.def says of a step. */
typedef enum {
    WS_STEP_SECTION_CONTROL,
    WS_STEP_SECTION_MOVEMENT,
    WS_STEP_SECTION_ARITHMETIC,
    WS_STEP_SECTION_SYNCHRONISATION,
    WS_STEP_SECTION_OTHER,
    WS_STEP_SECTION_COUNT
} WsStepSection;
typedef enum { WS_STEP_GIVES_NOTHING, WS_STEP_GIVES_NAME, WS_STEP_GIVES_LABEL } WsStepGives;
typedef enum {
    WS_STEP_BREADTH_LEADER,
    WS_STEP_BREADTH_WARP,
    WS_STEP_BREADTH_GROUP,
    WS_STEP_BREADTH_ANY,
    WS_STEP_BREADTH_BY, /* as its arrivals say */
} WsStepBreadth;
typedef enum {
    WS_STEP_ENGINE_NONE,
    WS_STEP_ENGINE_TRANSFER,     /* ends at its barrier */
    WS_STEP_ENGINE_LOAD_GROUP,   /* load_wait */
    WS_STEP_ENGINE_BULK_GROUP,   /* store_wait */
    WS_STEP_ENGINE_COMMIT_GROUP, /* mma_wait */
} WsStepEngine;
typedef struct {
    WsStepSection section;
    WsStepGives gives;
    WsStepBreadth breadth;
    WsStepEngine engine;
    const char *reads, *writes; /* field names, separated by spaces */
    const char *lenses;         /* lenses with an answer for it, separated by spaces */
} WsStepInfo;
const WsStepInfo *ws_step_info(WsNodeKind kind); /* NULL unless a step */
gboolean ws_step_gives_name(WsNodeKind kind);    /* a step whose operand others mention */

/* What a field holds; decides JSON form, parsing and canonical text. */
typedef enum {
    WS_FIELD_INT,    /* JSON integer */
    WS_FIELD_NUMBER, /* JSON number */
    WS_FIELD_BOOL,
    WS_FIELD_NAME,  /* identifier */
    WS_FIELD_NAMES, /* list of names */
    WS_FIELD_TEXT,  /* free text (note, title) */
    WS_FIELD_TEXTS, /* string, or list of strings, kept as typed */
    WS_FIELD_ENUM,  /* one of a list of words */
    WS_FIELD_EXPR,  /* integer or string */
    WS_FIELD_EXPR_OR_BOOL,
    WS_FIELD_EXPRS, /* list of expr */
    WS_FIELD_REF,
    WS_FIELD_REFS,
    WS_FIELD_STATEMENTS, /* string, or list of strings: compute / reference statements */
    WS_FIELD_MAP_INT,    /* name -> integer */
    WS_FIELD_MAP_NUMBER, /* name -> number */
    WS_FIELD_MAP_EXPR,   /* name -> expr, ordered */
    WS_FIELD_MAP_NAMES,  /* name -> list of names */
    WS_FIELD_NODES,      /* list of objects of one node kind */
    WS_FIELD_NODE,       /* one object of one node kind (tiles) */
    WS_FIELD_STEPS,      /* list of steps */
    WS_FIELD_JSON,       /* kept as text (studio) */
    WS_FIELD_NUMBERS,    /* list of numbers */
    WS_FIELD_MAP_REF,    /* name -> ref, or expr where it is not one (operands of raw) */
    WS_FIELD_CHOICE, /* field with several legal forms, e.g. multicast "all" | list, by word | n,
                        init word | list; held as WsValue of the form found */
} WsFieldKind;

/* Field names used anywhere in the language: WS_F_at, WS_F_into, … from field.def. */
typedef enum {
#define WS_FIELD(name) WS_F_##name,
#include "model/field.def"
#undef WS_FIELD
    WS_F_COUNT
} WsFieldId;

const char *ws_field_name(WsFieldId field); /* "at"; "keyword" for a step's own operand */

/* One row of row.def: a field of a kind of object or step. */
typedef struct {
    WsFieldId field;
    WsFieldKind kind;
    gboolean required;
    const char *fallback; /* JSON text that absence means; NULL: none, or derived */
    const char *words;    /* legal words, separated by spaces, or NULL */
    gint of; /* NODE, NODES: WsNodeKind; CHOICE: WsFieldKind of the form beside words; REF, NAME:
                bits, 1 << WsNodeKind of what may be named */
    gint64 lo, hi;     /* legal integer literals */
    gint64 n_lo, n_hi; /* legal lengths of lists and maps */
    const char *help;  /* one line */
} WsFieldRow;
/* Fields of a kind in canonical order; WsNode.value is indexed alike. */
const WsFieldRow *ws_node_rows(WsNodeKind kind, guint *n);
const WsFieldRow *ws_node_row(WsNodeKind kind, WsFieldId field); /* NULL if it has no such field */
gint ws_node_place(WsNodeKind kind, WsFieldId field); /* of its value in a node; -1: none */
/* Key of the field in the document: the step's keyword for WS_F_keyword, else the field's name. */
const char *ws_node_key(WsNodeKind kind, WsFieldId field);
/* The field that holds its own name; WS_F_COUNT if it has none. */
WsFieldId ws_node_name_field(WsNodeKind kind);
const char *ws_field_kind_help(WsFieldKind kind); /* "list of expressions" */

typedef enum {
    WS_VALUE_NONE, /* absent: the default applies */
    WS_VALUE_INT,
    WS_VALUE_REAL,
    WS_VALUE_BOOL,
    WS_VALUE_TEXT, /* names, words, free text, JSON text */
    WS_VALUE_EXPR,
    WS_VALUE_REF,
    WS_VALUE_STATEMENT,
    WS_VALUE_LIST,  /* items */
    WS_VALUE_MAP,   /* keys and items, in file order */
    WS_VALUE_NODE,  /* one child node */
    WS_VALUE_NODES, /* child nodes (objects or steps) */
} WsValueKind;

typedef struct WsValue WsValue;
struct WsValue {
    WsValueKind kind;
    union {
        gint64 i;
        double r;
        gboolean b;
        char *text;
        WsExpr *expr;
        WsRef *ref;
        WsStatement *statement;
    };
    guint n;       /* LIST, MAP, NODES */
    char **key;    /* MAP */
    WsValue *item; /* LIST, MAP */
    WsNode **node; /* NODE (n = 1), NODES */
    char *typed;   /* STATEMENT of a reference: the text as it was typed; else NULL */
};
/* How fields are held: INT as INT; EXPR, also written as an integer, as EXPR; statements always as
 * LIST of STATEMENT; `order` and `data` as TEXT (ws_form_parse takes them apart); CHOICE as TEXT
 * for a word, else EXPR or LIST. Nothing is stored for an absent field. */

/* --- nodes ---------------------------------------------------------------------------------- */
struct WsNode {
    gint refs;
    WsNodeKind kind;
    guint64 identity;   /* survives edits in memory; unique within the process */
    guint line, column; /* where it was read from, 0 if made by an edit */
    guint n_values;
    WsValue *value; /* indexed like the kind's field row: use the accessors */
    /* Found out when first asked for, of a node that nobody changes any more; 0: not yet. */
    guint64 sum;   /* ws_design_sum() of it */
    guint64 below; /* a bit for each identity modulo 64, of it and all below */
};
WsNode *ws_node_ref(const WsNode *node);
void ws_node_unref(WsNode *node);

/* Value of a field; a value of kind WS_VALUE_NONE if absent or if the kind has no such field. */
const WsValue *ws_node_get(const WsNode *node, WsFieldId field);
gboolean ws_node_has(const WsNode *node, WsFieldId field);
/* TEXT, or the name of a REF without element, view and use; else NULL. Borrowed. */
const char *ws_node_text(const WsNode *node, WsFieldId field);
const WsExpr *ws_node_expr(const WsNode *node, WsFieldId field); /* EXPR or NULL, borrowed */
const WsRef *ws_node_refv(const WsNode *node, WsFieldId field);  /* REF or NULL, borrowed */
gboolean ws_node_bool(const WsNode *node, WsFieldId field, gboolean otherwise);
/* INT, or an EXPR that is an integer literal. */
gint64 ws_node_int(const WsNode *node, WsFieldId field, gint64 otherwise);
guint ws_node_n_children(const WsNode *node, WsFieldId field);
const WsNode *ws_node_child(const WsNode *node, WsFieldId field, guint i);
const char *
ws_node_name(const WsNode *node); /* `name` field of objects, keyword argument of `for` … */
/* For a step: its keyword value is stored under the field WS_F_keyword (kind per step.def row:
 * load -> NAME of the tensor, wait -> REF, mma_wait -> INT/EXPR, for -> NAME, if -> EXPR, …). */

/* TRUE if a name may not be given to anything in document, tile, group or block scope
 * (section 2.10). */
gboolean ws_name_is_reserved(const char *name);
gboolean ws_name_is_identifier(const char *name); /* section 2.1 */

/* JSON text of a field's value on one line; caller frees. */
char *ws_value_print(const WsFieldRow *row, const WsValue *value);

/* --- designs -------------------------------------------------------------------------------- */
/* Reads a document. `file` names it in findings only. Returns NULL and at least one error of class
 * V, S or N-by-form in `findings`. Refuses texts above WS_DESIGN_MAX_BYTES before parsing. */
WsDesign *ws_design_parse(const char *text, gsize length, const char *file, WsFindings *findings);
WsDesign *ws_design_load(const char *file, WsFindings *findings);
WsDesign *ws_design_new(WsNode *root); /* takes the reference */
WsDesign *ws_design_ref(const WsDesign *design);
void ws_design_unref(WsDesign *design);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsDesign, ws_design_unref)
const WsNode *ws_design_root(const WsDesign *design);
const char *ws_design_file(const WsDesign *design); /* or NULL */
/* Canonical text (LANGUAGE section 23); format o format = format. Caller frees. */
char *ws_design_print(const WsDesign *design);
/* Equal for designs of the same text, and as good as never for others; quick of one that an edit
 * made of another whose sum was asked for. */
guint64 ws_design_sum(const WsDesign *design);
/* Writes canonical text: temporary file, fsync, rename. Nothing is lost on failure. */
gboolean ws_design_save(const WsDesign *design, const char *file, GError **error);

/* A copy in which one constant is the integer `value` (--set NAME=VALUE); shares all else. NULL if
 * the design has no such constant. */
WsDesign *ws_design_with_constant(const WsDesign *design, const char *name, gint64 value);

/* Identity of a node in diagnostics: its `id`, or its path "groups/mma/body/0/do/3". Caller frees.
 */
char *ws_design_path(const WsDesign *design, const WsNode *node);
const WsNode *ws_design_find(const WsDesign *design, const char *path_or_id); /* NULL if none */
/* The path even if the node has an id: names and indices only. Caller frees. */
char *ws_design_place(const WsDesign *design, const WsNode *node);
const WsNode *ws_design_by_identity(const WsDesign *design, guint64 identity); /* NULL if none */
/* What holds the node, and where; NULL for the root and for strangers. */
const WsNode *ws_design_owner(const WsDesign *design, const WsNode *node, WsFieldId *field,
                              guint *index);
char *ws_node_print(const WsNode *node, guint indent); /* canonical text of one node */

/* --- edits ---------------------------------------------------------------------------------- */
/* An edit is a value with a text form, one per line:
 *   set PATH FIELD JSON | unset PATH FIELD | insert PATH LIST INDEX JSON | remove PATH |
 *   move PATH TO-PATH LIST INDEX | replace PATH JSON
 * PATH is a path or id, `.` the document itself; FIELD and LIST are keys as in the document. In a
 * move, TO-PATH is looked up before the node leaves its place, INDEX counts afterwards. */
WsEdit *ws_edit_parse(const char *text, GError **error);
char *ws_edit_print(const WsEdit *edit);
void ws_edit_free(WsEdit *edit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsEdit, ws_edit_free)
/* The design after the edit, sharing all it can; NULL with findings if it does not fit the
 * language's form. Identities of untouched and moved nodes stay. */
WsDesign *ws_design_apply(const WsDesign *design, const WsEdit *edit, WsFindings *findings);
/* One of several: the rules of the whole document are asked after the last of them. */
WsDesign *ws_design_apply_part(const WsDesign *design, const WsEdit *edit, WsFindings *findings);
gboolean ws_design_is_whole(const WsDesign *design, WsFindings *findings);

G_END_DECLS
