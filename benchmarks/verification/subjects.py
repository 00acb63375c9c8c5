"""All figures, by subject."""

from . import (
    clearance,
    derivatives,
    flexible,
    friction,
    impacts,
    linkages,
    optima,
    programmed,
    programs,
    ranges,
    robots,
    schemes,
)

SUBJECTS = (
    schemes.SUBJECT,
    clearance.SUBJECT,
    impacts.SUBJECT,
    friction.SUBJECT,
    ranges.SUBJECT,
    programmed.SUBJECT,
    robots.SUBJECT,
    flexible.SUBJECT,
    linkages.SUBJECT,
    programs.SUBJECT,
    optima.SUBJECT,
    derivatives.SUBJECT,
)
