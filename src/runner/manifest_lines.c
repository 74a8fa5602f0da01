/* The lines of bundle.txt, one function and one row each. */
#include "runner/manifest_line.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef WsLineReader Reader;
#define fail ws_line_fail

static bool get_int(Reader *r, int i, int64_t low, int64_t high, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(r->word[i], &end, 10);
    if (errno || end == r->word[i] || *end)
        return fail(r, "'%s' is not an integer", r->word[i]);
    if (v < low || v > high)
        return fail(r, "%s is outside %" PRId64 "..%" PRId64, r->word[i], low, high);
    *out = v;
    return true;
}

static bool get_u32(Reader *r, int i, int64_t low, int64_t high, uint32_t *out)
{
    int64_t v;
    if (!get_int(r, i, low, high, &v))
        return false;
    *out = (uint32_t)v;
    return true;
}

static bool get_real(Reader *r, int i, double low, double high, double *out)
{
    char *end;
    double v = strtod(r->word[i], &end);
    if (end == r->word[i] || *end || !isfinite(v))
        return fail(r, "'%s' is not a number", r->word[i]);
    if (v < low || v > high)
        return fail(r, "%s is outside %g..%g", r->word[i], low, high);
    *out = v;
    return true;
}

static bool copy(Reader *r, const char *text, char *out, size_t size)
{
    if (strlen(text) >= size)
        return fail(r, "'%.40s…' is longer than %zu bytes", text, size - 1);
    strcpy(out, text);
    return true;
}

/* A file of the bundle: a plain name, so that a bundle can reach nothing outside its folder. */
static bool get_file(Reader *r, int i, char *out, size_t size)
{
    if (strchr(r->word[i], '/') || r->word[i][0] == '.')
        return fail(r, "'%s' must be a plain file name inside the bundle", r->word[i]);
    return copy(r, r->word[i], out, size);
}

static bool get_word(Reader *r, int i, const char *const *words, int n, int *out)
{
    for (int w = 0; w < n; w++)
        if (strcmp(r->word[i], words[w]) == 0) {
            *out = w;
            return true;
        }
    return fail(r, "unknown word '%s'", r->word[i]);
}

static const char *const dtype_text[] = {
#define WS_DTYPE(id, text, bytes, real) text,
#include "program/dtype.def"
#undef WS_DTYPE
};

/* --- header lines ------------------------------------------------------------------------------
 */

static bool read_name(Reader *r)
{
    return copy(r, r->rest, r->m->name, sizeof r->m->name);
}
static bool read_target(Reader *r)
{
    if (strcmp(r->word[1], "sm_90a") != 0 && strcmp(r->word[1], "gfx950") != 0)
        return fail(r, "target '%s': this runner knows sm_90a and gfx950", r->word[1]);
    return copy(r, r->word[1], r->m->target, sizeof r->m->target);
}
static bool read_hash(Reader *r)
{
    return copy(r, r->word[1], r->m->hash, sizeof r->m->hash);
}
static bool read_entry(Reader *r)
{
    return copy(r, r->word[1], r->m->entry, sizeof r->m->entry);
}
static bool read_program(Reader *r)
{
    return get_file(r, 1, r->m->program, sizeof r->m->program);
}
static bool read_block(Reader *r)
{
    WsManifest *m = r->m;
    return get_u32(r, 1, 1, 1024, &m->threads) && get_u32(r, 2, 1, 16, &m->cluster) &&
           get_u32(r, 3, 0, 1 << 20, &m->shared);
}
static bool read_module(Reader *r)
{
    static const char *const kinds[] = { "timed", "traced", "debug" };
    int kind = 0;
    return get_word(r, 1, kinds, 3, &kind) &&
           get_file(r, 2, r->m->module[kind], sizeof r->m->module[kind]);
}
static bool read_seed(Reader *r)
{
    int64_t v;
    if (!get_int(r, 1, 0, INT64_MAX, &v))
        return false;
    r->m->seed = (uint64_t)v;
    return true;
}
static bool read_runs(Reader *r)
{
    return get_u32(r, 1, 1, 10000, &r->m->runs);
}
static bool read_sustained(Reader *r)
{
    return get_real(r, 1, 0, 600, &r->m->sustained);
}
static bool read_timeout(Reader *r)
{
    return get_real(r, 1, 0.1, 3600, &r->m->timeout);
}
static bool read_rate(Reader *r)
{
    return get_real(r, 1, 0, 1e9, &r->m->rate);
}
static bool read_sizes(Reader *r)
{
    WsManifest *m = r->m;
    if (r->n - 1 > WS_MANIFEST_SIZES)
        return fail(r, "more than %d sizes", WS_MANIFEST_SIZES);
    for (m->n_sizes = 0; m->n_sizes < r->n - 1; m->n_sizes++)
        if (!copy(r, r->word[m->n_sizes + 1], m->size[m->n_sizes], WS_MANIFEST_NAME))
            return false;
    return true;
}
static bool read_scalar(Reader *r)
{
    WsManifest *m = r->m;
    double v;
    if (m->n_scalars == WS_MANIFEST_SCALARS)
        return fail(r, "more than %d scalars", WS_MANIFEST_SCALARS);
    if (!copy(r, r->word[1], m->scalar[m->n_scalars], WS_MANIFEST_NAME) ||
        !get_real(r, 2, -3.4e38, 3.4e38, &v))
        return false;
    m->scalar_value[m->n_scalars++] = (float)v;
    return true;
}
static bool read_tensor(Reader *r)
{
    static const char *const access[] = { "read", "write", "reduce", "exchange" };
    WsManifest *m = r->m;
    if (m->n_tensors == WS_MANIFEST_TENSORS)
        return fail(r, "more than %d tensors", WS_MANIFEST_TENSORS);
    WsRunTensor *t = &m->tensor[m->n_tensors];
    int a = 0;
    int64_t rank = 0;
    if (!copy(r, r->word[1], t->name, sizeof t->name) ||
        !get_word(r, 2, dtype_text, WS_INPUT_TYPE_COUNT, &t->dtype) ||
        !get_int(r, 3, 1, WS_MANIFEST_RANK, &rank) || !get_word(r, 4, access, 4, &a) ||
        !get_real(r, 5, 0, 1e30, &t->tolerance_abs) || !get_real(r, 6, 0, 1e30, &t->tolerance_rel))
        return false;
    t->rank = (int)rank;
    t->access = (WsRunAccess)a;
    m->n_tensors++;
    return true;
}
static bool read_reference(Reader *r)
{
    static const char *const says[] = { "any" };
    int64_t t = 0;
    int word = 0;
    if (!get_int(r, 1, 0, r->m->n_tensors - 1, &t) || (r->n > 3 && !get_word(r, 3, says, 1, &word)))
        return false;
    r->m->tensor[t].any = r->n > 3;
    return get_file(r, 2, r->m->tensor[t].reference, sizeof r->m->tensor[t].reference);
}
static bool read_map(Reader *r)
{
    WsManifest *m = r->m;
    if (m->n_maps == WS_MANIFEST_MAPS)
        return fail(r, "more than %d tensor maps", WS_MANIFEST_MAPS);
    WsRunMap *map = &m->map[m->n_maps];
    int64_t t = 0, swizzle = 0;
    if (!get_int(r, 1, 0, m->n_tensors - 1, &t) || !get_int(r, 2, 0, 128, &swizzle))
        return false;
    if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
        return fail(r, "swizzle %s is none of 0, 32, 64, 128", r->word[2]);
    map->tensor = (int)t;
    map->swizzle = (int)swizzle;
    map->rank = m->tensor[t].rank;
    if (r->n - 3 != map->rank)
        return fail(r, "tensor %s has rank %d, the box %d dimensions", m->tensor[t].name, map->rank,
                    r->n - 3);
    for (int d = 0; d < map->rank; d++)
        if (!get_u32(r, 3 + d, 1, 256, &map->box[d]))
            return false;
    m->n_maps++;
    return true;
}
static bool read_wait(Reader *r)
{
    WsManifest *m = r->m;
    if (m->n_waits == WS_MANIFEST_WAITS)
        return fail(r, "more than %d waits", WS_MANIFEST_WAITS);
    WsRunWait *w = &m->wait[m->n_waits];
    if (!get_u32(r, 1, 0, UINT32_MAX, &w->op) || !copy(r, r->word[2], w->agent, sizeof w->agent) ||
        !copy(r, r->word[3], w->barrier, sizeof w->barrier) ||
        !copy(r, r->word[4], w->step, sizeof w->step))
        return false;
    m->n_waits++;
    return true;
}
static bool read_agents(Reader *r)
{
    WsManifest *m = r->m;
    if (r->n - 1 > WS_MANIFEST_AGENTS)
        return fail(r, "more than %d agents", WS_MANIFEST_AGENTS);
    for (m->n_agents = 0; m->n_agents < r->n - 1; m->n_agents++)
        if (!copy(r, r->word[m->n_agents + 1], m->agent[m->n_agents], WS_MANIFEST_NAME))
            return false;
    return true;
}
/* adversary MOVES hang|harm */
static bool read_adversary(Reader *r)
{
    static const char *const ends[] = { "harm", "hang" };
    int end = 0;
    if (!get_u32(r, 1, 0, INT32_MAX, &r->m->moves) || !get_word(r, 2, ends, 2, &end))
        return false;
    r->m->adversary = true;
    r->m->hangs = end == 1;
    return true;
}
static bool read_told(Reader *r)
{
    return copy(r, r->rest, r->m->told, sizeof r->m->told);
}
/* await OP RANK SLOT PARITY ROUND… */
static bool read_await(Reader *r)
{
    WsManifest *m = r->m;
    int64_t parity = 0;
    if (m->n_awaits == WS_MANIFEST_AWAITS)
        return fail(r, "more than %d awaits", WS_MANIFEST_AWAITS);
    WsRunAwait *a = &m->await[m->n_awaits];
    if (!get_u32(r, 1, 0, UINT32_MAX, &a->op) || !get_u32(r, 2, 0, 15, &a->rank) ||
        !get_u32(r, 3, 0, UINT32_MAX, &a->slot) || !get_int(r, 4, -1, 1, &parity))
        return false;
    a->parity = (int)parity;
    for (a->n_rounds = 0; a->n_rounds < r->n - 5; a->n_rounds++)
        if (!get_int(r, 5 + a->n_rounds, INT64_MIN, INT64_MAX, &a->round[a->n_rounds]))
            return false;
    m->n_awaits++;
    return true;
}
static bool read_records(Reader *r)
{
    WsManifest *m = r->m;
    int64_t bytes;
    if (!get_int(r, 1, 0, (int64_t)1 << 32, &bytes) ||
        !get_int(r, 2, 0, INT64_MAX, &m->first_round) || !get_int(r, 3, 0, INT64_MAX, &m->rounds) ||
        !get_int(r, 4, 0, INT64_MAX, &m->first_tile) || !get_int(r, 5, 0, INT64_MAX, &m->tiles))
        return false;
    m->every = 1;
    if (r->n > 6 && !get_int(r, 6, 2, 1024, &m->every))
        return false;
    if (m->every & (m->every - 1))
        return fail(r, "one round in so many is recorded: a power of two");
    m->launches = 1;
    if (r->n > 7 && !get_int(r, 7, 2, WS_MANIFEST_LAUNCHES, &m->launches))
        return false;
    if (m->launches > 1 && m->launches != m->every)
        return fail(r, "of launches that take turns each records one round in as many");
    m->record_bytes = (uint64_t)bytes;
    return true;
}
static bool read_plan(Reader *r)
{
    int64_t v = 0;
    if (!get_int(r, 1, 0, INT64_MAX, &v))
        return false;
    r->m->plan = (uint64_t)v;
    return true;
}
static bool read_counter(Reader *r)
{
    r->m->counter = true;
    return true;
}
/* mesh SIZE FLAG…: the size that numbers the devices */
static bool read_mesh(Reader *r)
{
    WsManifest *m = r->m;
    if (r->n - 2 > WS_MANIFEST_FLAGS)
        return fail(r, "more than %d flags", WS_MANIFEST_FLAGS);
    for (m->rank = 0; m->rank < m->n_sizes; m->rank++)
        if (strcmp(r->word[1], m->size[m->rank]) == 0)
            break;
    if (m->rank == m->n_sizes)
        return fail(r, "'%s' is not a size", r->word[1]);
    for (m->n_flags = 0; m->n_flags < r->n - 2; m->n_flags++)
        if (!copy(r, r->word[m->n_flags + 2], m->flag[m->n_flags], WS_MANIFEST_NAME))
            return false;
    m->mesh = true;
    return true;
}
/* ctas ID…, or ctas all N: 0 to N - 1 */
static bool read_ctas(Reader *r)
{
    WsManifest *m = r->m;
    if (r->n == 3 && strcmp(r->word[1], "all") == 0) {
        int64_t n = 0;
        if (!get_int(r, 2, 1, WS_MANIFEST_CTAS, &n))
            return false;
        for (m->n_ctas = 0; m->n_ctas < n; m->n_ctas++)
            m->cta[m->n_ctas] = (uint32_t)m->n_ctas;
        return true;
    }
    if (r->n - 1 > WS_MANIFEST_CTAS)
        return fail(r, "more than %d CTAs", WS_MANIFEST_CTAS);
    for (m->n_ctas = 0; m->n_ctas < r->n - 1; m->n_ctas++)
        if (!get_u32(r, m->n_ctas + 1, 0, INT32_MAX, &m->cta[m->n_ctas]))
            return false;
    return true;
}

/* --- cases ------------------------------------------------------------------------------------ */

bool ws_line_close_case(Reader *r)
{
    WsManifest *m = r->m;
    uint32_t all = (1u << m->n_tensors) - 1;
    if (!r->now)
        return true;
    if (!r->sized)
        return fail(r, "case %s has no `values` line", r->now->label);
    if (m->mesh && r->meshed != 3)
        return fail(r, "case %s of a mesh has no `devices`, or not as many `flags` lines as one",
                    r->now->label);
    if (r->filled != all || r->extended != all)
        return fail(r, "case %s does not describe every tensor (extent and fill lines)",
                    r->now->label);
    return true;
}
static bool read_case(Reader *r)
{
    static const char *const kinds[] = { "ctas", "sms" };
    WsManifest *m = r->m;
    int kind = 0;
    if (!ws_line_close_case(r))
        return false;
    if (m->n_cases == WS_MANIFEST_CASES)
        return fail(r, "more than %d cases", WS_MANIFEST_CASES);
    WsRunCase *c = r->now = &m->case_[m->n_cases];
    r->filled = r->extended = 0;
    r->meshed = 0;
    r->sized = false;
    if (!copy(r, r->word[1], c->label, sizeof c->label) || !get_word(r, 2, kinds, 2, &kind) ||
        !get_int(r, 3, 0, INT32_MAX, &c->grid) || !get_int(r, 4, 0, INT64_MAX, &c->tiles) ||
        !get_real(r, 5, 0, 1e30, &c->flops))
        return false;
    c->grid_sms = kind == 1;
    if (c->grid % m->cluster)
        return fail(r, "grid %" PRId64 " is not a multiple of the cluster size %u", c->grid,
                    m->cluster);
    m->n_cases++;
    return true;
}
static bool read_devices(Reader *r)
{
    if (!r->m->mesh || (r->meshed & 1))
        return fail(r, r->m->mesh ? "a second `devices` line" : "`devices` without a `mesh` line");
    r->meshed |= 1;
    return get_int(r, 1, 1, 1 << 16, &r->now->devices);
}
/* flags ELEMENTS ADDS …, of each flag */
static bool read_flags(Reader *r)
{
    WsManifest *m = r->m;
    if (!m->mesh || (r->meshed & 2))
        return fail(r, m->mesh ? "a second `flags` line" : "`flags` without a `mesh` line");
    if (r->n - 1 != 2 * m->n_flags)
        return fail(r, "%d numbers for %d flags: elements and what a launch adds, of each",
                    r->n - 1, m->n_flags);
    for (int f = 0; f < m->n_flags; f++)
        if (!get_int(r, 1 + 2 * f, 1, 1 << 20, &r->now->elements[f]) ||
            !get_int(r, 2 + 2 * f, 0, INT32_MAX, &r->now->adds[f]))
            return false;
    r->meshed |= 2;
    return true;
}
/* hilbert WIDTH HEIGHT */
static bool read_hilbert(Reader *r)
{
    int64_t *extent = r->now->hilbert;
    if (!get_int(r, 1, 1, 1 << 24, &extent[0]) || !get_int(r, 2, 1, 1 << 24, &extent[1]))
        return false;
    if (extent[0] > (1 << 24) / extent[1])
        return fail(r, "a curve over more than 2^24 cells");
    return true;
}
static bool read_values(Reader *r)
{
    if (r->n - 1 != r->m->n_sizes)
        return fail(r, "%d values for %d sizes", r->n - 1, r->m->n_sizes);
    for (int i = 0; i < r->m->n_sizes; i++)
        if (!get_int(r, i + 1, 0, INT64_MAX, &r->now->size[i]))
            return false;
    r->sized = true;
    return true;
}
/* extent TENSOR n… stride… */
static bool read_extent(Reader *r)
{
    WsManifest *m = r->m;
    int64_t t = 0;
    if (!get_int(r, 1, 0, m->n_tensors - 1, &t))
        return false;
    int rank = m->tensor[t].rank;
    WsRunTensorCase *c = &r->now->tensor[t];
    if (r->n - 2 != 2 * rank)
        return fail(r, "tensor %s of rank %d needs %d extents and as many strides",
                    m->tensor[t].name, rank, rank);
    for (int d = 0; d < rank; d++)
        if (!get_int(r, 2 + d, 0, INT64_MAX, &c->extent[d]) ||
            !get_int(r, 2 + rank + d, 0, INT64_MAX, &c->stride[d]))
            return false;
    int64_t span = ws_run_span(&m->tensor[t], c);
    if (span < 0 || span > INT64_MAX / 8 || ws_run_elements(&m->tensor[t], c) < 0)
        return fail(r, "tensor %s does not fit in 64 bits", m->tensor[t].name);
    r->extended |= 1u << t;
    return true;
}
/* fill TENSOR KIND a b x y */
static bool read_fill(Reader *r)
{
    static const char *const kinds[] = { "normal", "uniform", "integers",
                                         "zeros",  "indices", "offsets" };
    WsManifest *m = r->m;
    int64_t t = 0;
    int kind = 0;
    if (!get_int(r, 1, 0, m->n_tensors - 1, &t))
        return false;
    WsInputFill *f = &r->now->tensor[t].fill;
    if (!get_word(r, 2, kinds, WS_INPUT_KIND_COUNT, &kind) ||
        !get_int(r, 3, INT64_MIN, INT64_MAX, &f->a) ||
        !get_int(r, 4, INT64_MIN, INT64_MAX, &f->b) || !get_real(r, 5, -1e300, 1e300, &f->x) ||
        !get_real(r, 6, -1e300, 1e300, &f->y))
        return false;
    f->kind = kind;
    f->dtype = m->tensor[t].dtype;
    f->key = ws_input_key(m->seed, (uint32_t)t);
    r->filled |= 1u << t;
    return true;
}

/* --- the table ----------------------------------------------------------------------------------
 */

const WsLineRow ws_line_row[] = {
    { "name", read_name, 1, -1, WS_LINE_ONCE | WS_LINE_NEEDED },
    { "target", read_target, 1, 1, WS_LINE_ONCE | WS_LINE_NEEDED },
    { "hash", read_hash, 1, 1, WS_LINE_ONCE },
    { "design", read_program, 1, 1, WS_LINE_ONCE },
    { "entry", read_entry, 1, 1, WS_LINE_ONCE | WS_LINE_NEEDED },
    { "block", read_block, 3, 3, WS_LINE_ONCE | WS_LINE_NEEDED },
    { "module", read_module, 2, 2, WS_LINE_NEEDED },
    { "seed", read_seed, 1, 1, WS_LINE_ONCE | WS_LINE_NEEDED },
    { "runs", read_runs, 1, 1, WS_LINE_ONCE | WS_LINE_NEEDED },
    { "sustained", read_sustained, 1, 1, WS_LINE_ONCE },
    { "timeout", read_timeout, 1, 1, WS_LINE_ONCE },
    { "rate", read_rate, 1, 1, WS_LINE_ONCE },
    { "sizes", read_sizes, 0, -1, WS_LINE_ONCE },
    { "scalar", read_scalar, 2, 2, 0 },
    { "tensor", read_tensor, 6, 6, WS_LINE_NEEDED },
    { "reference", read_reference, 2, 3, 0 },
    { "map", read_map, 1, -1, 0 },
    { "wait", read_wait, 4, 4, 0 },
    { "agents", read_agents, 1, -1, WS_LINE_ONCE },
    { "adversary", read_adversary, 2, 2, WS_LINE_ONCE },
    { "told", read_told, 1, -1, WS_LINE_ONCE },
    { "await", read_await, 4, 7, 0 },
    { "records", read_records, 5, 7, WS_LINE_ONCE },
    { "plan", read_plan, 1, 1, WS_LINE_ONCE },
    { "ctas", read_ctas, 1, -1, WS_LINE_ONCE },
    { "case", read_case, 5, 5, WS_LINE_NEEDED | WS_LINE_OPENS_CASE },
    { "values", read_values, 0, -1, WS_LINE_IN_CASE },
    { "extent", read_extent, 1, -1, WS_LINE_IN_CASE },
    { "fill", read_fill, 6, 6, WS_LINE_IN_CASE },
    { "counter", read_counter, 0, 0, WS_LINE_ONCE },
    { "mesh", read_mesh, 1, -1, WS_LINE_ONCE },
    { "devices", read_devices, 1, 1, WS_LINE_IN_CASE },
    { "flags", read_flags, 0, -1, WS_LINE_IN_CASE },
    { "hilbert", read_hilbert, 2, 2, WS_LINE_IN_CASE },
};
const int ws_line_rows = sizeof ws_line_row / sizeof *ws_line_row;
