# SPDX-License-Identifier: LGPL-2.1-or-later
"""The modules of explore.py. This file makes `import explore` find this package and not the script explore.py."""
