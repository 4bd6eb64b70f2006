// Runs a launch: decode, hand out blocks to workers, add up what they counted.
#include "exec/exec.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <optional>
#include <thread>

#include "exec/block_queue.h"
#include "exec/collect.h"
#include "exec/decode.h"
#include "exec/handlers.h"
#include "exec/pieces.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using profile::KernelProfile;

profile::InstructionId instruction_of(const Warp& w, const MicroOp* op) {
  return {w.frame ? w.frame->program->function : -1, op ? op->instruction : 0};
}

Dim3 thread_of(const Warp& w, unsigned lane) {
  const Dim3 shape = w.worker->program->block;
  const uint32_t thread = w.first_thread + lane;
  return {thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y};
}

profile::Fault& report_fault(Warp& w, const MicroOp* op, profile::FaultKind kind, unsigned lane,
                             uint64_t count, bool same_value) {
  Worker& k = *w.worker;
  const profile::InstructionId where = instruction_of(w, op);
  auto [it, fresh] = k.faults.try_emplace({kind, where.function, where.index, same_value});
  FaultRecord& record = it->second;
  const uint64_t total = (fresh ? 0 : record.fault.count) + count;
  if (!fresh && record.block <= w.block->linear) {
    record.fault.count = total;
    return k.unread_fault;
  }
  record.fault = profile::Fault{};
  record.fault.kind = kind;
  record.fault.instruction = where;
  record.fault.same_value = same_value;
  record.fault.block = w.block->index;
  record.fault.thread = thread_of(w, lane);
  record.fault.count = total;
  record.block = w.block->linear;
  return record.fault;
}

namespace {

// Blocks to run: all, or an even sample.
std::vector<uint64_t> choose_blocks(uint64_t total, uint64_t most) {
  std::vector<uint64_t> blocks;
  if (most == 0 || most >= total) most = total;
  blocks.reserve(most);
  for (uint64_t k = 0; k < most; ++k)
    blocks.push_back(static_cast<uint64_t>(static_cast<unsigned __int128>(k) * total / most));
  return blocks;
}

struct Run {
  const Program& program;
  DeviceMemory& memory;
  const Options& options;
  const std::vector<uint64_t>& blocks;
  std::vector<bool> shadowed;  // buffers with a shadow; empty: none
  BlockQueue queue;            // of indices into `blocks`
  std::vector<std::unique_ptr<Worker>> workers;
  std::atomic<bool> conflict{false};
};

std::unique_ptr<Worker> make_worker(Run& run, bool parallel) {
  const Program& program = run.program;
  auto worker = std::make_unique<Worker>();
  worker->program = &program;
  worker->memory = &run.memory;
  worker->options = &run.options;
  worker->atomic_memory = parallel;
  if (program.fences && !parallel && run.options.check_races) worker->block_order = BlockOrder(true);
  worker->sites.resize(program.sites.size());
  worker->blocks.resize(program.block_count);
  worker->guard_lanes.resize(program.guard_count);
  worker->divergent.resize(program.branch_count);
  worker->taken_lanes.resize(program.branch_count);
  worker->divisors.resize(program.divisions.size());
  worker->coverage.resize(run.memory.size());
  worker->views.resize(run.memory.size());
  worker->shadows.resize(run.memory.size());
  for (size_t b = 0; b < run.memory.size(); ++b) {
    Buffer& buffer = run.memory.buffer(b);
    BufferView& view = worker->views[b];
    view.data = buffer.data.get();
    view.bytes = buffer.bytes;
    view.written = buffer.written.get();
    view.read_only = buffer.read_only;
    if (!run.shadowed.empty() && run.shadowed[b] && !buffer.read_only) watch_buffer(*worker, b);
    worker->coverage[b] = Coverage(buffer.bytes, run.memory.spare_blocks());
    view.coverage = &worker->coverage[b];
    view.sectors = view.coverage->sectors.get();
  }
  return worker;
}

void run_blocks(Run& run, unsigned index) {
  Worker& worker = *run.workers[index];
  BlockState block;
  uint64_t before = 0;
  while (const std::optional<uint64_t> k = run.queue.take(index)) {
    if (run.conflict.load(std::memory_order_relaxed)) break;
    if (*k < before) give_examples(worker.sites, run.program, worker.later_examples);
    before = *k;
    prepare_block(worker, block, run.blocks[*k]);
    worker.held_back.begin_block(block.linear);
    worker.block = &block;
    for (;;) {
      const BlockRun state = run_block_once(worker, block);
      if (state == BlockRun::finished) break;
      if (state == BlockRun::stuck) end_deadlocked(worker, block);
    }
    if (!block.printed.empty()) worker.printed[block.linear] = std::move(block.printed);
    block.printed.clear();
    if ((worker.blocks_conflict && worker.atomic_memory) || worker.held_back.full()) run.conflict = true;
    if (run.options.blocks_done) run.options.blocks_done->fetch_add(1, std::memory_order_relaxed);
  }
  worker.held_back.bring_all();
}

// Blocks that can see each other: a fixed number are in flight, each gets a turn in order.
void run_blocks_in_order(Run& run, Worker& worker) {
  std::vector<std::unique_ptr<BlockState>> flight;
  std::vector<std::unique_ptr<BlockState>> spare;
  size_t next = 0;
  while (next < run.blocks.size() || !flight.empty()) {
    // A block is started when those before it have had their turn, so that a kernel whose blocks do not wait
    // for each other never has more than one in flight.
    for (size_t k = 0; k < flight.size();) {
      BlockState& block = *flight[k];
      const BlockRun state = run_block_once(worker, block);
      if (state == BlockRun::finished) {
        if (!block.printed.empty()) worker.printed[block.linear] = std::move(block.printed);
        block.printed.clear();
        if (run.options.blocks_done) run.options.blocks_done->fetch_add(1, std::memory_order_relaxed);
        spare.push_back(std::move(flight[k]));
        flight.erase(flight.begin() + static_cast<std::ptrdiff_t>(k));
        continue;
      }
      if (state == BlockRun::stuck)
        end_deadlocked(worker, block);
      else
        ++k;
    }
    if (next < run.blocks.size() && flight.size() < std::max(1u, run.options.resident_blocks)) {
      std::unique_ptr<BlockState> block;
      if (spare.empty()) {
        block = std::make_unique<BlockState>();
      } else {
        block = std::move(spare.back());
        spare.pop_back();
      }
      prepare_block(worker, *block, run.blocks[next++]);
      flight.push_back(std::move(block));
    }
  }
}

// A buffer's contents at the start of a launch.
struct SavedBuffer {
  AlignedBytes data;
  std::vector<uint64_t> written;
};

uint64_t written_words(const Buffer& buffer) { return buffer.bytes / 64 + 3; }

// The pages of a copy are new: making them takes longer than filling them, so that every CPU thread does its
// part.
std::vector<SavedBuffer> copy_buffers(DeviceMemory& memory, const std::vector<bool>& which,
                                      unsigned threads) {
  std::vector<SavedBuffer> copies(which.size());
  for (size_t b = 0; b < which.size(); ++b) {
    Buffer& buffer = memory.buffer(b);
    if (buffer.read_only || !which[b]) continue;
    copies[b].data = allocate_zeroed(buffer.bytes);
    std::byte* const to = copies[b].data.get();
    constexpr uint64_t kUnit = 64;
    if (to)
      in_pieces(threads, (buffer.bytes + kUnit - 1) / kUnit, [&](uint64_t first, uint64_t last) {
        std::memcpy(to + first * kUnit, buffer.data.get() + first * kUnit,
                    std::min(last * kUnit, buffer.bytes) - first * kUnit);
      });
    if (buffer.written)
      copies[b].written.assign(buffer.written.get(), buffer.written.get() + written_words(buffer));
  }
  return copies;
}

void restore_buffer(Buffer& buffer, const SavedBuffer& from) {
  std::memcpy(buffer.data.get(), from.data.get(), buffer.bytes);
  if (buffer.written) std::copy(from.written.begin(), from.written.end(), buffer.written.get());
}

// What the workers had beside the buffers is there for the next launch.
void give_back(std::vector<std::unique_ptr<Worker>>& workers, DeviceMemory& memory) {
  for (const auto& worker : workers)
    for (size_t b = 0; b < memory.size(); ++b) {
      worker->coverage[b].give_back(memory.buffer(b).bytes, memory.spare_blocks());
      worker->shadows[b].give_back(memory.spare_blocks());
    }
}

bool launch_writes(const Program& program) {
  return std::any_of(program.sites.begin(), program.sites.end(),
                     [](const SiteInfo& s) { return s.kind == mem::AccessKind::store; });
}

// A grid of more cannot be resident on any GPU: 264 multiprocessors with 32 blocks each.
constexpr uint64_t kMostResident = 264 * 32;

bool asks_for_grid_workspace(const ptx::Module& module, const Program& program) {
  for (const auto& function : program.functions) {
    if (!function) continue;
    for (const ptx::Instruction& instruction :
         module.functions[static_cast<size_t>(function->function)].instructions)
      for (unsigned o = 0; o < instruction.operand_count; ++o) {
        const ptx::Operand& operand = module.operands_of(instruction)[o];
        if (operand.kind == ptx::Operand::Kind::special &&
            static_cast<ptx::Special>(operand.index) == ptx::Special::envreg)
          return true;
      }
  }
  return false;
}

}  // namespace

Result<KernelProfile> run(const ptx::Module& module, DeviceMemory& memory, const Launch& launch,
                          const Options& options) {
  if (launch.function < 0 || static_cast<size_t>(launch.function) >= module.functions.size() ||
      !module.functions[static_cast<size_t>(launch.function)].entry)
    return Error{"there is no such kernel", module.path, 0, 0, {}};
  const ptx::Function& entry = module.functions[static_cast<size_t>(launch.function)];
  const uint64_t threads = launch.block.count();
  if (threads == 0 || threads > 1024 || launch.grid.count() == 0)
    return Error{
        "a block has 1 to 1024 threads and a grid at least one block", module.path, entry.line, 0, {}};
  if (launch.dynamic_shared_bytes > (1u << 20))
    return Error{"dynamic shared memory of more than 1 MB", module.path, entry.line, 0,
                 "a block has at most 227 KB of shared memory"};
  uint32_t parameter_bytes = 0;
  for (uint32_t p = 0; p < entry.params.size(); ++p) parameter_bytes = kernel_param_offset_end(entry, p);
  if (launch.parameters.size() < parameter_bytes)
    return Error{"the launch gives " + std::to_string(launch.parameters.size()) +
                     " bytes of parameters, the kernel takes " + std::to_string(parameter_bytes),
                 module.path,
                 entry.line,
                 0,
                 {}};

  // Parameters live in a read-only buffer of their own for the time of the launch.
  // An empty window lies between, so that a pointer a window past the last buffer does not find them.
  const size_t visible = memory.size();
  Result<uint64_t> gap = memory.allocate("", 0);
  if (!gap) return gap.error();
  Result<uint64_t> parameters = memory.allocate("parameters of the kernel", launch.parameters.size());
  if (!parameters) {
    memory.release_from(visible);
    return parameters.error();
  }
  Buffer& parameter_buffer = memory.buffer(visible + 1);
  std::copy(launch.parameters.begin(), launch.parameters.end(), parameter_buffer.data.get());
  parameter_buffer.read_only = true;

  LaunchShape shape;
  shape.grid = launch.grid;
  shape.block = launch.block;
  shape.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  shape.param_buffer = *parameters;
  shape.check_races = options.check_races;
  shape.machine = launch.machine;
  Result<Program> program = decode_program(module, memory, launch.function, shape);
  if (!program) {
    memory.release_from(visible);
    return program.error();
  }

  // Blocks that wait for the whole grid are all there at once, and none is left out. Their launch has a
  // workspace behind the parameters, whose address is in %envreg1 and 2: its size, which nobody reads
  // (ops_atomic.cpp keeps the last phase there), and the counter that the blocks of grid.sync() meet at.
  Options how = options;
  if (asks_for_grid_workspace(module, *program)) {
    const Result<uint64_t> workspace = memory.allocate("workspace of the grid's barrier", 8);
    if (!workspace) {
      memory.release_from(visible);
      return workspace.error();
    }
    program->ordered = true;
    how.resident_blocks = static_cast<unsigned>(std::min<uint64_t>(launch.grid.count(), kMostResident));
    how.max_blocks = 0;
  }

  // Buffers that this launch is expected to store to, for which shadows are kept, and to change at all: those
  // that a parameter points into.
  std::vector<bool> shadowed(memory.size(), false), changed(memory.size(), false), read(memory.size(), false),
      atomic(memory.size(), false);
  const StoredParameters stored = stored_parameters(module, entry);
  for (uint32_t p = 0; p < entry.params.size(); ++p) {
    if (!stored.changed[p] && !stored.read[p]) continue;
    const uint32_t start = kernel_param_offset(entry, p);
    for (uint32_t at = start; at + 8 <= start + entry.params[p].bytes; at += 8) {
      uint64_t value = 0;
      std::memcpy(&value, launch.parameters.data() + at, 8);
      const int64_t buffer = memory.find(value);
      if (buffer < 0) continue;
      if (stored.changed[p]) changed[static_cast<size_t>(buffer)] = true;
      if (stored.stored[p]) shadowed[static_cast<size_t>(buffer)] = true;
      if (stored.read[p]) read[static_cast<size_t>(buffer)] = true;
      if (stored.atomic[p]) atomic[static_cast<size_t>(buffer)] = true;
    }
  }
  // What a launch starts over from. Memory that it only stores to need not be kept: it will store there
  // again, and nothing depends on what stood there.
  std::vector<bool> kept(memory.size(), true);
  for (size_t b = 0; b < kept.size() && stored.complete; ++b) kept[b] = changed[b] && (read[b] || atomic[b]);

  bool hold_back = stored.complete;
  for (size_t b = 0; b < atomic.size(); ++b) hold_back &= !atomic[b] || !(read[b] || shadowed[b]);
  if (program->sums_in_order && (!hold_back || program->fences)) program->ordered = true;

  const unsigned cores =
      options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  KernelProfile profile;
  for (bool in_order = program->ordered || cores == 1;;) {
    const std::vector<uint64_t> blocks = choose_blocks(launch.grid.count(), how.max_blocks);
    const unsigned workers = in_order ? 1 : static_cast<unsigned>(std::min<uint64_t>(cores, blocks.size()));
    Run run{*program, memory, how, blocks, {}, BlockQueue(blocks.size(), workers), {}, {}};
    const bool watch = options.check_races && launch_writes(*program);
    // To start over: if blocks turn out to meet on several workers, or if stores go where none was expected.
    const bool can_start_over = !stored.complete || workers > 1;
    std::vector<SavedBuffer> before;
    if (watch) {
      run.shadowed = shadowed;
    }
    if ((watch || program->sums_in_order) && can_start_over) before = copy_buffers(memory, kept, workers);
    // Each worker's counters are made by its own thread, so that no two threads write to one cache line.
    run.workers.resize(workers);
    const auto make = [&](unsigned k) {
      run.workers[k] = make_worker(run, workers > 1);
      run.workers[k]->watch_stores = watch;
      run.workers[k]->can_start_over = can_start_over;
      run.workers[k]->unexpected.assign(memory.size(), false);
      if (hold_back && workers > 1)
        program->sums_in_order ? run.workers[k]->held_back.start_in_order()
                               : run.workers[k]->held_back.start();
    };
    Sweep sweep(memory, run.workers);
    if (program->ordered) {
      make(0);
      run_blocks_in_order(run, *run.workers[0]);
      sweep.prepare();
      sweep.take_part();
    } else {
      std::barrier all_ran(workers, [&sweep]() noexcept { sweep.prepare(); });
      const auto work = [&](unsigned worker) {
        make(worker);
        run_blocks(run, worker);
        all_ran.arrive_and_wait();
        sweep.take_part();
      };
      std::vector<std::thread> pool;
      for (unsigned k = 1; k < workers; ++k) pool.emplace_back(work, k);
      work(0);
      for (std::thread& t : pool) t.join();
    }
    bool again = false;
    std::vector<HeldBack*> held_back;
    for (const auto& worker : run.workers) held_back.push_back(&worker->held_back);
    for (const auto& worker : run.workers)
      for (size_t b = 0; b < visible; ++b)
        if (worker->unexpected[b] && !shadowed[b]) shadowed[b] = again = true;
    if (!again && workers > 1 && (run.conflict || sweep.workers_met())) again = in_order = true;
    if (again) {
      give_back(run.workers, memory);
      for (size_t b = 0; b < before.size(); ++b)
        if (before[b].data) restore_buffer(memory.buffer(b), before[b]);
      continue;
    }
    HeldBack::bring_in_order(held_back);
    profile = collect(*program, memory, run.workers, sweep, launch, run.blocks.size());
    give_back(run.workers, memory);
    break;
  }
  memory.release_from(visible);
  profile.buffers.resize(visible);
  for (profile::Fault& fault : profile.faults)
    if (fault.buffer >= static_cast<int32_t>(visible)) fault.buffer = -1;
  return profile;
}

}  // namespace fullwarp::exec
