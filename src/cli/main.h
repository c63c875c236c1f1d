#pragma once

namespace kvsim::cli {

// The whole program: finds the command, runs it, turns every outcome into text and an exit status.
int main(int argc, char** argv);

}  // namespace kvsim::cli
