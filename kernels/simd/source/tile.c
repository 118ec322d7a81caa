/* The tiled product: an open panel (eight rows) against four tokens at a time.
 *
 * The integer sum of a block and the order of the float sums over blocks are those of panel_q4 and
 * panel_q8, so a token's result does not depend on how many tokens came with it. */
#include "activations.h"
#include "product.h"

typedef struct {
  v128_t low, high;
} Sums;

/* Where each token of the tile stands in its row of activations. */
typedef struct {
  const i16 *codes; /* of the first token; the others follow pair by pair */
  const f32 *scales[TILE_TOKENS], *sums[TILE_TOKENS];
} Places;

#define EACH_TOKEN _Pragma("clang loop unroll(full)") for (u32 t = 0; t < TILE_TOKENS; t++)

INLINE void clear(Sums *sums) {
  EACH_TOKEN sums[t].low = sums[t].high = wasm_i32x4_splat(0);
}

INLINE void add_scaled(Sums *to, Sums part, v128_t low, v128_t high) {
  to->low = wasm_f32x4_add(to->low, wasm_f32x4_mul(part.low, low));
  to->high = wasm_f32x4_add(to->high, wasm_f32x4_mul(part.high, high));
}

/* The sums of 32 columns for each token, as floats with the activation scale in. */
INLINE void sums_of_32(const i16 *weights, const Places *at, u32 block, Sums *sums) {
  clear(sums);
  const i16 *codes = at->codes + block * BLOCK * TILE_TOKENS;
#pragma clang loop unroll(disable)
  for (u32 pair = 0; pair < BLOCK / 2; pair++) {
    v128_t low = wasm_v128_load(weights + 16 * pair), high = wasm_v128_load(weights + 16 * pair + 8);
    EACH_TOKEN {
      v128_t a = pair_in_all_lanes(codes + 2 * (TILE_TOKENS * pair + t));
      sums[t].low = wasm_i32x4_add(sums[t].low, wasm_i32x4_dot_i16x8(low, a));
      sums[t].high = wasm_i32x4_add(sums[t].high, wasm_i32x4_dot_i16x8(high, a));
    }
  }
  EACH_TOKEN {
    v128_t scale = wasm_v128_load32_splat(at->scales[t] + block);
    sums[t].low = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sums[t].low), scale);
    sums[t].high = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sums[t].high), scale);
  }
}

INLINE void q4_sums(OpenPanel panel, u32 blocks, const Places *at, Sums *total) {
  for (u32 block = 0; block < blocks; block++) {
    Sums sums[TILE_TOKENS];
    sums_of_32(panel.codes + block * BLOCK * PANEL_ROWS, at, block, sums);
    v128_t low = wasm_v128_load(panel.scales + 8 * block);
    v128_t high = wasm_v128_load(panel.scales + 8 * block + 4);
    EACH_TOKEN add_scaled(&total[t], sums[t], low, high);
  }
}

INLINE void q8_sums(OpenPanel panel, const Matrix *weights, const Places *at, Sums *total) {
  u32 inner = weights->block_columns / BLOCK;
  for (u32 block = 0; block < weights->blocks; block++) {
    Sums part[TILE_TOKENS];
    clear(part);
    for (u32 i = block * inner; i < (block + 1) * inner; i++) {
      Sums sums[TILE_TOKENS];
      sums_of_32(panel.codes + i * BLOCK * PANEL_ROWS, at, i, sums);
      EACH_TOKEN {
        part[t].low = wasm_f32x4_add(part[t].low, sums[t].low);
        part[t].high = wasm_f32x4_add(part[t].high, sums[t].high);
      }
    }
    v128_t low = wasm_v128_load(panel.scales + 8 * block);
    v128_t high = wasm_v128_load(panel.scales + 8 * block + 4);
    EACH_TOKEN add_scaled(&total[t], part[t], low, high);
  }
}

INLINE void add_minimums(OpenPanel panel, u32 blocks, const Places *at, Sums *total) {
  Sums part[TILE_TOKENS];
  clear(part);
  for (u32 block = 0; block < blocks; block++) {
    Sums minimums;
    minimums.low = wasm_v128_load(panel.minimums + 8 * block);
    minimums.high = wasm_v128_load(panel.minimums + 8 * block + 4);
    EACH_TOKEN {
      v128_t sum = wasm_v128_load32_splat(at->sums[t] + block);
      add_scaled(&part[t], minimums, sum, sum);
    }
  }
  EACH_TOKEN {
    total[t].low = wasm_f32x4_add(total[t].low, part[t].low);
    total[t].high = wasm_f32x4_add(total[t].high, part[t].high);
  }
}

/* A tile at the end of the rows computes four tokens all the same; only those that are there count. */
void tile(const Matrix *weights, OpenPanel panel, const Input *input, u32 token, u32 row, Output output) {
  const Activations *a = input->codes;
  Places at;
  Sums total[TILE_TOKENS];
  clear(total);
  at.codes = codes_at(a, token);
  EACH_TOKEN {
    u32 first = (token + t) * a->blocks;
    at.scales[t] = a->scales + first;
    at.sums[t] = a->sums + first;
  }
  if (weights->kind == KIND_Q8) q8_sums(panel, weights, &at, total);
  else q4_sums(panel, weights->blocks, &at, total);
  if (weights->kind == KIND_Q4_MINIMUM) add_minimums(panel, weights->blocks, &at, total);
  v128_t unit = unit_of(weights);
  u32 count = smaller(TILE_TOKENS, input->tokens - token);
  for (u32 t = 0; t < count; t++) {
    PanelSums result;
    result.low = wasm_f32x4_mul(total[t].low, unit);
    result.high = wasm_f32x4_mul(total[t].high, unit);
    store_panel(output, token + t, row, weights->rows, result);
  }
}
