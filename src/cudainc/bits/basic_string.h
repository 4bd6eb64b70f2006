// libstdc++ writes __attribute__((__noinline__)); CUDA makes that word a macro. Hide the macro meanwhile.
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/basic_string.h>
#pragma pop_macro("__noinline__")
