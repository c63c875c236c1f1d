#include "cli/main.h"

int main(int argc, char** argv) { return kvsim::cli::main(argc, argv); }
