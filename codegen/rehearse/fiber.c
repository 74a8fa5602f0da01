#include "codegen/rehearse/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

struct WsFiber {
    WsFiberPool *pool;
    ucontext_t self, resumer;
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
    swapcontext(&f->self, &f->resumer);
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(f->fake, &f->resumer_bottom, &f->resumer_bytes);
#endif
}

/* makecontext passes ints only. */
static void start(unsigned low, unsigned high)
{
    WsFiber *f = (WsFiber *)((guintptr)low | (guintptr)high << 32);
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(NULL, &f->resumer_bottom, &f->resumer_bytes);
#endif
    f->entry(f->data);
    f->ended = TRUE;
    leave(f);
}

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
    getcontext(&f->self);
    f->self.uc_stack.ss_sp = f->stack;
    f->self.uc_stack.ss_size = pool->bytes;
    f->self.uc_link = NULL;
    makecontext(&f->self, (void (*)(void))start, 2, (unsigned)((guintptr)f & 0xffffffffu),
                (unsigned)((guintptr)f >> 32));
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
    swapcontext(&f->resumer, &f->self);
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(f->resumer_fake, NULL, NULL);
#endif
    return !f->ended;
}

void ws_fiber_yield(WsFiber *f)
{
    leave(f);
}
