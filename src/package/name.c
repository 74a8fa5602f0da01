#include "package/name.h"
#include "model/reserved.h"
#include "package/package.h"

#include <string.h>

/* What the package's C and Python declare beside the functions that begin with its name
 * (resources/package; package/names tells which). */
static const char own[] =
    " Exchange APART API Attribute BUILDS CLUSTER COUNTER COUNTERS Call Config DEVICES INPUT KEPT "
    "Kept "
    "MAPS METH_FASTCALL Map NOBODY NONE OUTPUT Owner PER_THREAD SCALARS SHARED SIZES SUM Seen "
    "TENSORS THREADS Tensor absent add address_of args bad bench binding bump call "
    "check_sizes choice_name choose cold_us count_ctas count_groups count_tiles cpu_us cu "
    "describe design_hash device driver dtype empty_strided encode enter exchange fail find "
    "find_counter find_maps find_torch fits forget forward given grad_enabled has_value hash hip image "
    "inputs is_neg kernel kind launch least leave level load loaded look magnitude make "
    "make_quickly make_slowly methods modes module most mul n new_empty_strided numbers "
    "package place plain plain_tensor plan pow2floor prepare quotient raise read remain "
    "requires_grad restride results same scalar self set_backward setup size sizes start "
    "status stream sub take_scalars take_sizes tensor text tiles torch_cuda torch_type truth "
    "type value verdict wrap zero ";

/* Functions and types of the headers that the launcher includes: ISO C and POSIX. */
static const char library[] =
    " FILE a64l abort abs aligned_alloc alloca arc4random arc4random_buf arc4random_uniform "
    "asctime asctime_r at_quick_exit atof atoi atol atoll bcmp bcopy bsearch bzero calloc "
    "clearenv clearerr clearerr_unlocked clock clock_getcpuclockid clock_getres clock_gettime "
    "clock_nanosleep clock_settime ctermid ctime ctime_r daylight difftime div dlclose dlerror "
    "dlopen dlsym dprintf drand48 drand48_data drand48_r dysize ecvt ecvt_r erand48 erand48_r "
    "exit explicit_bzero fclose fcvt fcvt_r fd_mask fd_set fdopen feof feof_unlocked ferror "
    "ferror_unlocked fflush fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgets "
    "fileno fileno_unlocked flockfile fmemopen fopen fprintf fputc fputc_unlocked fputs fread "
    "fread_unlocked free freopen fscanf fseek fseeko fsetpos ftell ftello ftrylockfile "
    "funlockfile fwrite fwrite_unlocked gcvt getc getc_unlocked getchar getchar_unlocked "
    "getdelim getenv getline getloadavg getsubopt getw gmtime gmtime_r imaxabs imaxdiv index "
    "initstate initstate_r itimerspec jrand48 jrand48_r l64a labs lcong48 lcong48_r ldiv llabs "
    "lldiv localtime localtime_r lrand48 lrand48_r malloc mblen mbstowcs mbtowc memccpy memchr "
    "memcmp memcpy memmove memset mkdtemp mkstemp mkstemps mktemp mktime mrand48 mrand48_r "
    "nanosleep nrand48 nrand48_r on_exit open_memstream pclose perror popen posix_memalign "
    "printf pselect putc putc_unlocked putchar putchar_unlocked putenv puts putw qecvt qecvt_r "
    "qfcvt qfcvt_r qgcvt qsort quick_exit rand rand_r random_data random_r realloc reallocarray "
    "realpath remove rename renameat rewind rindex rpmatch scanf seed48 seed48_r setbuf "
    "setbuffer setenv setlinebuf setstate setstate_r setvbuf sigevent snprintf sprintf srand "
    "srand48 srand48_r srandom srandom_r sscanf stderr stdin stdout stpcpy stpncpy strcasecmp "
    "strcasecmp_l strcat strchr strcmp strcoll strcoll_l strcpy strcspn strdup strerror "
    "strerror_l strerror_r strftime strftime_l strlen strncasecmp strncasecmp_l strncat strncmp "
    "strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtod strtof "
    "strtoimax strtok strtok_r strtol strtold strtoll strtoq strtoul strtoull strtoumax strtouq "
    "strxfrm strxfrm_l system tempnam timegm timelocal timer_create timer_delete "
    "timer_getoverrun timer_gettime timer_settime timespec timespec_get timeval timezone tm "
    "tmpfile tmpnam tmpnam_r tzset u_char u_int u_long u_short uint ulong ungetc unsetenv "
    "ushort va_list valloc vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf "
    "wcstoimax wcstombs wcstoumax wctomb RTLD_NOW RTLD_LAZY RTLD_GLOBAL RTLD_LOCAL RTLD_NODELETE "
    "RTLD_NOLOAD RTLD_DEEPBIND RTLD_NEXT RTLD_DEFAULT CLOCK_REALTIME CLOCK_MONOTONIC TIME_UTC "
    "SEEK_SET SEEK_CUR SEEK_END P_tmpdir L_tmpnam L_ctermid TMP_MAX WNOHANG WUNTRACED BUFSIZ EOF "
    "NULL RAND_MAX EXIT_SUCCESS EXIT_FAILURE CLOCKS_PER_SEC ";

/* Modules that Python has itself (3.9 to 3.13), which a file of the package would hide, and what
 * torch imports. */
static const char modules[] =
    " abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii "
    "bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop "
    "collections colorsys compileall concurrent configparser contextlib contextvars copy "
    "copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils "
    "doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput "
    "fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib "
    "grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io "
    "ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap "
    "marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib "
    "nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle "
    "pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats "
    "pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline "
    "reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil "
    "signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile "
    "sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau "
    "symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap "
    "threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty "
    "turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave "
    "weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport "
    "zlib zoneinfo this antigravity numpy torch ";

static gboolean has(const char *words, const char *name)
{
    g_autofree char *word = g_strconcat(" ", name, " ", NULL);
    return strstr(words, word) != NULL;
}

const char *ws_package_folder_problem(const char *name)
{
    gboolean word = g_ascii_isalpha(*name) || *name == '_';
    for (const char *c = name; *c; c++)
        word = word && (g_ascii_isalnum(*c) || *c == '_');
    if (!word)
        return "no identifier: letters of ASCII, digits and _, no digit first";
    if (ws_reserved(WS_RESERVED_PYTHON, name))
        return "a word of Python";
    return has(modules, name) ? "a module that Python or torch has" : NULL;
}

const char *ws_package_name_problem(const char *name)
{
    const char *problem = ws_package_folder_problem(name);
    if (problem)
        return problem;
    if (*name == '_')
        return "names of the package's own begin with _";
    if (ws_reserved(WS_RESERVED_C | WS_RESERVED_CXX | WS_RESERVED_CUDA, name))
        return "a word of C, C++ or CUDA";
    if (has(library, name) || g_str_has_suffix(name, "_t") || g_str_has_prefix(name, "pthread_") ||
        g_str_has_prefix(name, "sched_"))
        return "a name of the C library";
    if (g_str_has_prefix(name, "Py") || g_str_has_prefix(name, "CU") ||
        (g_str_has_prefix(name, "cu") && g_ascii_isupper(name[2])))
        return "names of Python's and CUDA's headers begin so";
    return has(own, name) ? "a name of the package's own" : NULL;
}

gboolean ws_package_name_check(const char *name, GError **error)
{
    const char *problem = ws_package_name_problem(name);
    if (problem)
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_NAME,
                    "'%s' cannot name a function of C and a module of Python (%s); say another "
                    "with --name",
                    name, problem);
    return !problem;
}

void ws_package_cell(GString *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '|')
            g_string_append(out, "\\|");
        else
            g_string_append_c(out, (guchar)*c < ' ' || *c == 0x7f ? ' ' : *c);
}
