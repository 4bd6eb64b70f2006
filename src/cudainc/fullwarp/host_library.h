// Host libraries (cuBLAS, cuFFT, cuRAND and so on) are never called here: only kernels run. Their functions are
// declared so that a program that uses them compiles, each taking whatever it is given.
#pragma once

#define FW_HOST_FUNCTION(RESULT, NAME) \
  template <class... A>                \
  __host__ RESULT NAME(A&&...);
