/* A small machine for PTX, so that `check --from ptx` has a judge that shares no code with it.
 * text.c reads a kernel, values.c computes, sync.c waits and copies, shadow.c finds races, run.c
 * schedules. All sizes are bytes unless said otherwise; times are counted in instructions. */
#ifndef ORACLE_PTX_MACHINE_H
#define ORACLE_PTX_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;

enum { LANES = 32, MAX_OPERANDS = 10, MAX_MODS = 14, SHARED_BYTES = 232448, SHARED_BASE = 1024 };
enum { MAX_CTAS = 2, MAX_PARAMS = 64, PARAM_BYTES = 4096, MAX_BARRIERS = 16 };

typedef enum { O_NONE, O_REG, O_IMM, O_SPECIAL, O_ADDRESS, O_LIST, O_LABEL } OperandKind;

typedef struct {
    OperandKind kind;
    int reg, reg2;    /* O_REG, base of O_ADDRESS (-1: none); reg2: `%p|%q`, else -1 */
    u64 imm;          /* O_IMM, offset of O_ADDRESS, O_SPECIAL: which, O_LABEL: instruction */
    bool not ;        /* `!%p` */
    int first, count; /* O_LIST and the coordinates of O_ADDRESS: in Kernel.item */
} Operand;

typedef struct {
    int op; /* row of the table of instructions */
    int line;
    int guard; /* register of the predicate, -1: none */
    bool guard_not;
    char mod[MAX_MODS][24];
    int n_mods;
    Operand arg[MAX_OPERANDS];
    int n_args;
    int bits, src_bits; /* of the last type and, for cvt and set, of the one before it */
    bool is_signed, src_signed, is_float, src_float;
} Instr;

typedef struct {
    char name[128];
    int bytes;
} Param;

typedef struct {
    char name[128];
    Instr *instr;
    int n_instrs, cap_instrs;
    Operand *item;
    int n_items, cap_items;
    int n_regs;
    Param param[MAX_PARAMS];
    int n_params;
    int ntid[3], cluster;
    int **target; /* of .branchtargets, by O_LABEL of brx: list ended by -1 */
    int n_targets;
    bool odd; /* blocks or clusters in y or z */
} Kernel;

/* What an instruction is, to the scheduler. */
typedef enum { K_VALUE, K_FLOAT, K_NOP, K_FLOW, K_MEMORY, K_SYNC, K_WARP } InstrClass;
typedef struct {
    const char *name;
    InstrClass kind;
    int id;
} InstrRow;
extern const InstrRow instr_rows[];

enum {
    I_MOV = 1,
    I_ADD,
    I_SUB,
    I_MUL,
    I_MAD,
    I_DIV,
    I_REM,
    I_MIN,
    I_MAX,
    I_ABS,
    I_NEG,
    I_AND,
    I_OR,
    I_XOR,
    I_NOT,
    I_CNOT,
    I_SHL,
    I_SHR,
    I_BFE,
    I_BFI,
    I_BREV,
    I_CLZ,
    I_POPC,
    I_PRMT,
    I_LOP3,
    I_SHF,
    I_SELP,
    I_SETP,
    I_SET,
    I_CVT,
    I_CVTA,
    I_MAPA,
    I_FLOAT,
    I_NOP,
    I_BRA,
    I_BRX,
    I_RET,
    I_LD,
    I_ST,
    I_LDMATRIX,
    I_STMATRIX,
    I_ATOM,
    I_RED,
    I_SHFL,
    I_VOTE,
    I_ELECT,
    I_MATCH,
    I_REDUX,
    I_ACTIVEMASK,
    I_WARPSYNC,
    I_SETMAXNREG,
    I_MMA,
    I_BAR,
    I_CLUSTER,
    I_MBARRIER,
    I_FENCE,
    I_CP,
    I_WGMMA
};

/* text.c. NULL with a message on stderr where the text is not understood. */
Kernel *kernel_read(const char *text, const char *name);
void comments_blank(char *text);
const char *head_read(Kernel *k, char *head); /* what is wrong with it, or NULL */
int special_register(const char *name);       /* -1: unknown */
enum {
    S_TID_X = 0,
    S_TID_Y,
    S_TID_Z,
    S_NTID_X,
    S_NTID_Y,
    S_NTID_Z,
    S_CTAID_X,
    S_CTAID_Y,
    S_CTAID_Z,
    S_NCTAID_X,
    S_NCTAID_Y,
    S_NCTAID_Z,
    S_LANE,
    S_WARP,
    S_NWARP,
    S_RANK,
    S_CLUSTER_CTAS,
    S_CLUSTER_CTA_X,
    S_CLUSTER_X,
    S_NCLUSTER_X,
    S_SM,
    S_CLOCK,
    S_MASK_EQ,
    S_MASK_LT,
    S_MASK_LE,
    S_MASK_GT,
    S_MASK_GE,
    S_DYNAMIC,
    S_ZERO,
    S_ONE
};

#define PARAM_SPACE  0x500000000000ull /* + index * PARAM_BYTES */
#define SHARED_SPACE 0x7f0000000000ull /* generic addresses of shared memory */

typedef enum { RUNS, SLEEPS, AT_BARRIER, AT_CLUSTER, CONVERGES, EXITED } LaneState;
typedef enum { GENERIC, ASYNC, GATHERED } Proxy; /* GATHERED: written by cp.async */

typedef struct {
    LaneState state[LANES];
    int pc[LANES];
    u32 slept[LANES];      /* phases completed in all when it fell asleep */
    int waits[LANES];      /* AT_BARRIER: for which */
    u32 token[LANES];      /* the cluster's phase at its arrival */
    bool owes[LANES];      /* arrived at the cluster's barrier and has not waited */
    u64 *reg;              /* [register * LANES + lane] */
    int *product, *source; /* per register: last product that adds to it, that reads it */
    u32 *stamp;            /* per register: when it was written */
    u32 fence_stamp, clock;
    int cta, index; /* warp of its CTA */
    int products, committed[64], n_committed,
        waited; /* of wgmma; waited: all up to this one ended */
    double priority;
} Warp;

typedef struct {
    bool alive;
    u32 count, pending, phase;
    s64 tx;
    u32 *now, *done; /* clocks: of the phase that runs, of those that ended */
    u32 *uses;
    int init_by;
    u32 init_count;
} Mbarrier;

typedef struct {
    u32 expected, arrived, phase;
    u32 *clock, *done;
} Barrier;

typedef struct { /* a copy that has not ended, or an arrival behind copies */
    int component;
    u32 count;
    u64 bytes;
    int cta, arrives; /* arrives: instead of bytes, one arrival */
    u32 mbarrier;     /* offset in shared memory */
    int line;
    double late;
} Flight;

typedef struct {   /* groups of one thread, in their order */
    int component; /* -1: none yet */
    u32 issued;
    u32 group[256];
    int n_groups;
} Groups;

typedef struct {
    int number, line;
    u64 a, b;
} Product;

typedef struct {
    Kernel *kernel;
    int n_ctas, n_threads, n_warps; /* threads and warps of one CTA */
    int ctaid, nctaid;              /* of the first CTA of the cluster */
    unsigned char param[MAX_PARAMS][PARAM_BYTES];
    u64 box[MAX_PARAMS]; /* bytes of a tensor map's box, 0: not known */
    Warp *warp;
    unsigned char *shared[MAX_CTAS];
    struct Cell *cell[MAX_CTAS];
    Mbarrier *mbarrier[MAX_CTAS]; /* one for each 8 bytes */
    Barrier barrier[MAX_CTAS][MAX_BARRIERS];
    Barrier cluster;
    int width;      /* components of a clock; each is two of them: seen, and fenced */
    u32 *clock;     /* [thread][2 * width] */
    u32 *component; /* last count of each that copies took */
    bool *ended;
    int n_components;
    Groups *bulk, *rows;             /* per thread: cp.async.bulk, cp.async */
    int *tensor_core;                /* component per warp group */
    Product (*products)[1024];       /* what a warp group multiplied, by its number */
    u32 barriers_low, barriers_high; /* addresses of mbarriers */
    Flight *flight;
    int n_flights, cap_flights;
    u32 phases;   /* completed in all */
    u64 progress; /* counts what may wake somebody */
    u64 seed, data_seed, thrown;
    u64 global_key[1024], global_value[1024];
    bool trace;
    char fault[512];   /* the first thing that went wrong */
    char unknown[256]; /* what this machine cannot do */
} Machine;

int machine_main(int argc, char **argv); /* run.c */

/* shadow.c */
void shadow_start(Machine *m);
void shadow_free(Machine *m);
u32 *clock_of(Machine *m, int cta, int thread);
void clock_join(const Machine *m, u32 *into, const u32 *from);
u32 *clock_new(const Machine *m);
int component_take(Machine *m, const u32 *seen, u32 *count); /* for one copy */
int component_lend(Machine *m);                              /* for a thread's copies in order */
typedef struct {
    int component;
    u32 count;
    const u32 *seen;
    Proxy proxy;
    bool writes, again; /* again: the very bytes that are there */
    int line;
    u32 stride; /* look at every stride-th cell only; 0, 1: all */
} Access;
void shadow_access(Machine *m, int cta, u32 address, u32 bytes, const Access *a);
void fault(Machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void unknown(Machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* values.c */
bool has(const Instr *i, const char *mod);
u64 mask_of(int bits);
s64 extend(u64 value, int bits);
u64 operand(Machine *m, Warp *w, int lane, const Operand *o);
void result(Machine *m, Warp *w, int lane, const Operand *o, int bits, u64 value);
void compute(Machine *m, Warp *w, u32 lanes, const Instr *i);
u64 noise(u64 a, u64 b);

/* memory.c */
u32 shared_address(Machine *m, const Warp *w, u64 address, bool window, int *cta);
void access_memory(Machine *m, Warp *w, u32 lanes, const Instr *i);
void warp_exchange(Machine *m, Warp *w, u32 lanes, const Instr *i);

/* sync.c. False: comes to the same instruction again later. */
bool synchronise(Machine *m, Warp *w, u32 lanes, const Instr *i);
Mbarrier *mbarrier_used(Machine *m, Warp *w, int lane, int cta, u32 address, int line);
void mbarrier_step(Machine *m, Mbarrier *b, s64 tx, u32 arrivals, int line);
u64 address_on(Machine *m, Warp *w, int lane, const Operand *o);
void cluster_step(Machine *m);

/* copies.c */
void copy(Machine *m, Warp *w, u32 lanes, const Instr *i);
void flight_ends(Machine *m, int nth);
void thread_exits(Machine *m, Warp *w, int lane, int line);

/* products.c */
bool product(Machine *m, Warp *w, u32 lanes, const Instr *i);
void registers_in_use(Machine *m, Warp *w, const Instr *i);

static inline int thread_of(const Warp *w, int lane)
{
    return w->index * LANES + lane;
}
static inline u32 *seen_by(Machine *m, const Warp *w, int lane)
{
    return clock_of(m, w->cta, thread_of(w, lane));
}
static inline int self_of(const Machine *m, const Warp *w, int lane)
{
    return w->cta * m->n_threads + thread_of(w, lane);
}
#endif
