#include "codegen/rehearse/fiber.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

#ifdef __x86_64__
/* swapcontext also asks the kernel for the signal mask, at every switch: most of the time of a
 * rehearsal. Kept on the stack that is left is what a function has to keep (System V: rbx, rbp,
 * r12 to r15, the control words of SSE and x87). */
typedef struct {
    void *stack;
} Context;

void ws_fiber_switch(Context *from, const Context *to);
__asm__(".text\n"
        ".type ws_fiber_switch, @function\n"
        ".hidden ws_fiber_switch\n"
        ".globl ws_fiber_switch\n"
        "ws_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq (%rsi), %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size ws_fiber_switch, .-ws_fiber_switch\n");

static _Thread_local WsFiber *beginning; /* the fiber that start() is of */
#else
#include <ucontext.h>
typedef ucontext_t Context;
#define ws_fiber_switch(from, to) swapcontext(from, to)
#endif

struct WsFiber {
    WsFiberPool *pool;
    Context self, resumer;
    guint8 *stack; /* lowest usable byte, above the guard page */
    void (*entry)(gpointer);
    gpointer data;
    gboolean ended;
    void *fake, *resumer_fake; /* AddressSanitizer's stacks of locals */
    const void *resumer_bottom;
    size_t resumer_bytes;
};

struct WsFiberPool {
    gsize bytes, guard;
    GPtrArray *all, *idle; /* WsFiber: every one; those without an entry */
};

WsFiberPool *ws_fiber_pool_new(gsize stack_bytes)
{
    WsFiberPool *pool = g_new0(WsFiberPool, 1);
    pool->guard = (gsize)sysconf(_SC_PAGESIZE);
    pool->bytes = (stack_bytes + pool->guard - 1) / pool->guard * pool->guard;
    pool->all = g_ptr_array_new();
    pool->idle = g_ptr_array_new();
    return pool;
}

void ws_fiber_pool_free(WsFiberPool *pool)
{
    guint i;
    if (!pool)
        return;
    for (i = 0; i < pool->all->len; i++) {
        WsFiber *f = pool->all->pdata[i];
#if WITH_ASAN
        __asan_unpoison_memory_region(f->stack, pool->bytes);
#endif
        munmap(f->stack - pool->guard, pool->bytes + pool->guard);
        g_free(f);
    }
    g_ptr_array_free(pool->all, TRUE);
    g_ptr_array_free(pool->idle, TRUE);
    g_free(pool);
}

static void leave(WsFiber *f)
{
#if WITH_ASAN
    __sanitizer_start_switch_fiber(f->ended ? NULL : &f->fake, f->resumer_bottom, f->resumer_bytes);
#endif
    ws_fiber_switch(&f->self, &f->resumer);
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(f->fake, &f->resumer_bottom, &f->resumer_bytes);
#endif
}

static void run(WsFiber *f)
{
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(NULL, &f->resumer_bottom, &f->resumer_bytes);
#endif
    f->entry(f->data);
    f->ended = TRUE;
    leave(f);
}

#ifdef __x86_64__
static void start(void)
{
    run(beginning);
}

/* As ws_fiber_switch() leaves a stack, with start() to return to; there it is as after a call. */
static void prepare(WsFiber *f)
{
    guint64 *top = (guint64 *)(gpointer)(f->stack + f->pool->bytes);
    memset(top - 9, 0, 9 * sizeof *top);
    top[-2] = (guint64)(guintptr)start;
    __asm__ volatile("stmxcsr %0\n fnstcw %1"
                     : "=m"(((guint32 *)(top - 9))[0]), "=m"(((guint16 *)(top - 9))[2]));
    f->self.stack = top - 9;
}
#else
/* makecontext passes ints only. */
static void start(unsigned low, unsigned high)
{
    run((WsFiber *)((guintptr)low | (guintptr)high << 32));
}

static void prepare(WsFiber *f)
{
    getcontext(&f->self);
    f->self.uc_stack.ss_sp = f->stack;
    f->self.uc_stack.ss_size = f->pool->bytes;
    f->self.uc_link = NULL;
    makecontext(&f->self, (void (*)(void))start, 2, (unsigned)((guintptr)f & 0xffffffffu),
                (unsigned)((guintptr)f >> 32));
}
#endif

WsFiber *ws_fiber_new(WsFiberPool *pool, void (*entry)(gpointer), gpointer data)
{
    WsFiber *f;
    if (pool->idle->len) {
        f = g_ptr_array_steal_index_fast(pool->idle, pool->idle->len - 1);
    } else {
        guint8 *at = mmap(NULL, pool->bytes + pool->guard, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        mprotect(at, pool->guard, PROT_NONE);
        f = g_new0(WsFiber, 1);
        f->pool = pool;
        f->stack = at + pool->guard;
        g_ptr_array_add(pool->all, f);
    }
#if WITH_ASAN
    __asan_unpoison_memory_region(f->stack, pool->bytes);
#endif
    f->entry = entry;
    f->data = data;
    f->ended = FALSE;
    f->fake = NULL;
    prepare(f);
    return f;
}

void ws_fiber_release(WsFiber *f)
{
    g_ptr_array_add(f->pool->idle, f);
}

gboolean ws_fiber_resume(WsFiber *f)
{
#if WITH_ASAN
    __sanitizer_start_switch_fiber(&f->resumer_fake, f->stack, f->pool->bytes);
#endif
#ifdef __x86_64__
    beginning = f;
#endif
    ws_fiber_switch(&f->resumer, &f->self);
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(f->resumer_fake, NULL, NULL);
#endif
    return !f->ended;
}

void ws_fiber_yield(WsFiber *f)
{
    leave(f);
}
