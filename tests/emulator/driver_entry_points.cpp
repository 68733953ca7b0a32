// SPDX-License-Identifier: Apache-2.0
#include "driver_harness.h"

SCENARIO(entry_points_are_found_by_version) {
  void *function = nullptr;
  CUdriverProcAddressQueryResult found;
  OK(cuGetProcAddress("cuMemAlloc", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  CHECK(function && found == CU_GET_PROC_ADDRESS_SUCCESS);
  void *v2 = nullptr;
  OK(cuGetProcAddress("cuCtxCreate", &v2, 4000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  void *v4 = nullptr;
  OK(cuGetProcAddress("cuCtxCreate", &v4, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  CHECK(v2 && v4 && v2 != v4);
}

SCENARIO(unknown_entry_points_are_null) {
  void *function = &function;
  CUdriverProcAddressQueryResult found;
  OK(cuGetProcAddress("cuNoSuchThing", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  CHECK(!function && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  function = &function;
  OK(cuGetProcAddress("cuFuncGetParamInfo", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  CHECK(!function && found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  OK(cuGetProcAddress("cuMemAlloc_v2", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  CHECK(!function && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  int version = 0;
  OK(cuDriverGetVersion(&version));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGetProcAddress("cuMemAlloc", &function, version + 10, CU_GET_PROC_ADDRESS_DEFAULT, &found));
}

SCENARIO(errors_have_names_and_texts) {
  const char *text = nullptr;
  OK(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text));
  CHECK(std::string(text) == "CUDA_ERROR_INVALID_PTX");
  OK(cuGetErrorString(CUDA_ERROR_INVALID_PTX, &text));
  CHECK(text && *text);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(123456), &text));
}
