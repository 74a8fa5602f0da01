/* Values that are not in a design yet: what an edit sets or inserts, and designs that are made, not
 * read. They are built here as trees and given to the same reader as a document, which decides what
 * they mean; nobody prints JSON to have it parsed again.
 *
 * A function that returns a value hands it over, one that is given a value takes it. NULL stands
 * for "nothing": a part or member that is NULL is left out. */
#pragma once

#include "model/design.h"

G_BEGIN_DECLS

typedef struct WsJson WsJson;

WsJson *ws_json_int(gint64 value);
WsJson *ws_json_bool(gboolean value);
WsJson *ws_json_text(const char *text); /* NULL for NULL */
WsJson *ws_json_take_text(char *text);  /* takes the text; NULL for NULL */
WsJson *ws_json_format(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* An expression as documents have it: an integer where the text is one literal, else the text. NULL
 * for NULL and "". */
WsJson *ws_json_expr(const char *text);
WsJson *ws_json_list(void);
WsJson *ws_json_map(void);
void ws_json_add(WsJson *list, WsJson *item);
void ws_json_put(WsJson *map, const char *key, WsJson *value);
/* `map` with another value for a key, behind all others if it has none such, or without the key
 * (NULL); returns `map`. */
WsJson *ws_json_with(WsJson *map, const char *key, WsJson *value);

/* A step or object of a kind: its fields in this order. WS_MAKE(WS_STEP_WAIT,
 * { WS_F_keyword, ws_json_text("full") }, { WS_F_use, ws_json_expr(use) }) */
typedef struct {
    WsFieldId field;
    WsJson *value;
} WsFieldValue;
WsJson *ws_json_make(WsNodeKind kind, const WsFieldValue *part, gsize n);
#define WS_MAKE(kind, ...)                                                                         \
    ws_json_make(kind, (const WsFieldValue[]){ __VA_ARGS__ },                                      \
                 sizeof((const WsFieldValue[]){ __VA_ARGS__ }) / sizeof(WsFieldValue))

/* What a design holds, as it is written there. */
WsJson *ws_json_of_node(const WsNode *node);
WsJson *ws_json_of_field(const WsNode *node, WsFieldId field); /* NULL if absent */
WsJson *ws_json_of_value(const WsFieldRow *row, const WsValue *value);
/* What a field holds as a person writes it: a string without quotes, else JSON. Caller frees. */
char *ws_value_words(const WsFieldRow *row, const WsValue *value);
/* JSON text as a person or a file gives it. */
WsJson *ws_json_read(const char *text, GError **error);
WsJson *ws_json_copy(const WsJson *json);
void ws_json_free(WsJson *json);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsJson, ws_json_free)
char *ws_json_print(const WsJson *json); /* compact text, numbers as they were written */

/* Text of a member, NULL if there is none of that kind. Borrowed. */
const char *ws_json_member_text(const WsJson *json, const char *key);

/* Whether text is to be replaced in a string below `json`; returns what stands for it, else NULL.
 */
typedef WsJson *(*WsJsonReplace)(const char *text, gpointer data);
/* Replaces strings everywhere below, with `keys` also keys (by a string); returns how many. */
guint ws_json_replace(WsJson *json, gboolean keys, WsJsonReplace replace, gpointer data);

/* A whole design; `json` is taken. As ws_design_parse() otherwise. */
WsDesign *ws_design_build(WsJson *json, const char *file, WsFindings *findings);
/* Where in `file` the value comes from, for nodes and findings: line and column from 1. Returns
 * `json`. */
WsJson *ws_json_at(WsJson *json, guint line, guint column);

/* --- edits (design.h says what they do) ------------------------------------------------------- */
/* `field` and `list` are keys as in the document. */
WsEdit *ws_edit_new_set(const char *path, const char *field, WsJson *value); /* NULL: unset */
WsEdit *ws_edit_new_insert(const char *path, const char *list, guint index, WsJson *value);
WsEdit *ws_edit_new_remove(const char *path);
WsEdit *ws_edit_new_move(const char *path, const char *to, const char *list, guint index);
WsEdit *ws_edit_new_replace(const char *path, WsJson *value);
WsEdit *ws_edit_copy_of(const WsEdit *edit);
gboolean ws_edit_takes_away(const WsEdit *edit); /* it removes or moves a node */

G_END_DECLS
