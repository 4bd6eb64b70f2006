// Every function of this folder is inlined for certain: a loop over 32 lanes vectorises only if no call is
// left in it, and the interpreter compiles such loops for several targets from one definition.
#pragma once

#define FULLWARP_LANE inline __attribute__((always_inline))
