/* Reading values of fields: what scalar.c offers to form.c. */
#pragma once

#include "model/internal.h"

G_BEGIN_DECLS

typedef gboolean (*WsReadValue)(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                                const WsJson *json, WsValue *out);

/* Reports that the value is of another kind than `wanted`; always FALSE. */
gboolean ws_wrong_kind(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                       const char *wanted);
/* A name that refers, and one that is given to something and so must not be reserved. */
gboolean ws_check_identifier(WsReader *r, WsTextPlace at, const char *name);
gboolean ws_check_declared(WsReader *r, WsTextPlace at, const char *name);

gboolean ws_read_int(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                     WsValue *out);
gboolean ws_read_number(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                        WsValue *out);
gboolean ws_read_bool(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out);
gboolean ws_read_name(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out);
gboolean ws_read_text(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out);
gboolean ws_read_enum(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out);
gboolean ws_read_expr(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out);
gboolean ws_read_expr_or_bool(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                              const WsJson *json, WsValue *out);
gboolean ws_read_ref(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                     WsValue *out);
gboolean ws_read_ref_or_expr(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                             const WsJson *json, WsValue *out);
gboolean ws_read_json(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out);
gboolean ws_read_statement(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           WsValue *out);

G_END_DECLS
