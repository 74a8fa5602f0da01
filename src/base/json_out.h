/* Writes JSON for people and programs: members in the order in which they are given, one per line,
 * rows of tables on one. What every command prints with --json, and every file of JSON but designs
 * and the stream of Chrome's events, is made with it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    GString *out;
    guint depth;
    guint line;     /* depth from which on everything stands on one line; 0: none */
    gboolean first; /* of the object or list that is open: no comma is due */
} WsJsonOut;

/* An empty text; `json->out` is the caller's, who frees it. */
void ws_json_out_init(WsJsonOut *json);
/* '{' or '[', and '}' or ']'. */
void ws_json_out_open(WsJsonOut *json, const char *name, char bracket);
void ws_json_out_close(WsJsonOut *json, char bracket);
/* The same on one line, with all that is in it. */
void ws_json_out_open_row(WsJsonOut *json, const char *name, char bracket);
/* Ends the text with a line feed; caller frees. */
char *ws_json_out_end(WsJsonOut *json);
/* Members; items of a list where `name` is NULL. A text NULL is null, a real that is no number too.
 */
void ws_json_out_text(WsJsonOut *json, const char *name, const char *value);
void ws_json_out_integer(WsJsonOut *json, const char *name, gint64 value);
void ws_json_out_real(WsJsonOut *json, const char *name, double value);
void ws_json_out_truth(WsJsonOut *json, const char *name, gboolean value);
/* char*, on one line, phrases in English; NULL is an empty list. */
void ws_json_out_texts(WsJsonOut *json, const char *name, const GPtrArray *list);
/* A sentence as template and arguments (base/phrase.h). */
void ws_json_out_phrase(WsJsonOut *json, const char *name, const char *phrase);

G_END_DECLS
