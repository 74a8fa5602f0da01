/* The problems: what reading, elaboration and check found, filtered and explained. */
#pragma once

#include "ui/document/document.h"
#include "ui/problems/problem_list.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The class actions "problems.next-problem" and "problems.previous-problem" go through the findings
 * of the list as it is grouped and filtered, round the ends, and reveal the step. */
#define WS_TYPE_PROBLEMS ws_problems_get_type()
G_DECLARE_FINAL_TYPE(WsProblems, ws_problems, WS, PROBLEMS, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_problems_new(WsDocument *document);
/* Findings of this severity, shown or not. */
guint ws_problems_count(WsProblems *problems, WsSeverity severity);
guint ws_problems_n_shown(WsProblems *problems);
/* The finding that is explained, NULL none; borrowed. Signal "explained": it is another one. */
const WsFinding *ws_problems_selected(WsProblems *problems);
/* A place under the explanation for what can be done about it: buttons of others. */
GtkBox *ws_problems_actions(WsProblems *problems);
WsProblemList *ws_problems_list(WsProblems *problems);
/* Puts a widget under the message of the explanation. */
void ws_problems_insert(WsProblems *problems, GtkWidget *widget);
/* Shows where the explained finding is; nothing if none is explained. */
void ws_problems_reveal(WsProblems *problems);

G_END_DECLS
