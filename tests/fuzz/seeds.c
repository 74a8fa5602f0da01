/* Runs one libFuzzer target on its seeds (seeds.txt) without libFuzzer, each as it is and changed
 * once by the target's own mutator: so that no target stops compiling, linking or accepting what it
 * begins with. The name of the program says which. Of many seeds those that about a second is
 * enough for, in an order that goes through all folders. */
#include <glib.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
    __attribute__((weak));

enum { MOST = 1 << 20 };

/* libFuzzer's own, which mutators fall back to: here one bit. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    if (size == 0 && max_size > 0) {
        data[0] = 'x';
        return 1;
    }
    if (size > 0)
        data[size / 2] ^= 4;
    return size;
}

typedef struct {
    char *file; /* NULL: nothing at all */
    char prefix;
} Seed;

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_folder(GArray *seeds, const char *word)
{
    const char *colon = strchr(word, ':'), *folder = colon ? colon + 1 : word;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    if (!dir)
        g_error("%s is no folder (tests/fuzz/seeds.txt)", folder);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir));)
        g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, by_name);
    for (guint i = 0; i < names->len; i++)
        if (!g_file_test(names->pdata[i], G_FILE_TEST_IS_DIR)) {
            const Seed seed = { g_strdup(names->pdata[i]), colon ? *word : 0 };
            g_array_append_val(seeds, seed);
        }
}

static GArray *seeds_of(const char *target)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents("tests/fuzz/seeds.txt", &text, NULL, &error);
    g_assert_no_error(error);
    GArray *seeds = g_array_new(FALSE, FALSE, sizeof(Seed));
    gboolean listed = FALSE;
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        g_auto(GStrv) word = g_strsplit_set(line[i], " ", -1);
        if (!word[0] || strcmp(word[0], target) != 0)
            continue;
        listed = TRUE;
        for (guint k = 1; word[k]; k++)
            if (*word[k])
                add_folder(seeds, word[k]);
    }
    if (!listed)
        g_error("no line of tests/fuzz/seeds.txt has the seeds of %s", target);
    return seeds;
}

static void run(const Seed *s, unsigned int number)
{
    g_autofree char *text = NULL;
    gsize length = 0;
    g_autoptr(GError) error = NULL;
    if (s->file)
        g_file_get_contents(s->file, &text, &length, &error);
    g_assert_no_error(error);
    g_test_message("%s", s->file ? s->file : "nothing");
    g_autofree uint8_t *data = g_malloc(MOST);
    gsize size = 0;
    if (s->prefix)
        data[size++] = (uint8_t)s->prefix;
    length = MIN(length, MOST - size);
    if (length)
        memcpy(data + size, text, length);
    size += length;
    LLVMFuzzerTestOneInput(data, size);
    if (LLVMFuzzerCustomMutator)
        size = LLVMFuzzerCustomMutator(data, size, MOST, number);
    else
        size = LLVMFuzzerMutate(data, size, MOST);
    LLVMFuzzerTestOneInput(data, size);
}

static guint divisor(guint a, guint b)
{
    return b ? divisor(b, a % b) : a;
}

static void test_seeds(gconstpointer target)
{
    g_autoptr(GArray) seeds = seeds_of(target);
    for (guint i = 0; i < 4; i++) { /* the mutator alone begins from nothing */
        const Seed nothing = { NULL, 0 };
        g_array_append_val(seeds, nothing);
    }
    guint step = seeds->len * 5 / 8 + 1, done = 0, files = 0;
    while (divisor(step, seeds->len) > 1) /* each comes once */
        step++;
    const clock_t begun = clock();
    for (; done < seeds->len && (done == 0 || clock() - begun < CLOCKS_PER_SEC); done++) {
        const Seed *s = &g_array_index(seeds, Seed, (gsize)done * step % seeds->len);
        run(s, done);
        files += s->file != NULL;
    }
    g_test_message("%u of %u seeds, %u of them files", done, seeds->len, files);
    for (guint i = 0; i < seeds->len; i++)
        g_free(g_array_index(seeds, Seed, i).file);
}

int main(int argc, char **argv)
{
    g_autofree char *name = g_path_get_basename(argv[0]);
    const char *target = strstr(name, "seeds-");
    g_assert_nonnull(target);
    target += strlen("seeds-");
    g_test_init(&argc, &argv, NULL);
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    g_autofree char *path = g_strdup_printf("/fuzz/seeds/%s", target);
    g_test_add_data_func(path, target, test_seeds);
    return g_test_run();
}
