#pragma once
#include "cost/step/host_profile.h"

// Means of a serving run from a handful of step times: a closed loop that keeps C requests in
// flight (ten times C prompts in all), or an engine with all requests queued. Checked against the
// simulation of the same engine over lengths that vary (tests/property/): TPOT within 3 %, TTFT
// within 12 % for dense models and prompts to 2,000 tokens; TPOT 4 % off at 8,000, TTFT 17 % with
// experts. Equal lengths make all clients step in time and are outside: TTFT is then up to 84 %
// off.
namespace kvsim::calibrate {

// How an engine turns prompts into steps.
struct EngineHabits {
  double step_tokens = 8192;    // of prompts in one step
  bool splits_prompts = true;   // a prompt may be cut at step_tokens
  bool mixes = true;            // prompts ride on decode steps; else they have steps of their own
  double receive_interval = 1;  // decode steps between two looks at the queue
  // Prefill waits until so many prompt tokens are there or so many decode steps passed.
  double hold_tokens = 0, hold_steps = 0;
  bool reserves_output = false;  // KV of the whole output is set aside at admission
  double idle_slots = 0;         // of the requests in flight, those the engine leaves queued
};

// GPU times of the steps that a run consists of, in microseconds, without the host. Per attention
// rank where the attention is data parallel.
struct WorkingPoint {
  double prompt = 0, output = 0;  // mean tokens
  double in_flight = 0;           // requests, per rank
  double running = 0;             // of these, as many as the KV pool and the engine take
  double chunks = 1;              // steps of one prompt
  double decode = 0;              // running requests at mid length
  double decode_less = 0;         // one request fewer
  double mixed = 0;               // the same with one chunk
  double chunk = 0;               // one chunk alone
  double first_wave = 0;          // a step full of prompts
  double first_wave_steps = 1, first_wave_prompts = 1;
};

struct LoopFigures {
  double ttft = 0, tpot = 0;     // seconds
  double life = 0;               // of a request, seconds
  double tokens_per_second = 0;  // output, of one rank
};

LoopFigures closed_loop(const WorkingPoint& w, const EngineHabits& habits,
                        const cost::HostProfile& host);
// All requests queued: `running` at once, prefills between the steps.
LoopFigures offline(const WorkingPoint& w, const EngineHabits& habits,
                    const cost::HostProfile& host);

}  // namespace kvsim::calibrate
