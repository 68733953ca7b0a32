# SPDX-License-Identifier: Apache-2.0
import sys

from se_cy.cli import main

sys.exit(main())
