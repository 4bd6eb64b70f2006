// A report made by hand, with every field set, for the tests of the renderers: the transpose of design.md's
// sample, 1024 x 1024, tiles of 32 x 32, blocks of (32,8). By hand: 1024 blocks x 8 warps x 4 rows of a tile
// = 32 768 requests each for load, store, shared store and shared load. A row of 32 floats is 4 sectors; a
// column of the unpadded tile is 32 wavefronts.
#pragma once

#include "report/report.h"

namespace fullwarp::report {

inline KernelReport sample_kernel() {
  constexpr uint64_t kRequests = 32768, kLanes = kRequests * 32, kBytes = kLanes * 4;
  using mem::AccessKind;
  using mem::AccessSpace;
  KernelReport kernel;
  kernel.name = "transpose(float*, float const*, int)";
  kernel.file = "tile.cu";
  kernel.launch = "transpose<<<(32,32), (32,8)>>>(out, in, 1024)";
  kernel.grid = {32, 32, 1};
  kernel.block = {32, 8, 1};
  kernel.static_shared_bytes = 4096;
  kernel.blocks_run = 1024;
  Metrics& metrics = kernel.metrics;
  metrics.warp_instructions = 500000;
  metrics.lane_instructions = 16000000;
  metrics.lanes_on = 15000000;
  metrics.branches = 8192;
  metrics.divergent_branches = 2;
  metrics.accesses = {
      {AccessSpace::global,
       AccessKind::load,
       4,
       {kRequests, kLanes, kBytes, kRequests * 4, kRequests * 4, kRequests, 0, 0, 0, 0}},
      {AccessSpace::global,
       AccessKind::store,
       4,
       {kRequests, kLanes, kBytes, kRequests * 4, kRequests * 4, kRequests, 0, 0, 0, 0}},
      {AccessSpace::shared,
       AccessKind::load,
       4,
       {kRequests, kLanes, kBytes, 0, 0, 0, kRequests * 32, kRequests, kRequests, 0}},
      {AccessSpace::shared,
       AccessKind::store,
       4,
       {kRequests, kLanes, kBytes, 0, 0, 0, kRequests, kRequests, kRequests, 0}},
  };
  Metrics line;
  line.warp_instructions = kRequests;
  line.lane_instructions = line.lanes_on = kLanes;
  line.accesses = {metrics.accesses[2]};
  kernel.lines = {{"tile.cu", 3, line}};
  kernel.buffers = {{"in", kBytes, kBytes, 0, kBytes, 0, 1024, 1.0}};
  diag::Finding finding;
  finding.rule = "bank-conflict";
  finding.kernel = kernel.name;
  finding.place = {"tile.cu", 3, 20, 24};
  finding.message = "32-way bank conflict: each request takes 32 wavefronts where 1 would do";
  finding.label = "lanes 0-31 read words 0, 32, 64, ...: all in bank 0";
  finding.notes = {
      {"32 768 requests, 1 048 576 wavefronts: 97 % of this kernel's shared-memory wavefronts", {}},
      {"inlined here", diag::Place{"main.cu", 7, 3, 0}}};
  finding.evidence = {{"requests", int64_t{32768}}, {"conflict_degree", 32.0}, {"bank", std::string("0")}};
  finding.share = 0.97;
  finding.fix = "pad the row by one word: `__shared__ float tile[32][33];`";
  finding.gain = 32.0;
  kernel.findings = {finding};
  kernel.suppressed = 1;
  kernel.outputs = {{"out", "f32", 1048576, 0x00ff00000000abcdULL, 2, 0.0, 0.5}};
  kernel.occupancy = Occupancy{8, 64, 64, 18, "block size"};
  return kernel;
}

inline Report sample_report() {
  Report report;
  report.gpu = "h200";
  report.kernels = {sample_kernel()};
  report.prints = {{"tile.cu", 9, "out[0:2] = 0 0.5"}};
  report.sources["tile.cu"] = "line 1\nline 2\n  out[y * n + x] = tile[threadIdx.x][threadIdx.y];\n";
  return report;
}

}  // namespace fullwarp::report
