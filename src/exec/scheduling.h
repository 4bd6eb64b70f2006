// Between scheduler.cpp, fragments.cpp and the families that make lanes wait.
#pragma once

#include <vector>

#include "exec/worker.h"

namespace fullwarp::exec {

// Lets the lanes that wait at joins go on without the others. True if there were any.
bool release_joins(Warp& warp);
// Ends all lanes of the warp where they are.
void end_warp(Warp& warp);
// Puts a barrier's result (bar.red) into the waiting fragment's registers and moves it past the barrier op.
void finish_barrier_op(Warp& warp, Fragment& fragment, const Barrier& barrier);
// Executes the .sync ops at which the fragments wait, as one operation of all their lanes, and makes the
// fragments ready behind them.
void run_together(Warp& warp, const std::vector<Fragment>& group, LaneMask together);

}  // namespace fullwarp::exec
