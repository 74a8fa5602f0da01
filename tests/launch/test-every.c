/* A trace of which one round of inner loops in so many was recorded. */
#include "launch/collect.h"

#include "recorded.h"

/* One round in four: nothing of the others, nothing lost, and what was recorded has the times that
 * it has in the whole trace. */
static void test_every(Fixture *f, gconstpointer every)
{
    g_autoptr(GError) error = NULL;
    guint64 missing;
    g_autoptr(WsTrace) t =
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size, NULL, NULL, &missing, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(missing, ==, 0);
    Fixture whole = { 0 };
    set_up(&whole, NULL);
    g_autoptr(WsTrace) all = ws_measure(whole.p, whole.v, whole.plan, GRID, whole.data, whole.size,
                                        NULL, NULL, &missing, &error);
    guint inner = 0, outer = 0;
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        const gboolean counted = strchr(t->op_loop->pdata[r->op], '/') != NULL;
        g_assert_true(!counted || r->round % GPOINTER_TO_INT(every) == 2);
        inner += counted;
        outer += !counted;
        gboolean known = FALSE;
        for (guint k = 0; k < all->record->len && !known; k++) {
            const WsTraceRecord *o = &g_array_index(all->record, WsTraceRecord, k);
            known = o->op == r->op && o->cta == r->cta && o->round == r->round &&
                    o->start <= r->start && o->issued >= r->issued &&
                    (r->done < 0 || r->done <= MAX(o->done, o->issued));
        }
        g_assert_true(known);
    }
    g_assert_cmpuint(inner, >, 20);
    g_assert_cmpuint(outer, >, 4);
    tear_down(&whole, NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/launch/every/measure", Fixture, GINT_TO_POINTER(4), set_up, test_every, tear_down);
    return g_test_run();
}
