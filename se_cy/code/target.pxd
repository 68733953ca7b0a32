# SPDX-License-Identifier: Apache-2.0

cpdef str code_kind(bytes data)
cpdef tuple code_targets(bytes data, str kind)
cpdef list fatbin_entries(bytes data)
cpdef tuple ptx_version(bytes data)
cpdef tuple parse_target(object target)
cpdef str target_name(object target)
cpdef bint target_runs_on(str kind, object target, object capability) except -1
cpdef str target_obstacle(str kind, object target, object capability)
