/* The machine of a rehearsal: the CTAs of one cluster on the CPU, one fiber per GPU thread, and the
 * hardware that works beside the threads (TMA, tensor cores) as operations that happen later. All
 * state of one run; nothing is shared between runs. Internal to codegen/rehearse and its tests. */
#pragma once

#include "codegen/rehearse/fiber.h"
#include "program/forward.h"
#include "program/parts/dtype.h"
#include "program/parts/operation.h"

G_BEGIN_DECLS

#define WS_HOST_BASE 1024u /* window address of the first byte of shared memory */
/* In a cluster the window is every CTA's: addresses carry the rank above the offset, as on the GPU.
 */
#define WS_HOST_RANK_BIT 24
#define WS_HOST_OFFSET(address)                                                                    \
    ((guint64)((address) & ((1u << WS_HOST_RANK_BIT) - 1)) - WS_HOST_BASE)
#define WS_HOST_MAX_CTAS 16
#define WS_HOST_AGENTS   32

typedef struct WsHost WsHost;
typedef struct WsHostCta WsHostCta;
typedef struct WsHostThread WsHostThread;
typedef struct WsHostWarpGroup WsHostWarpGroup;

/* --- tensor maps -------------------------------------------------------------------------------
 */
/* All lists innermost dimension first. */
typedef struct {
    guint8 *base;
    WsDtype dtype;
    guint rank, swizzle;
    gint64 dim[WS_MAX_RANK], stride[WS_MAX_RANK]; /* elements */
    guint box[WS_MAX_RANK];
} WsHostMap;

/* --- barriers ----------------------------------------------------------------------------------
 */
typedef struct {
    guint count;
    gint64 pending, tx; /* arrivals and bytes missing in the current phase */
    guint64 phase;      /* completed phases */
    GPtrArray *waiters; /* WsHostThread */
} WsHostMbar;

typedef struct {
    guint threads, arrived;
    guint64 generation;
    GPtrArray *waiters;
} WsHostNamed;

/* --- threads -----------------------------------------------------------------------------------
 */
typedef enum { WS_HOST_READY, WS_HOST_BLOCKED, WS_HOST_ENDED } WsHostState;
typedef enum {
    WS_HOST_WAIT_NONE,
    WS_HOST_WAIT_MBAR,
    WS_HOST_WAIT_NAMED,
    WS_HOST_WAIT_CLUSTER,
    WS_HOST_WAIT_WARP,
    WS_HOST_WAIT_MMA,
    WS_HOST_WAIT_BULK,
    WS_HOST_WAIT_COPIES,
    WS_HOST_WAIT_GATE,
    WS_HOST_WAIT_FLAG,
} WsHostWait;

/* A bulk group: how many of its stores still have to read shared, to write global memory. */
typedef struct {
    guint reads, writes;
} WsHostGroup;

struct WsHostThread {
    WsHostCta *cta;
    WsFiber *fiber;
    guint tid;
    WsHostState state;
    guint place; /* in the list of ready threads */
    gint agent;  /* -1 before its role is known */
    guint op;    /* operation it is in, G_MAXUINT before the first */
    WsHostWait wait;
    guint32 address, parity; /* MBAR */
    guint id;                /* NAMED: barrier; MMA, BULK: groups allowed to stay */
    guint32 need;            /* GATE: clock of the hold */
    guint64 flag;            /* FLAG: element of all flags of its device */
    gint64 amount;           /* FLAG: what it must be */
    guint64 put;             /* number of its newest put into a device (mesh.c) */
    /* warp collectives: what came out for this lane */
    guint32 result, results[4];
    /* matrix products: how many issued, and the issue count at the end of each commit group */
    guint64 mma_issued, mma_groups;
    guint64 mma_bound[64]; /* by group number modulo 64 */
    GPtrArray *bulk;       /* WsHostGroup, closed, oldest first */
    WsHostGroup *bulk_open;
    guint64 cluster_phase; /* of its last cluster arrive */
    GPtrArray *copies;     /* WsHostCopies, closed by a commit or an arrival, oldest first */
    struct WsHostCopies *copies_open;
    guint copy_groups; /* committed and not yet seen complete by a wait: newest last in `copies` */
};

typedef struct {
    guint arrived;
    const char *what; /* collective that is gathering */
    guint64 generation;
    guint elected;
    guint32 in[32][5];
    GPtrArray *waiters;
} WsHostWarp;

/* A wave of gfx950, 64 lanes. */
typedef struct {
    guint arrived;
    const char *what;
    guint64 generation;
    guint64 in[64][6];
    GPtrArray *waiters;
} WsHostWave;

/* One wgmma of a warp group. */
typedef struct {
    guint arrived;
    guint32 *acc[128];
    guint32 a_regs[128][4];
    gboolean a_in_regs;
    guint64 a_desc, b_desc;
    guint n;
    WsDtype a_type, b_type, acc_type;
    gboolean scale_d, trans_a, trans_b, issued, done;
    guint op; /* operation it belongs to */
    gint agent;
    guint64 hash_a, hash_b; /* of the operands at issue */
} WsHostMma;

struct WsHostWarpGroup {
    WsHostCta *cta;
    guint64 first, executed, issued; /* numbers: of mma[0]; first not executed; first not issued */
    GPtrArray *mma;                  /* WsHostMma, those not retired */
    GPtrArray *waiters;
};

struct WsHostCta {
    WsHost *host;
    guint rank, id;
    guint live; /* threads not ended */
    const guint64 *param;
    guint8 *shared;    /* window address WS_HOST_BASE */
    WsHostMbar **mbar; /* one per 8 bytes of shared memory */
    WsHostNamed named[16];
    guint come[WS_HOST_AGENTS]; /* threads of an agent that have done its present move (hold.c) */
    WsHostWarp *warp;
    WsHostWave *wave; /* of the same threads */
    WsHostWarpGroup *group;
    WsHostThread *thread;
};

/* --- work that happens later -------------------------------------------------------------------
 */
typedef enum {
    WS_HOST_LOAD,
    WS_HOST_STORE_READ,
    WS_HOST_STORE_WRITE,
    WS_HOST_MMA,
    WS_HOST_COPIES,
    WS_HOST_COPY,
    WS_HOST_QUEUE
} WsHostLaterKind;
#define WS_HOST_LATER_KINDS 7
typedef struct {
    WsHostLaterKind kind;
    WsHostThread *thread; /* that issued it */
    WsHostCta *cta;       /* LOAD: where it lands; STORE: where it reads */
    const WsHostMap *map;
    guint32 shared, bar;
    gint32 at[WS_MAX_RANK];
    WsReduce reduce;
    guint8 *data; /* STORE_WRITE: the box that was read; COPY: what a thread sends */
    guint64 hash; /* STORE_READ: of the source at issue */
    /* STORE, LOAD of devices of a mesh (mesh.c) */
    gboolean put, unordered;
    guint device, source;
    guint64 number, *clock;
    WsHostGroup *group;      /* STORE */
    WsHostWarpGroup *mma;    /* MMA: the next of this warp group */
    struct WsHostWork *work; /* QUEUE: owned by queues.c */
    guint op;
} WsHostLater;

struct WsHost {
    const WsProgram *p; /* names in reports; may be NULL in tests */
    guint threads, n_ctas, n_ids;
    guint64 shared_bytes;
    WsFiberPool *pool;
    WsHostCta *cta; /* [n_ctas]: those of a cluster, or of all devices of a mesh */
    struct WsHostMesh *mesh;
    GPtrArray *ready;                  /* WsHostThread */
    GPtrArray *later;                  /* WsHostLater, owned */
    guint weight[WS_HOST_LATER_KINDS]; /* per WsHostLaterKind: chance in 256 that one happens before
                                          the next thread */
    guint64 until[WS_HOST_LATER_KINDS]; /* step at which it takes another */
    guint live;                         /* threads not ended */
    guint cluster_arrived;
    guint64 cluster_phase;
    GPtrArray *cluster_waiters;
    guint64 random, steps, ops;
    void (*kernel)(const guint64 *param);
    WsHostThread *running;
    guint32 clock; /* of a hold (hold.c) */
    gboolean held, gave_up;
    GPtrArray *gated, *settling; /* WsHostThread: until the clock, until nothing is in flight */
    void (*progress)(WsHost *h, gpointer data); /* NULL, or called every 2^18 switches */
    gpointer progress_data;
    /* what came out */
    guint64 switches, races, violations;
    char *first_race, *first_violation, *stuck;
    GArray *waits; /* WsRehearseWait, of `stuck` */
};

/* The machine of the fiber that runs now. */
extern _Thread_local WsHost *ws_host;
#define ws_host_me() (ws_host->running)

/* --- schedule.c --------------------------------------------------------------------------------
 */
WsHost *ws_host_new(const WsProgram *p, guint threads, guint n_ctas, guint64 shared_bytes,
                    guint64 seed);
void ws_host_free(WsHost *h);
/* Runs one cluster: CTAs first_id … of a grid of n_ids. FALSE once stuck (h->stuck says where). */
gboolean ws_host_run(WsHost *h, guint first_id, guint n_ids, void (*kernel)(const guint64 *),
                     const guint64 *param);
/* Parts of that, for mesh.c: one CTA begins; threads and engines take turns until all have ended or
 * nothing can move; what may not be left when a CTA ends; all that CTAs have issued is done; memory
 * of one is freed; of all, and nothing is in flight any more. */
gboolean ws_host_start_cta(WsHost *h, WsHostCta *c, guint rank, guint id, const guint64 *param);
void ws_host_schedule(WsHost *h);
void ws_host_check_end(WsHost *h, const WsHostCta *c);
void ws_host_finish(WsHost *h, WsHostCta *c, guint n);
void ws_host_clear_cta(WsHost *h, WsHostCta *c);
void ws_host_reset(WsHost *h);
guint64 ws_host_random(WsHost *h);
/* Blocks the running thread until something wakes it; it must test its condition again. */
void ws_host_block(WsHostThread *t, WsHostWait why, GPtrArray *waiters);
void ws_host_wake(WsHostThread *t);
void ws_host_wake_all(GPtrArray *waiters);
/* Adds work that happens later; takes it. */
void ws_host_later(WsHostLater *later);
void ws_host_violation(WsHostThread *t, const char *format, ...) G_GNUC_PRINTF(2, 3);
void ws_host_race(guint op, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Swizzle: 16-byte unit number XOR row of the pattern, on the address (kernels 4.3). */
static inline guint32 ws_host_swizzled(guint32 address, guint span)
{
    return address ^ ((address >> 3) & (span == 128  ? 0x70u
                                        : span == 64 ? 0x30u
                                        : span == 32 ? 0x10u
                                                     : 0));
}
/* Bytes of shared memory, NULL and a violation if they lie outside. */
guint8 *ws_host_shared(WsHostCta *cta, guint32 address, guint32 bytes, const char *what);
guint64 ws_host_hash(const void *data, gsize bytes, guint64 start);
void ws_host_describe_stuck(WsHost *h); /* stuck.c: fills h->stuck and h->waits */

/* bulk.c: the elements of a box of a tensor, innermost fastest, 0 outside of it; caller frees. */
guint8 *ws_host_box_image(const WsHostMap *m, const gint32 *at, guint32 *bytes);

/* --- queues.c: queues of a core
 * ------------------------------------------ */
/* FALSE: something older of its queue must happen first. */
gboolean ws_host_queue_ready(const WsHost *h, const WsHostLater *l);
void ws_host_run_queue(WsHostLater *l);
void ws_host_queue_free(struct WsHostWork *work);
void ws_host_queues_end(WsHost *h); /* all that is issued happens; flags must be down */

/* --- parts: what runs when work that was put off happens
 * ------------------------------------------ */
void ws_host_run_load(WsHostLater *l);
gboolean ws_host_run_store_read(WsHostLater *l); /* TRUE: goes on as STORE_WRITE */
void ws_host_run_store_write(WsHostLater *l);
void ws_host_run_mma(WsHostWarpGroup *g);
void ws_host_run_copy(WsHostLater *l);    /* between CTAs */
void ws_host_run_copies(WsHostThread *t); /* the oldest of a thread */
void ws_host_copies_new(WsHostThread *t);
void ws_host_copies_end(WsHostThread *t);
void ws_host_mbar_arrive_at(WsHostCta *cta, guint32 address);
void ws_host_mbar_credit(WsHostCta *cta, guint32 address, gint64 bytes);
void ws_host_cluster_check(WsHost *h); /* a thread has arrived or ended */
void ws_host_mma_end(WsHostWarpGroup *g);
void ws_host_settled(WsHost *h);     /* something has happened: wakes those who let it settle */
gboolean ws_host_give_up(WsHost *h); /* nothing can happen: opens gates; FALSE: there are none */

/* --- primitives: prim.def row by row; see there for the operands
 * ----------------------------------- */
guint32 wsh_tid(void);
guint32 wsh_lane(void);
guint32 wsh_ctaid(void);
guint32 wsh_nctaid(void);
guint32 wsh_cluster_rank(void);
guint32 wsh_elect(void);
guint32 wsh_shfl_idx(guint32 value, guint32 lane);
guint32 wsh_shfl_bfly(guint32 value, guint32 mask);
guint32 wsh_vote_all(guint32 value);
guint64 wsh_mov64(guint64 value);
guint32 wsh_mov32(guint32 value);
void wsh_delay(guint32 place);
void wsh_mbar_init(guint32 bar, guint32 count);
void wsh_mbar_wait(guint32 bar, guint32 parity);
void wsh_mbar_arrive(guint32 bar);
void wsh_mbar_arrive_n(guint32 bar, guint32 n);
void wsh_mbar_arrive_remote(guint32 bar, guint32 rank, guint32 n);
void wsh_mbar_expect(guint32 bar, guint32 bytes);
void wsh_mbar_expect_only(guint32 bar, guint32 bytes);
void wsh_tma_load(guint32 dst, guint64 map, guint32 bar, guint32 rank, guint32 c0, guint32 c1,
                  guint32 c2, guint32 c3, guint32 c4, guint32 mask);
void wsh_tma_store(guint32 src, guint64 map, guint32 rank, guint32 c0, guint32 c1, guint32 c2,
                   guint32 c3, guint32 c4, guint32 reduce);
void wsh_tma_put(guint32 src, guint64 map, guint32 rank, guint32 c0, guint32 c1, guint32 c2,
                 guint32 c3, guint32 c4, guint32 reduce, guint32 device);
void wsh_tma_get(guint32 dst, guint64 map, guint32 bar, guint32 rank, guint32 c0, guint32 c1,
                 guint32 c2, guint32 c3, guint32 c4, guint32 device);
void wsh_notify(guint64 entry, guint64 offset, guint64 amount, guint32 order);
void wsh_await(guint64 entry, guint64 offset, guint64 amount, guint32 order);
void wsh_fence_async_global(void);
void wsh_bulk_commit(void);
void wsh_bulk_wait(guint32 n);
void wsh_bulk_wait_read(guint32 n);
void wsh_wgmma(guint64 acc, guint64 a_regs, guint64 a_desc, guint64 b_desc, guint32 n,
               guint32 a_type, guint32 b_type, guint32 acc_type, guint32 scale_d, guint32 trans_a,
               guint32 trans_b);
void wsh_wgmma_commit(void);
void wsh_wgmma_wait(guint32 n);
void wsh_stmatrix_x4(guint32 at, guint32 a, guint32 b, guint32 c, guint32 d);
void wsh_stmatrix_x4_t(guint32 at, guint32 a, guint32 b, guint32 c, guint32 d);
void wsh_stmatrix_x2(guint32 at, guint32 a, guint32 b);
void wsh_st_shared(guint32 at, guint32 a);
void wsh_reds_add_f32(guint32 at, float a, guint32 there);
void wsh_reds_add_s32(guint32 at, guint32 a, guint32 there);
void wsh_reds_min_s32(guint32 at, guint32 a, guint32 there);
void wsh_reds_max_s32(guint32 at, guint32 a, guint32 there);
void wsh_reds_and_b32(guint32 at, guint32 a, guint32 there);
void wsh_reds_or_b32(guint32 at, guint32 a, guint32 there);
void wsh_reds_xor_b32(guint32 at, guint32 a, guint32 there);
float wsh_atoms_add_f32(guint32 at, float a, guint32 there);
guint32 wsh_atoms_add_s32(guint32 at, guint32 a, guint32 there);
guint32 wsh_atoms_min_s32(guint32 at, guint32 a, guint32 there);
guint32 wsh_atoms_max_s32(guint32 at, guint32 a, guint32 there);
guint32 wsh_atoms_and_b32(guint32 at, guint32 a, guint32 there);
guint32 wsh_atoms_or_b32(guint32 at, guint32 a, guint32 there);
guint32 wsh_atoms_xor_b32(guint32 at, guint32 a, guint32 there);
guint32 wsh_atoms_exch_b32(guint32 at, guint32 a, guint32 there);
guint32 wsh_atoms_cas_b32(guint32 at, guint32 expected, guint32 a, guint32 there);
void wsh_sts_b32(guint32 at, guint32 a, guint32 there);
void wsh_sts_b16(guint32 at, guint16 a, guint32 there);
void wsh_sts_b8(guint32 at, guint16 a, guint32 there);
void wsh_st_shared_v2(guint32 at, guint32 a, guint32 b);
void wsh_st_shared_v4(guint32 at, guint32 a, guint32 b, guint32 c, guint32 d);
void wsh_st_shared_f32(guint32 at, float a);
guint32 wsh_ld_shared(guint32 at);
float wsh_ld_shared_f32(guint32 at);
void wsh_st_shared_b16(guint32 at, guint16 a);
void wsh_st_shared_b8(guint32 at, guint16 a);
guint16 wsh_ld_shared_b16(guint32 at);
guint16 wsh_ld_shared_b8(guint32 at);
void wsh_ld_shared_v2(guint32 out[2], guint32 at);
void wsh_ldmatrix_x4(guint32 out[4], guint32 at);
void wsh_ldmatrix_x4_t(guint32 out[4], guint32 at);
guint32 wsh_prmt(guint32 a, guint32 b, guint32 selector);
guint32 wsh_ldg_b32(guint64 at, guint32 inside);
guint16 wsh_ldg_b16(guint64 at, guint32 inside);
guint16 wsh_ldg_b8(guint64 at, guint32 inside);
void wsh_stg_b32(guint64 at, guint32 a, guint32 inside);
void wsh_stg_b16(guint64 at, guint16 a, guint32 inside);
void wsh_stg_b8(guint64 at, guint16 a, guint32 inside);
void wsh_red_add_f32(guint64 at, float a, guint32 inside);
void wsh_red_add_f16(guint64 at, guint16 a, guint32 inside);
void wsh_red_add_bf16(guint64 at, guint16 a, guint32 inside);
void wsh_red_add_s32(guint64 at, guint32 a, guint32 inside);
void wsh_red_min_s32(guint64 at, guint32 a, guint32 inside);
void wsh_red_max_s32(guint64 at, guint32 a, guint32 inside);
guint32 wsh_count_up(guint64 at, guint32 last);
void wsh_cp_async(guint32 dst, guint64 src, guint32 bytes);
void wsh_cp_async_hint(guint32 dst, guint64 src, guint32 all, guint64 policy);
guint32 wsh_mapa(guint32 at, guint32 rank);
guint32 wsh_ld_cluster(guint32 at);
guint16 wsh_ld_cluster_b16(guint32 at);
guint16 wsh_ld_cluster_b8(guint32 at);
void wsh_ld_cluster_v2(guint32 out[2], guint32 at);
void wsh_st_cluster(guint32 at, guint32 a);
void wsh_st_cluster_b16(guint32 at, guint16 a);
void wsh_st_cluster_b8(guint32 at, guint16 a);
void wsh_st_cluster_v2(guint32 at, guint32 a, guint32 b);
void wsh_st_async(guint32 at, guint32 a, guint32 bar, guint32 rank);
void wsh_st_async_v2(guint32 at, guint32 a, guint32 b, guint32 bar, guint32 rank);
void wsh_bulk_copy(guint32 dst, guint32 src, guint32 bytes, guint32 bar, guint32 rank);
void wsh_cp_arrive(guint32 bar);
void wsh_cp_commit(void);
void wsh_cp_wait(guint32 n);
void wsh_mfma(guint64 sum, guint64 b, guint64 a, guint32 rows, guint32 b_type, guint32 a_type);
void wsh_ds_read_tr_b16(guint32 out[2], guint32 at);
guint32 wsh_wave_xor(guint32 value, guint32 difference);
guint16 wsh_cvt_e4m3x2(float hi, float lo);
guint16 wsh_cvt_e5m2x2(float hi, float lo);
guint32 wsh_cvt_e4m3x4(float a, float b, float c, float d);
guint32 wsh_cvt_e5m2x4(float a, float b, float c, float d);
guint32 wsh_cvt_tf32(float a);
float wsh_cvt_f32_f16(guint16 a);
guint32 wsh_cvt_f16x2_e4m3(guint16 a);
guint32 wsh_cvt_f16x2_e5m2(guint16 a);
guint32 wsh_cvt_bf16x2(float hi, float lo);
guint32 wsh_cvt_f16x2(float hi, float lo);
guint32 wsh_sub_bf16x2(guint32 a, guint32 b);
guint32 wsh_mul_f16x2(guint32 a, guint32 b);
guint32 wsh_cvt_rni(float x);
float wsh_ex2(float x);
float wsh_ex2_poly(float x);
void wsh_hold(float x);
void wsh_stay(guint32 tiles);
float wsh_lg2(float x);
float wsh_rcp(float x);
float wsh_sqrt(float x);
float wsh_tanh(float x);
float wsh_rsqrt(float x);
float wsh_floor(float x);
float wsh_ceil(float x);
float wsh_erf(float x);
float wsh_sin(float x);
float wsh_cos(float x);
void wsh_bar_sync(guint32 id, guint32 threads);
void wsh_bar_arrive(guint32 id, guint32 threads);
void wsh_warp_sync(void);
void wsh_cluster_arrive(void);
void wsh_cluster_wait(void);
void wsh_nothing(void);        /* fences, prefetches */
void wsh_nothing32(guint32 x); /* setmaxnreg */
void wsh_nothing64(guint64 x); /* prefetch of a tensor map */
void wsh_hold_wait(guint64 clock, guint32 need, guint32 settle);
void wsh_hold_set(guint64 clock, guint32 value, guint64 counter, guint32 warps);
guint32 wsh_clock(void);
guint64 wsh_clock64(void);
guint32 wsh_smid(void);
void wsh_op(guint32 op);
void wsh_agent(guint32 agent);
guint32 wsh_shared_base(void);
void wsh_queue_copy(guint32 shared, guint64 map, guint32 rank, guint32 c0, guint32 c1, guint32 c2,
                    guint32 c3, guint32 c4, guint32 type, guint32 out);
void wsh_queue_move(guint32 to, guint32 to_pitch, guint32 from, guint32 from_pitch, guint32 rows,
                    guint32 bytes);
void wsh_queue_vector(guint32 operation, guint32 into, guint32 into_pitch, guint32 a,
                      guint32 a_pitch, guint32 b, guint32 b_pitch, guint32 rows, guint32 cols,
                      guint32 type);
void wsh_queue_cube(guint32 sums, guint32 sums_pitch, guint32 a, guint32 a_pitch, guint32 b,
                    guint32 b_pitch, guint32 m, guint32 n, guint32 k, guint32 how);
void wsh_queue_drain(void);
void wsh_flag_set(guint32 flag);
void wsh_flag_wait(guint32 flag);

G_END_DECLS
