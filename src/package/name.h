/* Names that packages can have, and texts that stand in their tables. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why a package, which is a type and functions of C and a module of Python, cannot have this name
 * ("a keyword of C"); NULL: it can. Static. */
const char *ws_package_name_problem(const char *name);
/* Why Python cannot import from a folder of this name; NULL: it can. Static. */
const char *ws_package_folder_problem(const char *name);
/* The first one as WS_PACKAGE_ERROR_NAME, with the remedy: FALSE where it cannot. */
gboolean ws_package_name_check(const char *name, GError **error);
/* A text as a cell of a Markdown table: on one line, without what would end the cell. */
void ws_package_cell(GString *out, const char *text);

G_END_DECLS
