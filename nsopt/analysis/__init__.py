"""Analyses of runs: sections, bifurcations, spectra, orbits, exponents, modes of contact, wear."""

from nsopt.analysis.bifurcation import SectionValues, bifurcation
from nsopt.analysis.lyapunov import Exponents, lyapunov
from nsopt.analysis.orbit import Orbit, journals, mode_statistics, orbit
from nsopt.analysis.quantities import freedom_of, quantity, unit
from nsopt.analysis.sections import Crossing, Impacts, PoincareSection, Strobe, phase, poincare
from nsopt.analysis.spectrum import spectrum
from nsopt.analysis.wear import Wear, wear
from nsopt.contact_modes import ModeStatistics

__all__ = [
    "Crossing",
    "Exponents",
    "Impacts",
    "ModeStatistics",
    "Orbit",
    "PoincareSection",
    "SectionValues",
    "Strobe",
    "Wear",
    "bifurcation",
    "freedom_of",
    "journals",
    "lyapunov",
    "mode_statistics",
    "orbit",
    "phase",
    "poincare",
    "quantity",
    "spectrum",
    "unit",
    "wear",
]
