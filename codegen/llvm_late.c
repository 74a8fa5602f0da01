/* LLVM is loaded when its first function is called: opening the library takes longer than all of
 * `check`, which never calls one. Every function of llvm.def is a jump through a slot; a slot
 * begins at code that loads the library, fills all slots and jumps again. Processors without this
 * file's assembly link LLVM as usual (meson.build).
 *
 * The library joins the process's global scope, as it does where it is linked: code that the
 * rehearsal compiles looks there for what its runtime has. */
#include <dlfcn.h>
#include <glib.h>
#include <stdlib.h>

/* Keeps the slot that it was called for (r11) and the arguments of the function behind it: six
 * words and eight vectors. No function of the C interface takes more in registers. The seven words
 * and the return address of the caller leave the stack aligned for the call. */
__asm__(".text\n"
        ".hidden ws_llvm_first\n"
        ".type ws_llvm_first, @function\n"
        "ws_llvm_first:\n"
        "    pushq %rdi\n    pushq %rsi\n    pushq %rdx\n    pushq %rcx\n    pushq %r8\n"
        "    pushq %r9\n    pushq %r11\n"
        "    subq $128, %rsp\n"
        "    movups %xmm0, (%rsp)\n    movups %xmm1, 16(%rsp)\n    movups %xmm2, 32(%rsp)\n"
        "    movups %xmm3, 48(%rsp)\n    movups %xmm4, 64(%rsp)\n    movups %xmm5, 80(%rsp)\n"
        "    movups %xmm6, 96(%rsp)\n    movups %xmm7, 112(%rsp)\n"
        "    call ws_llvm_load\n"
        "    movups (%rsp), %xmm0\n    movups 16(%rsp), %xmm1\n    movups 32(%rsp), %xmm2\n"
        "    movups 48(%rsp), %xmm3\n    movups 64(%rsp), %xmm4\n    movups 80(%rsp), %xmm5\n"
        "    movups 96(%rsp), %xmm6\n    movups 112(%rsp), %xmm7\n"
        "    addq $128, %rsp\n"
        "    popq %r11\n    popq %r9\n"
        "    popq %r8\n    popq %rcx\n    popq %rdx\n    popq %rsi\n    popq %rdi\n"
        "    jmp *(%r11)\n"
        ".size ws_llvm_first, . - ws_llvm_first\n");

#define WS_LLVM(name)                                                                              \
    extern char ws_late_##name[];                                                                  \
    extern gpointer ws_slot_##name;                                                                \
    __attribute__((visibility("hidden"))) gpointer ws_slot_##name = ws_late_##name;                \
    __asm__(".text\n"                                                                              \
            ".globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n"        \
            "    jmp *ws_slot_" #name "(%rip)\n"                                                   \
            ".size " #name ", . - " #name "\n"                                                     \
            ".globl ws_late_" #name "\n.hidden ws_late_" #name "\n"                                \
            "ws_late_" #name ":\n"                                                                 \
            "    leaq ws_slot_" #name "(%rip), %r11\n    jmp ws_llvm_first\n");
#include "codegen/llvm.def"
#undef WS_LLVM

static const struct {
    const char *name;
    gpointer *slot;
} functions[] = {
#define WS_LLVM(name) { #name, &ws_slot_##name },
#include "codegen/llvm.def"
#undef WS_LLVM
};

/* As a program that is linked with a library that is missing: it cannot go on. Exit code 4 says
 * that something is missing on this machine. */
static void absent(void)
{
    g_printerr("LLVM cannot be loaded: %s\n", dlerror());
    exit(4);
}

void ws_llvm_load(void);
__attribute__((visibility("hidden"), used)) void ws_llvm_load(void)
{
    static gsize loaded;
    if (!g_once_init_enter(&loaded))
        return;
    gpointer library = dlopen(WS_LLVM_NAME, RTLD_LAZY | RTLD_GLOBAL);
    if (!library)
        library = dlopen(WS_LLVM_FILE, RTLD_LAZY | RTLD_GLOBAL);
    if (!library)
        absent();
    for (guint i = 0; i < G_N_ELEMENTS(functions); i++) {
        gpointer function = dlsym(library, functions[i].name);
        if (!function)
            absent();
        g_atomic_pointer_set(functions[i].slot, function);
    }
    g_once_init_leave(&loaded, 1);
}
