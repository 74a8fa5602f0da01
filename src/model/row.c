/* The tables of the language: kinds of objects and steps, their fields, words and defaults. */
#include "model/design.h"

#include "target/target.h"

#include <string.h>

#define REQUIRED    TRUE
#define OPTIONAL    FALSE
#define ANY         G_MININT64, G_MAXINT64
#define NAT         0, G_MAXINT64
#define POS         1, G_MAXINT64
#define RANGE(a, b) a, b

typedef struct {
    WsNodeKind owner;
    WsFieldRow row;
} Owned;

/* The rows in file order: those of one owner stand together. */
static const Owned owned[] = {
#define WS_ROW(owner, field, kind, need, fallback, words, of, range, items, help)                  \
    { WS_##owner,                                                                                  \
      { WS_F_##field, WS_FIELD_##kind, need, fallback, words, of, range, items, help } },
#include "model/row.def"
#undef WS_ROW
};

/* ws_node_rows() hands out rows without their owners; filled once from `owned`. */
static WsFieldRow rows[G_N_ELEMENTS(owned)];
static guint first_row[WS_NODE_KIND_COUNT], n_rows[WS_NODE_KIND_COUNT];
static gint16 index_of[WS_NODE_KIND_COUNT][WS_F_COUNT]; /* 1 + index in the kind's rows, 0: none */

static void fill_tables(void)
{
    static gsize done;
    if (!g_once_init_enter(&done))
        return;
    for (guint i = 0; i < G_N_ELEMENTS(owned); i++) {
        const WsNodeKind k = owned[i].owner;
        rows[i] = owned[i].row;
        if (n_rows[k] == 0)
            first_row[k] = i;
        index_of[k][rows[i].field] = (gint16)(++n_rows[k]);
    }
    g_once_init_leave(&done, 1);
}

static const struct {
    const char *keyword, *help;
    WsStepInfo step;
} kinds[WS_NODE_KIND_COUNT] = {
#define WS_NODE(id, keyword, help) [WS_NODE_##id] = { keyword, help, { 0 } },
#include "model/node.def"
#undef WS_NODE
#define WS_STEP(id, keyword, section, gives, breadth, engine, reads, writes, lenses, help)         \
    [WS_STEP_##                                                                                    \
        id] = { keyword,                                                                           \
                help,                                                                              \
                { WS_STEP_SECTION_##section, WS_STEP_GIVES_##gives, WS_STEP_BREADTH_##breadth,     \
                  WS_STEP_ENGINE_##engine, reads, writes, lenses } },
#include "model/step.def"
#undef WS_STEP
};

enum {
    NODES = 0
#define WS_NODE(id, ...) +1
#include "model/node.def"
#undef WS_NODE
};
#define FIRST_STEP ((WsNodeKind)NODES)

/* Every id of step_id.def has a row: two rows of one id are an error of -Woverride-init. */
enum {
    ROWS = NODES
#define WS_STEP(id, ...) +1
#include "model/step.def"
#undef WS_STEP
};
G_STATIC_ASSERT((int)ROWS == (int)WS_NODE_KIND_COUNT);

static const char *const field_names[] = {
#define WS_FIELD(name) #name,
#include "model/field.def"
#undef WS_FIELD
};

gboolean ws_node_kind_is_step(WsNodeKind kind)
{
    return kind >= FIRST_STEP && kind < WS_NODE_KIND_COUNT;
}

const char *ws_node_kind_keyword(WsNodeKind kind)
{
    return kind < WS_NODE_KIND_COUNT ? kinds[kind].keyword : NULL;
}

const char *ws_node_kind_help(WsNodeKind kind)
{
    return kind < WS_NODE_KIND_COUNT ? kinds[kind].help : NULL;
}

WsNodeKind ws_step_find(const char *keyword)
{
    for (WsNodeKind k = FIRST_STEP; k < WS_NODE_KIND_COUNT; k++)
        if (strcmp(kinds[k].keyword, keyword) == 0)
            return k;
    return WS_NODE_KIND_COUNT;
}

const WsStepInfo *ws_step_info(WsNodeKind kind)
{
    return ws_node_kind_is_step(kind) ? &kinds[kind].step : NULL;
}

gboolean ws_step_gives_name(WsNodeKind kind)
{
    return ws_node_kind_is_step(kind) && kinds[kind].step.gives == WS_STEP_GIVES_NAME;
}

WsFieldId ws_node_name_field(WsNodeKind kind)
{
    if (ws_node_kind_is_step(kind))
        return kinds[kind].step.gives != WS_STEP_GIVES_NOTHING ? WS_F_keyword : WS_F_COUNT;
    return ws_node_row(kind, WS_F_name) ? WS_F_name : WS_F_COUNT;
}

const char *ws_field_name(WsFieldId field)
{
    return field < WS_F_COUNT ? field_names[field] : NULL;
}

const WsFieldRow *ws_node_rows(WsNodeKind kind, guint *n)
{
    fill_tables();
    *n = kind < WS_NODE_KIND_COUNT ? n_rows[kind] : 0;
    return *n > 0 ? &rows[first_row[kind]] : NULL;
}

const WsFieldRow *ws_node_row(WsNodeKind kind, WsFieldId field)
{
    fill_tables();
    if (kind >= WS_NODE_KIND_COUNT || field >= WS_F_COUNT || index_of[kind][field] == 0)
        return NULL;
    return &rows[first_row[kind] + index_of[kind][field] - 1];
}

gint ws_node_place(WsNodeKind kind, WsFieldId field)
{
    fill_tables();
    return kind < WS_NODE_KIND_COUNT && field < WS_F_COUNT ? index_of[kind][field] - 1 : -1;
}

const char *ws_node_key(WsNodeKind kind, WsFieldId field)
{
    return field == WS_F_keyword ? ws_node_kind_keyword(kind) : ws_field_name(field);
}

const char *ws_field_kind_help(WsFieldKind kind)
{
    static const char *const help[] = {
        [WS_FIELD_INT] = "an integer",
        [WS_FIELD_NUMBER] = "a number",
        [WS_FIELD_BOOL] = "true or false",
        [WS_FIELD_NAME] = "a name",
        [WS_FIELD_NAMES] = "a list of names",
        [WS_FIELD_TEXT] = "a string",
        [WS_FIELD_TEXTS] = "a string or a list of strings",
        [WS_FIELD_ENUM] = "a word",
        [WS_FIELD_EXPR] = "an integer or a string with an expression",
        [WS_FIELD_EXPR_OR_BOOL] = "true, false, an integer or a string with an expression",
        [WS_FIELD_EXPRS] = "a list of integers and expressions",
        [WS_FIELD_REF] = "a string with a reference",
        [WS_FIELD_REFS] = "a list of references",
        [WS_FIELD_STATEMENTS] = "a statement or a list of statements",
        [WS_FIELD_MAP_INT] = "an object of names and integers",
        [WS_FIELD_MAP_NUMBER] = "an object of names and numbers",
        [WS_FIELD_MAP_EXPR] = "an object of names and expressions",
        [WS_FIELD_MAP_NAMES] = "an object of names and lists of names",
        [WS_FIELD_NODES] = "a list of objects",
        [WS_FIELD_NODE] = "an object",
        [WS_FIELD_STEPS] = "a list of steps",
        [WS_FIELD_JSON] = "an object",
        [WS_FIELD_NUMBERS] = "a list of numbers",
        [WS_FIELD_MAP_REF] = "an object of names and references or expressions",
        [WS_FIELD_CHOICE] = "a word or another form",
    };
    return kind < G_N_ELEMENTS(help) ? help[kind] : NULL;
}
