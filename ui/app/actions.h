/* The table of commands (actions.def) as data. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The parts of a window that carry out commands of their own. */
typedef enum {
    WS_PART_SELF,
    WS_PART_TIMELINE,
    WS_PART_INSPECTOR,
    WS_PART_PROBLEMS,
    WS_PART_CODE,
    WS_PART_MEASUREMENTS,
    WS_PART_RESOURCES,
    WS_PART_SEARCH,
    WS_PART_JOBS,
    WS_PART_EDIT, /* no widget: edit_commands.c */
    WS_PART_WITNESS,
    WS_PART_COMPARE,
    WS_PART_IDLE,
    WS_PART_SCHEDULES,
    WS_PART_STAGES,
    WS_PART_COUNT
} WsPart;
const char *ws_part_name(WsPart part); /* "timeline" */

typedef enum {
#define WS_SECTION(id, label) WS_SECTION_##id,
#include "ui/app/actions.def"
    WS_SECTION_COUNT
} WsSection;
const char *ws_section_label(WsSection section); /* translated */

/* What must be there for a command to make sense. */
typedef enum {
    WS_NEEDS_NOTHING,
    WS_NEEDS_DESIGN,
    WS_NEEDS_PROGRAM,
    WS_NEEDS_SELECTION,
    WS_NEEDS_RANGE,
    WS_NEEDS_MEASURED,
    WS_NEEDS_MACHINE, /* predictions are played on one that was chosen */
    WS_NEEDS_PINNED,  /* a run beside the one that is shown */
    WS_NEEDS_COMPARED,
    WS_NEEDS_IDLE,
    WS_NEEDS_BUSY,
    WS_NEEDS_PROBLEM,
    WS_NEEDS_SOURCE, /* a kernel that the design was read from */
    WS_NEEDS_UNDO,
    WS_NEEDS_REDO,
    WS_NEEDS_COUNT
} WsNeeds;

typedef struct {
    const char *name; /* "zoom-in": GAction "win.zoom-in" */
    WsPart part;
    WsSection section;
    const char *label, *help;  /* not yet translated: ws_action_label(), ws_action_help() */
    const char *accels, *keys; /* separated by spaces, "" none */
    WsNeeds needs;
} WsAction;

const WsAction *ws_actions(guint *n);
const WsAction *ws_action_find(const char *name); /* NULL if there is none */
const char *ws_action_label(const WsAction *action);
const char *ws_action_help(const WsAction *action);
/* All keys of the command, for people: "Ctrl+=, W"; "" if none. Caller frees. */
char *ws_action_keys_text(const WsAction *action);
/* Help and keys, for tooltips. Caller frees. */
char *ws_action_tooltip(const WsAction *action);

/* In class_init of a part, after its gtk_widget_class_install_action() calls: binds the part's
 * `keys` (and nothing of its accels) to its class actions. */
void ws_actions_bind_keys(GtkWidgetClass *class, WsPart part);
/* The accelerators of the whole table. */
void ws_actions_set_accels(GtkApplication *application);

G_END_DECLS
