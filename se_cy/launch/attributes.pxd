# SPDX-License-Identifier: Apache-2.0
from se_cy.driver.context cimport PrimaryContext

cdef object read_attributes(void *cu_function, PrimaryContext context)
cdef unsigned int allow_shared_bytes(void *cu_function, PrimaryContext context, str name,
                                     object asked) except? 0xFFFFFFFF
