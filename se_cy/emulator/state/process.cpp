// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>

#include <pthread.h>

#include "explanation.h"
#include "host_thread.h"

namespace emulator {

Process &Process::instance() {
  static Process *process = new Process;
  return *process;
}

Process::Process() {
  pthread_atfork([] { instance().lock.lock(); }, [] { instance().lock.unlock(); },
                 [] {
                   Process &process = instance();
                   // Threads of the parent that waited for the lock do not exist here.
                   new (&process.lock) FairLock;
                   new (&process.gates) Gates;
                   new (&process.progress) Progress(process);
                   CallSite::forget_thread();
                   process.forked_ = process.initialized();
                 });
}

void Process::initialize() {
  for (const DeviceModel &model : device_table) {
    devices.push_back(std::make_unique<Device>(static_cast<int>(devices.size()), model));
    devices.back()->primary().handle = contexts.reserve();
    Device &device = *devices.back();
    device.memory().ask_of_others(
        [this, &device](uint64_t address) { return describe_other_address(device, address); });
  }
}

Device *Process::device(CUdevice ordinal) const {
  return ordinal >= 0 && static_cast<size_t>(ordinal) < devices.size() ? devices[static_cast<size_t>(ordinal)].get()
                                                                       : nullptr;
}

Device *Process::device_of(uint64_t address, uint64_t bytes) const {
  if (host_memory.find(address, bytes))
    return nullptr;
  for (const auto &device : devices)
    if (device->memory().find(address, bytes))
      return device.get();
  return nullptr;
}

std::shared_ptr<Context> Process::owner_of(uint64_t allocation) const {
  const auto owners =
      contexts.select([&](const Context &context) { return context.allocations.count(allocation) != 0; });
  if (!owners.empty())
    return owners.front();
  const auto holders = modules.select([&](const Module &module) {
    const auto &addresses = module.variable_address;
    return std::find(addresses.begin(), addresses.end(), allocation) != addresses.end();
  });
  return holders.empty() ? nullptr : holders.front()->context;
}

std::string Process::describe_address(uint64_t address) const {
  char number[24];
  std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(address));
  if (const History *history = allocation_histories().find(address))
    return std::string("the allocation at ") + number + " was " + history->text();
  for (const auto &device : devices)
    if (device->memory().contains(address))
      return std::string(number) + " is " + device->memory().describe(address);
  return std::string(number) + (address ? " is no address of this driver" : " is the null pointer");
}

std::string Process::describe_other_address(const Device &device, uint64_t address) const {
  constexpr uint64_t first_page = 4096;
  if (address < first_page)
    return address ? "just past the null pointer" : "the null pointer";
  for (const auto &other : devices)
    if (other.get() != &device && other->memory().contains(address))
      return "memory of device " + std::to_string(other->ordinal()) + ", and not of device " +
             std::to_string(device.ordinal()) + ": " + other->memory().describe(address);
  return "no device memory; host memory must be page-locked for a kernel to reach it";
}

std::shared_ptr<Context> Process::create_context(Device &device, unsigned flags, bool primary) {
  const CUcontext handle = primary ? device.primary().handle : contexts.reserve();
  const Owner owner{next_context_id_++, device.ordinal()};
  std::shared_ptr<Context> context(new Context{handle, owner.context_id, device, primary, flags,
                                               OwnedAddresses<uint64_t>(owner), OwnedAddresses<void *>(owner)});
  context->legacy_stream.reset(new Stream{nullptr, next_stream_id++, context, CU_STREAM_DEFAULT, 0, true});
  contexts.put(handle, context);
  return context;
}

void Process::unload(const std::shared_ptr<Module> &module) {
  for (auto handle = module->functions.rbegin(); handle != module->functions.rend(); ++handle)
    if (*handle)
      functions.erase(*handle);
  remove_variables(*module);
  modules.erase(module->handle);
}

CUresult Process::load(const std::shared_ptr<Context> &context, const std::shared_ptr<const Program> &program,
                       std::shared_ptr<Module> &module) {
  auto loaded = std::make_shared<Module>();
  loaded->context = context;
  loaded->program = program;
  loaded->functions.resize(program->kernels.size());
  if (const CUresult status = place_variables(*loaded))
    return status;
  loaded->handle = modules.reserve();
  modules.put(loaded->handle, loaded);
  module = std::move(loaded);
  return CUDA_SUCCESS;
}

CUfunction Process::function_of(const std::shared_ptr<Module> &module, size_t index) {
  CUfunction &handle = module->functions[index];
  if (!handle) {
    const Kernel &kernel = module->program->kernels[index];
    constexpr uint32_t without_optin = Device::shared_per_block;
    const uint32_t dynamic = kernel.shared_bytes < without_optin ? without_optin - kernel.shared_bytes : 0;
    handle = functions.reserve();
    functions.put(handle, std::shared_ptr<Function>(new Function{handle, module, &kernel, dynamic}));
  }
  return handle;
}

void Process::unload(const std::shared_ptr<Library> &library) {
  for (const CUkernel kernel : library->kernels)
    kernels.erase(kernel);
  libraries.erase(library->handle);
}

void Process::destroy_context(const std::shared_ptr<Context> &context) {
  const auto belongs = [&](const auto &object) { return object.context == context; };
  scheduler.discard(*context);
  drop_captures(*this, *context);
  for (const auto &module : modules.select(belongs))
    unload(module);
  for (const auto &stream : streams.select(belongs))
    streams.erase(stream->handle);
  for (const auto &event : events.select(belongs))
    events.erase(event->handle);
  for (const uint64_t address : context->allocations)
    context->device.memory().release(address);
  for (void *address : context->host_allocations) {
    for (const auto &device : devices)
      device->memory().detach(reinterpret_cast<uint64_t>(address));
    host_memory.release(address);
  }
  context->allocations.clear();
  context->host_allocations.clear();
  context->destroyed = true;
  contexts.erase(context->handle);
  // Streams and their context keep each other.
  context->legacy_stream.reset();
  context->per_thread_streams.clear();
}

void Process::reset() {
  gates.open_all();
  progress.stop();
  const std::lock_guard<FairLock> guard(lock);
  CallSite::enter("se_cy_emulator_reset", ledger.all_calls());
  const auto any = [](const auto &) { return true; };
  for (const auto &context : contexts.select(any))
    destroy_context(context);
  for (const auto &library : libraries.select([](const Library &) { return true; }))
    unload(library);
  for (const auto &device : devices) {
    PrimaryContext fresh;
    fresh.handle = device->primary().handle;
    device->primary() = fresh;
  }
  for (const auto &graph : graphs.select(any))
    destroy_graph(*this, *graph);
  for (const auto &graph : graph_execs.select(any))
    graph_execs.erase(graph->handle);
  scheduler.forget();
  ledger.forget();
  recording.stop();
  claimed_registers.clear();
  forget_explanations();
  HostThread::forget_contexts();
}

} // namespace emulator
