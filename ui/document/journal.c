#include "ui/document/journal.h"

#include "base/file.h"
#include "model/design.h"
#include "model/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Records follow each other; each is a line "WORD LENGTH\n" and LENGTH bytes and a newline:
 *   journal   the format's version
 *   file      URI of the design's file, empty if it has none
 *   design    its text
 *   edit      name, newline, edits one per line
 *   join      the same, as part of the step before
 *   undo, redo (empty) */
#define VERSION "1"

struct WsJournal {
    WsDesign *base;
    char *uri;
    char *path; /* NULL: nothing written yet */
    int fd;
    gboolean failed;
};

char *ws_journal_folder(void)
{
    return g_build_filename(g_get_user_state_dir(), "warpstave", "journal", NULL);
}

WsJournal *ws_journal_new(const WsDesign *design, GFile *file)
{
    WsJournal *j = g_new0(WsJournal, 1);
    j->base = ws_design_ref(design);
    j->uri = file ? g_file_get_uri(file) : g_strdup("");
    j->fd = -1;
    return j;
}

static void close_file(WsJournal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    g_clear_pointer(&j->path, g_free);
}

void ws_journal_abandon(WsJournal *j)
{
    if (!j)
        return;
    close_file(j);
    ws_design_unref(j->base);
    g_free(j->uri);
    g_free(j);
}

void ws_journal_free(WsJournal *j)
{
    if (j && j->path)
        g_unlink(j->path);
    ws_journal_abandon(j);
}

/* --- writing ------------------------------------------------------------------------------------
 */

static void add_record(GString *s, const char *word, const char *body, gsize length)
{
    g_string_append_printf(s, "%s %" G_GSIZE_FORMAT "\n", word, length);
    g_string_append_len(s, body, (gssize)length);
    g_string_append_c(s, '\n');
}

static gboolean fail(WsJournal *j, GError **error)
{
    const int code = errno;
    g_autofree char *folder = ws_journal_folder();
    const gboolean first = !j->failed;
    j->failed = TRUE; /* what was written stays, until a save makes it needless */
    if (first)
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code),
                    "the journal in %s cannot be written: %s", folder, g_strerror(code));
    return !first;
}

static gboolean append(WsJournal *j, const GString *record, GError **error)
{
    if (j->failed)
        return TRUE; /* said once */
    const off_t end = lseek(j->fd, 0, SEEK_END);
    if (ws_file_write_all(j->fd, record->str, record->len))
        return TRUE;
    const int code = errno;
    if (end >= 0 && ftruncate(j->fd, end) != 0) /* half a record is left out when it is read */
        g_debug("journal: %s", g_strerror(errno));
    errno = code;
    return fail(j, error);
}

static gboolean begin(WsJournal *j, GError **error)
{
    if (j->fd >= 0 || j->failed)
        return TRUE;
    g_autofree char *folder = ws_journal_folder();
    if (g_mkdir_with_parents(folder, 0700) != 0)
        return fail(j, error);
    j->path = g_build_filename(folder, "XXXXXX.journal", NULL);
    j->fd = g_mkstemp_full(j->path, O_RDWR | O_CLOEXEC, 0600);
    if (j->fd < 0)
        g_clear_pointer(&j->path, g_free);
    if (j->fd < 0 || flock(j->fd, LOCK_EX | LOCK_NB) != 0)
        return fail(j, error);
    g_autoptr(GString) head = g_string_new(NULL);
    g_autofree char *text = ws_design_print(j->base);
    add_record(head, "journal", VERSION, strlen(VERSION));
    add_record(head, "file", j->uri, strlen(j->uri));
    add_record(head, "design", text, strlen(text));
    return append(j, head, error);
}

gboolean ws_journal_edit(WsJournal *j, const char *name, const char *script, gboolean joined,
                         GError **error)
{
    if (!begin(j, error))
        return FALSE;
    g_autoptr(GString) record = g_string_new(NULL);
    g_autofree char *body = g_strdup_printf("%s\n%s", name, script);
    add_record(record, joined ? "join" : "edit", body, strlen(body));
    return append(j, record, error);
}

gboolean ws_journal_move(WsJournal *j, gboolean redo, GError **error)
{
    if (!begin(j, error))
        return FALSE;
    g_autoptr(GString) record = g_string_new(NULL);
    add_record(record, redo ? "redo" : "undo", "", 0);
    return append(j, record, error);
}

void ws_journal_saved(WsJournal *j, const WsDesign *design, GFile *file)
{
    if (j->path)
        g_unlink(j->path);
    close_file(j);
    j->failed = FALSE;
    ws_design_unref(j->base);
    j->base = ws_design_ref(design);
    g_free(j->uri);
    j->uri = file ? g_file_get_uri(file) : g_strdup("");
}

/* --- reading ------------------------------------------------------------------------------------
 */

void ws_lost_free(WsLost *lost)
{
    if (!lost)
        return;
    g_clear_object(&lost->file);
    g_clear_pointer(&lost->design, ws_design_unref);
    g_free(lost->path);
    g_free(lost);
}

/* The next record at *at: word and body (both to be freed); FALSE at the end or where it is cut. */
static gboolean next_record(const char **at, const char *end, char **word, char **body)
{
    const char *line = memchr(*at, '\n', (gsize)(end - *at));
    const char *space = line ? memchr(*at, ' ', (gsize)(line - *at)) : NULL;
    guint64 length;
    g_autofree char *number = space ? g_strndup(space + 1, (gsize)(line - space - 1)) : NULL;
    if (!number || !g_ascii_string_to_unsigned(number, 10, 0, 1 << 24, &length, NULL) ||
        (guint64)(end - line - 1) < length + 1)
        return FALSE;
    *word = g_strndup(*at, (gsize)(space - *at));
    *body = g_strndup(line + 1, length);
    *at = line + 1 + length + 1;
    return TRUE;
}

static WsDesign *replay(const WsDesign *design, const char *body)
{
    g_auto(GStrv) line = g_strsplit(body, "\n", -1);
    WsDesign *now = ws_design_ref(design);
    for (guint i = 1; now && line[0] && line[i]; i++) {
        if (!*line[i])
            continue;
        g_autoptr(WsFindings) ignored = ws_findings_new();
        g_autoptr(WsEdit) edit = ws_edit_parse(line[i], NULL);
        WsDesign *next = edit ? ws_design_apply(now, edit, ignored) : NULL;
        ws_design_unref(now);
        now = next;
    }
    return now;
}

static void take_record(WsLost *lost, GPtrArray *state, guint *now, const char *word,
                        const char *body)
{
    if (!strcmp(word, "file") && *body) {
        lost->file = g_file_new_for_uri(body);
    } else if (!strcmp(word, "design")) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        WsDesign *design = ws_design_parse(body, strlen(body), NULL, findings);
        if (design)
            g_ptr_array_add(state, design);
        *now = 0;
    } else if ((!strcmp(word, "edit") || !strcmp(word, "join")) && state->len) {
        const gboolean join = *word == 'j' && *now > 0;
        WsDesign *next = replay(state->pdata[*now], body);
        if (!next)
            return;
        *now += join ? 0 : 1;
        g_ptr_array_set_size(state, (gint)*now);
        g_ptr_array_add(state, next);
        lost->n_edits++;
    } else if (!strcmp(word, "undo") && *now > 0) {
        --*now;
    } else if (!strcmp(word, "redo") && *now + 1 < state->len) {
        ++*now;
    }
}

WsLost *ws_lost_read(const char *path)
{
    g_autofree char *text = NULL;
    gsize length;
    struct stat st;
    if (!g_file_get_contents(path, &text, &length, NULL) || stat(path, &st) != 0)
        return NULL;
    g_autoptr(GPtrArray) state = g_ptr_array_new_with_free_func((GDestroyNotify)ws_design_unref);
    WsLost *lost = g_new0(WsLost, 1);
    lost->path = g_strdup(path);
    lost->time = st.st_mtime;
    guint now = 0;
    const char *at = text;
    char *word, *body;
    while (next_record(&at, text + length, &word, &body)) {
        take_record(lost, state, &now, word, body);
        g_free(word);
        g_free(body);
    }
    if (state->len)
        lost->design = ws_design_ref(state->pdata[now]);
    if (lost->design)
        return lost;
    ws_lost_free(lost);
    return NULL;
}

/* Whether a running program holds it. */
static gboolean is_held(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return TRUE;
    const gboolean free_to_take = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return !free_to_take;
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
    const WsLost *x = *(WsLost *const *)a, *y = *(WsLost *const *)b;
    return x->time < y->time ? 1 : x->time > y->time ? -1 : g_strcmp0(x->path, y->path);
}

GPtrArray *ws_journal_lost(void)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)ws_lost_free);
    g_autofree char *folder = ws_journal_folder();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (!g_str_has_suffix(name, ".journal") || is_held(path))
            continue;
        WsLost *lost = ws_lost_read(path);
        if (lost && lost->n_edits) {
            g_ptr_array_add(all, lost);
            continue;
        }
        ws_lost_free(lost);
        g_unlink(path);
    }
    g_ptr_array_sort(all, newest_first);
    return all;
}

void ws_lost_remove(const WsLost *lost)
{
    g_unlink(lost->path);
}
