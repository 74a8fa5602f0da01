
/* --- the same for every design ---------------------------------------------------------------------
 *
 * Device, in the kernel (its parameter: WsRecord record, by value):
 *   WS_RECORD_GROUP(record, WS_AGENT_…, elected)   once per warp group, at its head; `elected` is true
 *                                                  for the one thread that writes
 *   WS_ROUND(tile, round)         which tile of this CTA, which total of the innermost loop (0, 1, …)
 *   WS_STEP_BEGIN(WS_STEP_…)      the clock before a step or a wait
 *   WS_STEP_END(WS_STEP_…)        the clock behind it; one 16-byte store
 *   WS_STEP_SEEN(WS_STEP_…, n)    the effect of the step's n-th execution in this CTA (from 0; of this
 *                                 replica, if its group is replicated) is known to be over: behind the
 *                                 wait for a load's barrier, behind the wait that retires an mma
 *   WS_RECORD_END()               at the group's end
 * Host:
 *   ws_record_open(&record, ctas, capacity)        room for `capacity` stamps of each agent of CTAs
 *                                                  0 … ctas-1; 0, or the CUDA error
 *   ws_record_save(&record, file, device, grid, n, names, values)   after the launch: FILE.wtrace
 *   ws_record_close(&record)
 * With WS_NO_RECORD defined the macros are empty and the kernel is the one without stamps. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned char *bytes; /* on the device; per CTA: 64 bytes of head, the counts, the stamps */
    uint32_t ctas, capacity;
} WsRecord;

#define WS_RECORD_HEAD (64 + (4 * WS_N_AGENTS + 15) / 16 * 16)
#define WS_RECORD_CTA_BYTES(r) (WS_RECORD_HEAD + (size_t)16 * WS_N_AGENTS * (r)->capacity)
#define WS_RECORD_SEEN 0x8000u

#ifdef __CUDACC__
#ifdef WS_NO_RECORD
#define WS_RECORD_GROUP(record, agent, elected) (void)(record)
#define WS_ROUND(tile, round)
#define WS_STEP_BEGIN(step)
#define WS_STEP_END(step)
#define WS_STEP_SEEN(step, n)
#define WS_RECORD_END()
#else
struct WsStamp {
    uint4 *at;
    unsigned char *head;
    uint32_t n, capacity, agent, tile, round, mark;
    bool on;
};

static __device__ __forceinline__ uint32_t ws_clock()
{
    uint32_t t;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
    return t;
}

static __device__ __forceinline__ void ws_times(unsigned char *head, int end)
{
    uint64_t ns, cycles;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    *(volatile uint64_t *)(head + 8 + 8 * end) = ns;
    *(volatile uint64_t *)(head + 24 + 8 * end) = cycles;
}

static __device__ __forceinline__ WsStamp ws_stamp_begin(const WsRecord &r, uint32_t agent, bool elected)
{
    WsStamp s;
    const uint32_t cta = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    s.on = elected && cta < r.ctas;
    s.head = r.bytes + (s.on ? cta : 0) * WS_RECORD_CTA_BYTES(&r);
    s.at = (uint4 *)(s.head + WS_RECORD_HEAD) + (size_t)agent * r.capacity;
    s.n = s.tile = s.round = s.mark = 0;
    s.capacity = r.capacity;
    s.agent = agent;
    if (s.on && agent == 0) { /* the CTA's zero is the clock of the first agent */
        uint32_t sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        *(volatile uint32_t *)s.head = sm;
        *(volatile uint32_t *)(s.head + 4) = cta;
        ws_times(s.head, 0);
    }
    return s;
}

static __device__ __forceinline__ void ws_stamp_put(WsStamp &s, uint32_t what, uint32_t round, uint32_t from,
                                                    uint32_t to)
{
    /* a predicate and no branch: wgmma may be in flight */
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t"
                 "@p st.global.v4.b32 [%0], {%1, %2, %3, %4};\n\t}"
                 ::"l"(s.at), "r"(what | s.tile << 16), "r"(round), "r"(from), "r"(to),
                 "r"((uint32_t)(s.on && s.n < s.capacity))
                 : "memory");
    s.at++;
    s.n++;
}

#define WS_RECORD_GROUP(record, agent, elected) WsStamp ws_stamp = ws_stamp_begin(record, agent, elected)
#define WS_ROUND(tile_, round_) (ws_stamp.tile = (uint32_t)(tile_), ws_stamp.round = (uint32_t)(round_))
#define WS_STEP_BEGIN(step) (ws_stamp.mark = ws_clock())
#define WS_STEP_END(step) ws_stamp_put(ws_stamp, step, ws_stamp.round, ws_stamp.mark, ws_clock())
#define WS_STEP_SEEN(step, n) ws_stamp_put(ws_stamp, (step) | WS_RECORD_SEEN, (uint32_t)(n), 0, ws_clock())
#define WS_RECORD_END()                                                              \
    do {                                                                             \
        if (ws_stamp.on) {                                                           \
            *(volatile uint32_t *)(ws_stamp.head + 64 + 4 * ws_stamp.agent) = ws_stamp.n; \
            ws_times(ws_stamp.head, 1);                                              \
        }                                                                            \
    } while (0)
#endif
#endif

/* --- host: from the stamps to a .wtrace --------------------------------------------------------- */

typedef struct {
    uint32_t op;
    uint16_t agent, cta;
    int32_t tile, round;
    int64_t start, issued, done;
} WsStamped; /* a record of the file */

typedef struct {
    unsigned char *data;
    size_t n, room;
} WsBytes;

static inline void ws_put(WsBytes *b, const void *data, size_t n)
{
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n);
        b->data = (unsigned char *)realloc(b->data, b->room);
        if (!b->data)
            abort();
    }
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
}

static inline void ws_put32(WsBytes *b, uint32_t v)
{
    ws_put(b, &v, 4);
}

static inline void ws_put64(WsBytes *b, uint64_t v)
{
    ws_put(b, &v, 8);
}

static inline void ws_put_real(WsBytes *b, double v)
{
    ws_put(b, &v, 8);
}

static inline uint32_t ws_text(WsBytes *texts, const char *text)
{
    const uint32_t at = (uint32_t)texts->n;
    ws_put(texts, text, strlen(text) + 1);
    return at;
}

static inline int64_t ws_stamped_end(const WsStamped *r)
{
    const int64_t e = r->issued > r->start ? r->issued : r->start;
    return r->done > e ? r->done : e;
}

static inline int ws_stamped_order(const void *pa, const void *pb)
{
    const WsStamped *a = (const WsStamped *)pa, *b = (const WsStamped *)pb;
    const int64_t x[] = { a->cta, a->agent, a->start, ws_stamped_end(a), a->op };
    const int64_t y[] = { b->cta, b->agent, b->start, ws_stamped_end(b), b->op };
    for (int i = 0; i < 5; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Cycles since the CTA's zero; the 32-bit clock may have wrapped. A group that began before the first
 * agent read its clock begins at 0. */
static inline int64_t ws_cycles(uint32_t clock, uint64_t zero)
{
    const uint32_t d = clock - (uint32_t)zero;
    return d > 0xfff00000u ? 0 : (int64_t)d;
}

/* Stamps of one agent of one CTA; returns how many did not fit. */
static inline uint32_t ws_take_agent(const WsRecord *r, const unsigned char *cta, uint32_t index,
                                     uint32_t agent, WsBytes *records)
{
    const uint32_t *stamp = (const uint32_t *)(cta + WS_RECORD_HEAD + (size_t)16 * agent * r->capacity);
    uint64_t zero;
    uint32_t n;
    memcpy(&n, cta + 64 + 4 * agent, 4);
    memcpy(&zero, cta + 24, 8);
    for (uint32_t i = 0; i < n && i < r->capacity; i++, stamp += 4) {
        const uint32_t step = stamp[0] & 0x7fff;
        if (stamp[0] & WS_RECORD_SEEN || step >= WS_N_STEPS)
            continue;
        const int replica = ws_agents[agent].replica;
        const int flies = ws_steps[step].flies;
        WsStamped s;
        s.op = (uint32_t)ws_step_op[step][replica];
        s.agent = (uint16_t)agent;
        s.cta = (uint16_t)index;
        s.tile = (int32_t)(stamp[0] >> 16);
        s.round = (int32_t)stamp[1];
        s.start = ws_cycles(stamp[2], zero);
        s.issued = ws_cycles(stamp[3], zero);
        s.done = flies ? -1 : s.issued;
        ws_put(records, &s, sizeof s);
    }
    return n > r->capacity ? n - r->capacity : 0;
}

/* Who saw what: the earliest sight of the n-th execution of a step. */
static inline void ws_take_seen(const WsRecord *r, const unsigned char *cta, uint32_t agent, WsStamped *list,
                                size_t n_list)
{
    const uint32_t *stamp = (const uint32_t *)(cta + WS_RECORD_HEAD + (size_t)16 * agent * r->capacity);
    uint64_t zero;
    uint32_t n;
    memcpy(&n, cta + 64 + 4 * agent, 4);
    memcpy(&zero, cta + 24, 8);
    /* sights come in order: one walk per step */
    size_t *at = (size_t *)calloc(2 * WS_N_STEPS, sizeof *at), *count = at + WS_N_STEPS;
    if (!at)
        abort();
    for (uint32_t i = 0; i < n && i < r->capacity; i++, stamp += 4) {
        const uint32_t step = stamp[0] & 0x7fff;
        if (!(stamp[0] & WS_RECORD_SEEN) || step >= WS_N_STEPS)
            continue;
        int replica = ws_agents[agent].replica;
        if (ws_steps[step].group != ws_agents[agent].group)
            replica = 0;
        const uint32_t op = (uint32_t)ws_step_op[step][replica];
        const int64_t when = ws_cycles(stamp[3], zero);
        if (stamp[1] < count[step])
            at[step] = count[step] = 0;
        for (; at[step] < n_list; at[step]++) {
            if (list[at[step]].op != op)
                continue;
            if (count[step] == stamp[1]) {
                WsStamped *s = &list[at[step]];
                if (when >= s->start && (s->done < 0 || when < s->done))
                    s->done = when > s->issued ? when : s->issued;
                break;
            }
            count[step]++;
        }
    }
    free(at);
}

static inline void ws_put_lane(WsBytes *lanes, WsBytes *spans, const WsStamped *r, uint64_t first, uint64_t n)
{
    const uint64_t first_span = spans->n / 16;
    ws_put32(lanes, r->cta);
    ws_put32(lanes, r->agent);
    ws_put64(lanes, first);
    ws_put64(lanes, n);
    ws_put64(lanes, first_span);
    uint64_t below = n, from = 0;
    for (int leaves = 1; leaves || below > 1; leaves = 0) {
        const uint64_t here = spans->n / 16;
        for (uint64_t i = 0; i < below; i += 64) {
            int64_t lo = INT64_MAX, hi = INT64_MIN;
            for (uint64_t k = i; k < below && k < i + 64; k++) {
                int64_t a, b;
                if (leaves) {
                    a = r[k].start;
                    b = ws_stamped_end(&r[k]);
                } else {
                    memcpy(&a, spans->data + 16 * (from + k), 8);
                    memcpy(&b, spans->data + 16 * (from + k) + 8, 8);
                }
                lo = a < lo ? a : lo;
                hi = b > hi ? b : hi;
            }
            ws_put64(spans, (uint64_t)lo);
            ws_put64(spans, (uint64_t)hi);
        }
        below = spans->n / 16 - here;
        from = here;
    }
    ws_put64(lanes, spans->n / 16 - first_span);
}

static inline uint64_t ws_checksum(const unsigned char *data, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, data + i, n - i < 8 ? n - i : 8);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

/* Puts the parts together; layout: version 1 of Warpstave's .wtrace. */
static inline int ws_write_trace(const char *file, const WsBytes *section, WsBytes *texts, const char *device,
                                 const char *note, int64_t cycles, uint32_t grid)
{
    static const int entry[8] = { 1, 16, 16, 8, 24, 40, 16, 40 };
    WsBytes out = { NULL, 0, 0 };
    double unknown;
    const uint64_t nan_bits = 0x7ff8000000000000u;
    memcpy(&unknown, &nan_bits, 8);
    ws_put(&out, "wstrace", 8);
    ws_put32(&out, 1);
    ws_put32(&out, 240);
    ws_put64(&out, 0);
    ws_put64(&out, 0);
    ws_put32(&out, 1); /* measured */
    ws_put32(&out, 0);
    for (int i = 0; i < 4; i++)
        ws_put_real(&out, unknown);
    ws_put64(&out, (uint64_t)cycles);
    ws_put64(&out, grid);
    ws_put32(&out, ws_text(texts, ws_design));
    ws_put32(&out, ws_text(texts, WS_DESIGN_HASH));
    ws_put32(&out, ws_text(texts, device));
    ws_put32(&out, ws_text(texts, note));
    ws_put32(&out, 0xffffffffu);
    ws_put32(&out, 0);
    uint64_t at = 240;
    for (int i = 1; i < 8; i++)
        at += section[i].n;
    ws_put64(&out, at);
    ws_put64(&out, texts->n);
    at = 240;
    for (int i = 1; i < 8; i++) {
        ws_put64(&out, at);
        ws_put64(&out, section[i].n / entry[i]);
        at += section[i].n;
    }
    for (int i = 1; i < 8; i++)
        ws_put(&out, section[i].data, section[i].n);
    ws_put(&out, texts->data, texts->n);
    const uint64_t length = out.n;
    memcpy(out.data + 16, &length, 8);
    const uint64_t sum = ws_checksum(out.data + 32, out.n - 32);
    memcpy(out.data + 24, &sum, 8);
    FILE *f = fopen(file, "wb");
    int ok = f && fwrite(out.data, 1, out.n, f) == out.n;
    ok = f && fclose(f) == 0 && ok;
    free(out.data);
    return ok ? 0 : 1;
}

/* From the bytes of the device (copied to `bytes`) to a file. 0: written; 1: it could not be written;
 * 2: written, but stamps did not fit, and the trace says so. */
static inline int ws_record_write(const WsRecord *r, const unsigned char *bytes, const char *file,
                                  const char *device, uint32_t grid, int n_sizes, const char *const *name,
                                  const int64_t *value)
{
    WsBytes texts = { NULL, 0, 0 }, section[8];
    memset(section, 0, sizeof section);
    for (int i = 0; i < n_sizes; i++) {
        ws_put32(&section[1], ws_text(&texts, name[i]));
        ws_put32(&section[1], 0);
        ws_put64(&section[1], (uint64_t)value[i]);
    }
    for (int i = 0; i < WS_N_OPS; i++) {
        ws_put32(&section[2], ws_text(&texts, ws_ops[i].id));
        ws_put32(&section[2], ws_text(&texts, ws_ops[i].label));
        ws_put32(&section[2], ws_text(&texts, ws_ops[i].loop));
        ws_put32(&section[2], ws_text(&texts, ws_ops[i].kind));
    }
    for (int i = 0; i < WS_N_AGENTS; i++) {
        ws_put32(&section[3], ws_text(&texts, ws_agents[i].name));
        ws_put32(&section[3], 0);
    }
    uint64_t lost = 0;
    int64_t whole = 0;
    uint32_t n_ctas = 0;
    for (uint32_t c = 0; c < r->ctas; c++) {
        const unsigned char *cta = bytes + c * WS_RECORD_CTA_BYTES(r);
        uint32_t who[2];
        uint64_t t[4];
        memcpy(who, cta, 8);
        memcpy(t, cta + 8, 32);
        if (who[1] != c || t[2] == UINT64_MAX) /* never ran */
            continue;
        const uint32_t index = n_ctas++;
        const size_t begin = section[7].n / sizeof(WsStamped);
        for (uint32_t a = 0; a < WS_N_AGENTS; a++)
            lost += ws_take_agent(r, cta, index, a, &section[7]);
        WsStamped *list = (WsStamped *)section[7].data + begin;
        const size_t n_list = section[7].n / sizeof(WsStamped) - begin;
        for (uint32_t a = 0; a < WS_N_AGENTS; a++)
            ws_take_seen(r, cta, a, list, n_list);
        if (n_list)
            qsort(list, n_list, sizeof *list, ws_stamped_order);
        int64_t last = 0;
        for (size_t i = 0, k; i < n_list; i = k) {
            for (k = i; k < n_list && list[k].agent == list[i].agent; k++)
                last = ws_stamped_end(&list[k]) > last ? ws_stamped_end(&list[k]) : last;
            ws_put_lane(&section[5], &section[6], list + i, begin + i, k - i);
        }
        whole = last > whole ? last : whole;
        ws_put32(&section[4], c);
        ws_put32(&section[4], who[0]);
        ws_put64(&section[4], (uint64_t)last);
        ws_put_real(&section[4], t[1] > t[0] ? (double)(t[3] - t[2]) / (double)(t[1] - t[0]) : 0);
    }
    char note[128];
    snprintf(note, sizeof note, lost ? "own kernel; %llu stamps did not fit" : "own kernel",
             (unsigned long long)lost);
    if (lost)
        fprintf(stderr, "%s: %llu stamps did not fit: open the record with a larger capacity\n", file,
                (unsigned long long)lost);
    const int failed = ws_write_trace(file, section, &texts, device, note, whole, grid);
    for (int i = 0; i < 8; i++)
        free(section[i].data);
    free(texts.data);
    return failed ? 1 : lost ? 2 : 0;
}

#ifdef __CUDACC__
static inline int ws_record_open(WsRecord *r, uint32_t ctas, uint32_t capacity)
{
    r->ctas = ctas;
    r->capacity = capacity;
    const size_t bytes = ctas * WS_RECORD_CTA_BYTES(r);
    cudaError_t code = cudaMalloc((void **)&r->bytes, bytes);
    return (int)(code == cudaSuccess ? cudaMemset(r->bytes, 0xff, bytes) : code);
}

static inline int ws_record_save(const WsRecord *r, const char *file, const char *device, uint32_t grid,
                                 int n_sizes, const char *const *name, const int64_t *value)
{
    const size_t bytes = r->ctas * WS_RECORD_CTA_BYTES(r);
    unsigned char *copy = (unsigned char *)malloc(bytes);
    if (!copy || cudaMemcpy(copy, r->bytes, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
        free(copy);
        return 1;
    }
    const int status = ws_record_write(r, copy, file, device, grid, n_sizes, name, value);
    free(copy);
    return status;
}

static inline void ws_record_close(WsRecord *r)
{
    cudaFree(r->bytes);
}
#endif
