/* What the files of src/model share; nobody outside includes it. */
#pragma once

#include "model/build.h"
#include "model/finding.h"

G_BEGIN_DECLS

/* --- json.c: JSON text with the place of every value ------------------------------------------ */
typedef enum {
    WS_JSON_NULL,
    WS_JSON_BOOL,
    WS_JSON_INT,
    WS_JSON_REAL,
    WS_JSON_TEXT,
    WS_JSON_LIST,
    WS_JSON_MAP,
} WsJsonKind;

typedef struct {
    guint line, column; /* 1-based; columns in characters */
} WsTextPlace;

/* How the canonical text breaks a container. */
typedef enum {
    WS_BREAK_AUTO,  /* one line if it fits, else one member per line */
    WS_BREAK_NEVER, /* one line; containers inside that break always still do */
    WS_BREAK_ALWAYS,
} WsJsonBreak;

struct WsJson {
    WsJsonKind kind;
    WsTextPlace at;
    gsize start, end; /* bytes of the value in the text */
    gboolean b;
    gint64 i;
    double r;
    char *text;          /* TEXT: decoded; INT, REAL: as written */
    guint n, room;       /* members; those that memory is there for, 0: for no more than n */
    WsJson *item;        /* LIST, MAP */
    char **key;          /* MAP */
    WsTextPlace *key_at; /* MAP */
    WsJsonBreak how;     /* LIST, MAP */
    guint own_lines;     /* NEVER: so many members at the end start a line of their own */
};

typedef struct WsReader WsReader;

/* NULL after reporting to the reader. Both limits of the language (size, depth) apply. */
WsJson *ws_json_parse(const char *text, gsize length, WsReader *reader);
/* What the parser looks at, of a tree that was built: depth, length, repeated keys, UTF-8. FALSE
 * after reporting. */
gboolean ws_json_check(const WsJson *json, WsReader *reader);
void ws_json_clear(WsJson *json); /* what it holds */
/* Adds to a list (key NULL) or map; `item` is taken. */
void ws_json_append(WsJson *json, const char *key, WsJson *item);
void ws_json_append_text(GString *out, const WsJson *json); /* compact */
const WsJson *ws_json_member(const WsJson *json, const char *key);
/* The value that a path of names and indices leads to, as far as it goes; its key if it has one. */
WsTextPlace ws_json_place(const WsJson *json, const char *path);
const char *ws_json_kind_text(const WsJson *json); /* "a string", "a list" */

/* --- reader.c, form.c ------------------------------------------------------------------------- */
struct WsReader {
    WsFindings *findings;
    guint n_errors; /* stops at WS_READER_MAX_ERRORS */
    GString *path;  /* of what is being read */
    guint n_steps;
    guint nesting;      /* bodies open */
    guint depth;        /* JSON lists and objects around what is read */
    const WsJson *json; /* what is read, to find places by path; or NULL */
    gboolean places;    /* FALSE: lines of the text mean nothing to the user (edits) */
};
#define WS_READER_MAX_ERRORS 10

void ws_reader_init(WsReader *r, WsFindings *findings, gboolean places);
void ws_reader_clear(WsReader *r);
gboolean ws_reader_full(const WsReader *r);
/* Opens a path segment; give the result to ws_reader_leave(). */
gsize ws_reader_enter(WsReader *r, const char *segment);
gsize ws_reader_enter_index(WsReader *r, guint index);
void ws_reader_leave(WsReader *r, gsize mark);
/* Reports at the current path; NULL once the reader is full. */
WsFinding *ws_reader_report(WsReader *r, WsRuleId rule, WsTextPlace at, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* Reads the value of a field; FALSE after reporting (then *out is WS_VALUE_NONE). */
gboolean ws_read_field(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                       WsValue *out);
/* Reads an object of a kind, or a step of any kind for WS_NODE_KIND_COUNT. */
WsNode *ws_read_node(WsReader *r, const WsJson *json, WsNodeKind kind);
/* Rules between the fields of one node that the rows cannot say. */
gboolean ws_check_together(WsReader *r, WsTextPlace at, const WsNode *node);
/* Reads and checks a whole document; NULL after reporting. `json` may be NULL. */
WsNode *ws_read_document(WsReader *r, const WsJson *json);
/* Rules over the whole document: names, ids, step count, nesting. */
void ws_check_document(WsReader *r, const WsNode *root);

gboolean ws_word_in(const char *words, const char *text);

/* --- node.c ----------------------------------------------------------------------------------- */
WsNode *ws_node_new(WsNodeKind kind);                 /* all values absent, new identity */
WsNode *ws_node_copy(const WsNode *node);             /* shallow: shares children, same identity */
WsValue *ws_node_slot(WsNode *node, WsFieldId field); /* for one who builds the node; or NULL */
void ws_value_clear(WsValue *value);
void ws_value_copy(WsValue *to, const WsValue *from); /* shares nodes, expressions, references */
/* As ws_design_sum(), of a node. */
guint64 ws_node_sum(const WsNode *node);
/* A bit for each identity modulo 64, of the node and all below: what has none of an identity's is
 * not where it is. */
guint64 ws_node_below(const WsNode *node);
gboolean ws_value_equal(const WsValue *a, const WsValue *b);
/* Whether writing the field would say nothing: absent, or equal to the default of its row. */
gboolean ws_value_is_default(WsNodeKind owner, const WsFieldRow *row, const WsValue *value);
/* The segment of a child in a path: its name if it has one, else its index. Caller frees. */
char *ws_node_segment(const WsNode *child, guint index);

/* --- writer.c --------------------------------------------------------------------------------- */
void ws_design_set_file(WsDesign *design, const char *file);

/* Finds a node by path or id and says where it hangs: all nodes from the root down to it, with
 * field and index of each below the root. */
typedef struct {
    const WsNode *node; /* borrowed from the design */
    WsFieldId field;    /* of its parent, meaningless for the root */
    guint index;
} WsTrail;
GArray *ws_design_trail(const WsDesign *design, const char *path_or_id); /* NULL if none */

G_END_DECLS
