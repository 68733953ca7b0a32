// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "../state/capture.h"
#include "../state/resolve.h"
#include "../state/transfer.h"
#include "call.h"

using namespace emulator;

namespace {

enum class Waiting { no, yes };

// What the forms without a stream give for one: they use the legacy stream.
constexpr std::nullopt_t no_stream = std::nullopt;

CUresult resolve(Process &process, std::optional<CUstream> handle, std::shared_ptr<Stream> &stream) {
  RETURN_IF_FAILED(resolve_stream(process, handle.value_or(nullptr), stream));
  return check_use(process, *stream);
}

uint64_t address_of(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

bool on_device(const Range &range) { return range.place != Place::pageable; }

CUresult enqueue(Call &call, const std::shared_ptr<Stream> &stream, std::unique_ptr<Action> action, Waiting waiting) {
  const std::shared_ptr<Context> context = stream->context;
  const WorkPointer work = stream->enqueue(call.process.scheduler, std::move(action));
  if (waiting == Waiting::yes)
    call.wait({work});
  return context->fault;
}

// Pageable memory is read when the call is made, as the driver stages it, and written before the call returns. In a
// graph it is read and written by the run.
CUresult copy(Call &call, const std::shared_ptr<Stream> &stream, Range destination, Range source, size_t bytes,
              Waiting waiting) {
  RETURN_IF_FAILED(call.wait_for_room(stream));
  if (stream->capture) {
    capture_node(call.process, *stream, {CU_GRAPH_NODE_TYPE_MEMCPY, stream->context, {},
                                         [&process = call.process, destination, source, bytes] {
                                           return std::make_unique<Copy>(process, destination, source, bytes);
                                         }});
    return CUDA_SUCCESS;
  }
  if (destination.place == Place::pageable)
    waiting = Waiting::yes;
  if (source.place == Place::pageable && waiting == Waiting::no) {
    const auto *first = reinterpret_cast<const uint8_t *>(source.address);
    return enqueue(call, stream,
                   std::make_unique<Copy>(call.process, destination, std::vector<uint8_t>(first, first + bytes)),
                   waiting);
  }
  return enqueue(call, stream, std::make_unique<Copy>(call.process, destination, source, bytes), waiting);
}

// The sides of which the name says that they are on the device have to be.
enum class Direction { to_device, to_host, on_device, any };

CUresult checked_copy(Call call, uint64_t destination, uint64_t source, size_t bytes, Direction direction,
                      std::optional<CUstream> stream_handle, Waiting waiting) {
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve(call.process, stream_handle, stream));
  if (!bytes)
    return CUDA_SUCCESS;
  const Range to = locate(call.process, destination, bytes);
  const Range from = locate(call.process, source, bytes);
  const bool device_destination = direction == Direction::to_device || direction == Direction::on_device;
  const bool device_source = direction == Direction::to_host || direction == Direction::on_device;
  if (device_destination && !on_device(to))
    return refuse_range(call.process, destination, bytes);
  if (device_source && !on_device(from))
    return refuse_range(call.process, source, bytes);
  if (!destination || !source)
    return CUDA_ERROR_INVALID_VALUE;
  return copy(call, stream, to, from, bytes, waiting);
}

CUresult fill(Call call, CUdeviceptr destination, uint32_t value, unsigned width, size_t count,
              std::optional<CUstream> stream_handle) {
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve(call.process, stream_handle, stream));
  if (!count)
    return CUDA_SUCCESS;
  if (destination % width || count > SIZE_MAX / width)
    return CUDA_ERROR_INVALID_VALUE;
  const Range to = locate(call.process, destination, width * count);
  if (!on_device(to))
    return refuse_range(call.process, destination, width * count);
  RETURN_IF_FAILED(call.wait_for_room(stream));
  if (stream->capture) {
    capture_node(call.process, *stream, {CU_GRAPH_NODE_TYPE_MEMSET, stream->context, {},
                                         [&process = call.process, to, value, width, count] {
                                           return std::make_unique<Fill>(process, to, value, width, count);
                                         }});
    return CUDA_SUCCESS;
  }
  return enqueue(call, stream, std::make_unique<Fill>(call.process, to, value, width, count), Waiting::no);
}

} // namespace

DRIVER_FUNCTION cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes) DRIVER_TRY {
  return checked_copy({"cuMemcpyHtoD", destination, source, bytes}, destination, address_of(source), bytes,
                      Direction::to_device, no_stream, Waiting::yes);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream) DRIVER_TRY {
  return checked_copy({"cuMemcpyHtoDAsync", destination, source, bytes, stream}, destination, address_of(source),
                      bytes, Direction::to_device, stream, Waiting::no);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes) DRIVER_TRY {
  return checked_copy({"cuMemcpyDtoH", destination, source, bytes}, address_of(destination), source, bytes,
                      Direction::to_host, no_stream, Waiting::yes);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes, CUstream stream) DRIVER_TRY {
  return checked_copy({"cuMemcpyDtoHAsync", destination, source, bytes, stream}, address_of(destination), source,
                      bytes, Direction::to_host, stream, Waiting::no);
} DRIVER_CATCH

// The host does not wait for a copy within the device, even in the form without a stream.
DRIVER_FUNCTION cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) DRIVER_TRY {
  return checked_copy({"cuMemcpyDtoD", destination, source, bytes}, destination, source, bytes, Direction::on_device,
                      no_stream, Waiting::no);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) DRIVER_TRY {
  return checked_copy({"cuMemcpyDtoDAsync", destination, source, bytes, stream}, destination, source, bytes,
                      Direction::on_device, stream, Waiting::no);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) DRIVER_TRY {
  return checked_copy({"cuMemcpy", destination, source, bytes}, destination, source, bytes, Direction::any, no_stream,
                      Waiting::yes);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) DRIVER_TRY {
  return checked_copy({"cuMemcpyAsync", destination, source, bytes, stream}, destination, source, bytes,
                      Direction::any, stream, Waiting::no);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) DRIVER_TRY {
  return fill({"cuMemsetD8", destination, value, count}, destination, value, 1, count, no_stream);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count, CUstream stream) DRIVER_TRY {
  return fill({"cuMemsetD8Async", destination, value, count, stream}, destination, value, 1, count, stream);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemsetD16_v2(CUdeviceptr destination, unsigned short value, size_t count) DRIVER_TRY {
  return fill({"cuMemsetD16", destination, value, count}, destination, value, 2, count, no_stream);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemsetD16Async(CUdeviceptr destination, unsigned short value, size_t count, CUstream stream) DRIVER_TRY {
  return fill({"cuMemsetD16Async", destination, value, count, stream}, destination, value, 2, count, stream);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t count) DRIVER_TRY {
  return fill({"cuMemsetD32", destination, value, count}, destination, value, 4, count, no_stream);
} DRIVER_CATCH

DRIVER_FUNCTION cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t count, CUstream stream) DRIVER_TRY {
  return fill({"cuMemsetD32Async", destination, value, count, stream}, destination, value, 4, count, stream);
} DRIVER_CATCH
