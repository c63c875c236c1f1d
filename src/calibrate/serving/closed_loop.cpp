#include "calibrate/serving/closed_loop.h"

#include <algorithm>

namespace kvsim::calibrate {
namespace {

constexpr double waves = 10;  // the measured clients send ten times what they keep in flight

// Step times with the host's share, microseconds.
struct Steps {
  double decode, prompt, chunk_step, first_wave;
};

Steps with_host(const WorkingPoint& w, const EngineHabits& habits, const cost::HostProfile& h) {
  Steps s{};
  s.decode = h.decode_scale * w.decode + h.step_us + h.sequence_us * w.running;
  const double less = h.decode_scale * w.decode_less + h.step_us + h.sequence_us * (w.running - 1);
  if (habits.mixes) {
    s.chunk_step =
        std::max(h.prefill_scale * w.mixed, h.prefill_us) + h.step_us + h.sequence_us * w.running;
    // What a prompt adds to steps that run anyway.
    s.prompt = w.chunks * (s.chunk_step - (w.running > 1 ? less : 0));
  } else {
    s.chunk_step = std::max(h.prefill_scale * w.chunk, h.prefill_us) + h.step_us + h.sequence_us;
    s.prompt = w.chunks * s.chunk_step;
  }
  s.first_wave = std::max(h.prefill_scale * w.first_wave, h.prefill_us) + h.step_us +
                 h.sequence_us * (w.first_wave_prompts + (habits.mixes ? w.running / 2 : 0));
  return s;
}

// Decode steps that a prompt waits for company.
double hold_steps(const WorkingPoint& w, const EngineHabits& habits) {
  if (habits.hold_steps <= 0 || w.running <= 1) return 0;
  const double arrivals = w.in_flight / w.output;  // per step
  const double enough = habits.hold_tokens / std::max(1.0, w.prompt);
  // The first waits the whole time, those that join it half of it on average.
  const double company = arrivals * habits.hold_steps;
  const double steps = std::min(habits.hold_steps, enough / std::max(1e-9, arrivals));
  return steps * (1 + company / 2) / (1 + company);
}

}  // namespace

LoopFigures closed_loop(const WorkingPoint& w, const EngineHabits& habits,
                        const cost::HostProfile& host) {
  const Steps s = with_host(w, habits, host);
  LoopFigures out;
  const double tpot = s.decode + (w.running - 1) * s.prompt / w.output;
  const double first = s.first_wave * (w.first_wave_steps + 1) / 2;
  double later = w.chunks * s.chunk_step;
  if (w.running > 1) {
    // The rest of the running step and the one that is already scheduled, then its own chunks.
    later += 1.5 * s.decode + (habits.receive_interval - 1) / 2 * s.decode +
             hold_steps(w, habits) * s.decode;
    const double busy = std::min(0.9, w.running * s.prompt / (w.output * tpot));
    later += busy / (1 - busy) * s.prompt / 2;
  }
  double ttft = w.running > 1 ? (first + (waves - 1) * later) / waves : later;
  const double served = ttft + tpot * std::max(0.0, w.output - 1);
  // Those that find no room wait for one of the running requests to end.
  if (w.in_flight > w.running) ttft += (w.in_flight - w.running) * served / w.running;
  out.life = 1e-6 * (ttft + tpot * std::max(0.0, w.output - 1)) + 1e-6 * host.request_us;
  out.ttft = 1e-6 * (ttft + host.request_us), out.tpot = 1e-6 * tpot;
  out.tokens_per_second = w.in_flight * w.output / out.life;
  return out;
}

LoopFigures offline(const WorkingPoint& w, const EngineHabits& habits,
                    const cost::HostProfile& host) {
  const Steps s = with_host(w, habits, host);
  LoopFigures out;
  out.tpot = 1e-6 * (s.decode + w.running * s.prompt / w.output);
  out.ttft = 1e-6 * (w.chunks * s.chunk_step + host.request_us);
  out.life = w.output * out.tpot;
  out.tokens_per_second = w.running / out.tpot;
  return out;
}

}  // namespace kvsim::calibrate
