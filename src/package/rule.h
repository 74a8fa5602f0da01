/* The shape rule of a package with several builds: the text of `warpstave pick` (src/cli/pick/pick.h) as
 * C. */
#pragma once

#include "package/package.h"

G_BEGIN_DECLS

typedef struct {
    char *name; /* what a build is called: its design and settings */
    char *design, *set;
    GPtrArray *when;     /* WsExpr */
    struct WsExpr *cost; /* NULL: the largest number */
    guint lets;          /* how many lets come before it */
} WsShapeChoice;

typedef struct {
    GPtrArray *let_name; /* char*, in file order */
    GPtrArray *let;      /* WsExpr */
    GPtrArray *choice;   /* WsShapeChoice */
} WsShapeRule;

/* An empty rule; a choice at its end, after the lets so far (borrowed). */
WsShapeRule *ws_shape_rule_new(void);
WsShapeChoice *ws_shape_rule_choice(WsShapeRule *rule, const char *design);
void ws_shape_rule_free(WsShapeRule *rule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsShapeRule, ws_shape_rule_free)

/* Leaves out the choices that never apply, whatever the sizes are, where the names of `fixed`
 * (char* -> gint64*) have these values. */
void ws_shape_rule_narrow(WsShapeRule *rule, GHashTable *fixed);
/* The body of NAME_choice(): fixed names, sizes of the program (`a->M`), lets, choices. FALSE where
 * a line needs a name that is none of them. */
gboolean ws_shape_rule_text(GString *out, const WsShapeRule *rule, const WsProgram *program,
                            GHashTable *fixed, GError **error);

/* Several builds of one kernel and their rule. Everything is borrowed. */
typedef struct {
    const char *name, *version;   /* as in WsPackageSpec */
    const char *file, *rule_text; /* of the rule: what it is called, and what it says */
    const WsShapeRule *rule;
    GHashTable *fixed;          /* names of the rule that the builds have no size for */
    const WsPackageSpec *build; /* one for each choice, in its order; their names are not read */
    char *const *label;         /* what each is called */
    guint n;
} WsRulePackage;

/* As ws_package_write() and ws_package_wheel(); WS_PACKAGE_ERROR_RULE where builds are not called
 * the same way. */
gboolean ws_package_rule_write(const WsRulePackage *package, const char *dir, GError **error);
char *ws_package_rule_wheel(const WsRulePackage *package, const char *wheels, GError **error);

G_END_DECLS
