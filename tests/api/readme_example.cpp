#include <fullwarp/session.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  auto program = fullwarp::Program::load(argc > 1 ? argv[1] : "copy.cu");
  if (!program) return std::puts(program.error().to_string().c_str()), 2;

  fullwarp::Session session(*program);
  const std::vector<float> values(1024, 2.5f);
  if (auto defined = session.define<float>("in", values); !defined) return 2;
  session.run("out = f32[1024]");

  auto kernel = session.launch("copy<<<4, 256>>>(in, out, 1024)");
  if (!kernel) return std::puts(kernel.error().to_string().c_str()), 2;

  const auto loads =
      kernel->metrics.total(fullwarp::mem::AccessSpace::global, fullwarp::mem::AccessKind::load);
  std::printf("%llu requests, %llu sectors, %llu at best\n", (unsigned long long)loads.requests,
              (unsigned long long)loads.sectors, (unsigned long long)loads.ideal_sectors);
  for (const auto& finding : kernel->findings) std::puts(finding.message.c_str());

  const auto out = session.read<float>("out");
  return out && out->back() == 2.5f ? 0 : 1;
}
