# SPDX-License-Identifier: LGPL-2.1-or-later
"""The modules of explore.py. Because of this file, `import explore` finds this package and not the script of that name."""
