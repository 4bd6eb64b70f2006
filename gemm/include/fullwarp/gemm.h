/* Matrix products that keep their speed at any size: D = act(alpha op(A) op(B) + beta C + bias).
 *
 * cuBLAS loses two thirds to four fifths of its speed where a row's pitch or a base address is not a multiple
 * of 16 bytes (docs/gemm.md). This library hands aligned problems to cuBLASLt untouched and moves the others
 * onto aligned pitches in a workspace first, where a cost model says that it pays.
 *
 *     fwGemm_t gemm;
 *     fwGemmCreate(&gemm);
 *     fwGemmProblem p = fwGemmDefaults(FW_GEMM_BF16, FW_GEMM_ROW_MAJOR, 4096, 4095, 4095);
 *     p.a = a; p.b = b; p.d = d;                    // device addresses; C is D where c is null
 *     fwGemmRun(gemm, &p, stream);                  // asynchronous, capturable into a CUDA graph
 *     fwGemmDestroy(gemm);
 *
 * The C++ interface is fullwarp/gemm.hpp.
 */
#ifndef FULLWARP_GEMM_H_
#define FULLWARP_GEMM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fwGemmContext* fwGemm_t;
typedef struct CUstream_st* fwGemmStream; /* a cudaStream_t */

typedef enum {
  FW_GEMM_OK = 0,
  FW_GEMM_INVALID = 1,    /* an argument is out of range; fwGemmMessage says which */
  FW_GEMM_NO_MEMORY = 2,  /* the workspace could not be had */
  FW_GEMM_CUDA_ERROR = 3, /* a launch failed */
  FW_GEMM_UNSUPPORTED = 4 /* cuBLASLt has no way to do this on this GPU */
} fwGemmStatus;

/* Operands are of this type, sums are fp32. TF32 and FP32 operands are 4-byte floats; TF32 rounds them for
 * the tensor cores. */
typedef enum { FW_GEMM_BF16 = 0, FW_GEMM_FP16 = 1, FW_GEMM_TF32 = 2, FW_GEMM_FP32 = 3 } fwGemmType;
typedef enum { FW_GEMM_COLUMN_MAJOR = 0, FW_GEMM_ROW_MAJOR = 1 } fwGemmOrder;
typedef enum { FW_GEMM_NO_ACTIVATION = 0, FW_GEMM_RELU = 1, FW_GEMM_GELU = 2 } fwGemmActivation;

typedef struct {
  fwGemmType type;   /* of A, B, C and D */
  fwGemmOrder order; /* of all four matrices */
  int transpose_a;   /* 1: op(A) is A transposed */
  int transpose_b;
  int64_t m, n, k;            /* op(A) is m x k, op(B) k x n, D m x n; all >= 0 */
  int64_t lda, ldb, ldc, ldd; /* elements from row to row (column to column in column-major order) */
  int64_t batch;              /* products, >= 1 */
  int64_t stride_a, stride_b, stride_c, stride_d; /* elements from product to product; 0 shares an operand */
  float alpha, beta;                              /* C is not read where beta is 0 */
  const float* device_alpha; /* device addresses that replace alpha and beta; both or none */
  const float* device_beta;
  const void* bias; /* null, or one element of `type` for each step along D's contiguous dimension */
  fwGemmActivation activation; /* GELU is the tanh form, as in cuBLASLt */
  const void* a;
  const void* b;
  const void* c; /* null: D is read in its place */
  void* d;
} fwGemmProblem;

/* Untransposed, packed, alpha 1, beta 0, one product. */
fwGemmProblem fwGemmDefaults(fwGemmType type, fwGemmOrder order, int64_t m, int64_t n, int64_t k);

/* One context serves all threads, streams and devices of a process. The workspace of each stream grows at the
 * first use of a shape that needs more, up to FULLWARP_GEMM_WORKSPACE_MB (1024 by default); problems that
 * need more are done in pieces. */
fwGemmStatus fwGemmCreate(fwGemm_t* gemm);
void fwGemmDestroy(fwGemm_t gemm);

/* Enqueues the product. The first call of a shape may allocate and synchronise; under stream capture nothing
 * is allocated, and a shape whose workspace is not there yet goes to cuBLASLt as it is. */
fwGemmStatus fwGemmRun(fwGemm_t gemm, const fwGemmProblem* problem, fwGemmStream stream);

/* Does what the first call of a shape does beside the product, so that a capture can follow at once. */
fwGemmStatus fwGemmPrepare(fwGemm_t gemm, const fwGemmProblem* problem, fwGemmStream stream);

/* What fwGemmRun would do and why, in one line, as FULLWARP_GEMM_LOG=1 prints it. Returns the length without
 * the closing 0, as snprintf does. */
int fwGemmExplain(fwGemm_t gemm, const fwGemmProblem* problem, char* text, size_t size);

/* The calling thread's last failure in words; empty if there was none. */
const char* fwGemmMessage(void);

#ifdef __cplusplus
}
#endif
#endif /* FULLWARP_GEMM_H_ */
