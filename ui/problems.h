/* The problems: what reading, elaboration and check found, filtered and explained. */
#pragma once

#include "ui/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_PROBLEMS ws_problems_get_type()
G_DECLARE_FINAL_TYPE(WsProblems, ws_problems, WS, PROBLEMS, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_problems_new(WsDocument *document);
/* Goes to the next or previous finding of the list as it is sorted and filtered, round the ends,
 * and reveals its step. Also the class actions "problems.next-problem" and
 * "problems.previous-problem". */
void ws_problems_next(WsProblems *problems);
void ws_problems_previous(WsProblems *problems);
/* Findings of this severity, shown or not. */
guint ws_problems_count(WsProblems *problems, WsSeverity severity);
guint ws_problems_n_shown(WsProblems *problems);
/* Shape, translated word and CSS class of a severity. */
const char *ws_severity_glyph(WsSeverity severity);
const char *ws_severity_word(WsSeverity severity);
const char *ws_severity_class(WsSeverity severity);

G_END_DECLS
