#include "model/reserved.h"

#include <string.h>

/* ISO/IEC 9899:2024 6.4.1; macros of stddef, stdint, limits, float, math, errno, assert, stdio. */
static const char c[] =
    " auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while alignas alignof bool constexpr false nullptr static_assert "
    "thread_local true typeof typeof_unqual asm fortran complex imaginary I noreturn "
    "NULL offsetof assert errno NDEBUG INFINITY NAN HUGE_VAL HUGE_VALF MAXFLOAT FLT_MAX FLT_MIN "
    "FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON FLT_DIG DBL_DIG FLT_RADIX CHAR_BIT CHAR_MAX CHAR_MIN "
    "SCHAR_MAX SCHAR_MIN UCHAR_MAX SHRT_MAX SHRT_MIN USHRT_MAX INT_MAX INT_MIN UINT_MAX LONG_MAX "
    "LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN ULLONG_MAX INT8_MAX INT16_MAX INT32_MAX INT64_MAX "
    "INT8_MIN INT16_MIN INT32_MIN INT64_MIN UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX "
    "PTRDIFF_MAX PTRDIFF_MIN INTPTR_MAX INTPTR_MIN UINTPTR_MAX INTMAX_MAX UINTMAX_MAX M_PI M_E "
    "M_LN2 M_LN10 M_LOG2E M_LOG10E M_SQRT2 M_SQRT1_2 M_PI_2 M_PI_4 M_1_PI M_2_PI EOF BUFSIZ stdin "
    "stdout stderr isnan isinf isfinite isnormal signbit fpclassify EXIT_SUCCESS EXIT_FAILURE "
    "RAND_MAX CLOCKS_PER_SEC linux unix i386 ";

/* ISO/IEC 14882:2024 5.11, and 5.5: operators that are words. */
static const char cxx[] =
    " and and_eq asm bitand bitor catch char8_t char16_t char32_t class co_await co_return "
    "co_yield "
    "compl concept consteval constinit const_cast contract_assert decltype delete dynamic_cast "
    "explicit export friend mutable namespace new noexcept not not_eq operator or or_eq private "
    "protected public reinterpret_cast requires static_cast template this throw try typeid "
    "typename "
    "using virtual wchar_t xor xor_eq std ";

static const char cuda[] =
    " threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 int2 int3 int4 uint2 uint4 float2 "
    "float3 float4 double2 half half2 cudaStream_t cudaError_t CUtensorMap CUresult size_t "
    "ptrdiff_t "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t clock "
    "clock64 printf memcpy memset malloc free ";

/* The Python Language Reference, 2.3, and the Library Reference, Built-in Functions. */
static const char python[] =
    " False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while "
    "with yield match case type abs aiter all anext any ascii bin bool breakpoint bytearray bytes "
    "callable chr classmethod compile complex delattr dict dir divmod enumerate eval exec filter "
    "float format frozenset getattr globals hasattr hash help hex id input int isinstance "
    "issubclass iter len list locals map max memoryview min next object oct open ord pow print "
    "property range repr reversed round set setattr slice sorted staticmethod str sum super tuple "
    "vars zip Ellipsis NotImplemented Exception ImportError KeyError NameError RuntimeError "
    "TypeError ValueError AssertionError IndexError ";

static const char *const words[] = { c, cxx, cuda, python };

gboolean ws_reserved(guint languages, const char *name)
{
    gsize n = strlen(name);
    while (n > 1 && name[n - 1] == '_')
        n--;
    g_autofree char *word = g_strdup_printf(" %.*s ", (int)n, name);
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (languages & 1u << i && strstr(words[i], word))
            return TRUE;
    return FALSE;
}
