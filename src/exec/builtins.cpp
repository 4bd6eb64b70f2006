#include "exec/builtins.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "exec/access.h"
#include "exec/heap.h"
#include "exec/worker.h"

namespace fullwarp::exec {
namespace {

using profile::FaultKind;

// The value of an argument of a lane; `.param` words of 32 lanes.
uint64_t argument(const Warp& w, const ParamSlot& slot, unsigned lane) {
  const auto* words = reinterpret_cast<const uint32_t*>(w.regs + static_cast<int32_t>(slot.offset));
  uint64_t value = words[lane];
  if (slot.bytes > 4) value |= uint64_t{words[kWarpSize + lane]} << 32;
  return value;
}

void set_result(Warp& w, const ParamSlot& slot, unsigned lane, uint64_t value) {
  auto* words = reinterpret_cast<uint32_t*>(w.regs + static_cast<int32_t>(slot.offset));
  words[lane] = static_cast<uint32_t>(value);
  if (slot.bytes > 4) words[kWarpSize + lane] = static_cast<uint32_t>(value >> 32);
}

constexpr size_t kMaxText = 4096;  // of one string; printf's buffer holds no more of one call

std::string read_string(Warp& w, const MicroOp* op, unsigned lane, uint64_t address) {
  std::string text;
  for (char c; text.size() < kMaxText && read_memory(w, op, lane, address + text.size(), &c, 1) && c;)
    text += c;
  return text;
}

// One conversion of a format, formatted by the host's own printf.
template <class T>
void put(std::string& out, const std::string& spec, T value) {
  char buffer[512];
  const int n = std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
  if (n > 0) out.append(buffer, std::min<size_t>(static_cast<size_t>(n), sizeof buffer - 1));
}

// vprintf(format, arguments): the arguments lie in local memory, each aligned to its size, as C promotes
// them.
void device_printf(Warp& w, const MicroOp* op, const BuiltinInfo& info) {
  for (LaneMask left = w.active; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const std::string format = read_string(w, op, lane, argument(w, info.arguments[0], lane));
    uint64_t at = info.arguments.size() > 1 ? argument(w, info.arguments[1], lane) : 0;
    std::string& out = w.block->printed;
    uint32_t conversions = 0;
    auto next = [&](unsigned bytes) {
      at = (at + bytes - 1) / bytes * bytes;
      uint64_t value = 0;
      read_memory(w, op, lane, at, &value, bytes);
      at += bytes;
      return value;
    };
    for (size_t k = 0; k < format.size(); ++k) {
      if (format[k] != '%') {
        out += format[k];
        continue;
      }
      if (k + 1 < format.size() && format[k + 1] == '%') {
        out += '%';
        ++k;
        continue;
      }
      std::string spec = "%";
      bool wide = false;
      size_t j = k + 1;
      for (; j < format.size() && std::strchr("-+ #0123456789.*", format[j]); ++j) {
        if (format[j] == '*')
          spec += std::to_string(static_cast<int32_t>(next(4)));
        else
          spec += format[j];
      }
      for (; j < format.size() && std::strchr("hlLqjzt", format[j]); ++j)
        wide |=
            format[j] == 'l' || format[j] == 'j' || format[j] == 'z' || format[j] == 't' || format[j] == 'q';
      if (j >= format.size() || spec.size() > 32) {
        out += format.substr(k);
        break;
      }
      const char c = format[j];
      ++conversions;
      if (std::strchr("diouxX", c)) {
        const uint64_t value = next(wide ? 8 : 4);
        if (c == 'd' || c == 'i')
          put(out, spec + "lld",
              wide ? static_cast<long long>(value) : static_cast<long long>(static_cast<int32_t>(value)));
        else
          put(out, spec + "ll" + c, static_cast<unsigned long long>(value));
      } else if (std::strchr("fFeEgGaA", c)) {
        put(out, spec + c, std::bit_cast<double>(next(8)));
      } else if (c == 'c') {
        put(out, spec + c, static_cast<int>(next(4)));
      } else if (c == 's') {
        put(out, spec + c, read_string(w, op, lane, next(8)).c_str());
      } else if (c == 'p') {
        put(out, spec + c, reinterpret_cast<void*>(next(8)));
      } else {
        out += format.substr(k, j - k + 1);
      }
      k = j;
    }
    if (!info.results.empty()) set_result(w, info.results[0], lane, conversions);
  }
}

// __assertfail(condition, file, line, function, character size): reports, and the threads end.
void assert_fail(Warp& w, const MicroOp* op, const BuiltinInfo& info) {
  const unsigned lane = static_cast<unsigned>(std::countr_zero(w.active));
  profile::Fault& fault = report_fault(w, op, FaultKind::assert_failed, lane, lane_count(w.active));
  if (info.arguments.size() >= 4) {
    fault.detail = read_string(w, op, lane, argument(w, info.arguments[0], lane));
    fault.object = read_string(w, op, lane, argument(w, info.arguments[3], lane));
  }
  exit_lanes(w, w.active);
}

// __nv_sinf and the like: arguments by lanes in, results by lanes out; what goes through pointers is read and
// written here, so that the engine's checks see it.
void run_libdevice(Warp& w, const MicroOp* op, const BuiltinInfo& info) {
  using libdevice::Type;
  const libdevice::Function& f = *static_cast<const Builtin*>(info.function)->device;
  alignas(64)
      uint64_t values[libdevice::kMaxParameters][kWarpSize] = {};  // seen as arrays of the parameter's type
  uint64_t pointers[libdevice::kMaxParameters][kWarpSize] = {};
  std::vector<double> lists[kWarpSize];
  void* arguments[libdevice::kMaxParameters] = {};
  LaneMask lanes = w.active;
  const unsigned count = std::min<unsigned>(f.parameter_count, static_cast<unsigned>(info.arguments.size()));
  for (unsigned k = 0; k < count; ++k) {
    const Type type = f.parameters[k];
    const bool wide = type == Type::kI64 || type == Type::kF64;
    arguments[k] = values[k];
    for (LaneMask left = lanes; left; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(std::countr_zero(left));
      const uint64_t value = argument(w, info.arguments[k], i);
      if (wide) {
        values[k][i] = value;
      } else if (type == Type::kI32 || type == Type::kF32) {
        const uint32_t low = static_cast<uint32_t>(value);
        std::memcpy(reinterpret_cast<std::byte*>(values[k]) + 4 * i, &low, 4);
      } else {
        pointers[k][i] = value;
      }
      if (type != Type::kInF32 && type != Type::kInF64) continue;
      // As many values as argument 0 says.
      int32_t length = 0;
      std::memcpy(&length, reinterpret_cast<const std::byte*>(values[0]) + 4 * i, 4);
      const unsigned bytes = type == Type::kInF32 ? 4 : 8;
      if (length < 0 || length > libdevice::kMaxNormCount) length = 0;
      lists[i].assign(static_cast<size_t>(length), 0.0);
      auto* list = reinterpret_cast<std::byte*>(lists[i].data());
      for (int32_t e = 0; e < length; ++e)
        if (!read_memory(w, op, i, value + static_cast<uint64_t>(e) * bytes,
                         list + static_cast<size_t>(e) * bytes, bytes))
          break;
      const void* start = list;
      std::memcpy(&values[k][i], &start, sizeof start);
    }
  }
  if (count < f.parameter_count) return;
  alignas(64) uint64_t result[kWarpSize] = {};
  f.run(lanes, result, arguments);
  const bool wide_result = f.result == Type::kI64 || f.result == Type::kF64;
  for (LaneMask left = lanes; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    if (f.result != Type::kNone && !info.results.empty()) {
      uint64_t value = result[i];
      if (!wide_result) {
        uint32_t low;
        std::memcpy(&low, reinterpret_cast<const std::byte*>(result) + 4 * i, 4);
        value = low;
      }
      set_result(w, info.results[0], i, value);
    }
    for (unsigned k = 0; k < count; ++k) {
      const Type type = f.parameters[k];
      const unsigned bytes = type == Type::kOutF64                            ? 8
                             : type == Type::kOutI32 || type == Type::kOutF32 ? 4
                                                                              : 0;
      if (bytes)
        write_memory(w, op, i, pointers[k][i], reinterpret_cast<const std::byte*>(values[k]) + bytes * i,
                     bytes);
    }
  }
}

// malloc(bytes) of the device heap: null when it is full, as on the GPU.
void device_malloc(Warp& w, const MicroOp*, const BuiltinInfo& info) {
  if (info.arguments.empty() || info.results.empty()) return;
  for (LaneMask left = w.active; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    set_result(w, info.results[0], lane,
               heap_allocate(*w.worker->memory, argument(w, info.arguments[0], lane)));
  }
}

void device_free(Warp& w, const MicroOp*, const BuiltinInfo& info) {
  if (info.arguments.empty()) return;
  for (LaneMask left = w.active; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    heap_free(*w.worker->memory, argument(w, info.arguments[0], lane));
  }
}

constexpr Builtin kBuiltins[] = {
    {"vprintf", device_printf, nullptr},
    {"__assertfail", assert_fail, nullptr},
    {"malloc", device_malloc, nullptr},
    {"free", device_free, nullptr},
};

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  for (const Builtin& b : kBuiltins)
    if (b.name == name) return &b;
  static const std::vector<Builtin> device_functions = [] {
    std::vector<Builtin> all;
    for (const libdevice::Function& f : libdevice::all()) all.push_back({f.name, run_libdevice, &f});
    return all;
  }();
  const libdevice::Function* f = libdevice::find(name);
  return f ? &device_functions[static_cast<size_t>(f - libdevice::all().data())] : nullptr;
}

}  // namespace fullwarp::exec
