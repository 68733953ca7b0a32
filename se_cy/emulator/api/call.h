// SPDX-License-Identifier: Apache-2.0
// What every driver function does first: take the lock, count the call, fail if it is told to, and refuse when the
// driver is not initialised or the process is a forked child.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <cuda.h>

#include "../state/process.h"

#define DRIVER_FUNCTION extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

// Between the parameters of a driver function and its body, and behind the body: memory that the process lacks is an
// answer, and the lock is given up on the way.
#define DRIVER_TRY try
#define DRIVER_CATCH                                                                                                   \
  catch (const std::bad_alloc &) {                                                                                     \
    return CUDA_ERROR_OUT_OF_MEMORY;                                                                                   \
  }                                                                                                                    \
  catch (const std::length_error &) {                                                                                  \
    return CUDA_ERROR_OUT_OF_MEMORY;                                                                                   \
  }

#define RETURN_IF_FAILED(expression)                                                                                   \
  do {                                                                                                                 \
    if (const CUresult failed = (expression))                                                                          \
      return failed;                                                                                                   \
  } while (0)

namespace emulator {

class Call {
public:
  // The function goes by its name in cuda.h; the arguments are the caller's, in the order of cuda.h.
  template <class... Arguments>
  Call(const char *function, Arguments... arguments)
      : process(Process::instance()), function_(function), arguments_{to_word(arguments)...},
        argument_count_(sizeof...(arguments)) {}

  CUresult begin();
  // For the functions that also work before cuInit.
  CUresult begin_uninitialized();

  // Blocks the calling thread until the work is done, giving other threads' calls their turn. The state may have
  // changed on return: a context that was alive may be gone.
  void wait(std::vector<WorkPointer> targets);
  // Waits while the stream's context has as much work pending as it can hold; a capture takes any number. Then the
  // stream can take work, or answers why not; it may have begun a capture, and what else the call has looked up may be
  // gone.
  CUresult wait_for_room(const std::shared_ptr<Stream> &stream);

  // Runs something long that touches no state.
  template <class Operation> auto without_lock(Operation operation) {
    lock_.unlock();
    auto result = operation();
    lock_.lock();
    CallSite::enter(function_, number_); // the operation may have called the driver
    return result;
  }

  // For the log, if one is kept: what the function and the caller's parameters of this launch are.
  void record_launch(const Function &function, void **parameters, void **extra);
  void record_attributes(const CUlaunchConfig &configuration);

  Process &process;

private:
  static constexpr size_t most_arguments = 11; // of cuLaunchKernel

  template <class Argument> static uint64_t to_word(Argument argument) {
    if constexpr (std::is_pointer_v<Argument>)
      return reinterpret_cast<uint64_t>(argument);
    else
      return static_cast<uint64_t>(argument);
  }

  void record();
  // The one that is current or, without one, that the arguments lead to; else all.
  std::vector<std::shared_ptr<Context>> contexts_in_use() const;
  CUresult fail(const Failure &failure);

  const char *function_;
  uint64_t number_ = 0; // among all calls
  std::array<uint64_t, most_arguments> arguments_;
  size_t argument_count_;
  std::unique_lock<FairLock> lock_;
};

} // namespace emulator
