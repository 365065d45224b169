// Evaluates a net of 512 neurons and 8 sums a perspective, 1024 to 16 to 32 to 1, over the
// changes that `selfplay bench nnue --record FILE` writes, with the intrinsics of AVX2 or,
// where the compiler may use it, AVX-512 VNNI. Prints ns of CPU time a node without and with
// the values. The weights are random, which changes nothing about the time.
//
//     g++ -O3 -mavx2 -mfma -o twin2 scripts/twin_nnue.cpp
//     g++ -O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -o twin512 scripts/twin_nnue.cpp
//     ./twin512 FILE [ROUNDS]

#include <immintrin.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

constexpr int lanes = 512, sums = 16, inputs = 2 * lanes, hidden = 16, wide = 32, buckets = 8;
constexpr int rowBytes = 2 * lanes + 4 * sums;

struct alignas(64) Row { int16_t lane[lanes]; int32_t sum[sums]; };
struct alignas(64) Stack { int8_t first[inputs * hidden]; int32_t firstBias[hidden]; int8_t second[hidden * wide]; int32_t secondBias[wide]; int32_t out[wide]; int32_t outBias; };

#ifdef __AVX512VNNI__
using V = __m512i;
static V load(const void* p) { return _mm512_load_si512(p); }
static void store(void* p, V v) { _mm512_store_si512(p, v); }
static V add16(V a, V b) { return _mm512_add_epi16(a, b); }
static V sub16(V a, V b) { return _mm512_sub_epi16(a, b); }
static V add32(V a, V b) { return _mm512_add_epi32(a, b); }
static V sub32(V a, V b) { return _mm512_sub_epi32(a, b); }
constexpr int atOnce = 16;  // vectors of a row that stay in registers
#else
using V = __m256i;
static V load(const void* p) { return _mm256_load_si256((const V*)p); }
static void store(void* p, V v) { _mm256_store_si256((V*)p, v); }
static V add16(V a, V b) { return _mm256_add_epi16(a, b); }
static V sub16(V a, V b) { return _mm256_sub_epi16(a, b); }
static V add32(V a, V b) { return _mm256_add_epi32(a, b); }
static V sub32(V a, V b) { return _mm256_sub_epi32(a, b); }
constexpr int atOnce = 8;
#endif
constexpr int width = sizeof(V), rowVectors = 2 * lanes / width, sumVectors = 4 * sums / width;

template <int A, int R>
static void applyFew(Row* dst, const Row* src, const Row* table, const int32_t* added, const int32_t* removed) {
    const char *s = (const char*)src, *plus[A], *minus[R];
    char* d = (char*)dst;
    for (int i = 0; i < A; i++) plus[i] = (const char*)(table + added[i]);
    for (int i = 0; i < R; i++) minus[i] = (const char*)(table + removed[i]);
#pragma GCC unroll 8
    for (int v = 0; v < rowVectors; v++) {
        V x = load(s + v * width);
        for (int i = 0; i < A; i++) x = add16(x, load(plus[i] + v * width));
        for (int i = 0; i < R; i++) x = sub16(x, load(minus[i] + v * width));
        store(d + v * width, x);
    }
    for (int v = rowVectors; v < rowVectors + sumVectors; v++) {
        V x = load(s + v * width);
        for (int i = 0; i < A; i++) x = add32(x, load(plus[i] + v * width));
        for (int i = 0; i < R; i++) x = sub32(x, load(minus[i] + v * width));
        store(d + v * width, x);
    }
}

static void apply(Row* dst, const Row* src, const Row* table, const int32_t* added, int na, const int32_t* removed, int nr) {
    if (na == 1 && nr == 1) return applyFew<1, 1>(dst, src, table, added, removed);
    if (na == 1 && nr == 2) return applyFew<1, 2>(dst, src, table, added, removed);
    if (na == 2 && nr == 2) return applyFew<2, 2>(dst, src, table, added, removed);
    for (int first = 0; first < rowVectors; first += atOnce) {
        V x[atOnce];
        for (int v = 0; v < atOnce; v++) x[v] = load((const char*)src + (first + v) * width);
        for (int i = 0; i < na; i++)
            for (int v = 0; v < atOnce; v++) x[v] = add16(x[v], load((const char*)(table + added[i]) + (first + v) * width));
        for (int i = 0; i < nr; i++)
            for (int v = 0; v < atOnce; v++) x[v] = sub16(x[v], load((const char*)(table + removed[i]) + (first + v) * width));
        for (int v = 0; v < atOnce; v++) store((char*)dst + (first + v) * width, x[v]);
    }
    for (int v = 0; v < sumVectors; v++) {
        V x = load((const char*)src->sum + v * width);
        for (int i = 0; i < na; i++) x = add32(x, load((const char*)table[added[i]].sum + v * width));
        for (int i = 0; i < nr; i++) x = sub32(x, load((const char*)table[removed[i]].sum + v * width));
        store((char*)dst->sum + v * width, x);
    }
}

static void transform(uint8_t* dst, const int16_t* src) {
    const V zero{};
#ifdef __AVX512VNNI__
    const V order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    for (int v = 0; v < rowVectors; v += 2) {
        V x = _mm512_packs_epi16(load(src + v * 32), load(src + v * 32 + 32));
        store(dst + v * 32, _mm512_permutexvar_epi64(order, _mm512_max_epi8(x, zero)));
    }
#else
    for (int v = 0; v < rowVectors; v += 2) {
        V x = _mm256_packs_epi16(load(src + v * 16), load(src + v * 16 + 16));
        store(dst + v * 16, _mm256_permute4x64_epi64(_mm256_max_epi8(x, zero), 0b11011000));
    }
#endif
}

#ifndef __AVX512VNNI__
static V products(V sum, V in, V weights) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(in, weights), _mm256_set1_epi16(1)));
}
#endif

static int32_t layers(const Stack& s, const uint8_t* in) {
#ifdef __AVX512VNNI__
    // Weights by [16 inputs][output mod 4][output / 4][16 inputs].
    V sum[4][4] = {};
    for (int i = 0; i < inputs; i += 64)
        for (int q = 0; q < 4; q++) {
            const V x = _mm512_broadcast_i32x4(_mm_load_si128((const __m128i*)(in + i + 16 * q)));
            for (int j = 0; j < 4; j++) sum[q][j] = _mm512_dpbusd_epi32(sum[q][j], x, load(s.first + (i + 16 * q) * hidden + 64 * j));
        }
    V t[4];
    for (int j = 0; j < 4; j++) t[j] = add32(add32(sum[0][j], sum[1][j]), add32(sum[2][j], sum[3][j]));
    const V a = add32(_mm512_unpacklo_epi32(t[0], t[1]), _mm512_unpackhi_epi32(t[0], t[1]));
    const V b = add32(_mm512_unpacklo_epi32(t[2], t[3]), _mm512_unpackhi_epi32(t[2], t[3]));
    V y = add32(add32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)), load(s.firstBias));
    y = _mm512_max_epi32(_mm512_srai_epi32(y, 6), V{});
    const __m128i bytes = _mm512_cvtsepi32_epi8(y);
    const V all = _mm512_broadcast_i32x4(bytes);
    const V groups[4] = {_mm512_shuffle_epi32(all, (_MM_PERM_ENUM)0x00), _mm512_shuffle_epi32(all, (_MM_PERM_ENUM)0x55), _mm512_shuffle_epi32(all, (_MM_PERM_ENUM)0xaa), _mm512_shuffle_epi32(all, (_MM_PERM_ENUM)0xff)};
    V h[2] = {load(s.secondBias), load(s.secondBias + 16)};
    for (int g = 0; g < 4; g++)
        for (int k = 0; k < 2; k++) h[k] = _mm512_dpbusd_epi32(h[k], groups[g], load(s.second + g * 128 + k * 64));
    V total{};
    for (int k = 0; k < 2; k++) {
        const V v = _mm512_min_epi32(_mm512_max_epi32(_mm512_srai_epi32(h[k], 6), V{}), _mm512_set1_epi32(127));
        total = add32(total, _mm512_madd_epi16(v, load(s.out + 16 * k)));
    }
    return s.outBias + _mm512_reduce_add_epi32(total);
#else
    // Weights by [group of 4 inputs][16 outputs][4 inputs].
    V even[2] = {load(s.firstBias), load(s.firstBias + 8)}, odd[2] = {};
    for (int i = 0; i < inputs; i += 8) {
        int32_t four[2];
        memcpy(four, in + i, 8);
        const V x = _mm256_set1_epi32(four[0]), z = _mm256_set1_epi32(four[1]);
        for (int k = 0; k < 2; k++) {
            even[k] = products(even[k], x, load(s.first + i * hidden + 32 * k));
            odd[k] = products(odd[k], z, load(s.first + (i + 4) * hidden + 32 * k));
        }
    }
    const V p = _mm256_packs_epi32(_mm256_srai_epi32(add32(even[0], odd[0]), 6), _mm256_srai_epi32(add32(even[1], odd[1]), 6));
    V bytes = _mm256_max_epi8(_mm256_packs_epi16(p, p), V{});
    bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
    const V groups[4] = {_mm256_shuffle_epi32(bytes, 0x00), _mm256_shuffle_epi32(bytes, 0x55), _mm256_shuffle_epi32(bytes, 0xaa), _mm256_shuffle_epi32(bytes, 0xff)};
    V total{};
    for (int k = 0; k < 4; k++) {
        V h = load(s.secondBias + 8 * k);
        for (int g = 0; g < 4; g++) h = products(h, groups[g], load(s.second + g * 128 + k * 32));
        h = _mm256_min_epi32(_mm256_max_epi32(_mm256_srai_epi32(h, 6), V{}), _mm256_set1_epi32(127));
        total = add32(total, _mm256_madd_epi16(h, load(s.out + 8 * k)));
    }
    __m128i t = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
    t = _mm_add_epi32(t, _mm_shuffle_epi32(t, 0x4e));
    t = _mm_add_epi32(t, _mm_shuffle_epi32(t, 0xb1));
    return s.outBias + _mm_cvtsi128_si32(t);
#endif
}

static Row* table;
static Stack* stacks;
static Row plies[8][2], blank;
alignas(64) static uint8_t activated[inputs];

template <bool value>
static int64_t replay(const std::vector<int32_t>& record, int64_t& nodes) {
    int64_t sum = 0;
    nodes = 0;
    const int32_t *at = record.data(), *end = at + record.size();
    while (at < end) {
        const int32_t head = *at++;
        if (head < 0) {
            for (int c = 0; c < 2; c++) {
                const int n = *at++;
                apply(&plies[0][c], &blank, table, at, n, nullptr, 0);
                at += n;
            }
            continue;
        }
        nodes++;
        const int ply = head & 0xff, us = head >> 8 & 1, bucket = head >> 16;
        Row* rows = plies[ply];
        for (int c = 0; c < 2; c++) {
            const int added = *at++, removed = *at++;
            if (removed < 0) {
                apply(&rows[c], &blank, table, at, added, nullptr, 0);
                at += added;
                continue;
            }
            apply(&rows[c], &plies[ply - 1][c], table, at, added, at + added, removed);
            at += added + removed;
        }
        if (value) {
            transform(activated, rows[us].lane);
            transform(activated + lanes, rows[!us].lane);
            sum += ((rows[us].sum[bucket] - rows[!us].sum[bucket]) / 2 + layers(stacks[bucket], activated)) / 16;
        }
    }
    return sum;
}

static double cpu() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char** argv) {
    FILE* f = argc > 1 ? fopen(argv[1], "rb") : nullptr;
    if (!f) return fprintf(stderr, "usage: twin RECORD [ROUNDS]\n"), 1;
    const int rounds = argc > 2 ? atoi(argv[2]) : 5;
    fseek(f, 0, SEEK_END);
    std::vector<int32_t> record(ftell(f) / 4);
    rewind(f);
    if (fread(record.data(), 4, record.size(), f) != record.size()) return 1;
    const int features = 64 * (64 * 11 + 160);
    table = (Row*)aligned_alloc(64, sizeof(Row) * features);
    stacks = (Stack*)aligned_alloc(64, sizeof(Stack) * buckets);
    std::mt19937 random(1);
    for (int i = 0; i < features; i++) {
        for (auto& x : table[i].lane) x = int(random() % 41) - 20;
        for (auto& x : table[i].sum) x = int(random() % 2001) - 1000;
    }
    for (int i = 0; i < buckets; i++) {
        memset(&stacks[i], 0, sizeof(Stack));
        for (auto& x : stacks[i].first) x = int(random() % 41) - 20;
        for (auto& x : stacks[i].second) x = int(random() % 41) - 20;
        for (auto& x : stacks[i].out) x = int(random() % 41) - 20;
    }
    std::vector<double> times[2];
    int64_t nodes = 0, sum = 0;
    for (int r = 0; r < rounds; r++)
        for (int way = 0; way < 2; way++) {
            const double begin = cpu();
            sum += way ? replay<true>(record, nodes) : replay<false>(record, nodes);
            times[way].push_back((cpu() - begin) / nodes);
        }
    for (auto& t : times) std::sort(t.begin(), t.end());
    printf("%ld nodes, sums %.0f ns, values %.0f ns (sum %ld)\n", (long)nodes, times[0][rounds / 2], times[1][rounds / 2], (long)sum);
}
