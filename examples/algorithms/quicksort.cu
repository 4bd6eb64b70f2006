// Quicksort by recursion on the device: each thread sorts its own 64 values.
//
// The shorter part is sorted by a call, the longer one by going on in the loop, so that six calls at most are
// open. The lanes of a warp recurse to different depths.
// Look at: local memory of the call frames; one value a lane, 256 bytes apart.
//
// fullwarp: in = i32[64*128] : below(1000, 1)
// fullwarp: out = i32[64*128]
// fullwarp: want = i32[64*128]
// fullwarp: sort_segments<<<2, 64>>>(in, out, 128)
// fullwarp: sort_reference<<<128, 64>>>(in, want)
// fullwarp: expect out = want
#include <cuda_runtime.h>

constexpr int kSegment = 64;

__device__ void quicksort(int* values, int first, int last) {
  while (first < last) {
    int pivot = values[(first + last) / 2], low = first, high = last;
    while (low <= high) {
      while (values[low] < pivot) ++low;
      while (values[high] > pivot) --high;
      if (low <= high) {
        int kept = values[low];
        values[low++] = values[high];
        values[high--] = kept;
      }
    }
    if (high - first < last - low) {
      quicksort(values, first, high);
      first = low;
    } else {
      quicksort(values, low, last);
      last = high;
    }
  }
}

__global__ void sort_segments(const int* in, int* out, int segments) {
  int segment = blockIdx.x * blockDim.x + threadIdx.x;
  if (segment >= segments) return;
  int* values = out + segment * kSegment;
  for (int i = 0; i < kSegment; ++i) values[i] = in[segment * kSegment + i];
  quicksort(values, 0, kSegment - 1);
}

// The check: a value goes to the place given by the number of values before it; one block a segment.
__global__ void sort_reference(const int* in, int* out) {
  const int* segment = in + blockIdx.x * kSegment;
  int value = segment[threadIdx.x], place = 0;
  for (int i = 0; i < kSegment; ++i) {
    place += segment[i] < value || (segment[i] == value && i < static_cast<int>(threadIdx.x));
  }
  out[blockIdx.x * kSegment + place] = value;
}
