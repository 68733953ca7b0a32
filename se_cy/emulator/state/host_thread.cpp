// SPDX-License-Identifier: Apache-2.0
#include "host_thread.h"

namespace emulator {

HostThread &HostThread::of_caller() {
  thread_local HostThread thread;
  return thread;
}

void HostThread::set_current(CUcontext context) {
  if (!contexts.empty())
    contexts.pop_back();
  if (context)
    contexts.push_back(context);
}

} // namespace emulator
