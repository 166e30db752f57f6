# SPDX-License-Identifier: LGPL-2.1-or-later
"""The parts of explore.py. This file makes the folder a package, which Python prefers to the script of the same name."""
