/* Saving where it cannot be done: a full disk, a file or folder that may not be written, a folder
 * that is gone. The window says what is wrong and what to do, the design stays open as it is, the
 * file as it was, and saving works again once it can. */
#include "scenario/hands.h"
#include "scenario/seen.h"

#include "ui/document/journal.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOADS "groups/load/body/0/do/0/do/"

typedef struct {
    char *folder, *path;
    GFile *file;
    char *saved;  /* what the file held before */
    char *edited; /* the design that is not saved */
} Case;

static void edit_something(Scenario *s)
{
    hands_select(s, LOADS "2", FALSE);
    scenario_act(s, "earlier");
    hands_settle(s);
}

/* A saved design, and one more edit. */
static Case begin(Scenario *s)
{
    Case c = { .folder = g_dir_make_tmp("disk-XXXXXX", NULL) };
    c.path = g_build_filename(c.folder, "mine.wstave", NULL);
    c.file = g_file_new_for_path(c.path);
    edit_something(s);
    g_assert_true(ws_document_save(s->document, c.file, NULL));
    c.saved = hands_text(s);
    edit_something(s);
    c.edited = hands_text(s);
    g_assert_cmpstr(c.saved, !=, c.edited);
    return c;
}

static void end(Case *c)
{
    g_unlink(c->path);
    g_rmdir(c->folder);
    g_object_unref(c->file);
    g_free(c->folder);
    g_free(c->path);
    g_free(c->saved);
    g_free(c->edited);
}

/* Ctrl+S was pressed: it said these two things, and nothing is lost. */
static void assert_told(Scenario *s, const Case *c, const char *what, const char *remedy)
{
    scenario_settle(GTK_WIDGET(s->window));
    g_autofree char *said = scenario_text(GTK_WIDGET(s->window));
    g_autofree char *now = hands_text(s);
    if (!strstr(said, "Cannot save") || !strstr(said, what) || !strstr(said, remedy))
        g_error("wanted: %s; %s\nit said: %s", what, remedy, said);
    g_assert_cmpstr(now, ==, c->edited);
    g_assert_true(ws_document_dirty(s->document));
    g_assert_true(scenario_enabled(s, "undo"));
}

static void assert_file(const Case *c, const char *wanted)
{
    g_autofree char *text = NULL;
    guint n = 0;
    g_autoptr(GDir) dir = g_dir_open(c->folder, 0, NULL);
    while (g_dir_read_name(dir))
        n++;
    g_assert_cmpuint(n, ==, 1); /* no half-written file beside it */
    g_assert_true(g_file_get_contents(c->path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, wanted);
}

/* It can be written again: so it is, and the complaint goes. */
static void assert_saves(Scenario *s, const Case *c)
{
    scenario_key("ctrl+s");
    WAIT_FOR(!ws_document_dirty(s->document));
    GtkWidget *bar = scenario_find_type(GTK_WIDGET(s->window), "GtkInfoBar");
    WAIT_FOR(!bar || !gtk_info_bar_get_revealed(GTK_INFO_BAR(bar)));
    assert_file(c, c->edited);
}

/* --- a full disk
 * --------------------------------------------------------------------------------- */

/* The device that is always full, by the name of a design. */
static void full(Scenario *s)
{
    if (access("/dev/full", W_OK) != 0) {
        g_test_skip("no /dev/full");
        return;
    }
    Case c = begin(s);
    g_unlink(c.path);
    g_assert_cmpint(symlink("/dev/full", c.path), ==, 0);
    scenario_key("ctrl+s");
    assert_told(s, &c, "No space left on device", "Make room and save again");
    g_unlink(c.path);
    assert_saves(s, &c);
    end(&c);
}

/* The file grows beyond what may be written, in the middle of writing it. */
static void cut_short(Scenario *s)
{
    Case c = begin(s);
    struct rlimit old, little;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &old), ==, 0);
    little = (struct rlimit){ 100, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    g_action_group_activate_action(G_ACTION_GROUP(s->window), "save", NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    assert_told(s, &c, "File too large", "Save As");
    assert_file(&c, c.saved);
    assert_saves(s, &c);
    end(&c);
}

/* --- not allowed
 * --------------------------------------------------------------------------------- */

/* As somebody whom permissions bind: root is let through otherwise. */
static void save_as_nobody(Scenario *s)
{
    const gboolean root = geteuid() == 0;
    if (root)
        setfsuid(65534);
    g_action_group_activate_action(G_ACTION_GROUP(s->window), "save", NULL);
    if (root)
        setfsuid(0);
}

static gboolean can_be_denied(Case *c)
{
    if (geteuid() != 0)
        return TRUE;
    /* Nobody must be able to reach the folder at all. */
    g_assert_cmpint(g_chmod(c->folder, 0777), ==, 0);
    setfsuid(65534);
    const gboolean reached = access(c->folder, F_OK) == 0 && setfsuid((uid_t)-1) == 65534;
    setfsuid(0);
    if (!reached)
        g_test_skip("running as root, which cannot be denied here");
    return reached;
}

static void read_only_file(Scenario *s)
{
    Case c = begin(s);
    if (can_be_denied(&c)) {
        g_assert_cmpint(g_chmod(c.path, 0444), ==, 0);
        save_as_nobody(s);
        assert_told(s, &c, "Permission denied", "change the permissions and save again");
        assert_file(&c, c.saved);
        g_assert_cmpint(g_chmod(c.path, 0644), ==, 0);
        assert_saves(s, &c);
    }
    end(&c);
}

static void read_only_folder(Scenario *s)
{
    Case c = begin(s);
    if (can_be_denied(&c)) {
        g_assert_cmpint(g_chmod(c.path, 0666), ==, 0);
        g_assert_cmpint(g_chmod(c.folder, 0555), ==, 0);
        save_as_nobody(s);
        assert_told(s, &c, "Permission denied", "Save to a folder of yours with Save As");
        assert_file(&c, c.saved);
        g_assert_cmpint(g_chmod(c.folder, 0755), ==, 0);
        assert_saves(s, &c);
    }
    end(&c);
}

/* --- gone
 * ---------------------------------------------------------------------------------------- */

static void vanished(Scenario *s)
{
    Case c = begin(s);
    g_assert_cmpint(g_unlink(c.path), ==, 0);
    g_assert_cmpint(g_rmdir(c.folder), ==, 0);
    scenario_key("ctrl+s");
    assert_told(s, &c, "No such file or directory", "The folder is gone");
    g_assert_cmpint(g_mkdir(c.folder, 0755), ==, 0);
    assert_saves(s, &c);
    end(&c);
}

/* --- no place for the journal: it is said once, and editing goes on
 * ------------------------------ */

static void journal(Scenario *s)
{
    g_autofree char *folder = ws_journal_folder();
    g_autofree char *parent = g_path_get_dirname(folder);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    g_rmdir(folder);
    if (!g_file_set_contents(folder, "in the way", -1, NULL)) {
        g_test_skip("the journal's folder is in use");
        return;
    }
    edit_something(s);
    g_autofree char *said = scenario_text(GTK_WIDGET(s->window));
    g_assert_nonnull(strstr(said, "Edits cannot be kept for recovery"));
    g_assert_nonnull(strstr(said, "Save often"));
    g_assert_cmpuint(hands_states(s), ==, 2);
    g_unlink(folder);
    /* Once it is saved, edits are kept again; what is saved is not offered for recovery. */
    Case c = begin(s);
    seen_document_crash(s->document);
    g_autoptr(GPtrArray) lost = ws_journal_lost();
    g_assert_cmpuint(lost->len, ==, 1);
    g_autofree char *kept = ws_design_print(((WsLost *)lost->pdata[0])->design);
    g_assert_cmpstr(kept, ==, c.edited);
    ws_lost_remove(lost->pdata[0]);
    end(&c);
}

/* The disk fills up while edits are journalled: after a save nothing of that is offered. */
static void journal_cut_short(Scenario *s)
{
    struct rlimit old, little;
    edit_something(s); /* the journal has begun */
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &old), ==, 0);
    little = (struct rlimit){ 100, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    for (guint i = 0; i < 2; i++) /* nothing else writes meanwhile */
        g_action_group_activate_action(G_ACTION_GROUP(s->window), "later", NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    hands_settle(s);
    g_autofree char *said = scenario_text(GTK_WIDGET(s->window));
    g_assert_nonnull(strstr(said, "Edits cannot be kept for recovery"));
    Case c = begin(s);
    g_assert_true(ws_document_save(s->document, c.file, NULL));
    g_autoptr(GPtrArray) lost = ws_journal_lost();
    g_assert_cmpuint(lost->len, ==, 0);
    end(&c);
}

static void add(void)
{
    scenario_add("disk/full", full);
    scenario_add("disk/cut-short", cut_short);
    scenario_add("disk/read-only-file", read_only_file);
    scenario_add("disk/read-only-folder", read_only_folder);
    scenario_add("disk/vanished-folder", vanished);
    scenario_add("disk/no-journal", journal);
    scenario_add("disk/journal-cut-short", journal_cut_short);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
