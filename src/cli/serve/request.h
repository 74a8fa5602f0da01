/* A line of `warpstave serve`, read. */
#pragma once

#include "cli/cli.h"

#include <json.h>

G_BEGIN_DECLS

/* A line may have so many bytes: the largest text that is imported, written as a JSON string. */
#define WS_SERVE_MAX_LINE (20 << 20)

typedef struct {
    json_object *json;  /* owned; NULL: the line is no object */
    char *id;           /* JSON text of the member `id`: it stands in the answer; "null" if none */
    const char *what;   /* `do`; borrowed from json */
    const char *file;   /* path, or NULL */
    const char *text;   /* of a design or a kernel; NULL: it is read from `file` */
    gsize length;       /* of `text` */
    GArray *set, *size; /* WsSetting; names borrowed from json */
    char *problem;      /* why it cannot be answered; NULL: nothing is wrong so far */
} WsRequest;

/* Reads a line without its end. Every member is known and has its type, or `problem` says which one
 * is not. */
void ws_request_read(WsRequest *r, const char *line, gsize length);
void ws_request_clear(WsRequest *r);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsRequest, ws_request_clear)

/* Members that were checked by ws_request_read(): NULL or `otherwise` where they are absent. */
const char *ws_request_text(const WsRequest *r, const char *name);
gint64 ws_request_integer(const WsRequest *r, const char *name, gint64 otherwise);
/* A list of strings, NULL-terminated; NULL if absent. Caller frees with g_strfreev(). */
char **ws_request_texts(const WsRequest *r, const char *name);

G_END_DECLS
