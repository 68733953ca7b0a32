# SPDX-License-Identifier: Apache-2.0
from se_cy.launch.kernel cimport BoundKernel, Kernel
from se_cy.launch.module cimport Module, Pin
from se_cy.launch.packed cimport (
    LaunchHandle, check_launch, launch, launch_handle, launch_many, launch_many_raw, launch_raw,
)
from se_cy.memory cimport DeviceMemory
from se_cy.stream cimport Stream
