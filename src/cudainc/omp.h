// The OpenMP functions that host code around kernels calls, where the compiler's own omp.h is not installed. Declared,
// never linked.
#pragma once

#if __has_include_next(<omp.h>)
#include_next <omp.h>
#else
extern "C" {
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_thread_num();
int omp_get_num_procs();
int omp_in_parallel();
double omp_get_wtime();
void omp_set_num_threads(int threads);
void omp_set_dynamic(int on);
void omp_set_nested(int on);
}
#endif
