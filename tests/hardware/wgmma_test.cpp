// The matrices of wgmma lie where an H200 finds them: products with descriptors drawn at random, whose
// results were measured (hw/probes/wgmma.cu says how), against the same kernels on the engine.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "exec/exec.h"
#include "ptx/parser.h"

namespace fullwarp {
namespace {

constexpr unsigned kThreads = 128, kSharedBytes = 65 * 1024;  // as in the probe

struct Case {
  uint64_t a = 0, b = 0, hash = 0, wavefronts = 0;
};

std::map<int, std::vector<Case>> measured() {
  std::ifstream file(FULLWARP_SOURCE_DIR "/tests/hardware/h200_wgmma.csv");
  std::map<int, std::vector<Case>> forms;
  std::string line;
  while (std::getline(file, line)) {
    int form = 0;
    unsigned long long a = 0, b = 0, hash = 0, wavefronts = 0;
    if (std::sscanf(line.c_str(), "%d,%llx,%llx,%llx,%llu", &form, &a, &b, &hash, &wavefronts) == 5)
      forms[form].push_back({a, b, hash, wavefronts});
  }
  return forms;
}

Result<ptx::Module> probe() {
  const std::string path = FULLWARP_SOURCE_DIR "/tests/hardware/wgmma.ptx";
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return ptx::parse(text.str(), path);
}

uint64_t filled(exec::DeviceMemory& memory, exec::Launch& launch, const std::string& name, const void* bytes,
                uint64_t count) {
  const Result<uint64_t> address = memory.allocate(name, count);
  const size_t buffer = memory.size() - 1;
  if (bytes) std::memcpy(memory.buffer(buffer).data.get(), bytes, count);
  const size_t at = launch.parameters.size();
  launch.parameters.resize(at + 8);
  std::memcpy(launch.parameters.data() + at, &*address, 8);
  return buffer;
}

TEST(Wgmma, FindsItsMatricesAsTheHardwareDoes) {
  const std::map<int, std::vector<Case>> forms = measured();
  ASSERT_EQ(forms.size(), 12u);
  const Result<ptx::Module> module = probe();
  ASSERT_TRUE(module) << module.error().to_string();
  for (const auto& [form, cases] : forms) {
    exec::Launch launch;
    launch.function = module->find_function("_Z8productsILi" + std::to_string(form) + "EEvPKmS1_Pj");
    ASSERT_GE(launch.function, 0) << form;
    launch.grid = {static_cast<uint32_t>(cases.size()), 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.dynamic_shared_bytes = kSharedBytes;
    std::vector<uint64_t> a, b;
    for (const Case& c : cases) {
      a.push_back(c.a);
      b.push_back(c.b);
    }
    exec::DeviceMemory memory;
    ASSERT_TRUE(memory.load_module(*module));
    filled(memory, launch, "a", a.data(), 8 * a.size());
    filled(memory, launch, "b", b.data(), 8 * b.size());
    constexpr unsigned kMostRegisters = 128;
    const uint64_t out = filled(memory, launch, "out", nullptr, 4 * cases.size() * kMostRegisters * kThreads);
    exec::Options options;
    options.threads = 2;
    const Result<profile::KernelProfile> profile = exec::run(*module, memory, launch, options);
    ASSERT_TRUE(profile) << profile.error().to_string();
    ASSERT_TRUE(profile->faults.empty()) << profile->faults[0].detail << ' ' << profile->faults[0].object;
    const uint64_t words = profile->buffers[out].stored_bytes_touched / 4 / cases.size();
    const auto* const result = reinterpret_cast<const uint32_t*>(memory.buffer(out).data.get());
    uint64_t wavefronts = 0, expected_wavefronts = 0;
    for (const profile::MemoryCounters& counters : profile->memory)
      if (counters.space == mem::AccessSpace::shared) wavefronts += counters.wavefronts;
    for (size_t k = 0; k < cases.size(); ++k) {
      uint64_t hash = 14695981039346656037u;
      for (uint64_t i = 0; i < words; ++i) hash = (hash ^ result[k * words + i]) * 1099511628211u;
      expected_wavefronts += cases[k].wavefronts;
      EXPECT_EQ(hash, cases[k].hash) << "form " << form << " case " << k << std::hex << " a " << cases[k].a
                                     << " b " << cases[k].b;
    }
    EXPECT_EQ(wavefronts, expected_wavefronts) << "form " << form;
  }
}

}  // namespace
}  // namespace fullwarp
