// A device called "npu" whose memory is host memory, so that a migrated script runs where no NPU is.
//
// Tensors really live on npu:0 or npu:1: mixing them with tensors of the processor fails as it would on a card.
// Every operator without a kernel of its own runs on the processor; the default generator is the processor's, so the
// numbers equal those of a run on the processor. Autocast is accepted and changes nothing.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <chrono>
#include <mutex>
#include <set>
#include <string>

using at::Tensor;
using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

namespace {

constexpr auto kNpu = c10::DeviceType::PrivateUse1;
constexpr DeviceIndex kCards = 2;
constexpr size_t kAlign = 64;

thread_local DeviceIndex current_card = 0;
std::mutex lock;
int64_t allocated_bytes = 0;
int64_t peak_bytes = 0;
std::set<const void*> pinned;

void check_card(Device device) {
  TORCH_CHECK(device.index() < kCards, "invalid npu device ordinal ", static_cast<int>(device.index()));
}

DeviceIndex card_of(DeviceIndex index) { return index < 0 ? current_card : index; }

void* allocate_aligned(size_t size) { return std::aligned_alloc(kAlign, (size / kAlign + 1) * kAlign); }

struct Block {
  void* data;
  size_t size;
};

void free_block(void* context) {
  auto* block = static_cast<Block*>(context);
  {
    std::lock_guard<std::mutex> held(lock);
    allocated_bytes -= static_cast<int64_t>(block->size);
  }
  std::free(block->data);
  delete block;
}

void free_nothing(void*) {}

struct CardMemory final : c10::Allocator {
  c10::DataPtr allocate(size_t size) override {
    Device device(kNpu, current_card);
    if (size == 0) return {nullptr, nullptr, &free_nothing, device};
    auto* block = new Block{allocate_aligned(size), size};
    std::lock_guard<std::mutex> held(lock);
    allocated_bytes += static_cast<int64_t>(size);
    peak_bytes = std::max(peak_bytes, allocated_bytes);
    return {block->data, block, &free_block, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t size) const override { std::memcpy(to, from, size); }
};
CardMemory card_memory;
REGISTER_ALLOCATOR(kNpu, &card_memory);

void free_pinned(void* data) {
  {
    std::lock_guard<std::mutex> held(lock);
    pinned.erase(data);
  }
  std::free(data);
}

struct PinnedMemory final : c10::Allocator {
  c10::DataPtr allocate(size_t size) override {
    void* data = allocate_aligned(size);
    std::lock_guard<std::mutex> held(lock);
    pinned.insert(data);
    return {data, data, &free_pinned, Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }
  void copy_data(void* to, const void* from, std::size_t size) const override { std::memcpy(to, from, size); }
};
PinnedMemory pinned_memory;

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Streams and events do nothing but tell the time: all work is done when a call returns.
struct CardGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kNpu; }
  Device exchangeDevice(Device device) const override {
    Device before(kNpu, current_card);
    setDevice(device);
    return before;
  }
  Device getDevice() const override { return Device(kNpu, current_card); }
  void setDevice(Device device) const override {
    if (device.index() < 0) return;
    check_card(device);
    current_card = device.index();
  }
  void uncheckedSetDevice(Device device) const noexcept override {
    if (device.index() >= 0) current_card = device.index();
  }
  Stream getStream(Device device) const override {
    return Stream(Stream::UNSAFE, Device(kNpu, card_of(device.index())), 0);
  }
  Stream getDefaultStream(Device device) const override { return getStream(device); }
  Stream getNewStream(Device device, int) const override {
    return Stream(Stream::UNSAFE, Device(kNpu, card_of(device.index())), 1);
  }
  Stream getStreamFromGlobalPool(Device device, bool) const override { return getNewStream(device, 0); }
  Stream exchangeStream(Stream stream) const override { return stream; }
  DeviceIndex deviceCount() const noexcept override { return kCards; }
  void record(void** event, const Stream&, const DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new double;
    *static_cast<double*>(*event) = now_ms();
  }
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override { delete static_cast<double*>(event); }
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const DeviceIndex) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const Stream&) const override {}
  double elapsedTime(void* from, void* to, const DeviceIndex) const override {
    return *static_cast<double*>(to) - *static_cast<double*>(from);
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, CardGuard);

// A generator of the card that owns one of the processor.
struct CardGenerator final : c10::GeneratorImpl {
  at::Generator inner;
  CardGenerator(DeviceIndex card, at::Generator generator)
      : c10::GeneratorImpl(Device(kNpu, card), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        inner(std::move(generator)) {}
  void set_current_seed(uint64_t seed) override { inner.set_current_seed(seed); }
  void set_offset(uint64_t) override {}
  uint64_t get_offset() const override { return 0; }
  uint64_t current_seed() const override { return inner.current_seed(); }
  uint64_t seed() override { return inner.seed(); }
  void set_state(const c10::TensorImpl& state) override { inner.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return inner.unsafeGetGeneratorImpl()->get_state(); }
  CardGenerator* clone_impl() const override { return new CardGenerator(device_.index(), inner.clone()); }
  static c10::DeviceType device_type() { return kNpu; }
};

at::Generator make_generator(DeviceIndex card, at::Generator inner) {
  return at::Generator(c10::make_intrusive<CardGenerator>(card, std::move(inner)));
}

struct CardHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  const at::Generator& getDefaultGenerator(DeviceIndex index) const override {
    static const std::vector<at::Generator> defaults = [] {
      std::vector<at::Generator> made;
      for (DeviceIndex card = 0; card < kCards; card++)
        made.push_back(make_generator(card, at::detail::getDefaultCPUGenerator()));
      return made;
    }();
    return defaults.at(card_of(index));
  }
  at::Generator getNewGenerator(DeviceIndex index) const override {
    return make_generator(card_of(index), at::detail::createCPUGenerator());
  }
  Device getDeviceFromPtr(void*) const override { return Device(kNpu, current_card); }
  bool isPinnedPtr(const void* data) const override {
    std::lock_guard<std::mutex> held(lock);
    return pinned.count(data) > 0;
  }
  at::Allocator* getPinnedMemoryAllocator() const override { return &pinned_memory; }
  DeviceIndex deviceCount() const override { return kCards; }
  void setCurrentDevice(DeviceIndex card) const override {
    check_card(Device(kNpu, card));
    current_card = card;
  }
  DeviceIndex getCurrentDevice() const override { return current_card; }
  DeviceIndex exchangeDevice(DeviceIndex card) const override {
    auto before = current_card;
    setCurrentDevice(card);
    return before;
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex card) const override {
    auto before = current_card;
    if (card >= 0) setCurrentDevice(card);
    return before;
  }
  void init() const override {}
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t size) const override {
    auto data = card_memory.allocate(size);
    auto kept = std::min<size_t>(size, storage.nbytes());
    if (kept > 0) std::memcpy(data.get(), storage.data(), kept);
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
    storage.unsafeGetStorageImpl()->set_nbytes(size);
  }
};
CardHooks* hooks = [] {
  auto* made = new CardHooks;
  at::RegisterPrivateUse1HooksInterface(made);
  return made;
}();

// The same memory, seen as a tensor of the processor.
Tensor on_host(const Tensor& tensor) {
  if (tensor.device().type() != kNpu) return tensor;
  auto options = tensor.options().device(c10::kCPU).requires_grad(false);
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), options);
}

Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
             std::optional<Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  c10::OptionalDeviceGuard guard(device);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_generic(size, &card_memory, keys, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout>, std::optional<Device> device, std::optional<bool>) {
  c10::OptionalDeviceGuard guard(device);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_strided_generic(size, stride, &card_memory, keys, c10::dtype_or_default(dtype));
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  at::NoGradGuard no_grad;
  on_host(to).copy_(on_host(from.resolve_conj()));
  return to;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (from.sizes() != to.sizes()) at::native::resize_output(to, from.sizes());
  return copy_from(from, to, false);
}

at::Scalar item(const Tensor& tensor) { return on_host(tensor).item(); }

const Tensor& resize_(const Tensor& tensor, c10::SymIntArrayRef size, std::optional<at::MemoryFormat> format) {
  return at::native::resize_(tensor, C10_AS_INTARRAYREF_SLOW(size), format);
}

Tensor as_strided(const Tensor& tensor, c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                  std::optional<c10::SymInt> offset) {
  auto start = offset ? std::optional<int64_t>(offset->expect_int()) : std::nullopt;
  return at::native::as_strided_tensorimpl(tensor, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), start);
}

Tensor view(const Tensor& tensor, c10::SymIntArrayRef size) {
  return at::native::view(tensor, C10_AS_INTARRAYREF_SLOW(size));
}

Tensor reshape_alias(const Tensor& tensor, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(tensor, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}

Tensor& set_tensor(Tensor& to, const Tensor& from) { return at::native::set_tensor_(to, from); }
Tensor& set_storage(Tensor& to, at::Storage from) { return at::native::set_(to, from); }
Tensor& set_storage_at(Tensor& to, at::Storage from, c10::SymInt offset, c10::SymIntArrayRef size,
                       c10::SymIntArrayRef stride) {
  return at::native::set_storage_cpu_(to, from, offset.expect_int(), C10_AS_INTARRAYREF_SLOW(size),
                                      C10_AS_INTARRAYREF_SLOW(stride));
}

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                   at::IntArrayRef output_padding, int64_t groups) {
  at::NoGradGuard no_grad;
  std::optional<Tensor> host_bias;
  if (bias && bias->defined()) host_bias = on_host(*bias);
  return at::convolution(on_host(input), on_host(weight), host_bias, stride, padding, dilation, transposed,
                         output_padding, groups)
      .to(input.device());
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& gradient, const Tensor& input,
                                                        const Tensor& weight, at::IntArrayRef stride,
                                                        at::IntArrayRef padding, at::IntArrayRef dilation,
                                                        bool transposed, at::IntArrayRef output_padding,
                                                        int64_t groups, std::array<bool, 3> mask) {
  at::NoGradGuard no_grad;
  std::vector<int64_t> bias_size = {weight.size(transposed ? 1 : 0) * (transposed ? groups : 1)};
  auto [a, b, c] = at::convolution_backward(on_host(gradient), on_host(input), on_host(weight),
                                            at::OptionalIntArrayRef(bias_size), stride, padding, dilation,
                                            transposed, output_padding, groups, mask);
  auto home = [&](const Tensor& tensor) { return tensor.defined() ? tensor.to(input.device()) : tensor; };
  return {home(a), home(b), home(c)};
}

int64_t choose_attention(const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&, double, bool,
                         std::optional<double>, bool) {
  return 0;  // the plain formula
}

// Operators that may take an index or a length from the processor on a real card, too.
const std::set<std::string> mixed_operators = {
    "aten::index",     "aten::index_put",           "aten::index_put_",
    "aten::_index_put_impl_", "aten::_pack_padded_sequence", "aten::to_padded_tensor"};

// Everything else: check the devices as a card would, then compute on the processor.
void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& name = op.schema().name();
  const auto first = stack->size() - op.schema().arguments().size();
  DeviceIndex card = -1;
  bool on_processor = false, on_two_cards = false;
  auto look = [&](const Tensor& tensor) {
    if (!tensor.defined()) return;
    if (tensor.device().type() != kNpu) {
      on_processor |= tensor.dim() > 0;
      return;
    }
    on_two_cards |= card >= 0 && card != tensor.device().index();
    card = tensor.device().index();
  };
  for (size_t at = first; at < stack->size(); at++) {
    auto& value = (*stack)[at];
    if (value.isTensor()) look(value.toTensor());
    else if (value.isTensorList())
      for (const Tensor& tensor : value.toTensorVector()) look(tensor);
    else if (value.isGenerator() && value.toGenerator().device().type() == kNpu) {
      at::Generator generator = value.toGenerator();
      value = static_cast<CardGenerator*>(generator.unsafeGetGeneratorImpl())->inner;
    }
  }
  TORCH_CHECK(card < 0 || !(on_processor || on_two_cards) || mixed_operators.count(name),
              "Expected all tensors to be on the same device, but found at least two devices, npu:",
              static_cast<int>(card), " and ", on_processor ? "cpu" : "another npu", "! (operator ", name, ")");
  if (name == "aten::native_batch_norm") {
    // Its schema hides that the running statistics change, so the processor must see the very memory.
    for (size_t at : {first + 3, first + 4})
      if ((*stack)[at].isTensor() && (*stack)[at].toTensor().defined()) (*stack)[at] = on_host((*stack)[at].toTensor());
  }
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) { library.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("_local_scalar_dense", item);
  library.impl("resize_", resize_);
  library.impl("as_strided", as_strided);
  library.impl("view", view);
  library.impl("_reshape_alias", reshape_alias);
  library.impl("set_.source_Tensor", set_tensor);
  library.impl("set_.source_Storage", set_storage);
  library.impl("set_.source_Storage_storage_offset", set_storage_at);
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolution_backward);
  library.impl("_fused_sdp_choice", choose_attention);
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("device_count", [] { return static_cast<int>(kCards); });
  module.def("current_device", [] { return static_cast<int>(current_card); });
  module.def("set_device", [](int card) { hooks->setCurrentDevice(static_cast<DeviceIndex>(card)); });
  module.def("memory_allocated", [] { return allocated_bytes; });
  module.def("max_memory_allocated", [] { return peak_bytes; });
  module.def("reset_peak", [] { peak_bytes = allocated_bytes; });
  module.def("default_generator", [](int card) { return hooks->getDefaultGenerator(static_cast<DeviceIndex>(card)); });
}
