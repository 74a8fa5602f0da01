/* Judges JSON by the schemas of docs/schema (JSON Schema 2020-12): the keywords that they use, any
 * other is an error. */
#pragma once

#include <glib.h>
#include <json.h>

/* What is wrong with `value` by docs/schema/NAME.json, with its place; NULL: nothing. Caller frees.
 * Remembers which members were met. */
char *schema_check(const char *name, json_object *value);
/* Members that docs/schema/NAME.json names and no value had so far (char*); caller frees. */
GPtrArray *schema_never_met(const char *name);
