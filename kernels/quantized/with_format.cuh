#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/quantized/layout.h"

namespace kvsim::kernels::KVSIM_BACKEND {

// Calls `launcher` with the format as a template argument.
template <class Launcher>
void with_format(KvFormat format, const Launcher& launcher) {
  switch (format) {
    case KvFormat::fp8:
      return launcher.template operator()<KvFormat::fp8>();
    case KvFormat::int8:
      return launcher.template operator()<KvFormat::int8>();
    case KvFormat::int4:
      return launcher.template operator()<KvFormat::int4>();
    case KvFormat::nvfp4:
      return launcher.template operator()<KvFormat::nvfp4>();
    case KvFormat::kivi2:
      return launcher.template operator()<KvFormat::kivi2>();
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
