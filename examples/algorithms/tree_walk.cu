// A walk down a binary search tree, one key a lane: the lanes of a warp part at the root and stop at
// different depths.
//
// The tree is grown key by key, so that its branches have different lengths.
// Look at: active lanes per instruction in the loop, and sectors per request of the scattered loads.
//
// fullwarp: keys = u32[512] : below(4096, 1)
// fullwarp: left = i32[512]
// fullwarp: right = i32[512]
// fullwarp: grow<<<1, 1>>>(keys, left, right, 512)
// fullwarp: queries = u32[8192] : below(4096, 2)
// fullwarp: found = i32[8192]
// fullwarp: want = i32[8192]
// fullwarp: walk<<<32, 256>>>(keys, left, right, queries, found, 8192)
// fullwarp: walk_reference<<<32, 256>>>(keys, queries, want, 512, 8192)
// fullwarp: expect found = want
#include <cuda_runtime.h>

// Node i holds keys[i]; child 0 is none (the root, node 0, is nobody's child).
__global__ void grow(const unsigned* keys, int* left, int* right, int n) {
  for (int i = 1; i < n; ++i) {
    int at = 0;
    while (true) {
      int* child = keys[i] < keys[at] ? &left[at] : &right[at];
      if (*child == 0) {
        *child = i;
        break;
      }
      at = *child;
    }
  }
}

// found[i] is the largest key not above queries[i], or -1.
__global__ void walk(const unsigned* __restrict__ keys, const int* __restrict__ left,
                     const int* __restrict__ right, const unsigned* __restrict__ queries,
                     int* __restrict__ found, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned query = queries[i];
  int at = 0, best = -1;
  do {
    unsigned key = keys[at];
    if (key == query) {
      best = static_cast<int>(key);
      break;
    }
    if (key < query) {
      best = static_cast<int>(key);
      at = right[at];
    } else {
      at = left[at];
    }
  } while (at != 0);
  found[i] = best;
}

// The check: all keys, one after the other.
__global__ void walk_reference(const unsigned* keys, const unsigned* queries, int* found, int keys_n, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = -1;
  for (int k = 0; k < keys_n; ++k) {
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    int key = static_cast<int>(keys[k]);
    if (key <= static_cast<int>(queries[i])) best = max(best, key);
  }
  found[i] = best;
}
