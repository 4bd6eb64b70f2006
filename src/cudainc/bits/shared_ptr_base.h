// libstdc++ writes __attribute__((__noinline__)); CUDA makes that word a macro. Hide the macro meanwhile.
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
