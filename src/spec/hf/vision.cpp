#include <algorithm>
#include <initializer_list>

#include "spec/hf/family.h"

// The image encoder beside a language model: enough for the weights it adds and for the image that
// an engine's profile run sends through it.
namespace kvsim::spec::hf {
namespace {

std::int64_t first_of(const config::Value& object, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const config::Value v = object.find(name); v.exists() && v.kind() == config::Kind::integer)
      return v.integer();
  return 0;
}

// Largest images in tokens, where the processor's files and not config.json say it: Qwen-VL's
// 16,777,216 (or 12,845,056) pixels are 16,384 tokens, Kimi's limit is 16,384 patches.
constexpr std::int64_t qwen_tokens = 16384, kimi_patches = 16384;

std::int64_t square(std::int64_t n) { return n * n; }

}  // namespace

void import_vision(View& view, ModelSpec& model) {
  const config::Value root = view.root();
  const config::Value v = root.find("vision_config");
  if (!v.exists() || !v.is_object()) return;
  VisionEncoder e;
  e.hidden_size = first_of(v, {"hidden_size", "vt_hidden_size", "embed_dim"});
  e.intermediate_size = first_of(v, {"intermediate_size", "vt_intermediate_size"});
  e.num_layers = first_of(v, {"depth", "num_hidden_layers", "vt_num_hidden_layers"});
  if (e.hidden_size < 1 || e.num_layers < 1 || e.hidden_size > 1 << 20 || e.num_layers > 10000 ||
      e.intermediate_size < 0 || e.intermediate_size > 1 << 22) {
    view.assume("The vision encoder's dimensions are not stated: it is not counted.");
    return;
  }
  if (e.intermediate_size == 0) e.intermediate_size = 4 * e.hidden_size;
  const std::int64_t merge = std::clamp<std::int64_t>(first_of(v, {"spatial_merge_size"}), 0, 64);
  const std::int64_t patch = first_of(v, {"patch_size"}), size = first_of(v, {"image_size"});
  const std::int64_t tokens =
      std::max(first_of(root, {"mm_tokens_per_image"}), first_of(v, {"image_seq_length"}));
  if (merge > 0) {
    e.tokens_per_image = qwen_tokens, e.patches_per_image = qwen_tokens * square(merge);
  } else if (tokens > 0 && tokens <= 1 << 20) {
    const std::int64_t pool = std::clamp<std::int64_t>(first_of(v, {"pooling_kernel_size"}), 0, 64);
    e.tokens_per_image = tokens;
    e.patches_per_image = size > 0 && patch > 0 && size <= 1 << 16
                              ? square(size / patch)
                              : tokens * square(std::max<std::int64_t>(pool, 1));
  } else if (v.find("vt_hidden_size").exists()) {
    e.patches_per_image = kimi_patches, e.tokens_per_image = kimi_patches / 4;
  } else if (size > 0 && patch > 0 && size <= 1 << 16) {
    e.patches_per_image = e.tokens_per_image = square(size / patch);
  } else {
    view.assume("The largest image is not stated: the profile run's encoder peak is left out.");
  }
  const std::int64_t merged = e.hidden_size * square(std::max<std::int64_t>(merge, 1));
  model.vision_params =
      e.num_layers * (4 * square(e.hidden_size) + 2 * e.hidden_size * e.intermediate_size) +
      merged * (merge > 0 ? merged + model.hidden_size : model.hidden_size);
  view.assume("Parameters of the vision encoder follow from its dimensions.");
  model.vision = e;
}

}  // namespace kvsim::spec::hf
