/* Random edits of a hand: nothing crashes, every refusal has words, undo to the start gives the
 * first document byte for byte and redo the last one, and a kill at any moment loses no committed
 * edit. WARPSTAVE_SOAK is the number of actions (./dev soak), WARPSTAVE_SEED where they begin. */
#include "../remove.h"
#include "model/findings.h"
#include "scenario/seen.h"
#include "ui/document/document.h"
#include "ui/document/journal.h"
#include "ui/panels/palette.h"

#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    WsDocument *document;
    GRand *rand;
    guint n_commits, n_refused;
    gboolean only_commits;
} Soak;

static guint number(const char *variable, guint otherwise)
{
    const char *text = g_getenv(variable);
    return text ? (guint)g_ascii_strtoull(text, NULL, 10) : otherwise;
}

static guint pick(Soak *s, guint n)
{
    return (guint)g_rand_int_range(s->rand, 0, (gint32)MAX(n, 1));
}

/* --- random parts of a design
 * ---------------------------------------------------------------------- */

static void collect(const WsNode *node, gboolean steps_only, GArray *all)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (!steps_only || ws_node_kind_is_step(node->kind))
        g_array_append_val(all, node->identity);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            collect(ws_node_child(node, rows[i].field, c), steps_only, all);
}

/* 0 if there is none. */
static guint64 some_node(Soak *s, const WsDesign *design, gboolean steps_only)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint64));
    collect(ws_design_root(design), steps_only, all);
    return all->len ? g_array_index(all, guint64, pick(s, all->len)) : 0;
}

static const WsNode *node_of(const WsDraft *d, guint64 node)
{
    return node ? ws_design_by_identity(d->design, node) : NULL;
}

/* --- the actions
 * ------------------------------------------------------------------------------------ */

static void nudge(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_nudge(d, &a, 1, pick(s, 2) ? 1 : -1);
}

static void ahead(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_ahead(d, &a, 1, pick(s, 2) ? 1 : -1);
}

static void other_group(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_other_group(d, &a, 1, pick(s, 2) ? 1 : -1);
}

static void add(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_add(d, pick(s, WS_NODE_KIND_COUNT), node_of(d, a));
}

static void take_away(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    const guint64 both[] = { a, b };
    ws_edit_remove(d, both, 1 + pick(s, 2));
}

static void duplicate(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    const guint64 both[] = { a, b };
    ws_edit_duplicate(d, both, 1 + pick(s, 2));
}

static void wrap(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_wrap(d, &a, 1);
}

static void unwrap(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_unwrap(d, a);
}

static void dent(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    if (pick(s, 2))
        ws_edit_indent(d, &a, 1);
    else
        ws_edit_outdent(d, &a, 1);
}

static void move(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_move(d, &a, 1, ws_edit_spot(d->design, node_of(d, b)), 0);
}

static void connect(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    WsConnection how;
    ws_edit_connect(d, a, b, &how);
}

static void turn(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    WsConnection how;
    ws_edit_turn(d, a, pick(s, 2) ? b : a, pick(s, 2), &how);
}

static void ring(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_depth(d, a, pick(s, 6));
}

static void replicate(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_replicate(d, a, pick(s, 2) ? 1 : -1);
}

static void mute(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_mute(d, &a, 1);
}

static void peel(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_peel(d, a);
}

static void rotate(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_rotate(d, a);
}

static void part(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    ws_edit_part(d, a);
}

/* With what goes along, as a drag or a key does. */
static void along(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    const WsEditSpot spot = ws_edit_spot(d->design, node_of(d, b));
    const gint by = (gint)pick(s, 3) - 1;
    g_autoptr(WsAlong) with = ws_edit_along(d->design, &a, 1, spot, by);
    ws_edit_move_along(d, &a, 1, spot, by, with);
}

static void rename_it(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    static const char *const names[] = { "a", "left", "k2", "9x", "replica", "x_y", "full", "" };
    ws_edit_rename(d, a, names[pick(s, G_N_ELEMENTS(names))]);
}

static void set(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    static const char *const json[] = { "3",    "\"k.total\"", "\"K - 1\"",   "[1,2]",
                                        "true", "\"a\"",       "{\"BM\":64}", "\"replica\"",
                                        "0",    "-1",          "\"acc\"" };
    const WsNode *node = node_of(d, a);
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    const WsFieldRow *row = &rows[pick(s, n)];
    ws_draft_set(d, a, row->field,
                 pick(s, 3) ? ws_json_read(json[pick(s, G_N_ELEMENTS(json))], NULL) : NULL);
}

static void paste(Soak *s, WsDraft *d, guint64 a, guint64 b)
{
    const guint64 both[] = { a, b };
    g_autofree char *text = ws_edit_copy(d->design, both, 2);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) clip = text ? ws_design_parse(text, strlen(text), NULL, findings) : NULL;
    if (!clip)
        return;
    if (pick(s, 2))
        ws_edit_paste(d, clip, ws_edit_spot(d->design, node_of(d, b)));
    else
        ws_edit_template(d, clip, ws_edit_spot(d->design, node_of(d, b)));
}

static void (*const action[])(Soak *s, WsDraft *d, guint64 a, guint64 b) = {
    nudge,     nudge, ahead, other_group, add,     add,    take_away, duplicate, wrap, unwrap,
    dent,      move,  move,  connect,     connect, turn,   ring,      replicate, mute, peel,
    rename_it, set,   set,   set,         paste,   rotate, part,      along,
};

static char *text_of(WsDocument *d)
{
    return ws_design_print(ws_document_latest(d));
}

/* What was committed can be written, read back, and is then the same. */
static void assert_whole(WsDocument *d)
{
    g_autofree char *text = text_of(d);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) back = ws_design_parse(text, strlen(text), NULL, findings);
    if (!back) {
        g_autofree char *said = ws_findings_print(findings, NULL);
        g_error("not read back: %s\n%s", said, text);
    }
    g_autofree char *again = ws_design_print(back);
    g_assert_cmpstr(again, ==, text);
}

static void act(Soak *s)
{
    WsDocument *d = s->document;
    const guint what = s->only_commits ? 99 : pick(s, 100);
    if (what < 12) {
        ws_document_undo(d);
    } else if (what < 18) {
        ws_document_redo(d);
    } else {
        g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(d));
        const guint64 a = some_node(s, draft->design, pick(s, 4) > 0);
        const guint64 b = some_node(s, draft->design, pick(s, 4) > 0);
        if (!a || !b)
            return;
        action[pick(s, G_N_ELEMENTS(action))](s, draft, a, b);
        if (draft->why) {
            g_assert_cmpuint(strlen(draft->why), >, 4);
            s->n_refused++;
            return;
        }
        if (what < 24) { /* only tried */
            ws_document_try(d, draft->design);
            if (pick(s, 2))
                seen_document_settle(d);
            ws_document_try(d, NULL);
            return;
        }
        s->n_commits += ws_document_commit(d, draft, pick(s, 5) ? NULL : "again");
    }
    if (pick(s, 20) == 0)
        seen_document_settle(d);
}

static Soak begin(guint seed, const char *path)
{
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(full);
    Soak s = { ws_document_new(), g_rand_new_with_seed(seed), 0, 0, FALSE };
    g_assert_true(ws_document_open(s.document, file, NULL));
    return s;
}

static void end(Soak *s)
{
    g_object_unref(s->document);
    g_rand_free(s->rand);
}

static const char *const designs[] = { "projects/gemm-bf16/design.wstave",
                                       "tests/designs/sparse-mla-pipes.wstave",
                                       "tests/designs/attention-tle-pingpong.wstave" };

static void walk(void)
{
    const guint n = number("WARPSTAVE_SOAK", 240), seed = number("WARPSTAVE_SEED", 1);
    guint done = 0;
    for (guint run = 0; done < n; run++) {
        Soak s = begin(seed + run, designs[run % G_N_ELEMENTS(designs)]);
        g_autofree char *first = text_of(s.document);
        for (guint i = 0; i < 80 && done < n; i++, done++) {
            act(&s);
            if (i % 8 == 0)
                assert_whole(s.document);
        }
        while (ws_document_redo(s.document))
            ;
        g_autofree char *last = text_of(s.document);
        while (ws_document_undo(s.document))
            ;
        g_autofree char *back = text_of(s.document);
        g_assert_cmpstr(back, ==, first);
        g_assert_false(ws_document_dirty(s.document));
        while (ws_document_redo(s.document))
            ;
        g_autofree char *again = text_of(s.document);
        g_assert_cmpstr(again, ==, last);
        seen_document_settle(s.document);
        g_test_message("seed %u: %u committed, %u refused", seed + run, s.n_commits, s.n_refused);
        end(&s);
    }
}

/* --- SIGKILL
 * ------------------------------------------------------------------------------------------ */

/* Commits until it is killed, telling of each state once it is committed. */
static void child(guint seed, int fd)
{
    Soak s = begin(seed, designs[0]);
    s.only_commits = TRUE;
    for (;;) {
        const guint before = s.n_commits;
        act(&s);
        if (s.n_commits == before)
            continue;
        g_autofree char *text = text_of(s.document);
        g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
        if (write(fd, sum, 64) != 64)
            _exit(1);
    }
}

static void kill_one(guint seed, guint64 wait)
{
    int fd[2];
    char sum[65] = "", last[65] = "";
    g_assert_cmpint(pipe(fd), ==, 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        child(seed, fd[1]);
    }
    close(fd[1]);
    struct pollfd told = { fd[0], POLLIN, 0 };
    if (seed % 4) /* the others may be killed before their first edit */
        poll(&told, 1, 20000);
    g_usleep(wait);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    guint n = 0;
    while (read(fd[0], sum, 64) == 64) {
        n++;
        memcpy(last, sum, sizeof last);
    }
    close(fd[0]);
    g_autoptr(GPtrArray) lost = ws_journal_lost();
    g_test_message("killed after %u commits, %u journals", n, lost->len);
    g_assert_cmpuint(lost->len, <=, 1); /* it may be killed before it told of its first one */
    g_assert_cmpuint(lost->len, >=, n > 0);
    if (!lost->len)
        return;
    const WsLost *found = lost->pdata[0];
    g_assert_cmpuint(found->n_edits, >=, n);
    g_autofree char *text = ws_design_print(found->design);
    g_autofree char *now = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    if (found->n_edits == n) /* what was told of last is what is found */
        g_assert_cmpstr(now, ==, last);
    ws_lost_remove(found);
}

static void killed(void)
{
    const guint n = MAX(number("WARPSTAVE_SOAK", 240) / 400, 2), seed = number("WARPSTAVE_SEED", 1);
    for (guint i = 0; i < n; i++)
        kill_one(seed + 1000 + i, 30000 + (i * 37 % 11) * 20000);
}

int main(int argc, char **argv)
{
    g_autofree char *state = g_dir_make_tmp("warpstave-soak-XXXXXX", NULL);
    g_setenv("XDG_STATE_HOME", state, TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/soak/killed", killed); /* before any thread is started here */
    g_test_add_func("/soak/walk", walk);
    const int failed = g_test_run();
    remove_tree(state);
    return failed;
}
