// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace emulator {

// The form whose stream 0 is the calling thread's own; the function itself if it uses no stream.
void *per_thread_form(void *function);

} // namespace emulator
