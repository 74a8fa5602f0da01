/* Two packages (k of gemm-bf16, q of attention-d128) in one program, on the driver of
 * stub/driver.c: kept tensor maps, strides, threads, two devices, counters of tiles. Exit 1 names
 * what is wrong. */
#define _GNU_SOURCE
#include "k.h"
#include "q.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern long stub_maps, stub_launches, stub_pushes, stub_last_device;
extern unsigned long long stub_capture, stub_last_counter;
void stub_set_context(void *context);

#define MUST(x) must(x, #x, __LINE__)

static void must(int holds, const char *what, int line)
{
    if (holds)
        return;
    printf("line %d: %s (%s) (%s)\n", line, what, k_error(), q_error());
    exit(1);
}

static k *kernel;

static k_arguments gemm(int n)
{
    k_arguments a = { .A = 4096 * (n + 1), .B = 16, .C = 32, .M = 64 + n, .N = 64, .K = 64 };
    return a;
}

static void says(k_layout *l, const char *text)
{
    k_arguments a = gemm(0);
    MUST(k_launch_strided(kernel, &a, l, NULL) == K_SIZES);
    MUST(strcmp(k_error(), text) == 0);
}

static void kept(void)
{
    long before = stub_maps;
    for (int round = 0; round < 3; round++)
        for (int n = 0; n < 8; n++) {
            k_arguments a = gemm(n);
            MUST(k_launch(kernel, &a, NULL) == K_OK);
        }
    MUST(stub_launches == 24 && stub_maps == before + 8 * 3);
    for (int n = 0; n < 5000; n++) { /* more than are kept: bounded, and never those of others */
        k_arguments a = gemm(n);
        MUST(k_launch(kernel, &a, NULL) == K_OK);
    }
}

static void strides(void)
{
    k_arguments a = gemm(0);
    k_layout l, own;
    MUST(k_describe(&a, &l) == K_OK && l.tiles == 1 && l.extent[2][1] == 64 &&
         l.stride[0][0] == 64);
    long before = stub_maps;
    MUST(k_launch_strided(kernel, &a, &l, NULL) == K_OK);
    own = l, own.stride[0][0] = 128,
    own.stride[2][0] = 72; /* every second row; rows of a wider output */
    MUST(k_launch_strided(kernel, &a, &own, NULL) == K_OK && stub_maps == before + 6);
    own = l, own.stride[0][0] = 0;
    says(&own, "A: dimension 0 has a stride of 0 elements; a tensor map takes 1 or more");
    own = l, own.stride[1][0] = -64;
    says(&own, "B: dimension 0 has a stride of -64 elements; a tensor map takes 1 or more");
    own = l, own.stride[0][1] = 64, own.stride[0][0] = 1;
    says(&own, "A: dimension 1, the last, has a stride of 64 elements; a tensor map needs 1");
    own = l, own.stride[0][0] = 65;
    says(&own, "A: dimension 0 has a stride of 130 bytes; TMA needs a multiple of 16");
    own = l, own.stride[2][0] = 8;
    says(&own, "C: dimension 0 has a stride of 8 elements; what is written there would overlap");
    own = l, own.stride[0][0] = INT64_MAX;
    says(&own, "these sizes are too large");
    own = l, own.stride[2][0] = INT64_MAX / 2;
    says(&own, "C: these strides are too large");
    own = l, own.stride[0][0] = INT64_C(1) << 40;
    says(&own, "A: dimension 0 has a stride of 2199023255552 bytes; TMA needs a multiple of 16");
    own = l, own.stride[0][0] = 8; /* rows that overlap may be read */
    MUST(k_launch_strided(kernel, &a, &own, NULL) == K_OK);
}

static void *many(void *data)
{
    int first = *(int *)data;
    for (int i = 0; i < 2000; i++) {
        k_arguments a = gemm((first + i) % 40);
        if (k_launch(kernel, &a, NULL) != K_OK)
            return data;
        a.K = 63; /* each thread has its own message */
        char own[64];
        snprintf(own, sizeof own, "%s: TMA needs an address that is a multiple of 16", "C");
        a = gemm(first), a.C = 8;
        if (k_launch(kernel, &a, NULL) != K_SIZES || strcmp(k_error(), own) != 0)
            return data;
    }
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];
    int first[4];
    long before = stub_launches;
    for (int i = 0; i < 4; i++) {
        first[i] = 11 * i;
        pthread_create(&t[i], NULL, many, &first[i]);
    }
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;
        pthread_join(t[i], &wrong);
        MUST(!wrong);
    }
    MUST(stub_launches == before + 8000);
}

static void devices(void)
{
    k *second = NULL;
    k_arguments a = gemm(1);
    stub_set_context((void *)2);
    MUST(k_open_linked(&second) == K_OK);
    long before = stub_pushes;
    MUST(k_launch(second, &a, NULL) == K_OK && stub_last_device == 1 && stub_pushes == before);
    MUST(k_launch(kernel, &a, NULL) == K_OK && stub_last_device == 0 && stub_pushes == before + 1);
    stub_set_context((void *)1);
    MUST(k_launch(second, &a, NULL) == K_OK && stub_last_device == 1);
    k_close(second);
    stub_set_context(NULL);
    MUST(k_launch(kernel, &a, NULL) == K_OK && stub_last_device == 0);
    MUST(k_open_linked(&second) == K_DRIVER && !second);
    stub_set_context((void *)1);
}

static unsigned long long counter_of(q *attention, unsigned long stream, unsigned long long capture)
{
    q_arguments a = { .Q = 16,
                      .K = 16,
                      .V = 16,
                      .O = 16,
                      .LSE = 16,
                      .B = 1,
                      .HQ = 1,
                      .HKV = 1,
                      .SQ = 8,
                      .SK = 8,
                      .scale = 1 };
    stub_capture = capture;
    MUST(q_launch(attention, &a, (CUstream)stream) == Q_OK);
    stub_capture = 0;
    return stub_last_counter;
}

static void counters(void)
{
    q *attention = NULL;
    setenv("STUB_COUNTER", "15", 1); /* the last parameter of q */
    MUST(q_open_linked(&attention) == Q_OK);
    unsigned long long one = counter_of(attention, 1, 0), two = counter_of(attention, 2, 0);
    MUST(one && two && one != two && counter_of(attention, 1, 0) == one);
    unsigned long long graph = counter_of(attention, 1, 7), other = counter_of(attention, 1, 8);
    MUST(graph != one && graph != two && other != graph && counter_of(attention, 1, 7) == graph);
    for (unsigned long s = 3; s < 9000;
         s++) { /* streams come and go: a graph's counter is nobody else's */
        unsigned long long c = counter_of(attention, s, 0);
        MUST(c != graph && c != other);
    }
    MUST(counter_of(attention, 1, 7) == graph);
    q_close(attention);
}

int main(void)
{
    MUST(k_open_linked(&kernel) == K_OK);
    MUST(strcmp(k_version(), K_VERSION) == 0 && strcmp(k_verdict(), "proved") == 0);
    MUST(strlen(k_design_hash()) == 64 && strcmp(k_design_hash(), q_design_hash()) != 0);
    kept();
    strides();
    threads();
    devices();
    counters();
    k_close(kernel);
    puts("right");
    return 0;
}
