/* What the inspector shows, as plain data: facts about the design, or about one step, buffer,
 * barrier or group of it. No widgets here. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef enum {
    WS_FACT_GIVEN,   /* stands in the file */
    WS_FACT_DEFAULT, /* the file leaves it out */
    WS_FACT_DERIVED, /* the program says so */
    WS_FACT_LINK,    /* leads to another object or step: `target` */
} WsFactKind;

typedef struct {
    WsFactKind kind;
    gboolean field; /* a field as it stands in the file */
    char *section;  /* heading; facts of a section follow one another */
    char *name, *value;
    char *help;   /* one line, or NULL */
    char *target; /* LINK: id or path */
} WsFact;

typedef struct {
    char *title;     /* "load A → a" */
    char *subtitle;  /* id; NULL for the design */
    char *note;      /* the author's, or NULL */
    GPtrArray *list; /* WsFact* */
} WsInspectorFacts;

/* Facts of the object or step with this id or path; of the design as a whole if `place` is NULL or
 * not found. NULL without a design. */
WsInspectorFacts *ws_facts_new(WsDocument *document, const char *place);
void ws_facts_free(WsInspectorFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsInspectorFacts, ws_facts_free)
/* The nearest existing object or step of a finding's place: "groups/mma/body/0/use" gives
 * "groups/mma/body/0". NULL if there is none. Caller frees. */
char *ws_place_resolve(const WsDesign *design, const char *place);

/* --- for the makers of facts (facts_*.c) --------------------------------------------------------
 */
WsFact *ws_facts_add(WsInspectorFacts *facts, WsFactKind kind, const char *section,
                     const char *name, char *value); /* takes value */
void ws_facts_link(WsInspectorFacts *facts, const char *section, const char *name,
                   const char *value, const char *target);
void ws_facts_fields(WsInspectorFacts *facts, const WsNode *node, const char *section);
void ws_facts_of_design(WsInspectorFacts *facts, WsDocument *document);
void ws_facts_of_buffer(WsInspectorFacts *facts, const WsProgram *p, const char *name);
void ws_facts_of_barrier(WsInspectorFacts *facts, const WsProgram *p, const char *name);
void ws_facts_of_group(WsInspectorFacts *facts, const WsProgram *p, const char *path);
void ws_facts_of_step(WsInspectorFacts *facts, const WsProgram *p, const char *step);
void ws_facts_figures(WsInspectorFacts *facts, WsDocument *document, const char *step);

G_END_DECLS
