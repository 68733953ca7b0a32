// SPDX-License-Identifier: Apache-2.0
// Why a call of the calling thread was refused, where the status does not say it.
#pragma once

#include <string>
#include <string_view>

#include <cuda.h>

namespace emulator {

// Keeps the reason for which the thread's current call answers this status; returns the status.
CUresult refuse(CUresult status, std::string_view reason);

// Of the thread's last call that was refused with a reason; empty if there was none.
std::string_view explanation();
// The same, if that call was the thread's last one of the function and answered the status.
std::string_view explanation_of(std::string_view function, CUresult status);

// A new call of the function begins in this thread: an older one's reason is not why it fails.
void begin_explaining(const char *function);
// In every thread.
void forget_explanations();

} // namespace emulator
