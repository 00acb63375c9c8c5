"""The mass of `least_effort` by Moco: processor's seconds, optimum, iterations, what it said.

Nothing of nsopt is imported: OpenSim brings a CasADi of its own, and a process has one.
"""

import json
from time import process_time

import opensim as osim

STEPS = 50


def cart() -> osim.Model:
    """Return 1 kg on a rail, with a force."""
    osim.Logger.setLevelString("off")
    model = osim.Model()
    model.setGravity(osim.Vec3(0))
    body = osim.Body("cart", 1.0, osim.Vec3(0), osim.Inertia(1.0))
    rail = osim.SliderJoint("rail", model.getGround(), body)
    rail.updCoordinate(osim.SliderJoint.Coord_TranslationX).setName("x")
    model.addBody(body)
    model.addJoint(rail)
    force = osim.CoordinateActuator("x")
    force.setName("force")
    force.setOptimalForce(1.0)
    model.addForce(force)
    model.finalizeConnections()
    return model


def solved() -> dict[str, object]:
    """Return the motion by Moco's CasADi solver and IPOPT, Hermite-Simpson by default."""
    begin = process_time()
    study = osim.MocoStudy()
    problem = study.updProblem()
    problem.setModel(cart())
    problem.setTimeBounds(osim.MocoInitialBounds(0.0), osim.MocoFinalBounds(1.0))
    problem.setStateInfo("/jointset/rail/x/value", [-5.0, 5.0], 0.0, 1.0)
    problem.setStateInfo("/jointset/rail/x/speed", [-50.0, 50.0], 0.0, 0.0)
    problem.setControlInfo("/forceset/force", [-50.0, 50.0])
    problem.addGoal(osim.MocoControlGoal("effort"))
    solver = study.initCasADiSolver()
    solver.set_num_mesh_intervals(STEPS)
    solver.set_verbosity(0)
    solution = study.solve()
    return {
        "seconds": process_time() - begin,
        "optimum": solution.getObjective(),
        "iterations": solution.getNumIterations(),
        "said": solution.getStatus(),
    }


if __name__ == "__main__":
    print(json.dumps(solved()))
